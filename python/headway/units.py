"""Quantities as people write them: a number and a unit in one string.

Every quantity is read into the integer or number that a RunSpec carries (nanoseconds,
bits per second, bytes) without passing through binary fractions, so "0.1 s" is exactly
100 000 000 ns. Result columns hold the same quantity in base units: seconds, bit/s, bytes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, overload

__all__ = [
    "BIT_RATE",
    "DECIBEL",
    "DURATION",
    "EVENT_RATE",
    "FRACTION",
    "SIZE",
    "Quantity",
    "QuantityError",
    "nearest",
]

_WRITTEN = re.compile(r"\s*([+-]?[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*\Z")


class QuantityError(ValueError):
    """What is wrong with a written quantity, in words for the person who wrote it."""


def nearest(word: str, choices: list[str] | tuple[str, ...], *, cutoff: float = 0.6) -> str | None:
    """The choice that `word` most likely meant, or None where none is close."""
    lowered = {choice.lower(): choice for choice in reversed(choices)}
    found = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=cutoff)
    return lowered[found[0]] if found else None


@dataclass(frozen=True)
class Quantity:
    """A kind of quantity: its units, how a RunSpec spells it and how a column shows it."""

    name: str
    """What it is, with its article: "a duration"."""
    suffix: str
    """What a RunSpec appends to the key: "_ns" and the like."""
    units: Mapping[str, Decimal]
    """How many spec units one of each unit is."""
    example: str
    """How one is written."""
    integral: bool = True
    """Whether a RunSpec holds whole numbers of it."""
    plain: bool = False
    """Whether a number without a unit is accepted."""
    column_scale: int = 1
    """How many spec units make one base unit of a result column."""
    column_unit: str = ""
    """The base unit of a result column."""
    positive: bool = False
    """Whether zero is refused as well as what is below it."""
    signed: bool = False
    """Whether it may be below zero."""
    most: float | None = None
    """The largest value allowed, in spec units."""
    words: Mapping[str, None] = field(default_factory=dict)
    """Words that stand for "no value", such as "unlimited" for a rate."""

    def read(self, written: object) -> int | float | None:
        """`written` in spec units.

        Raises QuantityError where it is not a quantity of this kind or out of range.
        """
        if isinstance(written, str) and written.strip() in self.words:
            return None
        number = self._number(written)
        shown = f'"{written}"' if isinstance(written, str) else f"{written}"
        if number < 0 and not self.signed:
            raise QuantityError(f"{shown} is negative")
        if self.positive and number == 0:
            raise QuantityError(f"{shown} must be above zero")
        if self.most is not None and number > Decimal(str(self.most)):
            raise QuantityError(f"{shown} is above {self._most_text()}")
        if not self.integral:
            return float(number)
        if number != number.to_integral_value():
            smallest = min(self.units, key=lambda unit: self.units[unit])
            raise QuantityError(f"{shown} is not a whole number of {smallest}")
        return int(number)

    @overload
    def column(self, value: int | float | None) -> int | float | None: ...
    @overload
    def column(self, value: list[Any]) -> list[Any]: ...
    def column(self, value: Any) -> Any:
        """A value in spec units, or a list of such, as a result column shows it: in base units."""
        if isinstance(value, list):
            return [self.column(item) for item in value]
        if value is None or self.column_scale == 1:
            return value
        return value / self.column_scale

    def write(self, value: float | None) -> str:
        """A value in spec units as a study file has it: in the largest unit that leaves it whole.

        Minutes and hours are left aside: "60 s" reads better beside other seconds.
        """
        if value is None:
            return next(iter(self.words), "")
        if self.plain:
            return f"{value:g}"
        if not self.integral:
            return f"{value:g} {next(iter(self.units))}"
        whole = [
            (unit, Decimal(value) / scale)
            for unit, scale in self.units.items()
            if unit not in ("µs", "min", "h") and Decimal(value) % scale == 0
        ]
        unit, number = min(whole, key=lambda item: (abs(item[1]), -self.units[item[0]]))
        return f"{int(number)} {unit}"

    def allowed(self) -> str:
        """The units in words, for messages and the reference."""
        units = ", ".join(unit for unit in self.units if unit)
        words = "".join(f', or "{word}"' for word in self.words)
        if self.plain:
            return f"a number, or one with a unit ({units}){words}"
        return f'units: {units}; for example "{self.example}"{words}'

    def _number(self, written: object) -> Decimal:
        if isinstance(written, bool) or not isinstance(written, (int, float, str)):
            raise QuantityError(f"{_kind_of(written)} is not {self.name}; {self.allowed()}")
        if isinstance(written, (int, float)):
            if not self.plain:
                raise QuantityError(f"{written} lacks a unit; {self.allowed()}")
            number = Decimal(repr(written))
            if not number.is_finite():
                raise QuantityError(f"{written} is not finite")
            return number
        match = _WRITTEN.match(written)
        if match is None:
            raise QuantityError(f'"{written}" is not {self.name}; {self.allowed()}')
        digits, unit = match.groups()
        try:
            number = Decimal(digits.replace("_", ""))
        except InvalidOperation as error:  # pragma: no cover - the pattern admits numbers only
            raise QuantityError(f'"{written}" is not {self.name}') from error
        if not unit:
            if self.plain:
                return number
            raise QuantityError(f'"{written}" lacks a unit; {self.allowed()}')
        if unit not in self.units:
            # Units are short: "sec" shares half of its letters with "s".
            meant = nearest(unit, tuple(filter(None, self.units)), cutoff=0.5)
            hint = f'did you mean "{meant}"? ' if meant else ""
            raise QuantityError(f'"{written}": unknown unit "{unit}"; {hint}{self.allowed()}')
        return number * self.units[unit]

    def _most_text(self) -> str:
        return "1 (or 100 %)" if self.most == 1 else f"{self.most:g}"


def _kind_of(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    names: dict[type, str] = {dict: "a table", list: "a list"}
    return names.get(type(value), f"{value!r}")


def _decimals(**units: str) -> dict[str, Decimal]:
    return {unit: Decimal(value) for unit, value in units.items()}


DURATION = Quantity(
    name="a duration",
    suffix="_ns",
    units={
        **_decimals(ns="1", us="1e3"),
        "µs": Decimal("1e3"),
        **_decimals(ms="1e6", s="1e9", min="60e9", h="3600e9"),
    },
    example="20 ms",
    column_scale=10**9,
    column_unit="s",
    # What 64 bits of nanoseconds hold.
    most=2**63 - 1,
)
"""Durations; whole nanoseconds in a RunSpec, seconds in columns."""

BIT_RATE = Quantity(
    name="a bit rate",
    suffix="_bps",
    units={
        "b/s": Decimal(1),
        "kb/s": Decimal(10**3),
        "Mb/s": Decimal(10**6),
        "Gb/s": Decimal(10**9),
        "B/s": Decimal(8),
        "kB/s": Decimal(8 * 10**3),
        "MB/s": Decimal(8 * 10**6),
    },
    example="1 Mb/s",
    column_unit="bit/s",
    positive=True,
    most=2**63 - 1,
)
"""Bit rates; 1 kb/s is 1000 bit/s."""

SIZE = Quantity(
    name="a size",
    suffix="_bytes",
    units={
        "B": Decimal(1),
        "kB": Decimal(10**3),
        "MB": Decimal(10**6),
        "GB": Decimal(10**9),
        "KiB": Decimal(2**10),
        "MiB": Decimal(2**20),
    },
    example="85 kB",
    column_unit="B",
    most=2**63 - 1,
)
"""Sizes in bytes; 1 kB is 1000 B, 1 KiB is 1024 B."""

FRACTION = Quantity(
    name="a probability",
    suffix="",
    units={"": Decimal(1), "%": Decimal("0.01")},
    example="2 %",
    integral=False,
    plain=True,
    most=1,
)
"""Probabilities and shares from 0 to 1."""

DECIBEL = Quantity(
    name="a number of decibels",
    suffix="_db",
    units={"dB": Decimal(1)},
    example="4.4 dB",
    integral=False,
    column_unit="dB",
    signed=True,
    # No ratio of powers lies beyond this.
    most=1000,
)
"""Ratios of powers, such as a signal-to-noise ratio."""

EVENT_RATE = Quantity(
    name="a rate of events",
    suffix="",
    units={"": Decimal(1), "/s": Decimal(1), "/min": Decimal(1) / 60},
    example="40 /s",
    integral=False,
    plain=True,
    column_unit="/s",
    positive=True,
)
"""How often something happens, per second."""
