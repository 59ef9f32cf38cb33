"""How many messages a loss holds back, and for how long.

Take a lost message and the messages that follow it. One that follows after time a waits
Y - a for it. With M(x) the number that wait longer than x, a message taken at random meets

    B(x) = p E[number of the M(x) that are on the lost message's stream]

losses that hold it back by more than x. For small p these are nearly a Poisson number of
independent losses, so nothing holds it back longer than x with probability exp(-B(x)).

M(x) depends on Y, and Y on the same messages: the reports that end the wait come from them.
That is kept exactly. At the time of detection Z a number M0 has been sent; the next RTT - x
is independent of it, so M(x) = M0 + Poisson(rate (RTT - x)) for x up to RTT, and for longer
waits M(x) counts back from the detection.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betainc, gammainc, gammaln, xlogy

from headway.models.holb.recovery import FAILURES, LossRecovery

__all__ = ["blockers", "blockers_at_all", "blockers_of_others"]

Floats = NDArray[np.float64]

GRID = 256
"""Points of the time grid before detection."""

Assignment = Literal["round-robin", "random"]


def blockers(
    recovery: LossRecovery, streams: int, x: Floats, assignment: Assignment = "round-robin"
) -> Floats:
    """B(x) with messages shared among `streams` streams.

    "round-robin": the j-th message on the lost one's stream is the (j N)-th to follow.
    "random": each message is on it with probability 1/N.
    """
    if streams < 1:
        raise ValueError(f"{streams} is not a number of streams")
    if recovery.p == 0:
        return np.zeros_like(x)
    every = streams if assignment == "round-robin" else 1
    found = np.zeros_like(x)
    for share, v in recovery.timer_limits:
        for by_timer in (False, True):
            wait, count = _held_back(recovery, v, every, by_timer)
            for probability, added in recovery.failure_delays(by_timer):
                # Failed retransmissions shift the whole curve; beyond it nobody waits.
                found += share * probability * np.interp(x - added, wait, count, right=0.0)
    return recovery.p * found * (every / streams)


def blockers_at_all(
    recovery: LossRecovery, streams: int, assignment: Assignment = "round-robin"
) -> float:
    """B(0), the mean number of losses that hold a message back at all, without a grid."""
    every = streams if assignment == "round-robin" else 1
    found = 0.0
    for share, v in recovery.timer_limits:
        for by_timer in (False, True):
            before = _sent_before_detection(recovery, v, by_timer)
            probability, added = np.array(recovery.failure_delays(by_timer)).T
            after = recovery.rtt_s + added
            found += share * float(
                probability @ _after_detection(recovery.rate, before, after, every)
            )
    return recovery.p * found * (every / streams)


def blockers_of_others(recovery: LossRecovery, rate: float, x: Floats) -> Floats:
    """B(x) from losses on other connections, whose messages do not report them.

    `rate` is that of the other connections together: p rate E[(Y - x)+].
    """
    if recovery.p == 0 or rate == 0:
        return np.zeros_like(x)
    longest = recovery.rtt_s + recovery.rto_s * 2.0 ** (FAILURES + 1)
    grid = np.unique(np.concatenate([x, np.linspace(0.0, longest, 4096)]))
    missing = 1 - recovery.missing_at_most(grid)
    steps = np.diff(grid) * (missing[1:] + missing[:-1]) / 2
    beyond = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])
    found: Floats = recovery.p * rate * np.interp(x, grid, beyond)
    return found


@lru_cache(maxsize=128)
def _held_back(
    recovery: LossRecovery, v: float, every: int, by_timer: bool
) -> tuple[Floats, Floats]:
    """E[floor(M(x) / every); started by timer or not] over a grid of x without failures.

    The grid is ascending and begins far below zero: failures shift the curve to the right.
    """
    before = _sent_before_detection(recovery, v, by_timer)
    after = _waits_after_detection(recovery.rto_s, recovery.rtt_s)
    upper = _after_detection(recovery.rate, before, after, every)
    late_grid, late = _before_detection(recovery, v, every, by_timer)
    # The message whose report is the last one waits for exactly one RTT: a step.
    step = recovery.rtt_s * (1 + 1e-12)
    return (
        np.concatenate([recovery.rtt_s - after, step + late_grid]),
        np.concatenate([upper, late]),
    )


@lru_cache(maxsize=128)
def _waits_after_detection(rto_s: float, rtt_s: float) -> Floats:
    """A falling grid of RTT - x, from far below x = 0 to x = RTT."""
    longest = rto_s * 2.0**FAILURES
    return np.concatenate([np.geomspace(longest, rtt_s, 160), np.linspace(rtt_s, 0, 64)[1:]])


def _sent_before_detection(recovery: LossRecovery, v: float, by_timer: bool) -> Floats:
    """P(M0 = m; started by timer or not): messages sent until the detection."""
    if not by_timer:
        # The K-th message itself reports: M0 = K, if that comes before the timer.
        k = np.arange(recovery.messages_to_detect.size)
        in_time = np.zeros(k.size)
        in_time[1:] = gammainc(k[1:], recovery.rate * v)
        return recovery.messages_to_detect * in_time
    sent = recovery.poisson(recovery.rate * v)
    few = np.ones(sent.size)
    n = np.arange(recovery.reports, sent.size)
    few[recovery.reports :] = bdtr(recovery.reports - 1, n, recovery.report_share)
    return sent * few


def _after_detection(rate: float, before: Floats, after: Floats, every: int) -> Floats:
    """E[floor((M0 + Poisson(rate c)) / every)] for each c of `after`.

    floor(m/N) = (m - m mod N) / N, and the mean of the remainder follows from the
    characteristic function at the N-th roots of unity: that of a Poisson number is
    exp(a (u - 1)).
    """
    number = np.arange(before.size)
    mass = float(before.sum())
    found: Floats = float(before @ number) + mass * rate * after
    if every == 1:
        return found
    remainder = np.full(after.size, mass * (every - 1) / 2)
    for k in range(1, every):
        root = np.exp(2j * np.pi * k / every)
        weight = before @ root**number / (1 / root - 1)
        remainder += (weight * np.exp(rate * after * (root - 1))).real
    floored: Floats = (found - remainder) / every
    return floored


def _before_detection(
    recovery: LossRecovery, v: float, every: int, by_timer: bool
) -> tuple[Floats, Floats]:
    """E[floor(M / every)] of those sent more than d before the detection, over a grid of d."""
    found = np.zeros(GRID)
    rate = recovery.rate
    if by_timer:
        grid = np.linspace(0.0, v, GRID)
        # n messages in (0, v) lie there uniformly: each is early enough with (v-d)/v.
        sent = _sent_before_detection(recovery, v, True)
        early = 1 - grid / v if v > 0 else np.zeros(GRID)
        if every == 1:
            return grid, early * float(sent @ np.arange(sent.size))
        for n in np.flatnonzero(sent > 1e-15):
            for j in range(every, int(n) + 1, every):
                # P(at least j of n) of a binomial number.
                found += sent[n] * betainc(j, n - j + 1, early)
        return grid, found
    # Beyond this even the first of all messages is later; the curve is steepest at zero.
    most = recovery.messages_to_detect.size
    longest = min(v, (most + 12 * np.sqrt(most)) / rate)
    grid = longest * np.linspace(0.0, 1.0, GRID) ** 2
    # With k = j + gaps, P(T_k - T_j > d and T_k < v) is the integral over the gap from d on
    # of its density times P(T_j < v - gap). Gap and T_j are exact at both ends of each cell,
    # so that only the product is approximated.
    likely = np.where(recovery.messages_to_detect < 1e-15, 0.0, recovery.messages_to_detect)
    gaps = np.arange(1, most)
    own = np.arange(every, most, every)
    reached = np.diff(_at_least(most, rate * grid)[gaps])
    first = _at_least(most, rate * (v - grid))[own]
    first = (first[:, 1:] + first[:, :-1]) / 2
    together = gaps[:, None] + own
    weight = np.where(together < most, likely[np.minimum(together, most - 1)], 0.0)
    cells = np.einsum("gc,gc->c", reached, weight @ first)
    found[:-1] = np.cumsum(cells[::-1])[::-1]
    return grid, found


def _at_least(most: int, mean: Floats) -> Floats:
    """P(Poisson(mean) >= n) for n = 0 to most - 1, one row each: all of them in one pass."""
    n = np.arange(most)[:, None]
    below = np.cumsum(np.exp(xlogy(n, mean) - mean - gammaln(n + 1)), axis=0)
    found: Floats = np.concatenate([np.ones((1, mean.size)), 1 - below[:-1]])
    return found
