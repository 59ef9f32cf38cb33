"""Seed 2's equations and the throughput of bulk TCP."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headway.models import padhye, simco

TABLE = {
    # p: D, then R for N = 1 to 6, in ms.
    0.0: (50.00, 20.50, 20.50, 20.50, 20.50, 20.50, 20.50),
    0.005: (50.30, 22.02, 21.41, 21.21, 21.11, 21.01, 21.00),
    0.01: (50.61, 23.57, 22.34, 21.92, 21.72, 21.52, 21.51),
    0.02: (51.24, 26.80, 24.25, 23.40, 23.00, 22.60, 22.55),
    0.03: (51.88, 30.18, 26.24, 24.93, 24.33, 23.73, 23.61),
    0.04: (52.55, 33.73, 28.31, 26.51, 25.71, 24.91, 24.70),
    0.05: (53.24, 37.44, 30.47, 28.15, 27.15, 26.15, 25.82),
    0.06: (53.95, 41.35, 32.72, 29.85, 28.65, 27.45, 26.97),
    0.07: (54.69, 45.44, 35.07, 31.61, 30.21, 28.81, 28.16),
    0.08: (55.44, 49.73, 37.51, 33.44, 31.84, 30.24, 29.37),
    0.1: (57.04, 58.94, 42.72, 37.31, 35.31, 33.31, 31.91),
}


@pytest.mark.parametrize("p", TABLE)
def test_simco_response_times(p: float) -> None:
    recovery, *response = TABLE[p]
    interval = simco.message_interval_s()
    assert simco.recovery_s(p, interval, 0.02) * 1000 == pytest.approx(recovery, abs=0.005)
    for streams, expected in enumerate(response, start=1):
        # The published values have two decimals.
        assert simco.response_time_s(p, streams) * 1000 == pytest.approx(expected, abs=0.0101)
    assert simco.response_time_s(p, 20) == pytest.approx(simco.response_time_s(p, 6), rel=1e-12)


def test_simco_blocked_chunks() -> None:
    for p in (0.005, 0.01, 0.04, 0.08):
        recovery = simco.recovery_s(p, 0.01, 0.02)
        assert [simco.blocked_chunks(recovery, 0.01, n) for n in range(1, 7)] == [5, 2, 1, 1, 1, 0]


def test_simco_workload() -> None:
    assert simco.transactions_of_pinhole(250, 120) == 4
    assert simco.transactions_of_pinhole(0, 120) == 2
    assert simco.message_interval_s() == pytest.approx(0.010)
    assert simco.message_interval_s(approximate=False) * 1000 == pytest.approx(9.82, abs=0.005)
    # Against equation 1 itself, summed over lifetimes.
    t = (np.arange(4_000_000) + 0.5) * 1e-3
    density = np.exp(-t / 180) / 180 * 1e-3
    mean = float((2 + np.floor(t / 120)) @ density)
    assert simco.message_interval_s(approximate=False) == pytest.approx(0.03 / mean, rel=1e-5)
    assert simco.PAPER.calls == pytest.approx(3000)
    assert simco.PAPER.subscribers == pytest.approx(60_000)


def test_simco_report_probability_is_negative_binomial() -> None:
    for p in (0.0, 0.01, 0.1):
        i = range(400)
        weights = [simco.report_probability(p, k) for k in i]
        assert sum(weights) == pytest.approx(1, abs=1e-12)
        mean = sum(k * w for k, w in zip(i, weights, strict=True))
        assert mean == pytest.approx(3 / (1 - p) ** 2)
    assert simco.report_probability(0.1, 2) == 0
    # The last of four chunks reports third: one of the first three did not.
    s = 0.9**2
    assert simco.report_probability(0.1, 4) == pytest.approx(3 * s**3 * (1 - s))


def test_simco_number_of_streams() -> None:
    assert simco.streams_by_equation_5() == 5
    assert simco.optimal_streams(0.0) == 5
    assert {simco.optimal_streams(p) for p in (1e-6, 0.01, 0.05, 0.1, 0.133)} == {6}
    assert simco.optimal_streams(0.135) == 7
    # With the exact interval of 9.82 ms equation 5 gives 6 as well.
    exact = simco.message_interval_s(approximate=False)
    assert math.ceil(0.02 / exact + 3) == 6
    table = simco.response_table([0.01], [1, 6])
    assert table["blocked"].to_list() == [5, 0]
    # Many streams leave the lost chunk's own wait.
    assert simco.resequencing_wait_s(0.01, 0.01, 0.02, 6) == pytest.approx(
        0.01 * simco.recovery_s(0.01, 0.01, 0.02)
    )


def test_simco_gain_of_streams_grows_with_loss() -> None:
    gains = [simco.response_time_s(p, 1) - simco.response_time_s(p, 6) for p in TABLE]
    assert np.all(np.diff(gains) > 0)
    assert simco.response_time_s(0.02, 2) < 0.94 * simco.response_time_s(0.02, 1)
    assert simco.response_time_s(0.02, 6) < 0.88 * simco.response_time_s(0.02, 1)


def test_simco_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="loss rate"):
        simco.response_time_s(1.0, 1)
    with pytest.raises(ValueError, match="streams"):
        simco.response_time_s(0.01, 0)


def test_square_root_formula() -> None:
    # 1.22 MSS / (RTT sqrt p) in kb/s.
    for rtt, p, kbps in ((0.3, 0.005, 666), (0.1, 0.01, 1413), (0.1, 0.03, 816), (0.1, 0.05, 632)):
        found = padhye.square_root(p, rtt) * 1448 * 8 / 1000
        assert found == pytest.approx(kbps, rel=0.005)


def test_expected_window_by_hand() -> None:
    # b = 1: 1 + sqrt(8 (1-p) / (3 p) + 1).
    assert padhye.expected_window(0.01) == pytest.approx(1 + math.sqrt(8 * 0.99 / 0.03 + 1))
    # b = 2: 2/3 (1 + sqrt(3 (1-p)/p + 1)).
    expected = 2 / 3 * (1 + math.sqrt(3 * 0.99 / 0.01 + 1))
    assert padhye.expected_window(0.01, 2) == pytest.approx(expected)


def test_timeout_probability_of_padhye() -> None:
    assert padhye.timeout_probability(0.01, 3) == 1
    q, w = 0.99, 10
    arrived = [q**k * 0.01 / (1 - q**w) for k in range(w)]
    expected = sum(arrived[:3]) + sum(arrived[3:]) * (1 - q**3)
    assert padhye.timeout_probability(0.01, w) == pytest.approx(expected)
    # About 3/w for small p.
    assert padhye.timeout_probability(1e-6, 20) == pytest.approx(3 / 20, rel=1e-3)


def test_full_model_by_hand() -> None:
    p, rtt, t0 = 0.02, 0.1, 0.4
    w = padhye.expected_window(p)
    timed_out = padhye.timeout_probability(p, w)
    f = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    sent = 0.98 / p + w + timed_out / 0.98
    length = rtt * (w / 2 + 1) + timed_out * t0 * f / 0.98
    assert padhye.throughput_full(p, rtt, t0) == pytest.approx(sent / length)


def test_the_forms_meet_at_small_loss() -> None:
    for b in (1.0, 2.0):
        root = padhye.square_root(1e-7, 0.1, b)
        assert padhye.throughput_approximate(1e-7, 0.1, 0.4, b) == pytest.approx(root, rel=1e-3)
        assert padhye.throughput_full(1e-7, 0.1, 0.4, b) == pytest.approx(root, rel=0.01)


def test_throughput_falls_with_loss_and_keeps_to_the_receive_window() -> None:
    losses = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
    for form in (padhye.throughput_full, padhye.throughput_approximate):
        rates = [form(p, 0.1, 0.4) for p in losses]
        assert np.all(np.diff(rates) < 0)
        limited = form(1e-5, 0.1, 0.4, window_max=20)
        assert limited <= 200 and limited == pytest.approx(200, rel=0.05)
    with pytest.raises(ValueError, match="loss rate"):
        padhye.throughput_full(0.0, 0.1, 0.4)
    with pytest.raises(ValueError, match="above zero"):
        padhye.square_root(0.1, 0.0)
