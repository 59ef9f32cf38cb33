"""Claims on one media flow with configured drops, held against simulation (seed 4, 5, 6.1, 6.2).

Each function takes the runs of a study and follows the check and the tolerance that the
claim's entry in media_over_tcp.toml states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.claims.grid import Array, Axis, Grid, View
from headway.claims.registry import checks
from headway.claims.verdict import Finding

LOSSES = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
PAYLOADS, INTERVALS = (160.0, 710.0, 1434.0), (0.02, 0.03)
SETUP_A = {
    "payload": Axis("workload.payload", PAYLOADS, "B"),
    "interval": Axis("workload.interval", (*INTERVALS, 0.01), "ms", 1000),
    "delay": Axis("path.one_way_delay", (0.01, 0.05, 0.15), "ms", 1000),
    "loss": Axis("path.loss.rate", LOSSES, "% loss", 100),
}
VOIP: dict[str, Any] = {"payload": 160.0, "interval": 0.02}
VIDEO: dict[str, Any] = {"payload": 1434.0, "interval": 0.02}
HALVES: dict[str, Any] = {"payload": 710.0, "interval": 0.01}
P95 = "delay_p95_s"
RTP = 12
"""Bytes of header that the application hands over with the payload."""


def at(view: View, metric: str, losses: Sequence[float], **where: Any) -> Array:
    """Means over replications by loss rate, one row a resample."""
    return view.means(Grid(view, SETUP_A, metric).at(loss=losses, **where))


def told(losses: Sequence[float], values: Array, factor: float, unit: str) -> str:
    """Values by loss rate."""
    return ", ".join(
        f"{factor * value:.4g} {unit} at {100 * loss:g} %"
        for loss, value in zip(losses, values, strict=True)
    )


@checks("s4-c02")
def voip_at_100_ms(view: View) -> Finding:
    """P95 of VoIP at 2 and 5 %."""
    losses = (0.02, 0.03, 0.05)
    p95 = at(view, P95, losses, delay=0.05, **VOIP)
    return Finding((p95[:, 0] <= 0.22) & (p95[:, 2] > 0.2), told(losses, p95[0], 1000, "ms"))


@checks("s4-c03")
def voip_at_20_ms(view: View) -> Finding:
    """P95 of VoIP at 5 %."""
    losses = (0.03, 0.05, 0.1)
    p95 = at(view, P95, losses, delay=0.01, **VOIP)
    return Finding(p95[:, 1] <= 0.22, told(losses, p95[0], 1000, "ms"))


@checks("s4-c04")
def video_at_100_ms(view: View) -> Finding:
    """Largest delay of live video at 2 and 10 %."""
    losses = (0.02, 0.03, 0.05, 0.1)
    most = at(view, "delay_max_s", losses, delay=0.05, **VIDEO)
    return Finding((most[:, 0] <= 5) & (most[:, 3] > 5), told(losses, most[0], 1, "s"))


@checks("s4-c05")
def video_at_300_ms(view: View) -> Finding:
    """Largest delay of live video at 0.1 and 0.5 %."""
    losses = (0.001, 0.005)
    most = at(view, "delay_max_s", losses, delay=0.15, **VIDEO)
    return Finding((most[:, 0] <= 5) & (most[:, 1] > 3.5), told(losses, most[0], 1, "s"))


@checks("s4-c01")
def rates_of_the_flows(view: View) -> Finding:
    """Media bits that the six flows handed over in a second, without their headers."""
    expected = (64.0, 128 / 3, 284.0, 568 / 3, 573.6, 382.4)
    flows = [(payload, interval) for payload in PAYLOADS for interval in INTERVALS]
    found = []
    for payload, interval in flows:
        where = {"payload": payload, "interval": interval, "delay": 0.05}
        offered = at(view, "offered_bps", LOSSES[:1], **where)[:, 0]
        found.append(offered * payload / (payload + RTP) / 1000)
    rates = np.stack(found, axis=1)
    return Finding(
        (abs(rates - np.array(expected)) < 0.05).all(axis=1),
        ", ".join(f"{rate:.1f}" for rate in rates[0]) + " kb/s",
        "By size, at 20 and at 30 ms. The paper prints 42, 187 and 378 kb/s for 30 ms: 0.66 of the "
        "rates at 20 ms.",
    )


def _both(a: Array, b: Array, losses: Sequence[float], factor: float, unit: str) -> str:
    return ", ".join(
        f"{factor * x:.3g} for {factor * y:.3g} {unit} at {100 * loss:g} %"
        for loss, x, y in zip(losses, a, b, strict=True)
    )


@checks("s4-c06")
def voip_below_video(view: View) -> Finding:
    """P95 of both at 100 and 300 ms; strict from 1 % loss on."""
    lower, told = [], []
    for delay in (0.05, 0.15):
        voice, video = (at(view, P95, LOSSES, delay=delay, **flow) for flow in (VOIP, VIDEO))
        lower.append((voice < video)[:, LOSSES.index(0.01) :])
        told.append(f"RTT {2000 * delay:.0f} ms: {_both(voice[0], video[0], LOSSES, 1000, 'ms')}")
    kept = np.concatenate(lower, axis=1)
    return Finding(
        kept.all(axis=1),
        f"lower at {int(kept[0].sum())} of {kept.shape[1]} points from 1 % loss on",
        f"VoIP for video. {'; '.join(told)}.",
    )


@checks("s4-c07")
def half_packets_are_faster(view: View) -> Finding:
    """P95 of video in halves over that of video whole, RTT 100 ms."""
    whole = at(view, P95, LOSSES, delay=0.05, **VIDEO)
    half = at(view, P95, LOSSES, delay=0.05, **HALVES)
    most = np.array([1.05 if loss < 0.01 else 1.0 for loss in LOSSES])
    ratio = half / whole
    kept = np.where(np.array(LOSSES) < 0.03, ratio <= most, ratio < 1)
    return Finding(
        kept.all(axis=1),
        f"kept at {int(kept[0].sum())} of {len(LOSSES)} loss rates",
        f"In halves for whole: {_both(half[0], whole[0], LOSSES, 1000, 'ms')}.",
    )


@checks("s4-c09")
def recovery_against_backlog(view: View) -> Finding:
    """Share of the wait at the sender in the delay beyond the network's, RTT 100 ms."""
    drawn = [loss for loss in LOSSES if 0.01 <= loss <= 0.03]
    losses = [loss for loss in LOSSES if loss >= 0.01]

    def share(flow: dict[str, Any]) -> Array:
        waits, delays, network = (
            at(view, metric, losses, delay=0.05, **flow)
            for metric in ("sender_wait_mean_s", "message_delay_mean_s", "network_mean_s")
        )
        return np.asarray(waits / (delays - network))

    voice, video = share(VOIP), share(VIDEO)
    first = len(drawn)
    return Finding(
        ((voice < 0.55) & (video > 0.45))[:, :first].all(axis=1),
        "VoIP "
        + told(drawn, voice[0, :first], 100, "%")
        + "; video "
        + told(drawn, video[0, :first], 100, "%"),
        "Beyond the end of the figure: VoIP "
        + told(losses[first:], voice[0, first:], 100, "%")
        + "; video "
        + told(losses[first:], video[0, first:], 100, "%")
        + ".",
    )
