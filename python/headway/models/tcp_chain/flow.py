"""Constant-bit-rate media flows, as seed 4 sends them over TCP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["FLOWS", "FRAMING_BYTES", "MSS_BYTES", "PAPER_LOSSES", "PAPER_RTTS_S", "CbrFlow"]

MSS_BYTES = 1448
"""TCP payload of a full Ethernet frame with time stamps (seed 4, section 5)."""

FRAMING_BYTES = 14
"""12 B of RTP header and 2 B of framing are part of every packet (seed 4, section 5)."""

PAPER_LOSSES = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
"""Segment loss rates of seed 4's configured-drop experiments (section 5.1)."""

PAPER_RTTS_S = (0.02, 0.1, 0.3)
"""Round-trip times of the same experiments in seconds."""


@dataclass(frozen=True, slots=True)
class CbrFlow:
    """Packets of one size at a fixed interval."""

    packet_bytes: float
    """a, in bytes, with RTP header and framing."""
    interval_s: Fraction
    """1/f, in seconds; a fraction, so that 20 ms is exact."""
    mss_bytes: int = MSS_BYTES
    """The largest segment, in bytes."""

    def __post_init__(self) -> None:
        # A float is taken by its decimal digits: 0.02 means 1/50.
        object.__setattr__(self, "interval_s", exact(self.interval_s))
        if self.packet_bytes <= 0 or self.interval_s <= 0 or self.mss_bytes <= 0:
            raise ValueError("packet size, interval and MSS must be above zero")

    @classmethod
    def of(cls, packet_bytes: float, interval_s: float, mss_bytes: int = MSS_BYTES) -> CbrFlow:
        """A flow from plain numbers: bytes and seconds."""
        return cls(packet_bytes, exact(interval_s), mss_bytes)

    @property
    def rate(self) -> Fraction:
        """f, packets per second."""
        return 1 / self.interval_s

    @property
    def media_bps(self) -> float:
        """Bit rate of the media itself, without the 14 B of headers in each packet."""
        return float((exact(self.packet_bytes) - FRAMING_BYTES) * 8 / self.interval_s)

    @property
    def offered_bps(self) -> float:
        """Bit rate handed to TCP."""
        return float(exact(self.packet_bytes) * 8 / self.interval_s)

    def split(self, pieces: int) -> CbrFlow:
        """Each packet cut into equal, evenly paced pieces (seed 4, section 7.1)."""
        return CbrFlow(self.packet_bytes / _count(pieces), self.interval_s / pieces, self.mss_bytes)

    def over_connections(self, connections: int) -> CbrFlow:
        """The share of one of several connections under blind round robin (section 7.2)."""
        return CbrFlow(self.packet_bytes, self.interval_s * _count(connections), self.mss_bytes)


def _count(number: int) -> int:
    if number < 1:
        raise ValueError(f"{number} is not a count of one or more")
    return number


def exact(number: float | int | Fraction) -> Fraction:
    """A number as the decimal fraction that it is written as."""
    return number if isinstance(number, Fraction) else Fraction(repr(float(number)))


FLOWS: dict[str, CbrFlow] = {
    f"{name}-{interval}ms": CbrFlow(size, Fraction(interval, 1000))
    for name, size in (("voice", 174), ("interactive", 724), ("live", 1448))
    for interval in (20, 30)
}
"""The six flows of seed 4, section 5. Its "VoIP" is voice-20ms, its "video" live-20ms."""
