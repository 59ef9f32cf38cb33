"""Recorded conversations as tables: time, size and direction of each message."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path

from headway.errors import UserError

__all__ = ["LARGEST", "Message", "counted_from_the_first", "read_csv"]

Message = tuple[int, int, bool]
"""Nanoseconds, bytes, and whether it goes from the called side to the calling one."""

LARGEST = 65_507
"""What fits a UDP datagram over IPv4, so that a recording runs over every transport."""

COLUMNS = ("time_s", "size_bytes", "direction")
DIRECTIONS = {"forward": False, "reverse": True}
NANOS = 10**9
LONGEST = 10**9
"""Seconds: some 30 years, far below what nanoseconds in 64 bits hold."""


def read_csv(path: Path, shown: str) -> tuple[Message, ...]:
    """The messages of a CSV file, the first at zero.

    Raises UserError, which names file, line and column of what cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return counted_from_the_first(_rows(csv.reader(file, strict=True), shown), shown)
    except UnicodeDecodeError as error:
        raise UserError(f"{shown}: is not UTF-8 text ({error.reason})") from error
    except OSError as error:
        raise UserError(f"{shown}: cannot be read ({error.strerror})") from error


def counted_from_the_first(messages: Iterable[Message], shown: str) -> tuple[Message, ...]:
    """The messages with the first one at zero."""
    found = list(messages)
    if not found:
        raise UserError(f"{shown}: holds no message")
    first = found[0][0]
    if found[-1][0] - first > LONGEST * NANOS:
        raise UserError(f"{shown}: lasts longer than 10^9 seconds")
    return tuple((at - first, size, reverse) for at, size, reverse in found)


def _rows(reader: Iterable[list[str]], shown: str) -> Iterable[Message]:
    """Every row after the header; `reader` counts lines as csv.reader does."""
    places: dict[str, int] | None = None
    before = 0
    try:
        for row in reader:
            line = reader.line_num  # type: ignore[attr-defined]
            if not row or row[0].lstrip().startswith("#"):
                continue
            if places is None:
                places = _header(row, shown, line)
                continue
            if len(row) != len(places):
                what = f"has {len(row)} columns, the header {len(places)}"
                raise UserError(f"{shown}: line {line}: {what}")
            message = _message(row, places, shown, line)
            if message[0] < before:
                raise _at(shown, line, places, "time_s", "is earlier than that of the row before")
            before = message[0]
            yield message
    except csv.Error as error:
        line = reader.line_num  # type: ignore[attr-defined]
        raise UserError(f"{shown}: line {line}: is not CSV ({error})") from error
    if places is None:
        raise UserError(f"{shown}: line 1: the header is missing; columns: {', '.join(COLUMNS)}")


def _header(row: list[str], shown: str, line: int) -> dict[str, int]:
    names = [name.strip() for name in row]
    for column in COLUMNS:
        if names.count(column) != 1:
            how = "is missing" if column not in names else "stands there twice"
            raise UserError(f'{shown}: line {line}: the column "{column}" {how}')
    return {name: at for at, name in enumerate(names)}


def _message(row: list[str], places: dict[str, int], shown: str, line: int) -> Message:
    time, size, direction = (row[places[column]].strip() for column in COLUMNS)
    try:
        seconds = Decimal(time)
        if not 0 <= seconds <= LONGEST:
            raise InvalidOperation
        at = int((seconds * NANOS).to_integral_value())
    except InvalidOperation as error:
        what = f'"{time}" is not a number of seconds from 0 to 10^9'
        raise _at(shown, line, places, "time_s", what) from error
    # Python turns only so many digits into a number.
    number = size.isascii() and size.isdigit() and len(size) < 20
    if not (number and 1 <= int(size) <= LARGEST):
        what = f'"{size}" is not a whole number of bytes from 1 to {LARGEST}'
        raise _at(shown, line, places, "size_bytes", what)
    if direction not in DIRECTIONS:
        what = f'"{direction}" is neither forward nor reverse'
        raise _at(shown, line, places, "direction", what)
    return at, int(size), DIRECTIONS[direction]


def _at(shown: str, line: int, places: dict[str, int], column: str, what: str) -> UserError:
    return UserError(f"{shown}: line {line}, column {places[column] + 1} ({column}): {what}")
