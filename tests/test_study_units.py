"""Quantities: a number and a unit in one string."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.units import (
    BIT_RATE,
    DURATION,
    EVENT_RATE,
    FRACTION,
    SIZE,
    Quantity,
    QuantityError,
    nearest,
)


@pytest.mark.parametrize(
    ("quantity", "written", "value", "column"),
    [
        (DURATION, "20 ms", 20_000_000, 0.02),
        (DURATION, "20ms", 20_000_000, 0.02),
        (DURATION, "0.1 s", 100_000_000, 0.1),
        (DURATION, "1.5 µs", 1500, 1.5e-6),
        (DURATION, "2 min", 120_000_000_000, 120.0),
        (DURATION, "1e-3 s", 1_000_000, 1e-3),
        (DURATION, "0 s", 0, 0.0),
        (BIT_RATE, "1 Mb/s", 1_000_000, 1_000_000),
        (BIT_RATE, "1 kB/s", 8000, 8000),
        (SIZE, "85 kB", 85_000, 85_000),
        (SIZE, "64 KiB", 65_536, 65_536),
        (FRACTION, "2 %", 0.02, 0.02),
        (FRACTION, 0.02, 0.02, 0.02),
        (FRACTION, "0.5%", 0.005, 0.005),
        (FRACTION, 1, 1.0, 1.0),
        (EVENT_RATE, 40, 40.0, 40.0),
        (EVENT_RATE, "40 /s", 40.0, 40.0),
        (EVENT_RATE, "120 /min", 2.0, 2.0),
    ],
)
def test_reads(quantity: Quantity, written: object, value: float, column: float) -> None:
    assert quantity.read(written) == value
    assert quantity.column(quantity.read(written)) == column


@pytest.mark.parametrize(
    ("quantity", "written", "told"),
    [
        (DURATION, 20, "20 lacks a unit"),
        (DURATION, "20", "lacks a unit"),
        (DURATION, "20 sec", 'did you mean "s"?'),
        (DURATION, "20 MS", 'did you mean "ms"?'),
        (DURATION, "-20 ms", "is negative"),
        (DURATION, "0.5 ns", "not a whole number of ns"),
        (DURATION, "soon", "is not a duration"),
        (DURATION, True, "true is not a duration"),
        (DURATION, [1], "a list is not a duration"),
        (DURATION, "400 h", None),
        (DURATION, "9e9 s", None),
        (BIT_RATE, "1 Mbps", 'did you mean "Mb/s"?'),
        (BIT_RATE, "0 b/s", "must be above zero"),
        (SIZE, "1.5 B", "not a whole number of B"),
        (SIZE, "5 KB", 'did you mean "kB"?'),
        (FRACTION, 1.7, "1.7 is above 1 (or 100 %)"),
        (FRACTION, "170 %", "is above 1"),
        (FRACTION, -0.1, "-0.1 is negative"),
        (FRACTION, float("nan"), "not finite"),
        (EVENT_RATE, 0, "must be above zero"),
    ],
)
def test_refuses(quantity: Quantity, written: object, told: str | None) -> None:
    if told is None:
        assert quantity.read(written) is not None
        return
    with pytest.raises(QuantityError) as caught:
        quantity.read(written)
    assert told in str(caught.value)


def test_refuses_what_64_bits_cannot_hold() -> None:
    with pytest.raises(QuantityError, match="is above"):
        DURATION.read("1e10 s")


@given(st.integers(min_value=0, max_value=2**53))
def test_what_is_written_reads_back(value: int) -> None:
    for quantity in (DURATION, SIZE):
        assert quantity.read(quantity.write(value)) == value


def test_written_in_the_largest_whole_unit() -> None:
    assert DURATION.write(60 * 10**9) == "60 s"
    assert DURATION.write(1_500_000) == "1500 us"
    assert SIZE.write(225) == "225 B"


def test_nearest_ignores_case_and_gives_up_on_strangers() -> None:
    assert nearest("Unordered", ["ordered", "unordered"]) == "unordered"
    assert nearest("zebra", ["ordered", "unordered"]) is None
