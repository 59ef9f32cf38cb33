"""Expect rules: limits on the results, read and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from headway.errors import Problem
from headway.metrics import Metric
from headway.study import keys
from headway.study.explain import show
from headway.study.factors import Factor
from headway.study.fields import quantity_of
from headway.study.positions import KeyPath, Positions
from headway.study.schema import ExpectTable
from headway.units import Quantity, QuantityError, nearest

__all__ = ["Condition", "Expect", "read_expects", "read_level"]

_COMPARISON = re.compile(r"\s*(<=|>=|!=|==|<|>)\s*(.*)\Z", re.DOTALL)

Operator = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Condition:
    """One factor column compared with values in the column's base unit."""

    column: str
    operator: Operator
    values: tuple[Any, ...]
    """One value; more than one only for "==" (any of them) and "!=" (none of them)."""


@dataclass(frozen=True)
class Expect:
    """A limit on one metric at the points that every condition matches."""

    name: str
    metric: str
    where: tuple[Condition, ...]
    statistic: Literal["mean", "ci_low", "ci_high"]
    max: float | None
    """In the metric's base unit; None where there is no upper limit."""
    min: float | None
    text: str
    """The rule as the file has it, in one line."""
    line: int | None


class _Bad(Exception):
    def __init__(self, key: str, what: str) -> None:
        self.key = key
        self.what = what
        super().__init__(what)


def read_expects(
    tables: Sequence[ExpectTable],
    factors: Sequence[Factor],
    metrics: Mapping[str, Metric],
    file: str,
    positions: Positions,
) -> tuple[list[Expect], list[Problem]]:
    """The expect rules of a study file and what is wrong with them."""
    found: list[Expect] = []
    problems: list[Problem] = []
    for index, table in enumerate(tables):
        line = positions.line(("expect", index))
        try:
            found.append(_read(table, factors, metrics, line))
        except _Bad as bad:
            path: KeyPath = ("expect", index, *bad.key.split(".", 1))
            problems.append(
                Problem(file, positions.nearest(path), f"expect {index + 1}, {bad.key}", bad.what)
            )
    return found, problems


def _read(
    table: ExpectTable, factors: Sequence[Factor], known: Mapping[str, Metric], line: int | None
) -> Expect:
    if table.metric not in known:
        meant = nearest(table.metric, tuple(known))
        hint = f'did you mean "{meant}"?' if meant else f"metrics: {', '.join(known)}"
        raise _Bad("metric", f'no such metric "{table.metric}"; {hint}')
    quantity = known[table.metric].quantity
    largest = _limit("max", table.max, quantity)
    least = _limit("min", table.min, quantity)
    if largest is None and least is None:
        raise _Bad("max", "a rule needs max or min")
    if largest is not None and least is not None and least > largest:
        raise _Bad("min", f"{show(table.min)} is above max, {show(table.max)}")
    where = tuple(_condition(key, value, factors) for key, value in table.where.items())
    return Expect(
        name=table.name or _text(table),
        metric=table.metric,
        where=where,
        statistic=table.statistic,
        max=largest,
        min=least,
        text=_text(table),
        line=line,
    )


def _limit(key: str, written: Any, quantity: Quantity | None) -> float | None:
    """A limit in the metric's base unit; a bare number is taken to be in it already."""
    if written is None:
        return None
    if isinstance(written, (int, float)) and not isinstance(written, bool):
        return float(written)
    if quantity is None or not isinstance(written, str):
        raise _Bad(key, f"{show(written)} is not a number")
    try:
        value = quantity.column(quantity.read(written))
    except QuantityError as error:
        raise _Bad(key, str(error)) from error
    if value is None:  # pragma: no cover - no metric's quantity has words
        raise _Bad(key, f"{show(written)} is not a limit")
    return float(value)


def _condition(key: str, written: Any, factors: Sequence[Factor]) -> Condition:
    columns = {column: factor for factor in factors for column in factor.columns}
    if key not in columns:
        meant = nearest(key, tuple(columns))
        hint = f'did you mean "{meant}"?' if meant else f"factors: {', '.join(columns)}"
        raise _Bad(f"where.{key}", f"no such factor; {hint}")
    factor = columns[key]
    operator: Operator = "=="
    values: list[Any]
    if isinstance(written, str) and (match := _COMPARISON.match(written)):
        operator = match[1]  # type: ignore[assignment]  # the pattern admits operators only
        values = [match[2].strip()]
    else:
        values = written if isinstance(written, list) else [written]
    try:
        if operator in ("==", "!="):
            read = [read_level(factor, key, value) for value in values]
        else:
            read = [_number(factor, key, value) for value in values]
    except ValueError as error:
        raise _Bad(f"where.{key}", str(error)) from error
    return Condition(key, operator, tuple(read))


def read_level(factor: Factor, column: str, written: Any) -> Any:
    """The value that `column` shows for the level that `written` means.

    Quantities are compared by value, so "0.02", "2 %" and "2.0 %" are one level.
    Raises ValueError where no level is meant.
    """
    at = factor.columns.index(column)
    for level, values in zip(factor.levels, factor.values, strict=True):
        if level.labels[at] is not None and written == level.labels[at]:
            return values[at]
        if len(factor.columns) == 1 and written == level.label:
            return values[at]
    shown = [row[at] for row in factor.values]
    value = _parse(column, written)
    if value in shown and isinstance(value, bool) == isinstance(shown[0], bool):
        return value
    levels = ", ".join(dict.fromkeys(_level_text(factor, at)))
    text = written if isinstance(written, str) else show(written)
    raise ValueError(f"{text} is not a level; levels: {levels}")


def _level_text(factor: Factor, at: int) -> list[str]:
    texts = []
    for level, values in zip(factor.levels, factor.values, strict=True):
        if len(factor.columns) == 1:
            texts.append(level.label)
        else:
            written = level.assignments[at].value
            label = level.labels[at]
            texts.append(label or (written if isinstance(written, str) else show(values[at])))
    return texts


def _number(factor: Factor, column: str, written: Any) -> float:
    at = factor.columns.index(column)
    shown = [row[at] for row in factor.values]
    if any(isinstance(value, (str, bool)) for value in shown):
        raise ValueError("its levels are words, which are only equal or not")
    value = _parse(column, written)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{show(written)} is not a number")
    return value


def _parse(column: str, written: Any) -> Any:
    """A value in the base unit of a column."""
    for entry in keys.find(column):
        quantity = quantity_of(entry.model, entry.name)
        if quantity is None:
            continue
        try:
            return quantity.column(quantity.read(written))
        except QuantityError:
            # A bare number is in base units already, as results show it.
            break
    if not isinstance(written, str):
        return written
    if written in ("true", "false"):
        return written == "true"
    for number in (int, float):
        try:
            return number(written)
        except ValueError:
            continue
    return written


def _text(table: ExpectTable) -> str:
    where = ", ".join(
        f"{key} {value}"
        if isinstance(value, str) and _COMPARISON.match(value)
        else f"{key} = {value if isinstance(value, str) else show(value)}"
        for key, value in table.where.items()
    )
    limits = " and ".join(
        f"{word} {value}"
        for word, value in (("at least", table.min), ("at most", table.max))
        if value is not None
    )
    statistic = "" if table.statistic == "mean" else f" ({table.statistic})"
    return f"{table.metric}{statistic} {limits}" + (f" where {where}" if where else "")
