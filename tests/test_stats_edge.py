"""The edge of a cell: crossings, regions, budgets; against curves whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.stats import edge

SNR = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
NAN = float("nan")


def test_a_crossing_lies_on_the_line_between_two_runs() -> None:
    values = np.array([[0.0, 0.2, 0.4, 0.8, 1.0]])
    assert edge.crossing(SNR, values, 0.6)[0] == pytest.approx(3.0)
    assert edge.crossing(SNR, values, 0.9)[0] == pytest.approx(6.0)
    # A value that is met exactly counts.
    assert edge.crossing(SNR, values, 0.4)[0] == pytest.approx(2.0)


def test_the_highest_crossing_counts_and_none_is_invented() -> None:
    dented = np.array([[0.0, 0.95, 0.5, 1.0, 1.0]])
    assert edge.crossing(SNR, dented, 0.9)[0] == pytest.approx(3.6)
    assert np.isnan(edge.crossing(SNR, np.full((1, 5), 0.5), 0.9)[0])
    assert np.isnan(edge.crossing(SNR, np.full((1, 5), 0.95), 0.9)[0])
    # Behind a run without a value nobody looks on.
    gap = np.array([[0.0, 0.1, NAN, 0.95, 1.0]])
    assert np.isnan(edge.crossing(SNR, gap, 0.9)[0])


def test_a_region_says_which_of_its_ends_was_not_reached() -> None:
    whole = edge.region(SNR, np.array([[0.0, 0.05, 0.55, 0.95, 1.0]]))
    assert whole.high[0] == pytest.approx(3.75)
    assert whole.low[0] == pytest.approx(1.1)
    assert whole.width[0] == pytest.approx(2.65)
    open_above = edge.region(SNR, np.array([[0.0, 0.05, 0.55, 0.7, 0.8]]))
    assert np.isnan(open_above.high[0]) and open_above.top[0] == 8.0
    assert open_above.width[0] == pytest.approx(6.9)
    open_below = edge.region(SNR, np.array([[NAN, 0.3, 0.55, 0.95, 1.0]]))
    assert np.isnan(open_below.low[0]) and open_below.bottom[0] == 1.0


def test_a_mean_inside_takes_the_runs_inside_only() -> None:
    region = edge.region(SNR, np.array([[0.0, 0.05, 0.55, 0.95, 1.0]]))
    assert region.mean(SNR, np.array([[9.0, 9.0, 0.4, 9.0, 9.0]]))[0] == pytest.approx(0.4)
    narrow = edge.Region(*(np.array([x]) for x in (3.0, 2.5, 3.0, 2.5)))
    assert np.isnan(narrow.mean(SNR, np.ones((1, 5)))[0])


def test_values_at_a_place() -> None:
    values = np.array([[0.0, 1.0, 2.0, 4.0, 8.0], [NAN, NAN, 2.0, 4.0, 8.0]])
    assert edge.at(SNR, values, np.array([3.0, NAN]))[0] == pytest.approx(3.0)
    assert np.isnan(edge.at(SNR, values, np.array([3.0, NAN]))[1])


def test_resamples_keep_the_number_and_begin_with_the_study() -> None:
    counts = np.array([[10, 20, 70], [0, 0, 0]])
    drawn = edge.resampled(counts, 50, seed=3)
    assert drawn.shape == (51, 2, 3)
    assert drawn[0].tolist() == counts.tolist()
    assert (drawn.sum(axis=-1) == [100, 0]).all()
    assert drawn[1:, 0, 2].std() == pytest.approx(np.sqrt(100 * 0.7 * 0.3), rel=0.3)
    assert (drawn == edge.resampled(counts, 50, seed=3)).all()


def test_who_keeps_a_budget() -> None:
    quantiles = np.linspace(0.0, 1.0, 201)
    assert edge.within(quantiles, 0.25, 0.8) == pytest.approx(0.2)
    assert edge.within(quantiles, 2.0, 0.8) == pytest.approx(0.8)
    assert edge.within(np.array([]), 1.0, 0.0) == 0.0
    shares = np.array([0.1, 0.5, 0.9, 1.0, 1.0])
    places = edge.leave(SNR, shares, np.full(5, 2000.0), 0.95, 200, seed=1)
    assert places[0] == pytest.approx(3.0)
    assert places[1:].std() > 0 and abs(np.nanmean(places[1:]) - 3.0) < 0.1


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12), st.floats(0.05, 0.95))
def test_a_crossing_lies_between_two_runs_that_enclose_the_level(
    values: list[float], level: float
) -> None:
    snr = np.arange(len(values), dtype=np.float64)
    found = edge.crossing(snr, np.array([values]), level)[0]
    falls = [i for i in range(len(values) - 1) if values[i] < level <= values[i + 1]]
    if not falls:
        assert np.isnan(found)
    else:
        assert falls[-1] <= found <= falls[-1] + 1
