"""How long a lost message is missing: fast retransmission against the retransmission timer.

A message is lost with probability p. Messages follow as a Poisson process of rate `rate`;
each draws a SACK that reports the loss with probability (1-p)^2. The third report starts
the retransmission one RTT after its message was sent; the timer, restarted when the message
before the lost one is acknowledged, may be earlier. So the retransmission comes

    Y = RTT + Z + E,   Z = min(T_K, RTO + S - RTT),

after the time at which the message would have arrived: T_K is the time of the K-th message
to follow, K the number of messages until the third report; S how long after the lost
message's sending the timer was last started; E what failed retransmissions add.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln, nbdtrc, xlog1py, xlogy

__all__ = ["FAILURES", "LossRecovery", "loss_threshold", "lossless_probability"]

Floats = NDArray[np.float64]

FAILURES = 7
"""How many failed retransmissions in a row are followed; then p^7 is left out."""
START_POINTS = 4
"""Points by which the time of the timer's start is represented."""
TAIL = 1e-12
"""Probability at which a sum is cut."""


def lossless_probability(p: float) -> float:
    """(1-p)^2: neither the request nor its answer is lost."""
    return (1 - p) ** 2


def loss_threshold(quantile: float = 0.95) -> float:
    """The loss rate at which `quantile` of the calls stay untouched: 1 - sqrt(quantile).

    Without head-of-line blocking the percentile leaves the empty path's value there: at
    2.532 % for the 95th (seed 0, section VI-A.3, whose 92.1 % at 3 % is a misprint of
    0.97^2 = 94.09 %).
    """
    if not 0 < quantile < 1:
        raise ValueError(f"a quantile must lie between 0 and 1, not {quantile}")
    return float(1 - np.sqrt(quantile))


@dataclass(frozen=True)
class LossRecovery:
    """Recovery of one lost message on one association or connection. Times in seconds."""

    p: float
    """Loss probability of a packet in each direction, below 1."""
    rate: float
    """Messages per second in this direction, each in a packet of its own."""
    rtt_s: float
    rto_s: float = 1.0
    """The retransmission time-out without back-off."""
    reports: int = 3
    """Missing reports or duplicate ACKs that start a fast retransmission."""
    repeat: bool = False
    """Whether a lost fast retransmission is found by further reports; else by the timer."""

    def __post_init__(self) -> None:
        if not 0 <= self.p < 1:
            raise ValueError(f"a loss rate must lie in [0, 1), not {self.p}")
        if self.rate <= 0 or self.rtt_s <= 0 or self.reports < 1:
            raise ValueError("rate, RTT and number of reports must be above zero")
        if self.rto_s < self.rtt_s:
            raise ValueError("the retransmission time-out must be at least the RTT")

    @property
    def report_share(self) -> float:
        """(1-p)^2: share of the following messages that report the loss."""
        return (1 - self.p) ** 2

    @cached_property
    def messages_to_detect(self) -> Floats:
        """P(K = k), k = 0, 1, ...; cut where less than 1e-12 is left."""
        n, share = self.reports, self.report_share
        most = 2 * n
        while nbdtrc(most - n, n, share) > TAIL:
            most *= 2
        k = np.arange(n, most + 1)
        left = nbdtrc(k - n, n, share)
        k = k[: int(np.argmax(left <= TAIL)) + 2]
        ways = gammaln(k) - gammaln(n) - gammaln(k - n + 1)
        found: Floats = np.zeros(k[-1] + 1)
        found[k] = np.exp(ways + xlogy(n, share) + xlog1py(k - n, -share))
        return found

    @cached_property
    def timer_limits(self) -> tuple[tuple[float, float], ...]:
        """(probability, v): the timer beats the reports at Z = v = RTO + S - RTT.

        S = 0 where nothing was in flight before; else the SACK of the message before comes
        back RTT - A after the loss, with A exponential.
        """
        idle = float(np.exp(-self.rate * self.rtt_s))
        base = self.rto_s - self.rtt_s
        middle = (np.arange(START_POINTS) + 0.5) / START_POINTS
        # A given that it is below RTT.
        age = -np.log1p(-middle * (1 - idle)) / self.rate
        share = (1 - idle) / START_POINTS
        return ((idle, base), *((share, base + self.rtt_s - float(a)) for a in age))

    def reported_by(self, time_s: Floats | float) -> Floats:
        """P(T_K <= t): reports form a Poisson process thinned to (1-p)^2."""
        t = np.maximum(np.asarray(time_s, dtype=np.float64), 0.0)
        mean = self.rate * self.report_share * t
        # P(Poisson(mean) >= reports); as a sum it is several times faster than the general
        # incomplete gamma function.
        term = np.exp(-mean)
        fewer = term
        for n in range(1, self.reports):
            term = term * mean / n
            fewer = fewer + term
        found: Floats = 1 - fewer
        return found

    def failure_delays(self, by_timer: bool) -> tuple[tuple[float, float], ...]:
        """(probability, E): what failed retransmissions add, by how the first one started.

        The timer doubles with each expiry. With `repeat`, a fast retransmission that fails
        takes a mean detection more, as if it were the first one.
        """
        rows = []
        for failed in range(FAILURES):
            probability = self.p**failed * (1 - self.p)
            if by_timer:
                added = self.rto_s * (2.0 ** (failed + 1) - 2)
            elif self.repeat:
                added = failed * (self.rtt_s + self.detection_mean_s)
            else:
                added = self.rto_s * (2.0**failed - 1)
            rows.append((probability, added))
            if probability == 0:
                break
        return tuple(rows)

    @cached_property
    def detection_mean_s(self) -> float:
        """E[Z]."""
        lam = self.rate * self.report_share
        total = 0.0
        for share, v in self.timer_limits:
            # E[min(T, v)] = sum over j < reports of P(j reports come before the next) ...
            total += share * sum(float(gammainc(j + 1, lam * v)) / lam for j in range(self.reports))
        return total

    @cached_property
    def timeout_share(self) -> float:
        """Share of losses for which the timer is first."""
        return sum(share * (1 - float(self.reported_by(v))) for share, v in self.timer_limits)

    @cached_property
    def mean_s(self) -> float:
        """E[Y]."""
        late = self.timeout_share
        by_reports = sum(q * e for q, e in self.failure_delays(False))
        by_timer = sum(q * e for q, e in self.failure_delays(True))
        return self.rtt_s + self.detection_mean_s + (1 - late) * by_reports + late * by_timer

    def missing_at_most(self, x: Floats) -> Floats:
        """P(Y <= x) for an ascending x."""
        found = np.zeros_like(x)
        limits = [(share, v, float(self.reported_by(v))) for share, v in self.timer_limits]
        latest = max(v for _, v, _ in limits)
        for probability, added in self.failure_delays(False):
            # Only between the loss's RTT and the timer does the curve have a shape.
            z = x - (self.rtt_s + added)
            first, end = np.searchsorted(z, [0.0, latest])
            curve = probability * self.reported_by(z[first:end])
            for share, v, in_time in limits:
                last = np.searchsorted(z, v)
                found[first:last] += share * curve[: last - first]
                found[last:] += share * probability * in_time
        for probability, added in self.failure_delays(True):
            for share, v, in_time in limits:
                late = np.searchsorted(x, self.rtt_s + v + added - 1e-12)
                found[late:] += share * probability * (1 - in_time)
        return found

    def poisson(self, mean: float) -> Floats:
        """Poisson probabilities 0, 1, ..., cut where less than 1e-12 is left."""
        most = int(mean + 10 * np.sqrt(mean + 1) + 20)
        n = np.arange(most + 1)
        found: Floats
        if mean <= 0:
            found = np.zeros(n.size)
            found[0] = 1.0
            return found
        found = np.exp(n * np.log(mean) - mean - gammaln(n + 1))
        return found
