"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from headway.plots.columns import Scale

NOTHING = "\N{EN DASH}"
"""What stands where there is no value."""


def number(value: float) -> str:
    """A number as short as it stays telling: three digits, no exponent."""
    if value != value:
        return NOTHING
    size = abs(value)
    if size >= 100:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1 or size == 0:
        return f"{value:.2f}"
    return f"{value:.3g}"


def quantity(value: float | None, scale: Scale) -> str:
    """A value in base units with its unit; durations in ms below a second, else in s."""
    if value is None:
        return NOTHING
    if scale.unit in ("ms", "s"):
        scale = Scale(1000.0, "ms") if abs(value) < 1 else Scale(1.0, "s")
    shown = number(value * scale.factor)
    return f"{shown} {scale.unit}" if scale.unit else shown


def change(ratio: float) -> str:
    """A ratio as a change: 1.5 is "+50 %"."""
    return f"{100 * (ratio - 1):+.0f} %"


def listed(words: Sequence[str]) -> str:
    """Words as a list in prose."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(n: int, word: str, words: str | None = None) -> str:
    """A count with its word."""
    return f"{n} {word}" if n == 1 else f"{n} {words or word + 's'}"


def sentence(text: str) -> str:
    """A text that begins with a capital."""
    return text[:1].upper() + text[1:]
