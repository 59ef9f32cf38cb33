"""The chain of one flow on one path before a loss rate is put in.

States that can be reached from any loss are found once; each loss rate then only fills in
probabilities. The states are ordered so that everything that happens without a further loss
leads forward (see stationary.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.models.tcp_chain.flow import exact
from headway.models.tcp_chain.lattice import Bounds, Lattice, Timing
from headway.models.tcp_chain.transitions import Events, events_of
from headway.models.tcp_chain.variant import ChainVariant

__all__ = ["Edges", "Skeleton", "TooManyStates", "skeleton"]

Ints = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]

EXACT_STATES = 40_000
"""Above this many states the exact lattice gives way to a shared one."""
POINTS_PER_PACKET = 4
"""Lattice points in a packet where the lattice is not exact,"""
LONG_BACKLOG = 150
"""and half as many where b_max holds more packets than this."""


class TooManyStates(Exception):
    """The chain has more states than were allowed."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Transitions in compressed rows, before probabilities."""

    indptr: Ints
    indices: Ints
    event: Ints
    """The event of each transition, in the order of `indices` but before merging."""
    share: Floats
    """Share of the event's probability."""
    starts: Ints | None
    """Where each entry of `indices` begins in `event`; None where they match one to one."""

    def values(self, probability: Floats) -> Floats:
        """The matrix entries for the events' probabilities."""
        weights: Floats = probability[self.event] * self.share
        if self.starts is None:
            return weights
        merged: Floats = np.add.reduceat(weights, self.starts)
        return merged


@dataclass(frozen=True, slots=True)
class Skeleton:
    """States, events and the pattern of the transition matrix."""

    timing: Timing
    bounds: Bounds
    lattice: Lattice
    variant: ChainVariant
    w: Ints
    k: Ints
    stage: Ints
    events: Events
    forward: Edges
    """Rows: sources. Transitions to later states."""
    back: Edges
    """Rows: targets. Transitions to earlier states, that is, losses."""

    @property
    def states(self) -> int:
        """How many states can be reached."""
        return int(self.w.size)


def skeleton(
    timing: Timing,
    variant: ChainVariant,
    *,
    bounds: Bounds | None = None,
    points_per_packet: int | None = None,
    exact_states: int = EXACT_STATES,
) -> Skeleton:
    """The chain of `timing` under `variant`.

    The backlog is exact in bytes where that takes at most `exact_states` states; otherwise
    it lies on a lattice of `points_per_packet` points a packet (default 4, or 2 for long
    backlogs). A number given asks for that lattice at once; 0 insists on the exact one.
    """
    bounds = bounds or Bounds.paper(timing)
    lattice = Lattice.exact_for(timing, bounds, variant)
    wants_exact = points_per_packet is None or points_per_packet == 0
    limit = exact_states if points_per_packet is None else lattice.codes
    if wants_exact and lattice.k_max < 4 * exact_states:
        try:
            return _build(timing, bounds, lattice, variant, _reach(timing, lattice, variant, limit))
        except TooManyStates:
            pass
    elif points_per_packet == 0:
        raise TooManyStates(f"the exact lattice has {lattice.codes} states; ask for a coarser one")
    if not points_per_packet:
        long = bounds.b_max > LONG_BACKLOG * exact(timing.flow.packet_bytes)
        points_per_packet = POINTS_PER_PACKET // 2 if long else POINTS_PER_PACKET
    lattice = Lattice.shared_for(timing, bounds, points_per_packet)
    codes = _reach(timing, lattice, variant, lattice.codes)
    return _build(timing, bounds, lattice, variant, codes)


def _reach(timing: Timing, lattice: Lattice, variant: ChainVariant, limit: int) -> Ints:
    """Codes of all states that follow an application-limited one. TooManyStates over `limit`."""
    seen = np.zeros(lattice.codes, dtype=np.bool_)
    window = min(max(int(np.ceil(float(timing.r))) + 1, 1), lattice.w_max)
    start = np.array([window], dtype=np.int64)
    zero = np.zeros(1, dtype=np.int64)
    new = lattice.encode(start, zero, zero)
    seen[new] = True
    found = [new]
    count = 1
    while new.size:
        events = events_of(*lattice.decode(new), lattice, timing, variant)
        targets = np.concatenate([events.low, events.high[events.high >= 0]])
        new = np.unique(targets[~seen[targets]])
        seen[new] = True
        found.append(new)
        count += new.size
        if count > limit:
            raise TooManyStates(f"more than {limit} states")
    return np.concatenate(found)


def _build(
    timing: Timing, bounds: Bounds, lattice: Lattice, variant: ChainVariant, codes: Ints
) -> Skeleton:
    w, k, stage = lattice.decode(codes)
    # Time-outs first, by stage; then by window, recovery before the rest, and within one
    # window (only at w_max) the larger backlog first: growth always leads forward.
    timeout = w == 0
    order = np.lexsort((np.where(timeout, k, -k), np.where(timeout, stage, -stage), w))
    w, k, stage, codes = w[order], k[order], stage[order], codes[order]
    place = np.zeros(lattice.codes, dtype=np.int32)
    place[codes] = np.arange(codes.size, dtype=np.int32)
    events = events_of(w, k, stage, lattice, timing, variant)

    has_high = np.flatnonzero(events.high >= 0)
    event = np.concatenate([np.arange(len(events)), has_high])
    source = events.source[event]
    target = np.concatenate([place[events.low], place[events.high[has_high]]]).astype(np.int64)
    share = np.concatenate([1 - events.high_share, events.high_share[has_high]])
    # What stays where it is appears in neither: a state's exits alone give its weight.
    ahead, behind = target > source, target < source
    return Skeleton(
        timing=timing,
        bounds=bounds,
        lattice=lattice,
        variant=variant,
        w=w,
        k=k,
        stage=stage,
        events=events,
        forward=_edges(source[ahead], target[ahead], event[ahead], share[ahead], w.size),
        back=_edges(target[behind], source[behind], event[behind], share[behind], w.size),
    )


def _edges(row: Ints, column: Ints, event: Ints, share: Floats, size: int) -> Edges:
    order = np.lexsort((column, row))
    row, column = row[order], column[order]
    # Two events of a state may lead to one target, where both are cut at b_max.
    first = np.ones(row.size, dtype=np.bool_)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    starts = np.flatnonzero(first)
    counts = np.bincount(row[starts], minlength=size)
    return Edges(
        indptr=np.concatenate([[0], np.cumsum(counts)]),
        indices=column[starts],
        event=event[order],
        share=share[order],
        starts=None if starts.size == row.size else starts,
    )
