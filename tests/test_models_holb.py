"""First-order models of head-of-line blocking, against simulated losses and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headway.models.holb import (
    LossRecovery,
    MediaRecovery,
    Signalling,
    blockers,
    clean_threshold,
    loss_threshold,
    lossless_probability,
)
from headway.models.tcp_chain import FLOWS, solve


def drawn_waits(
    rate: float, p: float, rtt: float, streams: int, count: int, seed: int, rto: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """(own waits, waits in order) of messages, drawn one by one: no formula of the model."""
    random = np.random.default_rng(seed)
    sent = np.cumsum(random.exponential(1 / rate, count))
    reports = random.random(count) < (1 - p) ** 2
    own = np.zeros(count)
    for lost in np.flatnonzero(random.random(count) < p):
        seen, at = 0, lost
        while at + 1 < count and seen < 3:
            at += 1
            seen += bool(reports[at])
        third = sent[at] - sent[lost] if seen == 3 else math.inf
        started = max(0.0, rtt - (sent[lost] - sent[lost - 1])) if lost else 0.0
        timer = rto + started - rtt
        own[lost] = rtt + min(third, timer)
        again = 2 * rto if third > timer else rto
        while random.random() < p:
            own[lost] += again
            again *= 2
    wait = np.empty(count)
    for stream in range(streams):
        of_stream = np.arange(stream, count, streams)
        arrived = sent[of_stream] + own[of_stream]
        wait[of_stream] = np.maximum.accumulate(arrived) - sent[of_stream]
    return own, wait


@pytest.mark.parametrize(
    ("rate", "p", "rtt", "streams"),
    [(40, 0.02, 0.04, 1), (40, 0.02, 0.04, 4), (20, 0.01, 0.12, 1), (5, 0.02, 0.04, 1)],
)
def test_delays_match_drawn_losses(rate: float, p: float, rtt: float, streams: int) -> None:
    own, wait = drawn_waits(rate, p, rtt, streams, 300_000, seed=7)
    kind = "ordered" if streams == 1 else "streams"
    at = Signalling(rate, p, rtt, kind, streams)  # type: ignore[arg-type]
    assert at.inside
    delay = at.delay
    blocked = wait - own > 1e-12
    assert delay.blocked_share == pytest.approx(blocked.mean(), rel=0.06)
    assert delay.recovery_mean_s == pytest.approx(own.mean(), rel=0.06)
    assert delay.blocking_mean_s == pytest.approx((wait - own).mean(), rel=0.12)
    half = wait.size // 2
    calls = rtt + wait[:half] + wait[half : 2 * half]
    for q in (0.9, 0.95):
        assert delay.psd_quantile_s(q) == pytest.approx(np.quantile(calls, q), rel=0.06)
    assert delay.psd_mean_s == pytest.approx(calls.mean(), rel=0.04)


def test_recovery_of_one_loss_by_hand() -> None:
    # Many messages, no time-out: RTT + three messages of which each reports with (1-p)^2.
    p, rate, rtt = 0.01, 1000.0, 0.05
    lost = LossRecovery(p, rate, rtt)
    fast = rtt + 3 / (rate * (1 - p) ** 2)
    # One retransmission in a hundred waits for the timer of 1 s, the next one for 2 s.
    timer = sum(p**k * (1 - p) * (2**k - 1) for k in range(1, 7))
    assert lost.timeout_share < 1e-12
    assert lost.mean_s == pytest.approx(fast + timer, rel=1e-6)
    # Hardly any messages: the timer alone.
    alone = LossRecovery(p, 1e-6, rtt)
    assert alone.timeout_share == pytest.approx(1, abs=1e-5)
    doubled = sum(p**k * (1 - p) * (2 ** (k + 1) - 2) for k in range(1, 7))
    assert alone.mean_s == pytest.approx(1 + doubled, rel=1e-5)
    # The mean is that of the distribution.
    x = np.concatenate([np.linspace(0, 3, 30_001), np.linspace(3, 130, 20_001)[1:]])
    middling = LossRecovery(0.05, 4.0, 0.1)
    assert np.trapezoid(1 - middling.missing_at_most(x), x) == pytest.approx(
        middling.mean_s, rel=1e-3
    )
    assert np.all(np.diff(middling.missing_at_most(x)) >= 0)


def test_repeated_fast_retransmission_spares_the_timer() -> None:
    once, repeated = (LossRecovery(0.1, 100.0, 0.05, repeat=r) for r in (False, True))
    assert repeated.mean_s < once.mean_s
    assert repeated.mean_s == pytest.approx(
        (0.05 + once.detection_mean_s) * (1 + 0.1 / 0.9), rel=1e-5
    )


def test_blockers_by_hand() -> None:
    # One report suffices, none is lost in effect: K = 1, so M(0) = 1 + Poisson(rate RTT).
    p, rate, rtt = 1e-9, 50.0, 0.1
    lost = LossRecovery(p, rate, rtt, rto_s=100.0, reports=1)
    x = np.array([0.0, 0.05])
    assert blockers(lost, 1, x) / p == pytest.approx([1 + 5, 1 + 2.5], rel=1e-5)
    # Two streams in turn: every second one, floor((1 + Poisson(5)) / 2).
    n = np.arange(60)
    weights = np.exp(-5 + n * math.log(5) - np.array([math.lgamma(k + 1) for k in n]))
    expected = float(weights @ ((1 + n) // 2))
    assert blockers(lost, 2, x[:1])[0] / p == pytest.approx(expected, rel=1e-5)
    # At random: half of them.
    assert blockers(lost, 2, x, "random") / p == pytest.approx([3, 1.75], rel=1e-5)
    # Nobody waits longer than the recovery takes.
    assert blockers(lost, 1, np.array([1000.0]))[0] == pytest.approx(0, abs=1e-15)
    # Before the third report only two messages can wait longer than RTT.
    three = LossRecovery(p, rate, rtt, rto_s=100.0)
    assert blockers(three, 1, np.array([rtt + 1e-9]))[0] / p == pytest.approx(2, rel=1e-3)


def test_order_costs_and_streams_relieve() -> None:
    values = [
        Signalling(40, 0.02, 0.04, kind, n).delay.psd_mean_s  # type: ignore[arg-type]
        for kind, n in (
            ("ordered", 1),
            ("streams", 2),
            ("streams", 4),
            ("streams", 16),
            ("unordered", 1),
        )
    ]
    assert np.all(np.diff(values) < 0)
    one = Signalling(40, 0.02, 0.04, "streams", 1).delay
    assert one.psd_mean_s == pytest.approx(values[0], rel=1e-12)
    for delivery in ("ordered", "unordered"):
        worse = [
            Signalling(40, p, 0.04, delivery).delay.psd_mean_s for p in (0.0, 0.01, 0.03, 0.06)
        ]  # type: ignore[arg-type]
        assert worse[0] == 0.04 and np.all(np.diff(worse) > 0)


def test_thresholds() -> None:
    assert lossless_probability(0.02) == pytest.approx(0.9604)
    assert lossless_probability(0.03) == pytest.approx(0.9409)
    assert loss_threshold() == pytest.approx(0.02532, abs=5e-6)
    assert clean_threshold(Signalling(40, 0.01, 0.04, "unordered")) == pytest.approx(
        loss_threshold(), abs=1e-8
    )
    at = Signalling(40, 0.03, 0.04, "streams", 3)
    assert at.blockers_at_all == pytest.approx(at.blockers(np.zeros(1))[0], rel=1e-4)
    ordered = clean_threshold(Signalling(40, 0.01, 0.04, "ordered"))
    streams = clean_threshold(Signalling(40, 0.01, 0.04, "streams", 4))
    assert ordered < streams < loss_threshold()
    below, above = (
        Signalling(40, p, 0.04, "unordered").delay.psd_quantile_s(0.95) for p in (0.025, 0.026)
    )
    assert below == 0.04 and above > 0.08
    with pytest.raises(ValueError, match="quantile"):
        loss_threshold(1.0)


def test_parallel_connections_find_losses_later_and_block_fewer() -> None:
    one = Signalling(40, 0.01, 0.04)
    four = Signalling(40, 0.01, 0.04, connections=4)
    assert four.recovery.mean_s > one.recovery.mean_s
    assert four.delay.blocked_share < one.delay.blocked_share
    # A connection is an ordered association of a quarter of the rate.
    quarter = Signalling(10, 0.01, 0.04)
    assert four.delay.psd_mean_s == pytest.approx(quarter.delay.psd_mean_s, rel=1e-12)
    # One order over all of them blocks more than one connection does.
    together = Signalling(40, 0.01, 0.04, connections=4, resequenced=True)
    assert together.delay.blocked_share > one.delay.blocked_share
    overall = together.blockers(np.zeros(1))[0] - four.blockers(np.zeros(1))[0]
    assert overall == pytest.approx(0.01 * 30 * four.recovery.mean_s, rel=1e-3)


def test_region_of_validity() -> None:
    assert Signalling(40, 0.05, 0.04).inside
    assert not Signalling(40, 0.06, 0.04).inside
    crowded = Signalling(400, 0.04, 0.2)
    assert crowded.overlap > 0.5 and not crowded.inside
    for wrong in (
        {"rate": 0.0},
        {"loss": 1.0},
        {"rto_s": 0.01},
        {"connections": 0},
        {"delivery": "any"},
        {"delivery": "unordered", "resequenced": True},
    ):
        settings = {"rate": 40.0, "loss": 0.01, "rtt_s": 0.04, **wrong}
        with pytest.raises(ValueError, match=r"must|counted|no such|only ordered"):
            _ = Signalling(**settings).delay  # type: ignore[arg-type]


def test_media_recovery_by_hand() -> None:
    # RTT 100 ms, 20 ms: Y = 160 ms, and the 8 packets of the flight are late.
    at = MediaRecovery(0.02, 0.1, 0.01)
    assert at.recovery_s == pytest.approx(0.16)
    assert [at.holding_back(x) for x in (0.0, 0.01, 0.02, 0.15, 0.16)] == [8, 8, 7, 1, 0]
    assert at.late_fraction(0.05) == pytest.approx(1 - 0.99**8)
    assert at.mean_s == pytest.approx(0.05 + 0.02 * sum(1 - 0.99**n for n in range(1, 9)))
    # 0.95 lies between 0.99^5 and 0.99^6: five losses are let pass, 160 - 100 ms remain.
    assert at.percentile_s(0.95) == pytest.approx(0.05 + 0.06)
    assert MediaRecovery(0.02, 0.1, 0.0).percentile_s(0.95) == 0.05
    # Two connections in turn wait for three of their own packets.
    two = MediaRecovery(0.02, 0.1, 0.01, connections=2)
    assert two.recovery_s == pytest.approx(0.22)
    assert two.holding_back(0.0) == 11
    assert MediaRecovery(0.02, 0.1, 0.01, 2, resequenced=False).holding_back(0.0) == 6
    halves = MediaRecovery(0.02, 0.1, 0.01, pieces=2)
    assert halves.recovery_s == pytest.approx(0.13) and halves.holding_back(0.0) == 13


def test_media_recovery_bounds_the_chain_from_below() -> None:
    voice, video = FLOWS["voice-20ms"], FLOWS["live-20ms"]
    for p in (0.001, 0.01):
        bound = MediaRecovery(0.02, 0.1, p)
        assert bound.inside
        # Small packets clear their backlog in a round: the bound is nearly reached.
        assert bound.mean_s == pytest.approx(solve(voice, 0.1, p).mean_s, rel=0.01)
        assert bound.mean_s < solve(video, 0.1, p).mean_s
    # The distribution's mean, by sums over a fine grid.
    x = (np.arange(200_000) + 0.5) * 1e-6
    late = np.array([bound.late_fraction(0.05 + float(v)) for v in x[::50]])
    assert 0.05 + late.sum() * 5e-5 == pytest.approx(bound.mean_s, rel=1e-3)


def test_media_recovery_refuses_nonsense() -> None:
    for wrong in ({"loss": 1.0}, {"interval_s": 0.0}, {"connections": 0}, {"pieces": 0}):
        with pytest.raises(ValueError, match=r"must|counted"):
            MediaRecovery(**{"interval_s": 0.02, "rtt_s": 0.1, "loss": 0.01, **wrong})
