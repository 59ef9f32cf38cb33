"""Claims that an analytical model decides by itself: which function checks which claim.

The same claim may be checked against simulation as well (registry.py); a verdict says by
which evidence it came.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from headway.claims.facts import Claim, claims
from headway.claims.registry import registered
from headway.claims.verdict import Finding, NotTestable, Outcome, Verdict
from headway.models.tcp_chain import ChainVariant

__all__ = ["CHAIN", "Evidence", "ModelCheck", "by_model", "decided", "evidence", "model_checks"]

CHAIN = "tcp-chain"


class Evidence(StrEnum):
    """By what a claim is decided."""

    MODEL = "model"
    SIMULATION = "simulation"


Check = Callable[[ChainVariant], Finding]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ModelCheck:
    """How a model decides a claim."""

    model: str
    """The model's name; empty where the claim is arithmetic."""
    function: Check


_checks: dict[str, ModelCheck] = {}


def model_checks(claim_id: str, model: str = CHAIN) -> Callable[[Check], Check]:
    """Register a function as the check of a claim against a model.

    It takes the variant of the chain. Raises ValueError when the claim is unknown or has
    such a check already.
    """

    def register(function: Check) -> Check:
        if claim_id not in claims():
            raise ValueError(f"no claim {claim_id}")
        if claim_id in _checks:
            raise ValueError(f"{claim_id} has a check against a model already")
        _checks[claim_id] = ModelCheck(model, function)
        return function

    return register


def by_model() -> dict[str, ModelCheck]:
    """Every claim that a model decides, in the order in which the papers' files list them."""
    # Importing a module of checks registers them.
    from headway.claims import media_chain, media_remedies  # noqa: F401

    return {claim_id: _checks[claim_id] for claim_id in claims() if claim_id in _checks}


def evidence() -> dict[str, tuple[Evidence, ...]]:
    """For each claim that can be checked by what."""
    models, simulations = by_model(), registered()
    return {
        claim_id: tuple(
            kind
            for kind, known in ((Evidence.MODEL, models), (Evidence.SIMULATION, simulations))
            if claim_id in known
        )
        for claim_id in claims()
        if claim_id in models or claim_id in simulations
    }


def decided(
    variants: Sequence[ChainVariant], progress: Progress | None = None
) -> list[tuple[str, Verdict]]:
    """The verdict of the models on every claim that they decide, for each variant.

    Each comes with what decided it: the model and its variant, or nothing for arithmetic. A
    claim that no variant touches appears once.
    """
    known = by_model()
    total = sum(len(variants) if check.model else 1 for check in known.values())
    found: list[tuple[str, Verdict]] = []
    for claim_id, check in known.items():
        for variant in variants if check.model else variants[:1]:
            by = f"{check.model}, {variant.label}" if check.model else "arithmetic"
            found.append((by, _verdict(claims()[claim_id], check, variant, by)))
            if progress is not None:
                progress(len(found), total)
    return found


def _verdict(claim: Claim, check: ModelCheck, variant: ChainVariant, by: str) -> Verdict:
    try:
        finding = check.function(variant)
    except NotTestable as reason:
        outcome, measured, detail = Outcome.NOT_TESTABLE, "", f"{reason}."
    else:
        holds = bool(np.asarray(finding.outcomes).ravel()[0])
        outcome = Outcome.HOLDS if holds else Outcome.FAILS
        measured, detail = finding.measured, finding.detail
    return Verdict(
        id=claim.id,
        verdict=outcome,
        statement=claim.statement,
        where=claim.where,
        expected=claim.expected,
        tolerance=claim.tolerance,
        measured=measured,
        detail=detail,
        stable=None,
        conditions=f"{claim.conditions}; here: {by}",
        kind=claim.kind,
        source=claim.source,
    )
