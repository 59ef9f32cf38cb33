"""Which reading of seed 4's chain is computed: every ambiguity of its text is a switch.

The labels A1 to A9 and G are those of docs/models.md, which tells for each what the text has,
what contradicts it and which reading the working form takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

__all__ = [
    "CONSERVING",
    "PRINTED",
    "VARIANTS",
    "WHOLE_PACKETS",
    "ChainVariant",
    "single_switches",
    "variant",
]


@dataclass(frozen=True, slots=True)
class ChainVariant:
    """One reading of the chain. The defaults are the variant "conserving"."""

    loss_model: Literal["random", "correlated"] = "random"
    """Losses of segments: independent, or all that follow the first loss of a round."""

    limited_transmit: bool = True
    """RFC 3042: equation 6 (random losses) or 7 (correlated)."""

    queue: Literal["packets", "bytes"] = "packets"
    """What limits the bottleneck. In "bytes" a segment of M_s bytes is lost with p M_s/a."""

    recovery_exponent: Literal["w", "w-i"] = "w"
    """A1, the power of 1-p in the sums of Table 6.

    "w" as printed: the i retransmissions must arrive as well. "w-i": they need not.
    """

    al_delays: Literal["physical", "table6", "eq1"] = "physical"
    """A2, delays of the packets around a loss that hits an application-limited sender.

    "physical": the lost packet waits RTT + 3/f, each later one 1/f less. "table6":
    L + RTT + i/f for i = 1..w+3. "eq1": L + RTT + (3+i)/f for i = 1..w+3.
    """

    packet_count: Literal["bytes", "whole", "eq2"] = "bytes"
    """A3, packets that leave in a round.

    "bytes": all the bytes that leave the backlog, as fractions of a packet. "whole": the
    same rounded down. "eq2" as printed: packets that arrive in the round are not counted.
    """

    al_backlog: Literal["zero", "three-bytes", "three-packets"] = "zero"
    """A4, the backlog after a loss that hits an application-limited sender (printed: 3)."""

    repeated_timeout: Literal["window-zero", "window-one"] = "window-zero"
    """A5, where a failed retransmission leads.

    "window-zero": to the next back-off stage. "window-one": to a window of one segment, as
    the extracted table has it; Table 6 has a row for that only without a loss stage, so the
    back-off starts again.
    """

    timeout_cap: Literal["table6", "eq5"] = "table6"
    """A6, the last time-out: 64 T0 (Table 6) or 32 T0 (equation 5 at the last stage)."""

    al_boundary: Literal["r<=w", "r<w"] = "r<=w"
    """A7, whether w = r without backlog is application-limited."""

    correlated_timeouts: Literal["completed", "printed"] = "completed"
    """A8, equation 7.

    "completed": a round from which nothing arrives ends in a time-out, and only the rounds
    with three or more arrivals keep their old term. "printed": neither.
    """

    byte_scaling: Literal["Ms/a", "a/Ms"] = "Ms/a"
    """A9, the factor on the loss rate at a byte-limited queue."""

    growth: Literal["always", "backlogged"] = "always"
    """G, the condition on {w+1 | 2w}.

    "always": the window grows in each round without loss outside application-limited
    states. "backlogged" as printed: only where backlog remains after the round.
    """

    @property
    def label(self) -> str:
        """The name of the variant, or the nearest named one and what differs from it."""
        best: tuple[str, list[str]] | None = None
        for name, base in VARIANTS.items():
            differing = [
                f"{field.name}={_show(getattr(self, field.name))}"
                for field in fields(self)
                if getattr(self, field.name) != getattr(base, field.name)
            ]
            if best is None or len(differing) < len(best[1]):
                best = (name, differing)
        assert best is not None
        return ", ".join([best[0], *best[1]])

    def with_(self, **changes: Any) -> ChainVariant:
        """The variant with some switches set; ValueError where a switch or value is unknown."""
        hints = get_type_hints(ChainVariant)
        for name, value in changes.items():
            if name not in hints:
                raise ValueError(f'no such switch "{name}"; switches: {", ".join(hints)}')
            allowed: tuple[Any, ...] = get_args(hints[name]) or (True, False)
            if value not in allowed:
                raise ValueError(f"{name}: {value!r} is not one of {', '.join(map(str, allowed))}")
        return replace(self, **changes)


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


CONSERVING = ChainVariant()
"""The working form: each packet that arrives leaves once, delays follow the mechanism."""

WHOLE_PACKETS = ChainVariant(packet_count="whole")
"""The same with whole packets counted: fractions that a round leaves behind are lost."""

PRINTED = ChainVariant(
    al_delays="table6",
    packet_count="eq2",
    al_backlog="three-bytes",
    repeated_timeout="window-one",
    correlated_timeouts="printed",
)
"""Table 6 and equations 1 to 7 as the text has them, wherever that can be computed. Where the
window grows (G), section 4.3 of the text decides against the condition beside Table 6."""

VARIANTS: dict[str, ChainVariant] = {
    "conserving": CONSERVING,
    "whole-packets": WHOLE_PACKETS,
    "printed": PRINTED,
}
"""The named variants."""


def variant(named: str | ChainVariant, **switches: Any) -> ChainVariant:
    """The variant of a name, with single switches set over it."""
    if isinstance(named, str):
        if named not in VARIANTS:
            raise ValueError(f'no such variant "{named}"; variants: {", ".join(VARIANTS)}')
        named = VARIANTS[named]
    return named.with_(**switches) if switches else named


def single_switches(base: ChainVariant = CONSERVING) -> Iterator[tuple[str, ChainVariant]]:
    """Every variant that differs from `base` in one switch, with what was switched."""
    hints = get_type_hints(ChainVariant)
    for field in fields(ChainVariant):
        allowed: tuple[Any, ...] = get_args(hints[field.name]) or (True, False)
        for value in allowed:
            if value != getattr(base, field.name):
                yield f"{field.name}={_show(value)}", replace(base, **{field.name: value})
