"""What the chain says about one flow on one path at one loss rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.models.tcp_chain.flow import CbrFlow

__all__ = ["CLASSES", "ChainResult", "inner"]

Floats = NDArray[np.floating[Any]]

CLASSES = ("AL", "CA", "SS", "FR", "TO")
"""State classes of Table 2: application-limited, congestion avoidance, slow start, fast
recovery, time-out."""

RUN_S = 300.0
"""Length of the paper's runs (section 5.1)."""


def inner(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The sum of products, by one thread.

    The @ of two vectors of this length goes to a threaded library, whose threads wait for
    each other longer than the sum takes.
    """
    return float(np.multiply(a, b).sum())


@dataclass(frozen=True, slots=True)
class ChainResult:
    """A solved chain. Times in seconds."""

    flow: CbrFlow
    rtt_s: float
    loss: float
    variant: str
    """The label of the variant that was computed."""
    delays_s: Floats = field(repr=False)
    """Distinct delays, ascending."""
    share: Floats = field(repr=False)
    """P(D = d) for each of them (equation 3)."""
    carried_rate: float
    """Packets per second that the delay distribution counts."""
    cut_rate: float
    """Packets per second that the end of the state space cuts off."""
    time_share: dict[str, float]
    """Time in each class. The wait for a loss to be noticed belongs to the class it leads to."""
    timeouts_per_loss: float
    """Share of loss events that end in a time-out."""
    backlog_share: float
    """Sender's backlog in the delay beyond L (section 6.2); the rest is loss recovery."""
    window_mean: float
    """Mean window in application-limited states over r: how stale the window is (6.4)."""
    row_error: float
    """Largest distance of a row sum from 1."""
    balance_error: float
    """|arrived - sent - cut| of all bytes over what arrived."""
    states: int
    passes: int
    exact: bool
    """Whether the backlog was exact in bytes."""

    def percentile(self, alpha: float) -> float:
        """The paper's alpha-percentile, max { x : P(D <= x) <= alpha }.

        It is the first delay whose cumulated share exceeds alpha.
        """
        if not 0 <= alpha < 1:
            raise ValueError(f"a percentile must lie in [0, 1), not {alpha}")
        cumulated = np.cumsum(self.share)
        # Sums of shares carry rounding of this order.
        at = int(np.searchsorted(cumulated, alpha + 1e-12, side="right"))
        return float(self.delays_s[min(at, self.delays_s.size - 1)])

    @property
    def mean_s(self) -> float:
        """E[D]."""
        return inner(self.delays_s, self.share)

    @property
    def jitter_s(self) -> float:
        """Standard deviation of D."""
        mean = self.mean_s
        return math.sqrt(max(inner((self.delays_s - mean) ** 2, self.share), 0.0))

    def late_fraction(self, playout_s: float) -> float:
        """Share of packets with a delay above `playout_s` (section 6.6)."""
        return float(self.share[self.delays_s > playout_s + 1e-12].sum())

    def highest_s(self, run_s: float = RUN_S) -> float:
        """The delay that one packet in a run of `run_s` exceeds on average."""
        return self.percentile(1 - 1 / (float(self.flow.rate) * run_s))

    @property
    def cut_share(self) -> float:
        """Share of the offered packets that the end of the state space cuts off."""
        return self.cut_rate / float(self.flow.rate)

    def row(self) -> dict[str, float | str | int | bool]:
        """The result as one row of a table."""
        return {
            "variant": self.variant,
            "packet_bytes": float(self.flow.packet_bytes),
            "interval_s": float(self.flow.interval_s),
            "rtt_s": self.rtt_s,
            "loss": self.loss,
            "delay_mean_s": self.mean_s,
            "delay_p50_s": self.percentile(0.5),
            "delay_p95_s": self.percentile(0.95),
            "delay_p99_s": self.percentile(0.99),
            "delay_highest_s": self.highest_s(),
            "delay_sd_s": self.jitter_s,
            "late_share": self.late_fraction(1.5 * self.rtt_s + 3 * float(self.flow.interval_s)),
            "timeouts_per_loss": self.timeouts_per_loss,
            "backlog_share": self.backlog_share,
            "carried_rate": self.carried_rate,
            "cut_share": self.cut_share,
            "window_over_load": self.window_mean,
            **{f"time_{name.lower()}": self.time_share[name] for name in CLASSES},
            "states": self.states,
            "exact": self.exact,
        }
