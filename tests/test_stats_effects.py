"""Effect sizes, resampling, equivalence, regression and the comparison table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from headway.stats import (
    Judgement,
    cliffs_delta,
    compare,
    equivalence,
    interval,
    least_squares,
    ratio_equivalence,
    resample_weights,
    resampled_p,
    share_same,
    weighted_means,
)


def test_resamples_draw_as_many_and_start_with_the_study() -> None:
    weights = resample_weights(10, 200)
    assert weights.shape == (201, 10)
    assert (weights.sum(axis=1) == 10).all()
    assert (weights[0] == 1).all()
    assert (weights == resample_weights(10, 200)).all()


def test_weighted_means_leave_missing_values_out() -> None:
    values = np.array([[1.0, 2.0, 6.0], [1.0, np.nan, 3.0]])
    weights = np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 0.0]])
    means = weighted_means(values, weights)
    assert means[0].tolist() == [3.0, 2.0]
    assert means[1, 0] == 2.0 and np.isnan(means[1, 1])


def test_bootstrap_interval_of_a_mean_is_near_the_normal_one() -> None:
    values = np.random.default_rng(1).normal(10, 2, size=(1, 100))
    low, high = interval(weighted_means(values, resample_weights(100, 4000)))
    half = 1.96 * values.std() / 10
    assert low[0] == pytest.approx(values.mean() - half, abs=0.06)
    assert high[0] == pytest.approx(values.mean() + half, abs=0.06)


def test_share_of_resamples_with_the_same_outcome() -> None:
    assert share_same(np.array([True, True, False, True, True])) == 0.75
    assert share_same(np.array([True])) is None


def test_cliffs_delta_by_its_definition_and_by_mann_whitney() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(4, 10)), rng.normal(0.7, 1, size=(4, 10))
    weights = resample_weights(10, 3)
    got = cliffs_delta(a, b, weights)
    for k in range(4):
        u = stats.mannwhitneyu(a[k], b[k]).statistic
        assert got[0, k] == pytest.approx(2 * u / 100 - 1)
        counts = weights[2].astype(int)
        x, y = np.repeat(a[k], counts), np.repeat(b[k], counts)
        assert got[2, k] == pytest.approx(np.sign(x[:, None] - y[None, :]).mean())
    a[0, 0] = np.nan
    expected = np.sign(a[0, 1:, None] - b[0][None, :]).mean()
    assert cliffs_delta(a, b, weights)[0, 0] == pytest.approx(expected)


def test_equivalence_agrees_with_two_one_sided_tests() -> None:
    rng = np.random.default_rng(3)
    seen = set()
    for shift in (0.0, 0.05, 0.3, 0.9):
        a = rng.normal(1.0, 0.1, 10)
        b = a + rng.normal(shift, 0.1, 10)
        for margin in (0.05, 0.2, 0.4):
            p, _, _ = DescrStatsW(a - b).ttost_mean(-margin, margin)
            got = equivalence(a, b, margin)
            assert (got.judgement is Judgement.EQUIVALENT) == (p < 0.05)
            seen.add(got.judgement)
    assert seen == set(Judgement)


def test_ratio_interval_agrees_with_tests_on_its_limits() -> None:
    rng = np.random.default_rng(4)
    b = rng.normal(0.2, 0.02, 10)
    a = 1.1 * b + rng.normal(0, 0.01, 10)
    got = ratio_equivalence(a, b, 0.25)
    assert got.judgement is Judgement.EQUIVALENT
    for end in (got.low, got.high):
        assert stats.ttest_1samp(a - end * b, 0.0).pvalue == pytest.approx(0.10, abs=1e-6)
    assert ratio_equivalence(2 * a, b, 0.25).judgement is Judgement.DIFFERENT
    assert ratio_equivalence(1.2 * a, b, 0.25).judgement is Judgement.DIFFERENT
    assert ratio_equivalence(a[:3], b[:3], 0.12).judgement is Judgement.UNDECIDED
    assert ratio_equivalence(a[:1], b[:1], 0.25).judgement is Judgement.UNDECIDED


def test_a_missing_rejection_is_not_equivalence() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(1.0, 1.0, 10), rng.normal(1.0, 1.0, 10)
    assert stats.ks_2samp(a, b).pvalue > 0.05
    assert equivalence(a, b, 0.1).judgement is Judgement.UNDECIDED


def test_margins_are_checked() -> None:
    with pytest.raises(ValueError, match="margin"):
        equivalence([1.0], [1.0], 0.0)
    with pytest.raises(ValueError, match="margin"):
        ratio_equivalence([1.0], [1.0], 1.5)
    with pytest.raises(ValueError, match="paired"):
        equivalence([1.0, 2.0], [1.0], 0.1)


def regression_runs(effect: float) -> pl.DataFrame:
    rng = np.random.default_rng(6)
    rows = [
        (loss, corr, delivery, r)
        for loss in (0.01, 0.02, 0.04)
        for corr in (0.0, 0.5, 0.8)
        for delivery in ("ordered", "unordered")
        for r in range(10)
    ]
    runs = pl.DataFrame(rows, schema=["loss", "corr", "delivery", "replication"], orient="row")
    y = (
        0.1
        + 3 * runs["loss"]
        + effect * runs["corr"]
        - 0.02 * (runs["delivery"] == "unordered").cast(pl.Float64)
        + pl.Series(rng.normal(0, 0.02, len(runs)))
    )
    return runs.with_columns(y.alias("p95"))


def test_regression_finds_what_is_there() -> None:
    terms = ["loss", "corr", "delivery"]
    fit = least_squares(regression_runs(0.03), "p95", terms)
    assert fit["term"].to_list() == ["intercept", "loss", "corr", "delivery = unordered"]
    assert fit["coefficient"].to_list() == pytest.approx([0.1, 3, 0.03, -0.02], abs=0.015, rel=0.1)
    assert fit["p_value"][2] < 0.001
    assert least_squares(regression_runs(0.0), "p95", terms)["p_value"][2] > 0.05


def test_resampled_regression_is_the_regression_of_the_resample() -> None:
    runs = regression_runs(0.004)
    terms = ["loss", "corr", "delivery"]
    weights = resample_weights(10, 3)
    got = resampled_p(runs, "p95", terms, "corr", weights)
    for w, counts in enumerate(weights.astype(int)):
        parts = [
            runs.filter(pl.col("replication") == r) for r in range(10) for _ in range(counts[r])
        ]
        expected = least_squares(pl.concat(parts), "p95", terms)["p_value"][2]
        assert got[w] == pytest.approx(expected, rel=1e-6)


def two_deliveries(gap: float, points: int = 5) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    rows = [
        (loss / 100, delivery, r, 0.1 + (gap if delivery == "ordered" else 0.0))
        for loss in range(points)
        for delivery in ("ordered", "unordered")
        for r in range(10)
    ]
    runs = pl.DataFrame(rows, schema=["loss", "delivery", "replication", "p95"], orient="row")
    return runs.with_columns(pl.col("p95") + pl.Series(rng.normal(0, 0.01, len(runs))))


def test_comparison_tells_a_difference_with_its_size() -> None:
    table = compare(two_deliveries(0.05), "delivery", "ordered", "unordered", ["loss"], "p95")
    assert table.height == 5
    assert table["significant"].all()
    assert table["difference"].to_list() == pytest.approx([0.05] * 5, abs=0.012)
    assert (table["difference.ci_low"] < table["difference"]).all()
    assert (table["difference.ci_high"] > table["difference"]).all()
    assert table["ratio"].to_list() == pytest.approx([1.5] * 5, abs=0.15)
    assert (table["cliffs_delta"] > 0.9).all()
    assert (table["ks_p"] < 0.05).all()
    assert (table["stable"] > 0.9).all()


def test_comparison_of_equals_is_not_significant() -> None:
    table = compare(two_deliveries(0.0), "delivery", "ordered", "unordered", ["loss"], "p95")
    assert not table["significant"].any()
    assert ((table["difference.ci_low"] < 0) & (table["difference.ci_high"] > 0)).any()


def test_comparison_leaves_out_points_without_both_levels() -> None:
    runs = two_deliveries(0.05).filter(
        ~((pl.col("loss") == 0.0) & (pl.col("delivery") == "ordered"))
    )
    table = compare(runs, "delivery", "ordered", "unordered", ["loss"], "p95")
    assert table["loss"].to_list() == pytest.approx([0.01, 0.02, 0.03, 0.04])


def test_one_replication_has_neither_interval_nor_stability() -> None:
    runs = two_deliveries(0.05).filter(pl.col("replication") == 0)
    table = compare(runs, "delivery", "ordered", "unordered", ["loss"], "p95")
    assert table["stable"].null_count() == 5 and table["difference.ci_low"].null_count() == 5
    assert not table["significant"].any()


def test_comparing_a_whole_study() -> None:
    runs = two_deliveries(0.02, points=168)
    table = compare(runs, "delivery", "ordered", "unordered", ["loss"], "p95")
    assert table.height == 168
