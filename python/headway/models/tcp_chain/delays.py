"""Equation 1 over all transitions: every delay that a packet can have, found once.

A loss rate then only weighs them (equation 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.models.tcp_chain.skeleton import Skeleton
from headway.models.tcp_chain.transitions import Kind

__all__ = ["DelayAtoms", "delay_atoms"]

Ints = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]

RESOLUTION_S = 1e-9
"""Delays closer than this are one."""


@dataclass(frozen=True, slots=True)
class DelayAtoms:
    """Distinct delays, and how many packets of which event have them."""

    delays_s: Floats
    """Ascending."""
    event: Ints
    place: Ints
    """Index into `delays_s`."""
    packets: Floats
    backlog_s: Floats
    """For each event: packets times the part b/(f a) of their delay."""
    excess_s: Floats
    """For each event: packets times their delay beyond L."""

    def weigh(self, flow: Floats) -> Floats:
        """Packets per step with each delay, for the rate at which events happen."""
        weights = flow[self.event] * self.packets
        return _sums(self.place, weights, self.delays_s.size)


def delay_atoms(skeleton: Skeleton) -> DelayAtoms:
    """All delays of a chain under its variant."""
    events, timing, variant = skeleton.events, skeleton.timing, skeleton.variant
    interval = float(timing.flow.interval_s)
    rtt = float(timing.rtt_s)
    one_way = rtt / 2
    packet = float(timing.flow.packet_bytes) / float(skeleton.lattice.unit)
    count = events.counted / packet
    waited = events.k / packet * interval

    # Loss-free rounds: one delay for all packets of the round.
    spread = (events.kind == Kind.AL_RECOVERY) | (events.kind == Kind.NL_RECOVERY)
    plain = np.flatnonzero(~spread & (count > 0))
    spread_at = np.flatnonzero(spread & (count > 0))

    # Recovery: one delay for each packet; the last one may be a fraction of a packet.
    whole = np.ceil(count[spread_at] - 1e-9).astype(np.int64)
    event = np.repeat(spread_at, whole)
    first = np.repeat(np.cumsum(whole) - whole, whole)
    index = np.arange(event.size) - first
    packets = np.minimum(count[event] - index, 1.0)
    al = events.kind[event] == Kind.AL_RECOVERY
    i = index + 1.0
    late = one_way + rtt + waited[event] + (3 + i) * interval
    if variant.al_delays == "table6":
        around = one_way + rtt + i * interval
    elif variant.al_delays == "eq1":
        around = one_way + rtt + (3 + i) * interval
    else:
        # The lost packet first, which waits longest.
        around = one_way + rtt + (3 - index) * interval
    delay = np.where(al, around, late)

    event = np.concatenate([plain, event])
    delay = np.concatenate([one_way + waited[plain], delay])
    packets = np.concatenate([count[plain], packets])
    distinct, place = np.unique(np.rint(delay / RESOLUTION_S).astype(np.int64), return_inverse=True)
    size = len(events)
    return DelayAtoms(
        delays_s=distinct * RESOLUTION_S,
        event=event,
        place=place,
        packets=packets,
        backlog_s=count * waited,
        excess_s=_sums(event, packets * (delay - one_way), size),
    )


def _sums(place: Ints, weights: Floats, size: int) -> Floats:
    found: Floats = np.bincount(place, weights=weights, minlength=size).astype(np.float64)
    return found
