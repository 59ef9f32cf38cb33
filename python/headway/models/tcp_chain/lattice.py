"""The states (w, b, l) as integers, and the backlog counted in units of a lattice.

Exact lattice: the unit divides every amount by which the backlog can change, so b is exact
in bytes. Otherwise the unit is a fraction of the MSS, and a backlog between two lattice
points is shared between them so that its mean is kept: packets are conserved either way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headway.models.tcp_chain.flow import CbrFlow, exact
from headway.models.tcp_chain.variant import ChainVariant

__all__ = ["STAGES", "Bounds", "Lattice", "Timing"]

Ints = NDArray[np.int64]

STAGES = 6
"""Back-off stages of the time-out (Table 2)."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One flow on one path, in exact fractions of seconds and bytes."""

    flow: CbrFlow
    rtt_s: Fraction
    timeout_s: Fraction
    """T0; 4 RTT in seed 4."""

    @classmethod
    def of(
        cls,
        flow: CbrFlow,
        rtt_s: float | Fraction,
        timeout_s: float | Fraction | None = None,
    ) -> Timing:
        """From plain seconds. ValueError where a time is not above zero."""
        rtt = exact(rtt_s)
        timeout = 4 * rtt if timeout_s is None else exact(timeout_s)
        if rtt <= 0 or timeout <= 0:
            raise ValueError("RTT and time-out must be above zero")
        return cls(flow, rtt, timeout)

    @property
    def r(self) -> Fraction:
        """Packets per RTT."""
        return self.flow.rate * self.rtt_s

    @property
    def round_bytes(self) -> Fraction:
        """Bytes that the source makes in one RTT."""
        return self.r * exact(self.flow.packet_bytes)

    @property
    def timeout_bytes(self) -> Fraction:
        """Bytes that the source makes in T0."""
        return self.timeout_s * self.flow.rate * exact(self.flow.packet_bytes)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where the state space ends (seed 4, A.3)."""

    w_max: int
    """Segments."""
    b_max: Fraction
    """Bytes."""

    @classmethod
    def paper(cls, timing: Timing) -> Bounds:
        """w_max = 8 r segments (rounded up) and b_max = 4 T0 f packets."""
        return cls(max(math.ceil(8 * timing.r), 4), 4 * timing.timeout_bytes)

    def at_least_backlog(self, packets: float, timing: Timing) -> Bounds:
        """The same with room for at least `packets` of backlog."""
        wanted = exact(math.ceil(packets)) * exact(timing.flow.packet_bytes)
        return Bounds(self.w_max, max(self.b_max, wanted))

    def paper_states(self, timing: Timing) -> int:
        """The paper's count of states, 6 b_max + 2 b_max w_max with b_max in packets."""
        packets = int(self.b_max / exact(timing.flow.packet_bytes))
        return 6 * packets + 2 * packets * self.w_max


@dataclass(frozen=True, slots=True)
class Lattice:
    """The backlog's unit and the code of every state.

    Codes: (w, k, 0) first, then (w, k, 1), then the time-out states (0, k, l), each with
    the backlog of k units running fastest.
    """

    unit: Fraction
    """Bytes."""
    exact: bool
    k_max: int
    w_max: int

    @classmethod
    def exact_for(cls, timing: Timing, bounds: Bounds, variant: ChainVariant) -> Lattice:
        """The coarsest lattice on which every backlog is exact."""
        steps = [timing.round_bytes, timing.timeout_bytes, Fraction(timing.flow.mss_bytes)]
        if variant.al_backlog == "three-bytes":
            steps.append(Fraction(3))
        elif variant.al_backlog == "three-packets":
            steps.append(3 * exact(timing.flow.packet_bytes))
        unit = steps[0]
        for step in steps[1:]:
            unit = _gcd(unit, step)
        return cls(unit, True, int(bounds.b_max / unit), bounds.w_max)

    @classmethod
    def shared_for(cls, timing: Timing, bounds: Bounds, per_packet: int) -> Lattice:
        """A lattice with at least `per_packet` points in a packet, dividing the MSS evenly."""
        mss = Fraction(timing.flow.mss_bytes)
        points = math.ceil(per_packet * mss / exact(timing.flow.packet_bytes))
        unit = mss / points
        return cls(unit, False, max(int(bounds.b_max / unit), 1), bounds.w_max)

    @property
    def width(self) -> int:
        """Lattice points of the backlog."""
        return self.k_max + 1

    @property
    def codes(self) -> int:
        """How many codes there are; not all of them can be reached."""
        return (2 * self.w_max + STAGES) * self.width

    def encode(self, w: Ints, k: Ints, stage: Ints) -> Ints:
        """Codes of states."""
        row = np.where(
            w > 0, np.where(stage == 0, w - 1, self.w_max + w - 1), 2 * self.w_max + stage - 1
        )
        return row * self.width + k

    def decode(self, code: Ints) -> tuple[Ints, Ints, Ints]:
        """(w, k, l) of codes."""
        row, k = np.divmod(code, self.width)
        timeout = row >= 2 * self.w_max
        recovery = (row >= self.w_max) & ~timeout
        w = np.where(timeout, 0, np.where(recovery, row - self.w_max, row) + 1)
        w = np.where(timeout, 0, w)
        stage = np.where(timeout, row - 2 * self.w_max + 1, recovery.astype(np.int64))
        return w, k, stage


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(
        math.gcd(a.numerator * b.denominator, b.numerator * a.denominator),
        a.denominator * b.denominator,
    )
