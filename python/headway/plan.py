"""A study's plan: every point, every run, its seed and its RunSpec."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from headway import core
from headway.errors import Problem, StudyError, UserError
from headway.seeds import point_text, run_seed
from headway.study import Study
from headway.study.expects import read_level
from headway.study.factors import Factor
from headway.study.keys import is_key
from headway.study.load import in_spec
from headway.study.overrides import split_pair
from headway.study.scenario import Scenario
from headway.study.trace import TraceWorkload
from headway.units import nearest

__all__ = ["Plan", "Point", "Run", "build", "select"]

_SUFFIX = re.compile(r"_(?:ns|bps|bytes)\Z")


@dataclass(frozen=True)
class Point:
    """One combination of levels."""

    index: int
    """Its number in the whole product of levels, whatever `--only` leaves out."""
    values: tuple[Any, ...]
    """What the factor columns show."""
    seed_text: str
    """What it adds to its runs' seeds."""
    body: str
    """What its RunSpecs share: JSON without the opening brace."""
    recording: tuple[Path, str] | None = None
    """The recorded conversation that it sends: the file, and its name in the study."""


@dataclass(frozen=True)
class Run:
    """One replication of one point."""

    id: str
    point: Point
    replication: int
    seed: str


@dataclass(frozen=True)
class Plan:
    """Everything that a study runs, in the order of results."""

    study: Study
    points: tuple[Point, ...]
    replications: int
    only: tuple[str, ...]
    samples: bool
    width: int
    """Digits of a point's number in run ids."""

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Every run: the replications of the first point, then those of the next."""
        digits = max(2, len(str(self.replications - 1)))
        return tuple(
            Run(
                f"p{point.index:0{self.width}}-r{replication:0{digits}}",
                point,
                replication,
                run_seed(self.study.seed, point.seed_text, replication),
            )
            for point in self.points
            for replication in range(self.replications)
        )

    @property
    def recordings(self) -> list[tuple[Path, str]]:
        """The recorded conversations of its points, each once."""
        found = (point.recording for point in self.points)
        return sorted({recording for recording in found if recording})

    def spec(self, run: Run) -> str:
        """The RunSpec of a run, in JSON."""
        head = {
            "run": {"id": run.id, "point": run.point.index, "replication": run.replication},
            "seed": run.seed,
        }
        return f"{json.dumps(head, separators=(',', ':'))[:-1]},{run.point.body}"

    def specs(self) -> Iterator[str]:
        """The RunSpecs in the order of runs."""
        return map(self.spec, self.runs)

    @cached_property
    def hash(self) -> str:
        """What results depend on: the version, the columns of factors and every RunSpec."""
        digest = hashlib.blake2b(digest_size=16)
        head = [core.version(), self.study.factor_columns, [point.values for point in self.points]]
        digest.update(json.dumps(head).encode())
        for spec in self.specs():
            digest.update(spec.encode())
        return digest.hexdigest()


def build(
    study: Study,
    *,
    replications: int | None = None,
    only: Sequence[str] = (),
    samples: bool = False,
) -> Plan:
    """The plan of a study.

    `only` are KEY=VALUE texts: values of one key are alternatives, different keys must all
    match. Raises StudyError where a combination of levels cannot be run, UserError where
    `only` matches nothing.
    """
    count = study.replications if replications is None else replications
    if count < 1:
        raise UserError("--replications: at least 1")
    chosen = select(study, only)
    collect = {"messages": samples, "transactions": samples, "distributions": True}
    if samples:
        collect["windows"] = True
    sizes = [len(factor.levels) for factor in study.factors]
    total = _product(sizes)
    points: list[Point] = []
    problems: list[Problem] = []
    for index, levels in enumerate(itertools.product(*(range(size) for size in sizes))):
        if all(level in kept for level, kept in zip(levels, chosen, strict=True)):
            made = _point(study, index, levels, collect)
            if isinstance(made, Point):
                points.append(made)
            else:
                problems += made
    if problems:
        raise StudyError(problems)
    width = max(4, len(str(total - 1)))
    return Plan(study, tuple(points), count, tuple(only), samples, width)


def select(study: Study, only: Sequence[str]) -> list[set[int]]:
    """For each factor the levels that `--only` keeps.

    Raises UserError where a key is no factor or a value no level of it.
    """
    columns = {column: factor for factor in study.factors for column in factor.columns}
    wanted: dict[str, list[Any]] = {}
    for text in only:
        key, written = split_pair(text, "--only")
        if key not in columns:
            meant = nearest(key, tuple(columns))
            hint = f'did you mean "{meant}"?' if meant else f"factors: {', '.join(columns)}"
            raise UserError(f"--only {text}: {key} is no factor of {study.name}; {hint}")
        try:
            wanted.setdefault(key, []).append(read_level(columns[key], key, written))
        except ValueError as error:
            raise UserError(f"--only {text}: {error}") from error
    chosen = [_matching(factor, wanted) for factor in study.factors]
    if not all(chosen):
        raise UserError(f"--only {' --only '.join(only)}: no point matches")
    return chosen


def _matching(factor: Factor, wanted: dict[str, list[Any]]) -> set[int]:
    return {
        index
        for index, row in enumerate(factor.values)
        if all(
            column not in wanted or value in wanted[column]
            for column, value in zip(factor.columns, row, strict=True)
        )
    }


def _point(
    study: Study, index: int, levels: tuple[int, ...], collect: dict[str, bool]
) -> Point | list[Problem]:
    chosen = list(zip(study.factors, levels, strict=True))
    assignments = [item for factor, level in chosen for item in factor.levels[level].assignments]
    scenario = study.base.resolve(assignments)
    if not isinstance(scenario, Scenario):
        return scenario
    body = json.dumps({**scenario.spec(), "collect": collect}, separators=(",", ":"))[1:]
    point = Point(
        index=index,
        values=tuple(value for factor, level in chosen for value in factor.values[level]),
        seed_text=point_text({item.key: in_spec(scenario, item.key) for item in assignments}),
        body=body,
        recording=_recording(scenario),
    )
    try:
        core.check(Plan(study, (point,), 1, (), False, 4).spec(Run("p0-r0", point, 0, "0" * 16)))
    except ValueError as error:
        path, what = _told(str(error))
        return [study.base.blame(path, what, assignments)]
    return point


def _recording(scenario: Scenario) -> tuple[Path, str] | None:
    workload = scenario.workload
    return (workload.source, workload.file) if isinstance(workload, TraceWorkload) else None


def _told(message: str) -> tuple[tuple[str, ...], str]:
    """The engine's message as the study's key and what is wrong with it.

    A checker inside the engine may put a key of its own after that of its table.
    """
    path: tuple[str, ...] = ()
    what = message
    while True:
        head, colon, rest = what.partition(": ")
        longer = (*path, *(_SUFFIX.sub("", part) for part in head.split(".")))
        if longer[0] in ("duration", "drain"):
            longer = ("run", *longer)
        if not colon or not is_key(".".join(longer)):
            return path, what
        path, what = longer, rest


def _product(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
