"""A scenario with levels put in: assignment of dotted keys, and whose fault an error is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from headway.errors import Problem
from headway.study.explain import explain, show
from headway.study.positions import KeyPath, Positions
from headway.study.scenario import Scenario
from headway.study.trace import FOLDER

__all__ = ["Assignment", "Base", "assign"]


@dataclass(frozen=True)
class Assignment:
    """One key that a level or the command line sets."""

    key: str
    value: Any
    file: str
    line: int | None
    what: str
    """Who sets it: "factor path.loss.rate" or "--set path.loss.rate=1.7"."""

    @property
    def path(self) -> tuple[str, ...]:
        """The key's parts."""
        return tuple(self.key.split("."))


@dataclass(frozen=True)
class Base:
    """The scenario as the file and the command line leave it, before any level."""

    file: str
    tables: dict[str, Any]
    positions: Positions
    fixed: tuple[Assignment, ...] = ()
    """What the command line sets; already in `tables`, kept to name the culprit of an error."""
    folder: Path = Path()
    """Where the files lie that the scenario names."""

    def resolve(self, assignments: Sequence[Assignment]) -> Scenario | list[Problem]:
        """The scenario with `assignments` put in, or what is wrong with it."""
        tables = self._with(assignments)
        if isinstance(tables, list):
            return tables
        try:
            return Scenario.model_validate(tables, context={FOLDER: self.folder})
        except ValidationError as error:
            return [
                self.blame(path, what, assignments)
                for path, what in explain(error, tables, Scenario)
            ]

    def blame(self, path: KeyPath, what: str, assignments: Sequence[Assignment]) -> Problem:
        """The problem at `path` of the resolved scenario, told where it was written."""
        culprit = self._culprit(path, assignments)
        if culprit is None:
            return Problem(
                self.file,
                self.positions.nearest(("scenario", *path)),
                _dotted(("scenario", *path)),
                what,
            )
        inside = path[len(culprit.path) :]
        if inside:
            what = f"{_dotted(inside)}: {what}"
        elif len(path) < len(culprit.path):
            what = f"{_dotted(path)}: {what}"
        return Problem(culprit.file, culprit.line, culprit.what, what)

    def _culprit(self, path: KeyPath, assignments: Sequence[Assignment]) -> Assignment | None:
        for assignment in (*assignments, *self.fixed):
            if path[: len(assignment.path)] == assignment.path:
                return assignment
        if self.positions.line(("scenario", *path)) is None:
            # A table that only exists because a level sets one of its keys.
            for assignment in (*assignments, *self.fixed):
                if assignment.path[: len(path)] == path:
                    return assignment
        return None

    def _with(self, assignments: Sequence[Assignment]) -> dict[str, Any] | list[Problem]:
        tables = copy.deepcopy(self.tables)
        # The more specific key wins: a level that replaces a whole table comes before
        # one that sets a key in it.
        for assignment in sorted(assignments, key=lambda item: len(item.path)):
            wrong = assign(tables, assignment.path, copy.deepcopy(assignment.value))
            if wrong:
                return [Problem(assignment.file, assignment.line, assignment.what, wrong)]
        return tables


def assign(tables: dict[str, Any], path: tuple[str, ...], value: Any) -> str | None:
    """Sets one key, making tables on the way; what is wrong where that cannot be done."""
    table = tables
    for depth, part in enumerate(path[:-1]):
        inner = table.setdefault(part, {})
        if not isinstance(inner, dict):
            return f"{'.'.join(path[: depth + 1])} is {show(inner)}, not a table"
        table = inner
    table[path[-1]] = value
    return None


def _dotted(path: KeyPath) -> str:
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


Resolver = Callable[[Sequence[Assignment]], Scenario | list[Problem]]
