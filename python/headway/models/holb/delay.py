"""Delay of messages and of calls under ordered, streamed and unordered delivery.

One direction is a system with unlimited servers and re-sequencing: a message arrives one-way
delay after its sending plus H, with H = 0 unless it is lost and H = Y otherwise, and is
delivered once those before it on its stream are. With B(x) of blocking.py

    P(wait <= x) = P(H <= x) exp(-B(x)),

where the wait is all that the message is later than without loss. For independent H this
is the known result for such a system; it is exact to first order in p here.

A call is two messages, INVITE and 180, in two directions with equal load; its post-selection
delay is RTT plus two independent waits.

Valid while the congestion window does not limit the sender, each message fills one packet
and recoveries seldom overlap: p up to 5 %, and p x rate x E[Y] up to 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft

from headway.models.holb.blocking import (
    Assignment,
    blockers,
    blockers_at_all,
    blockers_of_others,
)
from headway.models.holb.recovery import LossRecovery

__all__ = ["Delivery", "MessageDelay", "Signalling", "clean_threshold"]

Floats = NDArray[np.float64]
Delivery = Literal["ordered", "streams", "unordered"]

STEPS_PER_RTT = 40
MOST_STEPS = 1 << 16
TAIL = 1e-7
"""Share of messages later than the grid's end."""


@dataclass(frozen=True)
class Signalling:
    """Messages of one direction and how they are carried. Times in seconds."""

    rate: float
    """Messages per second in each direction, over all connections."""
    loss: float
    """p, in each direction."""
    rtt_s: float
    delivery: Delivery = "ordered"
    streams: int = 1
    """For "streams"; messages take them in turn."""
    connections: int = 1
    """Connections that messages take in turn; each finds its own losses."""
    resequenced: bool = False
    """Whether the receiver restores one order over all connections."""
    assignment: Assignment = "round-robin"
    """How messages find their stream."""
    rto_s: float = 1.0
    reports: int = 3
    repeat: bool = False

    def __post_init__(self) -> None:
        if self.connections < 1 or self.streams < 1:
            raise ValueError("streams and connections are counted from one")
        if self.delivery not in ("ordered", "streams", "unordered"):
            raise ValueError(f'no such delivery "{self.delivery}"')
        if self.resequenced and self.delivery != "ordered":
            raise ValueError("only ordered delivery is re-sequenced over connections")

    @cached_property
    def recovery(self) -> LossRecovery:
        """Recovery on one connection, whose messages are taken to be Poisson as well."""
        return LossRecovery(
            p=self.loss,
            rate=self.rate / self.connections,
            rtt_s=self.rtt_s,
            rto_s=self.rto_s,
            reports=self.reports,
            repeat=self.repeat,
        )

    def blockers(self, x: Floats) -> Floats:
        """B(x): mean number of losses that hold a message back by more than x."""
        if self.delivery == "unordered":
            return np.zeros_like(x)
        streams = self.streams if self.delivery == "streams" else 1
        own = blockers(self.recovery, streams, x, self.assignment)
        if not self.resequenced or self.connections == 1:
            return own
        others = self.rate * (self.connections - 1) / self.connections
        return own + blockers_of_others(self.recovery, others, x)

    @property
    def blockers_at_all(self) -> float:
        """B(0)."""
        if self.delivery == "unordered":
            return 0.0
        streams = self.streams if self.delivery == "streams" else 1
        own = blockers_at_all(self.recovery, streams, self.assignment)
        if not self.resequenced:
            return own
        others = self.rate * (self.connections - 1) / self.connections
        return own + self.loss * others * self.recovery.mean_s

    @property
    def overlap(self) -> float:
        """Recoveries under way at a time over all connections: p rate E[Y]."""
        return self.loss * self.rate * self.recovery.mean_s

    @property
    def inside(self) -> bool:
        """Whether the point lies in the region of validity."""
        return self.loss <= 0.05 and self.overlap <= 0.5

    @cached_property
    def delay(self) -> MessageDelay:
        """The distribution of waits."""
        return MessageDelay(self)


class MessageDelay:
    """Distribution of the wait of a message, and of a call of two messages."""

    def __init__(self, signalling: Signalling) -> None:
        self.signalling = signalling
        recovery = signalling.recovery
        step = min(signalling.rtt_s / STEPS_PER_RTT, 0.25 / signalling.rate)
        end = self._end(step)
        # A power of two keeps the transform of the convolution fast.
        size = 1 << int(np.ceil(np.log2(min(max(end / step, 2), MOST_STEPS))))
        self.step_s = max(step, end / size)
        self.grid_s: Floats = np.arange(size, dtype=np.float64) * self.step_s
        p = signalling.loss
        self.own: Floats = 1 - p + p * recovery.missing_at_most(self.grid_s)
        """P(H <= x)."""
        self._unblocked: Floats = np.exp(-signalling.blockers(self.grid_s))
        self.cdf: Floats = self.own * self._unblocked
        """P(wait <= x)."""

    def _end(self, step: float) -> float:
        """Where less than `TAIL` of the messages are later."""
        signalling = self.signalling
        if signalling.loss == 0:
            return 2 * step
        reach = signalling.recovery.rtt_s + signalling.rto_s * np.array(
            [1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 127.0]
        )
        own = signalling.loss * (1 - signalling.recovery.missing_at_most(reach))
        late = own + signalling.blockers(reach)
        below = np.flatnonzero(late < TAIL)
        return float(reach[below[0]] if below.size else reach[-1])

    @property
    def wait_mean_s(self) -> float:
        """E[wait]: recovery and blocking."""
        return self._mean(self.cdf)

    @property
    def recovery_mean_s(self) -> float:
        """E[H] = p E[Y]: what a message waits for its own loss."""
        return self.signalling.loss * self.signalling.recovery.mean_s

    @property
    def blocking_mean_s(self) -> float:
        """Mean head-of-line blocking: the wait for other messages beyond the own loss."""
        return self._mean(self.cdf) - self._mean(self.own)

    @property
    def blocked_share(self) -> float:
        """P(blocked): the message is all there and waits for another one."""
        mass = np.diff(self.own, prepend=0.0)
        # A loss that recovers in a cell meets the middle of it.
        free = np.concatenate(
            [self._unblocked[:1], (self._unblocked[1:] + self._unblocked[:-1]) / 2]
        )
        return float(mass @ (1 - free))

    def _mean(self, cdf: Floats) -> float:
        late = 1 - cdf
        return float((late[1:] + late[:-1]).sum() / 2 * self.step_s)

    @cached_property
    def call_cdf(self) -> Floats:
        """P(both waits of a call together <= x), on `grid_s`."""
        mass = np.diff(self.cdf, prepend=0.0)
        # The mass of a cell lies at its middle, that at zero at zero.
        atom, spread = mass[0], mass[1:]
        size = self.cdf.size
        both = atom * self.cdf + atom * (self.cdf - atom)
        twice = np.cumsum(irfft(rfft(spread, 2 * size) ** 2, 2 * size)[: size - 1])
        # Middle of cell i and middle of cell j: together at the end of cell i + j + 1.
        both[1:] += np.concatenate([[0.0], twice[:-1]])
        found: Floats = np.minimum(both, 1.0)
        return found

    def quantile_s(self, q: float) -> float:
        """Quantile of one message's wait."""
        return self._quantile(self.cdf, q)

    def psd_quantile_s(self, q: float) -> float:
        """Quantile of the post-selection delay, RTT included."""
        return self.signalling.rtt_s + self._quantile(self.call_cdf, q)

    @property
    def psd_mean_s(self) -> float:
        """Mean post-selection delay."""
        return self.signalling.rtt_s + 2 * self.wait_mean_s

    @property
    def psd_sd_s(self) -> float:
        """Standard deviation of the post-selection delay."""
        late = 1 - self.cdf
        square = 2 * float((late[1:] * self.grid_s[1:] + late[:-1] * self.grid_s[:-1]).sum())
        square *= self.step_s / 2
        return float(np.sqrt(max(2 * (square - self.wait_mean_s**2), 0.0)))

    def _quantile(self, cdf: Floats, q: float) -> float:
        if not 0 <= q < 1:
            raise ValueError(f"a quantile must lie in [0, 1), not {q}")
        at = int(np.searchsorted(cdf, q, side="left"))
        if at == 0:
            return 0.0
        if at >= cdf.size:
            return float(self.grid_s[-1])
        share = (q - cdf[at - 1]) / max(cdf[at] - cdf[at - 1], 1e-300)
        return float(self.grid_s[at - 1] + share * self.step_s)


def clean_threshold(signalling: Signalling, quantile: float = 0.95) -> float:
    """The loss rate at which the `quantile` of the post-selection delay leaves RTT.

    Solves ((1-p) exp(-B(0)))^2 = quantile. Unordered: `loss_threshold`, 2.532 %.
    """
    from scipy.optimize import brentq

    values = {**signalling.__dict__}
    for derived in ("recovery", "delay"):
        values.pop(derived, None)

    def untouched(p: float) -> float:
        at = Signalling(**{**values, "loss": p})
        return float(((1 - p) * np.exp(-at.blockers_at_all)) ** 2 - quantile)

    return float(brentq(untouched, 0.0, 0.5, xtol=1e-9))
