"""Seed 2's response time of SIMCO over SCTP with N streams: its equations 1 to 5.

Pinholes open as a Poisson process and live for exponential times; the messages that follow
share N streams evenly. Chunks are taken to be sent at a constant interval d, losses hit each
direction independently with probability p, and every chunk draws a SACK.

Valid for p up to about 1 % (measurement lies above it beyond), where recoveries do not
overlap, retransmissions are not lost and time-outs play no part. Times in seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import comb

__all__ = [
    "PAPER",
    "SimcoScenario",
    "blocked_chunks",
    "message_interval_s",
    "optimal_streams",
    "recovery_s",
    "report_probability",
    "resequencing_wait_s",
    "response_table",
    "response_time_s",
    "streams_by_equation_5",
    "transactions_of_pinhole",
]


@dataclass(frozen=True, slots=True)
class SimcoScenario:
    """Load and path."""

    pinhole_interval_s: float = 0.030
    """1/lambda, mean time between pinhole requests."""
    lifetime_s: float = 180.0
    """h, mean of the exponential lifetime."""
    refresh_s: float = 120.0
    """L, lifetime extension."""
    rtt_s: float = 0.020
    processing_s: float = 0.0005
    """delta, both end systems together."""
    busy_hour_erlang: float = 0.05
    """rho, load of one subscriber."""

    @property
    def calls(self) -> float:
        """Simultaneous calls, each with two pinholes: m = h lambda / 2."""
        return self.lifetime_s / (2 * self.pinhole_interval_s)

    @property
    def subscribers(self) -> float:
        """Subscribers that make this load: S = m / rho."""
        return self.calls / self.busy_hour_erlang


PAPER = SimcoScenario()
"""The published scenario."""


def transactions_of_pinhole(lifetime_s: float, refresh_s: float) -> int:
    """n(T) = 2 + floor(T/L): the opening, the refreshes, the closing."""
    return 2 + math.floor(lifetime_s / refresh_s)


def message_interval_s(scenario: SimcoScenario = PAPER, *, approximate: bool = True) -> float:
    """d, the mean time between messages in one direction (equation 1).

    `approximate`: the paper's (1/lambda) / (3/2 + h/L). Otherwise the integral itself:
    E[floor(T/L)] = 1 / (exp(L/h) - 1).
    """
    ratio = scenario.lifetime_s / scenario.refresh_s
    mean = 1.5 + ratio if approximate else 2 + 1 / math.expm1(1 / ratio)
    return scenario.pinhole_interval_s / mean


def report_probability(p: float, chunks: int) -> float:
    """P(i): the third SACK to arrive is the one of the i-th later chunk, i >= 3."""
    if chunks < 3:
        return 0.0
    arrives = (1 - p) ** 2
    return float(arrives**3 * (1 - arrives) ** (chunks - 3) * comb(chunks - 1, chunks - 3))


def recovery_s(p: float, interval_s: float, rtt_s: float) -> float:
    """D = RTT + 3 d / (1-p)^2: from the lost chunk's arrival time to its retransmission's (2)."""
    _check(p)
    return rtt_s + 3 * interval_s / (1 - p) ** 2


def blocked_chunks(recovery: float, interval_s: float, streams: int) -> int:
    """Q = floor(D / (d N)): later chunks of the stream that wait."""
    _streams(streams)
    return math.floor(recovery / (interval_s * streams))


def resequencing_wait_s(p: float, interval_s: float, rtt_s: float, streams: int) -> float:
    """W: what losses add to the delay of a chunk, its own included (3)."""
    recovery = recovery_s(p, interval_s, rtt_s)
    q = blocked_chunks(recovery, interval_s, streams)
    return p * ((q + 1) * recovery - q * (q + 1) / 2 * streams * interval_s)


def response_time_s(
    p: float,
    streams: int,
    scenario: SimcoScenario = PAPER,
    *,
    interval_s: float | None = None,
) -> float:
    """R = RTT + 2 W + delta (4); `interval_s` stands in for d."""
    interval = message_interval_s(scenario) if interval_s is None else interval_s
    wait = resequencing_wait_s(p, interval, scenario.rtt_s, streams)
    return scenario.rtt_s + 2 * wait + scenario.processing_s


def optimal_streams(
    p: float, scenario: SimcoScenario = PAPER, *, interval_s: float | None = None
) -> int:
    """M = ceil(D/d): from here on no chunk waits for another one."""
    interval = message_interval_s(scenario) if interval_s is None else interval_s
    # d and D are quotients of decimals; 5 + 1e-16 streams are 5.
    return math.ceil(recovery_s(p, interval, scenario.rtt_s) / interval - 1e-9)


def streams_by_equation_5(scenario: SimcoScenario = PAPER) -> int:
    """M as equation 5 has it: ceil(RTT lambda (3/2 + h/L) + 3).

    It puts p = 0 into D. With the published numbers it gives 5, while the text uses 6, which
    is ceil(D/d) for every p from just above 0 to 13.4 %.
    """
    return math.ceil(scenario.rtt_s / message_interval_s(scenario) + 3 - 1e-9)


def response_table(
    losses: list[float], streams: list[int], scenario: SimcoScenario = PAPER
) -> pl.DataFrame:
    """R over loss rates and stream numbers, with D, Q and M beside it."""
    interval = message_interval_s(scenario)
    rows = []
    for p in losses:
        recovery = recovery_s(p, interval, scenario.rtt_s)
        rows += [
            {
                "loss": p,
                "streams": count,
                "recovery_s": recovery,
                "blocked": blocked_chunks(recovery, interval, count),
                "wait_s": resequencing_wait_s(p, interval, scenario.rtt_s, count),
                "response_s": response_time_s(p, count, scenario),
                "optimal_streams": optimal_streams(p, scenario),
            }
            for count in streams
        ]
    return pl.DataFrame(rows)


def _check(p: float) -> None:
    if not 0 <= p < 1 or not np.isfinite(p):
        raise ValueError(f"a loss rate must lie in [0, 1), not {p}")


def _streams(streams: int) -> None:
    if streams < 1:
        raise ValueError(f"{streams} is not a number of streams")
