"""First-order delay of media over TCP: packets at a fixed interval, windows never in the way.

A lost packet is found by three later ones of its own connection, RTT + 3 K / f after its
sending with K connections in turn, and holds back all that come after it until then. With
independent losses a packet is later than x exactly if one of the n(x) packets before it
(itself included) that could hold it back that long was lost:

    P(D - L > x) = 1 - (1-p)^n(x).

What it leaves out only adds delay: the backlog after the window is halved, time-outs, lost
retransmissions. It is a lower bound, close where the backlog clears within a round trip
(small packets, which are coalesced) and the window holds the flight: r >= 4 packets of one
connection, p (r + 3) <= 0.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["MediaRecovery"]


@dataclass(frozen=True, slots=True)
class MediaRecovery:
    """Loss recovery of a media flow. Times in seconds."""

    interval_s: float
    """1/f, between packets of the source."""
    rtt_s: float
    loss: float
    connections: int = 1
    """Connections taken in turn."""
    pieces: int = 1
    """Pieces that a packet is cut into, evenly paced."""
    resequenced: bool = True
    """Whether the receiver restores the order over all connections."""

    def __post_init__(self) -> None:
        if not 0 <= self.loss < 1:
            raise ValueError(f"a loss rate must lie in [0, 1), not {self.loss}")
        if self.interval_s <= 0 or self.rtt_s <= 0:
            raise ValueError("interval and RTT must be above zero")
        if self.connections < 1 or self.pieces < 1:
            raise ValueError("connections and pieces are counted from one")

    @property
    def piece_interval_s(self) -> float:
        """Time between pieces of all connections together."""
        return self.interval_s / self.pieces

    @property
    def recovery_s(self) -> float:
        """Y: what a lost piece is late."""
        return self.rtt_s + 3 * self.connections * self.piece_interval_s

    @property
    def inside(self) -> bool:
        """Whether the point lies in the region of validity."""
        flight = self.rtt_s / (self.piece_interval_s * self.connections)
        return flight >= 4 and self.loss * (flight + 3) <= 0.5

    def holding_back(self, x_s: float) -> int:
        """n(x): pieces whose loss makes this one later than x."""
        if x_s >= self.recovery_s:
            return 0
        apart = self.piece_interval_s
        if not self.resequenced:
            apart *= self.connections
        # A piece j places before holds this one back for Y - j apart.
        return max(math.ceil((self.recovery_s - x_s) / apart - 1e-9), 0)

    def late_fraction(self, playout_s: float) -> float:
        """P(D > playout) with L = RTT/2."""
        return 1 - (1 - self.loss) ** self.holding_back(playout_s - self.rtt_s / 2)

    def percentile_s(self, alpha: float) -> float:
        """The smallest delay that at most 1 - alpha of the packets exceed."""
        if not 0 <= alpha < 1:
            raise ValueError(f"a percentile must lie in [0, 1), not {alpha}")
        one_way = self.rtt_s / 2
        if self.loss == 0:
            return one_way
        # The largest n that leaves P(late) within 1 - alpha.
        n = math.floor(math.log(alpha) / math.log1p(-self.loss) + 1e-9) if alpha > 0 else 0
        apart = self.piece_interval_s * (1 if self.resequenced else self.connections)
        return one_way + max(self.recovery_s - n * apart, 0.0)

    @property
    def mean_s(self) -> float:
        """E[D]: the integral of P(D > x)."""
        apart = self.piece_interval_s * (1 if self.resequenced else self.connections)
        total, n, left = 0.0, 1, self.recovery_s
        while left > 0:
            # n(x) = n on an interval of one spacing below Y - (n-1) apart.
            total += min(apart, left) * (1 - (1 - self.loss) ** n)
            left -= apart
            n += 1
        return self.rtt_s / 2 + total
