"""The exact two-sample Kolmogorov-Smirnov test."""

from __future__ import annotations

import warnings
from math import comb

import numpy as np
import pytest
from scipy import stats

from headway.stats import critical_distance, exact_p, ks_distance, ks_test, resample_weights


def test_ten_against_ten_rejects_from_seven_tenths_on() -> None:
    assert critical_distance(10, 10) == pytest.approx(0.7)
    # Reflection principle, n = m: 2 (C(20, 3) - C(20, -4) + ...) / C(20, 10).
    assert exact_p(10, 10, 0.7) == pytest.approx(2 * comb(20, 3) / comb(20, 10))
    assert exact_p(10, 10, 0.6) == pytest.approx(2 * comb(20, 4) / comb(20, 10))


@pytest.mark.parametrize(("n", "m"), [(10, 10), (10, 7), (5, 12), (3, 3), (100, 100), (40, 60)])
def test_p_values_are_those_of_scipy(n: int, m: int) -> None:
    rng = np.random.default_rng(n * 1000 + m)
    for shift in np.linspace(0, 2, 9):
        a, b = rng.normal(size=n), rng.normal(shift, 1, size=m)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = stats.ks_2samp(a, b, method="exact")
        got = ks_test(a, b)
        assert got.distance == pytest.approx(expected.statistic)
        assert got.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(10, 10), (9, 10), (30, 20), (100, 100)])
def test_critical_distance_is_where_the_p_value_crosses(n: int, m: int) -> None:
    limit = critical_distance(n, m)
    step = 1 / np.lcm(n, m)
    assert exact_p(n, m, limit) <= 0.05 < exact_p(n, m, limit - step)


def test_too_few_runs_never_reject() -> None:
    assert critical_distance(2, 2) == float("inf")
    assert not ks_test([1.0, 2.0], [8.0, 9.0]).rejects
    assert not ks_test([], [1.0]).rejects


def test_false_alarms_stay_below_the_level() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(5000, 10)), rng.normal(size=(5000, 10))
    ones = np.ones((1, 10))
    distance = ks_distance(a, b, ones, ones)[0]
    assert np.mean(distance >= critical_distance(10, 10) - 1e-9) == pytest.approx(0.0123, abs=0.006)


def test_ties_enter_both_functions_together() -> None:
    a = [1.0, 1.0, 1.0, 2.0]
    assert ks_test(a, a).distance == 0.0
    assert ks_test([1.0, 1.0, 2.0], [1.0, 2.0, 2.0]).distance == pytest.approx(1 / 3)


def test_missing_values_are_left_out() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=10), rng.normal(1, 1, size=10)
    a[3] = np.nan
    ones = np.ones((1, 10))
    expected = stats.ks_2samp(a[np.isfinite(a)], b, method="exact").statistic
    assert ks_distance(a[None], b[None], ones, ones)[0, 0] == pytest.approx(expected)


def test_weights_are_repeated_values() -> None:
    rng = np.random.default_rng(10)
    a, b = rng.normal(size=(3, 10)), rng.normal(0.5, 1, size=(3, 10))
    weights = resample_weights(10, 5)
    got = ks_distance(a, b, weights, weights)
    for w, counts in enumerate(weights.astype(int)):
        for k in range(3):
            expected = stats.ks_2samp(np.repeat(a[k], counts), np.repeat(b[k], counts)).statistic
            assert got[w, k] == pytest.approx(expected)
