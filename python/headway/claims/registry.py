"""Which function checks which claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from headway.claims.facts import claims
from headway.claims.grid import View
from headway.claims.verdict import Finding

Check = Callable[[View], Finding]
_checks: dict[str, Check] = {}
_compared: dict[str, frozenset[str]] = {}


def checks(claim_id: str, compares: Iterable[str] = ()) -> Callable[[Check], Check]:
    """Register a function as the check of a claim.

    `compares` names the keys of the transport whose levels the claim holds against each other;
    those of any other such key are judged one by one. Raises ValueError when the claim is
    unknown or has a check already.
    """

    def register(function: Check) -> Check:
        if claim_id not in claims():
            raise ValueError(f"no claim {claim_id}")
        if claim_id in _checks:
            raise ValueError(f"{claim_id} has a check already")
        _checks[claim_id] = function
        _compared[claim_id] = frozenset(compares)
        return function

    return register


def registered() -> dict[str, Check]:
    """Every claim that has a check, in the order in which the papers' files list them."""
    # Importing a module of checks registers them.
    from headway.claims import (  # noqa: F401
        media_against_chain,
        media_configured,
        media_counting,
        media_divided,
        media_drop_tail,
        media_playout,
        media_timeouts,
        media_tried,
        sip_competing,
        sip_competing_web,
        sip_internet,
        sip_random_loss,
        sip_wifi,
        sip_wifi_rules,
    )

    return {claim_id: _checks[claim_id] for claim_id in claims() if claim_id in _checks}


def compared(claim_ids: Iterable[str] = ()) -> frozenset[str]:
    """The keys of the transport that these claims compare, or all claims where none is named."""
    known = registered()
    return frozenset().union(*(_compared[i] for i in (tuple(claim_ids) or known) if i in known))
