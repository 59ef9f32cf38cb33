"""Expect rules on a table of points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest

from headway.expect import Status, evaluate
from headway.stats import points
from headway.study.expects import Condition, Expect
from sip_tables import FACTORS, sip_runs


@dataclass
class Rules:
    expects: list[Expect] = field(default_factory=list)


def rule(*where: Condition, **limits: Any) -> Rules:
    given: dict[str, Any] = {"max": None, "min": None, "statistic": "mean"} | limits
    return Rules([Expect("a rule", "psd_p95_s", where, text="text", line=1, **given)])


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return points(sip_runs(), FACTORS, ["psd_p95_s"])


LOW = Condition("path.loss.rate", "<=", (0.02,))
UNORDERED = Condition("transport.delivery", "==", ("unordered",))


def test_rule_that_holds(table: pl.DataFrame) -> None:
    [found] = evaluate(rule(LOW, UNORDERED, max=0.150), table)
    assert found.status is Status.PASSES and found.passed
    assert found.points == 3 * 24 and found.failing == 0
    assert found.worst == pytest.approx(0.123, abs=0.002)
    assert found.worst_at["path.one_way_delay"] == 0.06
    assert found.limit == 0.150 and not found.close


def test_rule_that_fails_names_the_worst_point(table: pl.DataFrame) -> None:
    [found] = evaluate(rule(UNORDERED, max=0.150), table)
    assert found.status is Status.FAILS and not found.passed
    assert found.worst_at["path.loss.rate"] == 0.08
    assert 0 < found.failing < found.points
    assert "point_id" not in found.worst_at


def test_lower_limit(table: pl.DataFrame) -> None:
    [found] = evaluate(rule(UNORDERED, min=0.1), table)
    assert found.status is Status.FAILS
    assert found.worst == pytest.approx(0.041, abs=0.001) and found.limit == 0.1


def test_both_limits_report_the_nearer(table: pl.DataFrame) -> None:
    [found] = evaluate(rule(LOW, UNORDERED, min=0.01, max=10.0), table)
    assert found.passed and found.limit == 0.01


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("==", (0.02,), 48),
        ("==", (0.01, 0.02), 96),
        ("!=", (0.02,), 288),
        ("<", (0.02,), 96),
        ("<=", (0.02,), 144),
        (">", (0.02,), 192),
        (">=", (0.02,), 240),
    ],
)
def test_conditions(
    table: pl.DataFrame, operator: Any, values: tuple[float, ...], expected: int
) -> None:
    # A level computed from a percentage differs from the literal in its last bit.
    levels = tuple(value * 3 / 3 * (1 + 1e-15) for value in values)
    [found] = evaluate(rule(Condition("path.loss.rate", operator, levels), max=9.0), table)
    assert found.points == expected


def test_points_that_were_not_run_are_not_checked(table: pl.DataFrame) -> None:
    only = table.filter(pl.col("path.loss.rate") > 0.05)
    [found] = evaluate(rule(LOW, max=0.1), only)
    assert found.status is Status.NOT_CHECKED and found.passed


def test_a_point_without_a_value_fails(table: pl.DataFrame) -> None:
    without = table.with_columns(pl.lit(None, pl.Float64).alias("psd_p95_s.mean"))
    [found] = evaluate(rule(max=9.0), without)
    assert found.status is Status.FAILS and found.worst is None


def test_statistic_and_closeness(table: pl.DataFrame) -> None:
    at = [Condition(FACTORS[0], "==", (0.08,)), Condition(FACTORS[5], "==", ("ordered",))]
    mean = table.filter((pl.col(FACTORS[0]) == 0.08) & (pl.col(FACTORS[5]) == "ordered"))[
        "psd_p95_s.mean"
    ].max()
    assert isinstance(mean, float)
    [found] = evaluate(rule(*at, max=mean), table)
    assert found.passed and found.close
    [found] = evaluate(rule(*at, max=mean, statistic="ci_high"), table)
    assert not found.passed
