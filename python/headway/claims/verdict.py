"""What a check of a claim says."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from numpy.typing import ArrayLike


class Outcome(StrEnum):
    """The three answers to a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    NOT_TESTABLE = "not testable"


class NotTestable(Exception):
    """The results lack what the claim speaks of; the message says what."""


@dataclass(frozen=True)
class Finding:
    """What a check function returns."""

    outcomes: ArrayLike
    """Whether the claim holds: in the study itself, then in each resample of replications."""
    measured: str
    """The decisive numbers."""
    detail: str = ""
    """What else a reader needs to judge them."""


@dataclass(frozen=True)
class Verdict:
    """A claim with what was measured of it."""

    id: str
    verdict: Outcome
    statement: str
    where: str
    expected: str
    tolerance: str
    measured: str
    detail: str
    stable: float | None
    """Share of resamples of the replications with the same verdict; None when not testable."""
    conditions: str
    kind: str = ""
    source: str = ""
    held_before: bool = False
    """Whether the claim held when these results were checked before, or the study says so."""
    variants: list[dict[str, Any]] = field(default_factory=list)
    """Where the study also varies the transport: one verdict for each variant."""

    @property
    def lost(self) -> bool:
        """Whether a claim that held before no longer does."""
        return self.held_before and self.verdict is Outcome.FAILS

    def record(self) -> dict[str, Any]:
        """The verdict as JSON values."""
        return asdict(self) | {"verdict": str(self.verdict)}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Verdict:
        """The verdict that `record` wrote."""
        return cls(**(record | {"verdict": Outcome(record["verdict"])}))
