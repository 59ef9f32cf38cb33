"""Solving seed 4's chain: a flow, a round-trip time, a loss rate."""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.models.tcp_chain.delays import DelayAtoms, delay_atoms
from headway.models.tcp_chain.flow import CbrFlow, exact
from headway.models.tcp_chain.lattice import Bounds, Timing
from headway.models.tcp_chain.losses import loss_table
from headway.models.tcp_chain.result import CLASSES, ChainResult, inner
from headway.models.tcp_chain.skeleton import Skeleton, skeleton
from headway.models.tcp_chain.stationary import stationary
from headway.models.tcp_chain.transitions import Kind, probabilities
from headway.models.tcp_chain.variant import CONSERVING, ChainVariant, variant

__all__ = ["TcpChain", "solve"]

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


PROBABILITY_SWITCHES = (
    "loss_model",
    "limited_transmit",
    "queue",
    "recovery_exponent",
    "correlated_timeouts",
    "byte_scaling",
)
"""Switches that leave states, durations and delays alone."""


class TcpChain:
    """The chain of one flow on one path, to be solved at any loss rate.

    States, transitions and delays are found once. Successive calls start from the solution
    before, so a sweep over loss rates is fastest in their order.
    """

    def __init__(
        self,
        flow: CbrFlow,
        rtt_s: float | Fraction,
        named: str | ChainVariant = CONSERVING,
        *,
        timeout_s: float | Fraction | None = None,
        least_backlog_s: float = 0.0,
        points_per_packet: int | None = None,
        **switches: Any,
    ) -> None:
        """Prepare the chain.

        `rtt_s` is the round-trip time in seconds (L is half of it), `timeout_s` T0 (default
        4 RTT), `least_backlog_s` widens b_max to that much of the source's output,
        `points_per_packet` see `skeleton`. Other keywords are switches of the variant.
        """
        self.variant = variant(named, **switches)
        self.timing = Timing.of(flow, rtt_s, timeout_s)
        bounds = Bounds.paper(self.timing)
        if least_backlog_s > 0:
            bounds = bounds.at_least_backlog(least_backlog_s * float(flow.rate), self.timing)
        self.skeleton: Skeleton = skeleton(
            self.timing, self.variant, bounds=bounds, points_per_packet=points_per_packet
        )
        self.atoms: DelayAtoms = delay_atoms(self.skeleton)
        self._classes = _classes(self.skeleton)
        self._last: Floats | None = None

    def switched(self, **switches: Any) -> TcpChain:
        """The chain of the same flow and path with switches that only change probabilities.

        States and delays are shared. ValueError for a switch that changes them; for those
        prepare another chain.
        """
        for name in switches:
            if name not in PROBABILITY_SWITCHES:
                known = ", ".join(PROBABILITY_SWITCHES)
                raise ValueError(f"{name} is not among the switches of probabilities: {known}")
        other = copy(self)
        other.variant = self.variant.with_(**switches)
        other._last = None
        return other

    def probabilities(self, loss: float) -> Floats:
        """The probability of every event at this loss rate."""
        flow = self.timing.flow
        ratio = flow.mss_bytes / float(flow.packet_bytes)
        table = loss_table(self.variant, loss, self.skeleton.lattice.w_max, ratio)
        return probabilities(table, self.skeleton.events.kind, self.skeleton.events.w)

    def solve(self, loss: float) -> ChainResult:
        """The stationary result at segment loss rate `loss`, from 0 to below 1."""
        if loss == 0:
            return self._lossless()
        events = self.skeleton.events
        probability = self.probabilities(loss)
        pi, passes = stationary(self.skeleton, probability, self._last)
        self._last = pi
        flow = pi[events.source] * probability

        weights = self.atoms.weigh(flow)
        packets = weights.sum()
        elapsed = inner(flow, events.duration_s)
        packet = float(self.timing.flow.packet_bytes) / float(self.skeleton.lattice.unit)
        arrived = inner(flow, events.arrived)
        sent = inner(flow, events.sent)
        cut = inner(flow, events.cut)
        spent = np.bincount(self._classes, weights=flow * events.duration_s, minlength=len(CLASSES))
        excess = inner(flow, self.atoms.excess_s)
        by_kind = np.bincount(events.kind, weights=flow, minlength=len(Kind))
        timeouts = by_kind[Kind.AL_TIMEOUT] + by_kind[Kind.NL_TIMEOUT]
        losses = timeouts + by_kind[Kind.AL_RECOVERY] + by_kind[Kind.NL_RECOVERY]
        al = events.kind == Kind.AL_SENT
        rows = np.bincount(events.source, weights=probability, minlength=self.skeleton.states)
        return ChainResult(
            flow=self.timing.flow,
            rtt_s=float(self.timing.rtt_s),
            loss=loss,
            variant=self.variant.label,
            delays_s=self.atoms.delays_s,
            share=weights / packets,
            carried_rate=float(packets) / elapsed,
            cut_rate=cut / packet / elapsed,
            time_share=dict(zip(CLASSES, (spent / elapsed).tolist(), strict=True)),
            timeouts_per_loss=float(timeouts / losses),
            backlog_share=inner(flow, self.atoms.backlog_s) / excess if excess > 0 else 0.0,
            window_mean=inner(flow[al], events.w[al])
            / (float(flow[al].sum()) * float(self.timing.r)),
            row_error=float(np.abs(rows - 1).max()),
            balance_error=abs(arrived - sent - cut) / arrived,
            states=self.skeleton.states,
            passes=passes,
            exact=self.skeleton.lattice.exact,
        )

    def _lossless(self) -> ChainResult:
        """The limit without loss: always application-limited, every delay is L."""
        rate = float(self.timing.flow.rate)
        return ChainResult(
            flow=self.timing.flow,
            rtt_s=float(self.timing.rtt_s),
            loss=0.0,
            variant=self.variant.label,
            delays_s=np.array([float(self.timing.rtt_s) / 2]),
            share=np.ones(1),
            carried_rate=rate,
            cut_rate=0.0,
            time_share={name: float(name == "AL") for name in CLASSES},
            timeouts_per_loss=0.0,
            backlog_share=0.0,
            window_mean=float("nan"),
            row_error=0.0,
            balance_error=0.0,
            states=self.skeleton.states,
            passes=0,
            exact=self.skeleton.lattice.exact,
        )


def _classes(chain: Skeleton) -> Ints:
    """The class of each event's time: of what it leads to where a loss is being dealt with."""
    kind = chain.events.kind
    source_w = chain.events.w
    slow_start = source_w <= float(chain.timing.r) / 2
    by_kind = np.empty(len(Kind), dtype=np.int64)
    for name, kinds in {
        "AL": (Kind.AL_SENT,),
        "CA": (Kind.NL_SENT,),
        "FR": (Kind.AL_RECOVERY, Kind.NL_RECOVERY, Kind.RECOVERED),
        "TO": (Kind.AL_TIMEOUT, Kind.NL_TIMEOUT, Kind.TIMED_OUT_AGAIN, Kind.RESUMED),
    }.items():
        by_kind[list(kinds)] = CLASSES.index(name)
    found = by_kind[kind]
    found[(kind == Kind.NL_SENT) & slow_start] = CLASSES.index("SS")
    return found


@lru_cache(maxsize=16)
def _prepared(
    flow: CbrFlow,
    rtt: Fraction,
    timeout: Fraction | None,
    least: float,
    points: int | None,
    chosen: ChainVariant,
) -> TcpChain:
    return TcpChain(
        flow,
        rtt,
        chosen,
        timeout_s=timeout,
        least_backlog_s=least,
        points_per_packet=points,
    )


# Claims ask for the same points of the papers' grid again and again.
@lru_cache(maxsize=64)
def _solved(loss: float, *prepared: Any) -> ChainResult:
    return _prepared(*prepared).solve(loss)


def solve(
    flow: CbrFlow,
    rtt_s: float,
    loss: float,
    named: str | ChainVariant = CONSERVING,
    *,
    timeout_s: float | None = None,
    least_backlog_s: float = 0.0,
    points_per_packet: int | None = None,
    **switches: Any,
) -> ChainResult:
    """One point of the chain; the arguments are those of `TcpChain`."""
    chosen = variant(named, **switches)
    return _solved(
        loss,
        flow,
        exact(rtt_s),
        None if timeout_s is None else exact(timeout_s),
        least_backlog_s,
        points_per_packet,
        chosen,
    )
