"""Which function checks which claim."""

from __future__ import annotations

from collections.abc import Callable

from headway.claims.facts import claims
from headway.claims.grid import View
from headway.claims.verdict import Finding

Check = Callable[[View], Finding]
_checks: dict[str, Check] = {}


def checks(claim_id: str) -> Callable[[Check], Check]:
    """Register a function as the check of a claim.

    Raises ValueError when the claim is unknown or has a check already.
    """

    def register(function: Check) -> Check:
        if claim_id not in claims():
            raise ValueError(f"no claim {claim_id}")
        if claim_id in _checks:
            raise ValueError(f"{claim_id} has a check already")
        _checks[claim_id] = function
        return function

    return register


def registered() -> dict[str, Check]:
    """Every claim that has a check, in the order in which the papers' files list them."""
    # Importing a module of checks registers them.
    from headway.claims import sip_random_loss, sip_wifi, sip_wifi_rules  # noqa: F401

    return {claim_id: _checks[claim_id] for claim_id in claims() if claim_id in _checks}
