"""Factors and their levels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headway.errors import Problem
from headway.metrics import COMPETING, METRICS, RADIO
from headway.study import keys
from headway.study.explain import show
from headway.study.positions import Positions
from headway.study.resolve import Assignment
from headway.study.schema import FactorTable

__all__ = ["Factor", "Level", "read_factors"]

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")
# Columns of the runs' table that are there whatever a study varies.
_TAKEN = {"run_id", "point_id", "replication", "seed", "complete"}.union(
    *METRICS.values(), RADIO, COMPETING
)


@dataclass(frozen=True)
class Level:
    """One level: what it sets, and what results show for it."""

    label: str
    """What messages show and `--only` matches: the label, or the value as it was written."""
    assignments: tuple[Assignment, ...]
    labels: tuple[str | None, ...]
    """For each column its label; None where the column shows the value in base units."""
    line: int | None


@dataclass(frozen=True)
class Factor:
    """One thing that the study varies."""

    columns: tuple[str, ...]
    """The columns that show it in results: its keys, or its name."""
    keys: tuple[str, ...]
    """Every dotted key that a level of it may set."""
    levels: tuple[Level, ...]
    values: tuple[tuple[Any, ...], ...] = field(default=())
    """For each level what its columns show; filled in once the levels are resolved."""
    line: int | None = None

    @property
    def name(self) -> str:
        """How messages call it."""
        return ", ".join(self.columns)


class _Bad(Exception):
    def __init__(self, what: str, line: int | None) -> None:
        self.what = what
        self.line = line
        super().__init__(what)


def read_factors(
    tables: list[FactorTable], file: str, positions: Positions
) -> tuple[list[Factor], list[Problem]]:
    """The factors of a study file and what is wrong with them."""
    factors: list[Factor] = []
    problems: list[Problem] = []
    taken: dict[str, int | None] = {}
    for index, table in enumerate(tables):
        reader = _Reader(table, index, file, positions)
        try:
            factor = reader.read()
            for key in {*factor.columns, *factor.keys}:
                if key in taken:
                    first = f" (line {taken[key]})" if taken[key] else ""
                    raise _Bad(f"{key} is varied by another factor too{first}", factor.line)
            taken.update(dict.fromkeys({*factor.columns, *factor.keys}, factor.line))
            factors.append(factor)
        except _Bad as bad:
            problems.append(Problem(file, bad.line, reader.called, bad.what))
    return factors, problems


class _Reader:
    """Reads one [[factor]] table."""

    def __init__(self, table: FactorTable, index: int, file: str, positions: Positions) -> None:
        self.table = table
        self.file = file
        self.positions = positions
        self.path = ("factor", index)
        said = [name for name in ("key", "keys", "name") if getattr(table, name) is not None]
        self.line = positions.nearest((*self.path, *said[:1]))
        names = table.keys or [name for name in (table.key, table.name) if name]
        self.called = f"factor {', '.join(names)}" if names else f"factor {index + 1}"

    def read(self) -> Factor:
        given = [key for key in ("key", "keys", "name") if getattr(self.table, key) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise _Bad(f"needs exactly one of key, keys and name; it has {found}", self.line)
        if not self.table.levels:
            raise _Bad("the list of levels is empty", self._line("levels"))
        if self.table.name is not None:
            return self._named(self.table.name)
        columns = tuple(self.table.keys or [str(self.table.key)])
        if not columns or len(set(columns)) < len(columns):
            raise _Bad("keys must be a list of different keys", self._line("keys"))
        for column in columns:
            if not keys.is_key(column):
                raise _Bad(f"names no key of the scenario; {keys.suggest(column)}", self.line)
        levels = tuple(self._level(columns, i) for i in range(len(self.table.levels)))
        return self._factor(columns, columns, levels)

    def _level(self, columns: tuple[str, ...], index: int) -> Level:
        written = self.table.levels[index]
        line = self._line("levels", index)
        together = self.table.keys is not None
        if together and (not isinstance(written, list) or len(written) != len(columns)):
            raise _Bad(
                f"level {show(written)} must be a list of {len(columns)} values, one for each "
                "of its keys",
                line,
            )
        parts = written if together else [written]
        values: list[Any] = []
        labels: list[str | None] = []
        for part in parts:
            value, label = self._value(part, line)
            values.append(value)
            labels.append(label)
        called = ", ".join(
            label if label is not None else _plain(value)
            for value, label in zip(values, labels, strict=True)
        )
        assignments = tuple(
            self._assignment(column, value, line, called)
            for column, value in zip(columns, values, strict=True)
        )
        return Level(called, assignments, tuple(labels), line)

    def _value(self, written: Any, line: int | None) -> tuple[Any, str | None]:
        """The value of a level and its label, if it has one."""
        if isinstance(written, list):
            raise _Bad(_needs_label("a list", written), line)
        if not isinstance(written, dict):
            return written, None
        if not {"label", "value"} & set(written):
            raise _Bad(_needs_label("a table", written), line)
        if set(written) != {"label", "value"}:
            raise _Bad(
                f"level {show(written)} must have a label and a value and nothing else", line
            )
        return written["value"], self._label(written, line)

    def _named(self, name: str) -> Factor:
        if not _NAME.match(name):
            raise _Bad(
                "a name is made of small letters, digits, underscores and dots", self._line("name")
            )
        if keys.is_key(name):
            raise _Bad(f'{name} is a key of the scenario; write key = "{name}"', self._line("name"))
        if name in _TAKEN:
            raise _Bad(
                f"results have a column {name} already; choose another name", self._line("name")
            )
        levels = []
        for index, written in enumerate(self.table.levels):
            line = self._line("levels", index)
            if not isinstance(written, dict) or set(written) != {"label", "set"}:
                raise _Bad(
                    f"level {show(written)} must have a label and a table set: "
                    '{ label = "...", set = { "transport.profile" = "..." } }',
                    line,
                )
            label = self._label(written, line)
            if not isinstance(written["set"], dict):
                raise _Bad(f"level {label}: set must be a table of keys", line)
            assignments = tuple(
                self._assignment(key, value, line, label) for key, value in _flatten(written["set"])
            )
            for assignment in assignments:
                if not keys.is_key(assignment.key):
                    raise _Bad(
                        f"level {label}: {assignment.key} names no key of the scenario; "
                        f"{keys.suggest(assignment.key)}",
                        line,
                    )
            levels.append(Level(label, assignments, (label,), line))
        touched = {item.key: None for level in levels for item in level.assignments}
        return self._factor((name,), tuple(touched), tuple(levels))

    def _factor(
        self, columns: tuple[str, ...], touched: tuple[str, ...], levels: tuple[Level, ...]
    ) -> Factor:
        labels: dict[str, int] = {}
        for index, level in enumerate(levels):
            first = labels.setdefault(level.label, index)
            if first != index:
                raise _Bad(
                    f"levels {first + 1} and {index + 1} are the same: {level.label}", level.line
                )
        return Factor(columns, touched, levels, line=self.line)

    def _assignment(self, key: str, value: Any, line: int | None, label: str) -> Assignment:
        what = f"{self.called}, level {label}"
        return Assignment(key, value, self.file, line, what)

    def _label(self, written: dict[str, Any], line: int | None) -> str:
        label = written["label"]
        if not isinstance(label, str) or not label.strip():
            raise _Bad(f"level {show(written)}: the label must be a string", line)
        return label

    def _line(self, *path: str | int) -> int | None:
        return self.positions.nearest((*self.path, *path))


def _needs_label(kind: str, written: Any) -> str:
    return (
        f"level {show(written)} is {kind} and needs a label for results: "
        f'{{ label = "...", value = {show(written)} }}'
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else show(value)


def _flatten(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted keys of a `set` table, whether the dots were quoted or not.

    A table with a `kind` is a value of its own: it replaces what stood there.
    """
    for key, value in table.items():
        dotted = f"{prefix}{key}"
        if isinstance(value, dict) and "kind" not in value:
            yield from _flatten(value, f"{dotted}.")
        else:
            yield dotted, value
