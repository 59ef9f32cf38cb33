"""Expect rules: limits that a study's results must keep, so that it can stand in a CI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

if TYPE_CHECKING:
    from headway.study.expects import Condition, Expect


class HasExpects(Protocol):
    """What is needed of a study: its rules."""

    @property
    def expects(self) -> Sequence[Expect]:
        """The rules, in the order of the file."""


class Status(StrEnum):
    """What became of a rule."""

    PASSES = "passes"
    FAILS = "fails"
    NOT_CHECKED = "not checked"
    """No point of these results matches the rule, as after --only."""


@dataclass(frozen=True)
class ExpectResult:
    """One rule with what was found."""

    name: str
    text: str
    metric: str
    status: Status
    points: int
    """Points that the rule speaks of."""
    failing: int
    worst: float | None
    """The value that comes nearest to breaking the rule, or breaks it most; in base units."""
    worst_at: dict[str, Any]
    """The factors of that point."""
    limit: float | None
    """The limit that `worst` is held against."""
    close: bool
    """Whether a limit lies within the 95 % interval of some point: other runs could differ."""

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the rule."""
        return self.status is not Status.FAILS

    def record(self) -> dict[str, Any]:
        """The result as JSON values."""
        return asdict(self) | {"status": str(self.status)}


def evaluate(study: HasExpects, points: pl.DataFrame) -> list[ExpectResult]:
    """Hold every rule of `study` against the table of points."""
    return [_evaluate(rule, points) for rule in study.expects]


def _evaluate(rule: Expect, points: pl.DataFrame) -> ExpectResult:
    matches = reduce(lambda a, b: a & b, map(_matches, rule.where), pl.lit(True))
    spoken_of = points.filter(matches)
    value = f"{rule.metric}.{rule.statistic}"
    if spoken_of.is_empty() or value not in points.columns:
        return ExpectResult(
            rule.name, rule.text, rule.metric, Status.NOT_CHECKED, 0, 0, None, {}, None, False
        )
    # How far each point is from breaking the rule; a point without a value breaks it.
    room = pl.min_horizontal(
        *([rule.max - pl.col(value)] if rule.max is not None else []),
        *([pl.col(value) - rule.min] if rule.min is not None else []),
    )
    judged = spoken_of.with_columns(
        room.fill_nan(None).fill_null(float("-inf")).alias("_room")
    ).sort("_room")
    failing = judged.filter(pl.col("_room") < 0).height
    worst = judged.row(0, named=True)
    found = worst[value]
    limit = rule.max
    if limit is None or (
        rule.min is not None and found is not None and found - rule.min < limit - found
    ):
        limit = rule.min
    factors = [name for name in points.columns if not name.endswith(_STATISTICS)]
    return ExpectResult(
        name=rule.name,
        text=rule.text,
        metric=rule.metric,
        status=Status.FAILS if failing else Status.PASSES,
        points=judged.height,
        failing=failing,
        worst=found,
        worst_at={name: worst[name] for name in factors if name != "point_id"},
        limit=limit,
        close=any(
            judged.filter(
                (pl.col(f"{rule.metric}.ci_low") <= edge)
                & (edge <= pl.col(f"{rule.metric}.ci_high"))
            ).height
            for edge in (rule.max, rule.min)
            if edge is not None
        ),
    )


_STATISTICS = (".mean", ".ci_low", ".ci_high", ".n")


def _matches(condition: Condition) -> pl.Expr:
    column = pl.col(condition.column)
    first = condition.values[0]
    same = reduce(_or, (_equal(column, value) for value in condition.values))
    match condition.operator:
        case "==":
            return same
        case "!=":
            return same.not_()
        case "<":
            return column.lt(first).and_(same.not_())
        case "<=":
            return column.lt(first).or_(same)
        case ">":
            return column.gt(first).and_(same.not_())
        case ">=":
            return column.gt(first).or_(same)


def _or(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return a.or_(b)


def _equal(column: pl.Expr, value: Any) -> pl.Expr:
    """Equality; for numbers within rounding, so that 2 % is 0.02 however it was computed."""
    if isinstance(value, float):
        return column.sub(value).abs().le(1e-9 * max(1.0, abs(value)))
    return column.eq(value)
