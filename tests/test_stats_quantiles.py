"""The quantile rule and pooled distributions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.stats import LEVELS, pooled_cdf, pooled_quantiles, quantile


def test_linear_interpolation_between_order_statistics() -> None:
    assert quantile([10.0, 20.0, 30.0, 40.0], 0.95) == pytest.approx(38.5)
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([1.0, float("nan"), 3.0], 0.5) == 2.0
    assert np.isnan(quantile([], 0.5))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0, 1))
def test_rule_by_its_definition(values: list[float], level: float) -> None:
    ordered = sorted(values)
    place = level * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    expected = ordered[below] + (place - below) * (ordered[above] - ordered[below])
    assert quantile(values, level) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_one_run_pooled_is_the_run() -> None:
    run = np.quantile(np.random.default_rng(1).exponential(size=4000), LEVELS)
    assert pooled_cdf(run[None, :], run) == pytest.approx(LEVELS)
    assert pooled_quantiles(run[None, :], LEVELS) == pytest.approx(run)


def test_pooled_distribution_is_the_mean_of_the_functions() -> None:
    low, high = np.linspace(0.0, 1.0, 201), np.linspace(10.0, 11.0, 201)
    both = np.vstack([low, high])
    assert pooled_cdf(both, np.array([0.5, 5.0, 10.5])) == pytest.approx([0.25, 0.5, 0.75])
    assert pooled_quantiles(both, np.array([0.25, 0.75])) == pytest.approx([0.5, 10.5], abs=0.01)


def test_a_step_counts_from_its_value_on() -> None:
    run = np.concatenate([np.full(150, 0.02), np.linspace(0.02, 0.1, 51)])[None, :]
    at = pooled_cdf(run, np.array([0.0199, 0.02]))
    assert at[0] == pytest.approx(0.0)
    assert at[1] == pytest.approx(0.75, abs=0.005)
