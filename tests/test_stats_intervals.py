"""Means over replications, Student-t intervals and the table of points."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from headway.stats import cells, mean_interval, points, t_factor


def test_t_factor_against_scipy() -> None:
    n = np.arange(2, 120)
    assert t_factor(n) == pytest.approx(stats.t.ppf(0.975, n - 1))
    assert t_factor(np.array([10]))[0] == pytest.approx(2.2622, abs=1e-4)
    assert np.isnan(t_factor(np.array([1, 0]))).all()


def test_interval_against_scipy() -> None:
    values = np.random.default_rng(4).normal(5, 2, size=(6, 10))
    mean, low, high, n = mean_interval(values)
    expected = stats.t.interval(0.95, 9, loc=values.mean(axis=1), scale=stats.sem(values, axis=1))
    assert mean == pytest.approx(values.mean(axis=1))
    assert low == pytest.approx(expected[0])
    assert high == pytest.approx(expected[1])
    assert n.tolist() == [10] * 6


def test_interval_covers_the_mean_as_often_as_it_says() -> None:
    values = np.random.default_rng(5).normal(1.0, 0.3, size=(4000, 10))
    _, low, high, _ = mean_interval(values)
    assert np.mean((low <= 1.0) & (high >= 1.0)) == pytest.approx(0.95, abs=0.012)


def test_missing_values_are_left_out() -> None:
    mean, low, high, n = mean_interval(
        np.array([[1.0, 3.0, np.nan], [7.0, np.nan, np.nan], [np.nan] * 3])
    )
    assert n.tolist() == [2, 1, 0]
    assert mean[:2].tolist() == [2.0, 7.0]
    assert low[0] == pytest.approx(2 - 12.7062, abs=1e-3)
    assert np.isnan(high[1]) and np.isnan(mean[2])


def runs_of(points_count: int, replications: int, metrics: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(6)
    size = points_count * replications
    point = np.repeat(np.arange(points_count), replications)
    table = {
        "run_id": [f"r{i}" for i in range(size)],
        "point_id": point,
        "replication": np.tile(np.arange(replications), points_count),
        "path.loss.rate": (point // 2) / 100.0,
        "transport.delivery": np.where(point % 2 == 0, "ordered", "unordered"),
    }
    table |= {f"m{i}": rng.normal(size=size) for i in range(metrics)}
    return pl.DataFrame(table)


FACTORS = ["path.loss.rate", "transport.delivery"]


def test_points_hold_factors_then_statistics() -> None:
    runs = runs_of(4, 10).with_columns(
        pl.when((pl.col("point_id") == 1) & (pl.col("replication") > 0))
        .then(None)
        .otherwise(pl.col("m0"))
        .alias("m0")
    )
    table = points(runs, FACTORS, ["m0", "m1"])
    assert table.columns == [
        *FACTORS,
        *(f"{m}.{s}" for m in ("m0", "m1") for s in ("mean", "ci_low", "ci_high", "n")),
    ]
    assert table.height == 4
    first = runs.filter(pl.col("point_id") == 0)["m1"].to_numpy()
    low, high = stats.t.interval(0.95, 9, loc=first.mean(), scale=stats.sem(first))
    assert table["m1.ci_low"][0] == pytest.approx(low)
    assert table["m1.ci_high"][0] == pytest.approx(high)
    assert table["m0.n"].to_list() == [10, 1, 10, 10]
    assert table["m0.ci_low"][1] is None and table["m0.mean"][1] is not None


def test_points_of_a_study_without_factors() -> None:
    table = points(runs_of(1, 10), [], ["m0"])
    assert table.height == 1 and table["m0.n"][0] == 10


def test_points_of_a_whole_study() -> None:
    table = points(runs_of(336, 10, metrics=60), FACTORS, [f"m{i}" for i in range(60)])
    assert table.height == 336 and table["m59.n"].to_list() == [10] * 336


def test_cells_place_each_run() -> None:
    runs = runs_of(4, 3).sample(fraction=1.0, shuffle=True, seed=1)
    laid = cells(runs, FACTORS, "m0")
    assert laid.values.shape == (4, 3)
    row = laid.keys.with_row_index().filter(
        (pl.col("path.loss.rate") == 0.01) & (pl.col("transport.delivery") == "ordered")
    )["index"][0]
    expected = runs.filter(pl.col("point_id") == 2).sort("replication")["m0"].to_list()
    assert laid.values[row].tolist() == expected


def test_cells_refuse_keys_that_leave_points_apart_unseen() -> None:
    with pytest.raises(ValueError, match="do not tell"):
        cells(runs_of(4, 3), ["path.loss.rate"], "m0")


def test_cells_mark_missing_runs() -> None:
    runs = runs_of(4, 3).filter(~((pl.col("point_id") == 0) & (pl.col("replication") == 2)))
    assert np.isnan(cells(runs, FACTORS, "m0").values).sum() == 1
