"""A study file, read and checked."""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from headway.errors import Problem, StudyError, UserError
from headway.metrics import Metric, metrics_of
from headway.study.catalog import locate
from headway.study.expects import Expect, read_expects
from headway.study.explain import explain
from headway.study.factors import Factor, Level, read_factors
from headway.study.fields import Table, quantity_of
from headway.study.overrides import apply_overrides
from headway.study.positions import KeyPath, Positions
from headway.study.resolve import Base
from headway.study.scenario import Scenario
from headway.study.schema import ReportTable, StudyFile

__all__ = ["Study", "in_spec", "load", "parse", "shown"]

_TOML_PLACE = re.compile(r"(.*?)\s*\(at (?:line (\d+), column \d+|end of document)\)\Z", re.DOTALL)


@dataclass(frozen=True)
class Study:
    """A study that can be planned: every key known, every level checked."""

    name: str
    title: str
    question: str
    description: str
    seed: int
    replications: int
    factors: tuple[Factor, ...]
    expects: tuple[Expect, ...]
    report: ReportTable
    base: Base
    """The scenario before levels."""
    scenario: Scenario
    """The scenario at the first level of every factor."""
    text: str
    """The file as it was read."""
    file: str
    """The file as messages name it."""
    overrides: tuple[str, ...]
    """What `--set` changed, as it was written."""

    @property
    def factor_columns(self) -> list[str]:
        """The result columns of the factors, in the order of their declaration."""
        return [column for factor in self.factors for column in factor.columns]

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of its runs by name."""
        return metrics_of(
            self.scenario.workload.kind,
            self.scenario.path.kind,
            self.scenario.competing is not None,
        )


def load(named: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Study:
    """The study named by a path or by a shipped study's name.

    `overrides` are `KEY=VALUE` texts. Raises UserError (StudyError for the file's
    content), whose message is meant for the user.
    """
    path = locate(os.fspath(named))
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 text ({error.reason})") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    return parse(text, _shown(path), overrides, path.parent)


def parse(
    text: str,
    file: str = "study.toml",
    overrides: Sequence[str] = (),
    folder: Path = Path(),
) -> Study:
    """The study of a file's text; `file` is what messages call it.

    `folder` is where the files lie that it names.
    """
    document = _toml(text, file)
    positions = Positions(text)
    tables = _file(document, file, positions)

    factors, problems = read_factors(tables.factor, file, positions)
    if problems:
        # What a factor was to set would only seem to be missing from the scenario.
        raise StudyError(problems)
    changed = apply_overrides(document["scenario"], factors, overrides)
    base = Base(file, changed.tables, positions, changed.assignments, folder)
    scenario = _first(base, changed.factors)
    problems = _of_file(scenario) if isinstance(scenario, list) else []
    checked: list[Factor] = []
    for factor in changed.factors:
        values, wrong = _values(base, changed.factors, factor)
        problems += wrong
        checked.append(dataclasses.replace(factor, values=values))
    if isinstance(scenario, list):
        raise StudyError(problems or scenario)
    if problems:
        raise StudyError(problems)

    expects, problems = read_expects(
        tables.expect,
        checked,
        metrics_of(scenario.workload.kind, scenario.path.kind, scenario.competing is not None),
        file,
        positions,
    )
    if problems:
        raise StudyError(problems)
    header = tables.study
    return Study(
        name=header.name,
        title=header.title,
        question=header.question,
        description=header.description,
        seed=header.seed if changed.seed is None else changed.seed,
        replications=header.replications,
        factors=tuple(checked),
        expects=tuple(expects),
        report=tables.report,
        base=base,
        scenario=scenario,
        text=text,
        file=file,
        overrides=tuple(overrides),
    )


def _toml(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _TOML_PLACE.match(str(error))
        what = match[1] if match else str(error)
        line = int(match[2]) if match and match[2] else text.count("\n") + 1
        raise StudyError(
            [Problem(file, line, "", f"is not TOML: {what[:1].lower()}{what[1:]}")]
        ) from error


def _file(document: dict[str, Any], file: str, positions: Positions) -> StudyFile:
    try:
        return StudyFile.model_validate(document)
    except ValidationError as error:
        raise StudyError(
            [
                Problem(file, _line(positions, path), _key(path), what)
                for path, what in explain(error, document, StudyFile)
            ]
        ) from error


def _line(positions: Positions, path: KeyPath) -> int | None:
    # A whole table that is missing has no line; the file's first is as good as any.
    return positions.nearest(path) or 1


def _key(path: KeyPath) -> str:
    parts: list[str] = []
    for part in path:
        if isinstance(part, int):
            parts[-1] += f"[{part + 1}]"
        else:
            parts.append(part)
    return ".".join(parts)


def _first(base: Base, factors: Sequence[Factor]) -> Scenario | list[Problem]:
    return base.resolve([item for factor in factors for item in factor.levels[0].assignments])


def _of_file(problems: list[Problem]) -> list[Problem]:
    """Those of the scenario itself; those of a level are found again with its factor."""
    return [problem for problem in problems if not problem.key.startswith("factor ")]


def _values(
    base: Base, factors: Sequence[Factor], factor: Factor
) -> tuple[tuple[tuple[Any, ...], ...], list[Problem]]:
    """What the columns of `factor` show for each level, every other factor at its first.

    Only problems of its own levels are told.
    """
    rows: list[tuple[Any, ...]] = []
    problems: list[list[Problem]] = []
    others = [
        item for other in factors if other is not factor for item in other.levels[0].assignments
    ]
    kinds: set[tuple[str, str]] = set()
    for level in factor.levels:
        resolved = base.resolve([*others, *level.assignments])
        if isinstance(resolved, Scenario):
            kinds.add((resolved.workload.kind, resolved.path.kind))
            if len(kinds) > 1:
                # Their runs have different metrics and make no common table.
                what = "the kinds of workload and path may not vary within a study"
                called = f"factor {factor.name}, level {level.label}"
                return (), [Problem(base.file, level.line, called, what)]
            rows.append(_row(factor, level, resolved))
        else:
            problems.append(
                [
                    problem
                    for problem in resolved
                    if problem.key == f"factor {factor.name}, level {level.label}"
                ]
            )
    if len(rows) == len(factor.levels):
        found = _uniform(rows, factor)
        return found, _twice(found, factor, base.file)
    if len(problems) == len(factor.levels) > 1:
        common = _in_every_level(problems)
        if common:
            called = f"factor {factor.name}"
            return (), [Problem(base.file, factor.line, called, what) for what in common]
    return (), [problem for level in problems for problem in level]


def _twice(rows: tuple[tuple[Any, ...], ...], factor: Factor, file: str) -> list[Problem]:
    """Levels that are written differently and mean the same, such as 0.02 and "2 %"."""
    first: dict[tuple[Any, ...], int] = {}
    for index, row in enumerate(rows):
        if first.setdefault(row, index) != index:
            what = f"levels {first[row] + 1} and {index + 1} are the same"
            return [Problem(file, factor.levels[index].line, f"factor {factor.name}", what)]
    return []


def _in_every_level(problems: list[list[Problem]]) -> list[str]:
    """What is wrong in the same words with each level of a factor: wrong with the factor."""
    first, *others = ([problem.what for problem in level] for level in problems)
    return first if all(what == first for what in others) else []


def _row(factor: Factor, level: Level, scenario: Scenario) -> tuple[Any, ...]:
    return tuple(
        label if label is not None else shown(scenario, column)
        for column, label in zip(factor.columns, level.labels, strict=True)
    )


def _uniform(rows: list[tuple[Any, ...]], factor: Factor) -> tuple[tuple[Any, ...], ...]:
    """Each column of one type: words as soon as one level is a word."""
    columns = []
    for at, column in enumerate(zip(*rows, strict=True)):
        if any(isinstance(value, str) or value is None for value in column):
            words = []
            for value, level in zip(column, factor.levels, strict=True):
                written = level.labels[at]
                if written is None:
                    whole = len(factor.columns) == 1
                    written = level.label if whole else str(level.assignments[at].value)
                words.append(value if isinstance(value, str) else written)
            columns.append(tuple(words))
        else:
            columns.append(column)
    return tuple(zip(*columns, strict=True))


def shown(scenario: Scenario, key: str) -> Any:
    """The value of a dotted key as a result column shows it."""
    table, name = _find(scenario, key)
    value = getattr(table, name)
    quantity = quantity_of(type(table), name)
    return value if quantity is None else quantity.column(value)


def in_spec(scenario: Scenario, key: str) -> Any:
    """The value of a dotted key as a RunSpec has it."""
    table, name = _find(scenario, key)
    value = getattr(table, name)
    return value.spec() if isinstance(value, Table) else value


def _find(scenario: Scenario, key: str) -> tuple[Any, str]:
    """The table that holds a dotted key, and the key's name in it."""
    table: Any = scenario
    *around, name = key.split(".")
    for part in around:
        table = getattr(table, part)
    return table, name


def _shown(path: Path) -> str:
    """A path as the user would write it: relative where that is shorter."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
