"""Claims of the papers held against the results of a study."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from headway import core
from headway.claims.facts import Claim, claims
from headway.claims.grid import View
from headway.claims.registry import Check, registered
from headway.claims.results import Results, Variant, load, variants
from headway.claims.verdict import NotTestable, Outcome, Verdict
from headway.errors import UserError
from headway.stats import share_same
from headway.store import write_json
from headway.units import nearest

VERDICTS = "verdicts.json"


def check(folder: str | Path) -> list[Verdict]:
    """Check the claims that the study in `folder` names, and write verdicts.json there.

    A study that names none is held against every claim that its results can test. What held
    in an earlier verdicts.json of the folder, or in the one beside the shipped study, is
    marked in each verdict as `held_before`.
    """
    results = load(folder)
    verdicts = evaluate(results)
    record = {
        "version": core.version(),
        "study": results.study.name,
        "replications": results.replications,
        "verdicts": [verdict.record() for verdict in verdicts],
    }
    write_json(results.folder / VERDICTS, record)
    return verdicts


def evaluate(results: Results) -> list[Verdict]:
    """Check the claims without writing anything."""
    known = registered()
    named = list(results.study.report.claims)
    for claim_id in named:
        if claim_id not in known:
            meant = nearest(claim_id, list(known))
            hint = f'did you mean "{meant}"? ' if meant else ""
            raise UserError(
                f"{results.study.name}: no claim {claim_id}; {hint}claims: {', '.join(known)}"
            )
    views = [
        (variant, View(variant.runs, results.factors, variant.settings, folder=results.folder))
        for variant in variants(results)
    ]
    held = _held_before(results)
    found = [
        _verdict(claims()[claim_id], known[claim_id], views, claim_id in held)
        for claim_id in (named or known)
    ]
    if named:
        return found
    return [verdict for verdict in found if verdict.verdict is not Outcome.NOT_TESTABLE]


def lost(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The claims that held before and no longer do."""
    return [verdict for verdict in verdicts if verdict.lost]


def judge(claim: Claim, function: Check, view: View) -> Verdict:
    """Check one claim on one view of a study."""
    try:
        with np.errstate(invalid="ignore"):
            finding = function(view)
    except NotTestable as reason:
        return _record(claim, view, Outcome.NOT_TESTABLE, "", f"{reason}.", None)
    outcomes = np.asarray(finding.outcomes, dtype=np.bool_)
    outcome = Outcome.HOLDS if outcomes[0] else Outcome.FAILS
    stable = share_same(outcomes)
    return _record(claim, view, outcome, finding.measured, finding.detail, stable)


def _record(
    claim: Claim, view: View, outcome: Outcome, measured: str, detail: str, stable: float | None
) -> Verdict:
    profile = view.settings.get("transport.profile")
    here = f"here: {view.replications} replications" + (f", profile {profile}" if profile else "")
    return Verdict(
        id=claim.id,
        verdict=outcome,
        statement=claim.statement,
        where=claim.where,
        expected=claim.expected,
        tolerance=claim.tolerance,
        measured=measured,
        detail=detail,
        stable=stable,
        conditions=f"{claim.conditions}; {here}",
        kind=claim.kind,
        source=claim.source,
    )


def _verdict(
    claim: Claim, function: Check, views: Sequence[tuple[Variant, View]], held: bool
) -> Verdict:
    single = [(variant.label, judge(claim, function, view)) for variant, view in views]
    if len(single) == 1:
        return replace(single[0][1], held_before=held)
    return replace(_over_variants(single), held_before=held)


def _over_variants(single: Sequence[tuple[str, Verdict]]) -> Verdict:
    """One verdict for all variants: the claim holds when it holds in each that can test it."""
    tested = [(label, v) for label, v in single if v.verdict is not Outcome.NOT_TESTABLE]
    if not tested:
        return single[0][1]
    holding = [label for label, verdict in tested if verdict.verdict is Outcome.HOLDS]
    outcome = Outcome.HOLDS if len(holding) == len(tested) else Outcome.FAILS
    shares = [v.stable for _, v in tested if v.stable is not None]
    return replace(
        tested[0][1],
        verdict=outcome,
        measured=f"holds in {len(holding)} of {len(tested)} variants"
        + (f": {', '.join(holding)}" if holding and outcome is Outcome.FAILS else ""),
        detail=" ".join(f"{label}: {verdict.measured}." for label, verdict in tested),
        stable=min(shares) if shares else None,
        conditions=tested[0][1].conditions.split("; here:")[0] + f"; here: {len(tested)} variants",
        variants=[
            {
                "label": label,
                "verdict": str(verdict.verdict),
                "measured": verdict.measured,
                "detail": verdict.detail,
                "stable": verdict.stable,
            }
            for label, verdict in single
        ],
    )


def _held_before(results: Results) -> set[str]:
    """Claims that held when this folder was checked before, or in the shipped study."""
    from headway.study import shipped

    files = [results.folder / VERDICTS]
    study_file = shipped().get(results.study.name)
    # The shipped verdicts speak of the shipped study, not of one changed by --set.
    if study_file is not None and not results.study.overrides:
        files.append(study_file.parent / VERDICTS)
    held: set[str] = set()
    for file in files:
        if not file.is_file():
            continue
        for entry in json.loads(file.read_text(encoding="utf-8"))["verdicts"]:
            if entry["verdict"] == Outcome.HOLDS or entry.get("held_before"):
                held.add(entry["id"])
    return held
