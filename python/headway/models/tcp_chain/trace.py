"""One path through the chain: what follows given losses, step by step (Figs. 2 and 18)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from headway.models.tcp_chain.chain import TcpChain
from headway.models.tcp_chain.transitions import Kind

__all__ = ["Step", "trace"]

MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class Step:
    """One transition. Times in seconds."""

    starts_s: float
    """Since the first loss."""
    duration_s: float
    kind: Kind
    window: int
    """Before the step, in segments."""
    waited_s: float
    """b/(f a) before the step: what the sender's backlog adds to a delay."""
    longest_s: float
    """The longest delay of a packet that the step counts; nan where it counts none."""


def trace(chain: TcpChain, losses: Collection[int]) -> list[Step]:
    """The path of a flow that loses in the steps given, each time with a fast recovery.

    Step 0 is the first loss, of an application-limited flow; the path ends when the flow is
    application-limited again and no loss is left. A step in which the chain knows no loss,
    because one is being recovered, cannot be named. ValueError for such a step, for a path
    that does not begin with a loss, for one that outgrows the state space, and for a chain
    whose backlog is not exact.
    """
    if 0 not in losses:
        raise ValueError("the first loss is step 0")
    events, lattice = chain.skeleton.events, chain.skeleton.lattice
    if not lattice.exact:
        raise ValueError("a path needs a chain whose backlog is exact")
    codes = lattice.encode(chain.skeleton.w, chain.skeleton.k, chain.skeleton.stage)
    place = {int(code): at for at, code in enumerate(codes)}
    limited = np.flatnonzero(events.kind == Kind.AL_SENT)
    here = int(events.source[limited[0]])
    packet = float(chain.timing.flow.packet_bytes) / float(lattice.unit)
    interval = float(chain.timing.flow.interval_s)
    left = set(losses)
    steps: list[Step] = []
    now = 0.0
    while left or chain.skeleton.k[here] > 0 or not _limited(chain, here):
        number = len(steps)
        if number > MOST_STEPS:
            raise ValueError("the flow never becomes application-limited again")
        exits = np.flatnonzero(events.source == here)
        kinds = {Kind(int(events.kind[event])): int(event) for event in exits}
        wanted = _LOST if number in left else _FREE
        left.discard(number)
        kind = next((kind for kind in wanted if kind in kinds), None)
        if kind is None:
            raise ValueError(f"step {number} recovers from a loss and cannot meet one")
        event = kinds[kind]
        if events.cut[event] > 0:
            raise ValueError("the backlog outgrows the state space")
        delays = chain.atoms.delays_s[chain.atoms.place[chain.atoms.event == event]]
        steps.append(
            Step(
                starts_s=now,
                duration_s=float(events.duration_s[event]),
                kind=kind,
                window=int(events.w[event]),
                waited_s=float(events.k[event]) / packet * interval,
                longest_s=float(delays.max()) if delays.size else float("nan"),
            )
        )
        now += float(events.duration_s[event])
        here = place[int(events.low[event])]
    # The window that is kept from then on.
    kept = int(chain.skeleton.w[here])
    return [*steps, Step(now, interval, Kind.AL_SENT, kept, 0.0, float(chain.timing.rtt_s) / 2)]


_LOST = (Kind.AL_RECOVERY, Kind.NL_RECOVERY)
_FREE = (Kind.AL_SENT, Kind.NL_SENT, Kind.RECOVERED)


def _limited(chain: TcpChain, here: int) -> bool:
    events = chain.skeleton.events
    return bool(np.any((events.source == here) & (events.kind == Kind.AL_SENT)))
