"""Claims on media beside bulk and web traffic at a drop-tail router (seed 4, 5.3 and 6.5).

Each function takes the runs of a study and follows the check and the tolerance that the
claim's entry in media_over_tcp.toml states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.claims.grid import Array, Axis, Grid, View
from headway.claims.registry import checks
from headway.claims.verdict import Finding, NotTestable

P95, LOSS, RTT = "delay_p95_s", "flow_loss_share", "flow_rtt_mean_s"
PACKETS, BYTES, LINE = "packets", "bytes", "delay line"
PAPER_P95 = {
    ("VoIP", PACKETS): (0.410, 0.498, 0.644, 1.335, 6.173),
    ("VoIP", BYTES): (0.135, 0.183, 0.233, 0.308, 3.057),
    ("video", PACKETS): (0.215, 0.265, 0.289, 0.608, 4.880),
    ("video", BYTES): (0.460, 0.594, 0.914, 1.890, 5.978),
}
"""Tables 3 and 4: 95th percentile of the TCP delay in seconds, by number of web flows."""
PAPER_LOSS = {
    ("VoIP", PACKETS): (0.0102, 0.0160, 0.0231, 0.0339, 0.0561),
    ("VoIP", BYTES): (0.0020, 0.0055, 0.0081, 0.0124, 0.0241),
    ("video", PACKETS): (0.0075, 0.0081, 0.0090, 0.0120, 0.0291),
    ("video", BYTES): (0.0125, 0.0128, 0.0134, 0.0179, 0.0318),
}
"""Tables 3 and 4: loss rate of the media flows."""


@dataclass(frozen=True)
class Flow:
    """The media flows of a table."""

    payload: float
    web: tuple[float, ...]


FLOWS = {
    "VoIP": Flow(160.0, (0.0, 10.0, 15.0, 20.0, 25.0)),
    "video": Flow(1434.0, (0.0, 10.0, 25.0, 50.0, 100.0)),
}


def _at(view: View, name: str, queue: str, metric: str) -> Array:
    """Means over replications by number of web flows, one row a resample."""
    flow = FLOWS[name]
    axes = {
        "payload": Axis("workload.payload", (flow.payload,), "B"),
        "web": Axis("competing.messages.flows", flow.web, "web flows"),
        "queue": Axis("path", (PACKETS, BYTES, LINE)),
    }
    return view.means(Grid(view, axes, metric).at(payload=flow.payload, queue=queue))


def _told(values: Array, factor: float = 1.0, digits: int = 3) -> str:
    return ", ".join(f"{factor * value:.{digits}f}" for value in values)


def _ratio(found: Array, paper: Sequence[float]) -> Array:
    return np.asarray(found / np.array(paper))


def _within(ratio: Array, factor: float) -> NDArray[np.bool_]:
    return np.asarray((ratio >= 1 / factor) & (ratio <= factor))


def _by_web(name: str) -> str:
    return ", ".join(f"{web:g}" for web in FLOWS[name].web)


def _voip_p95(view: View, queue: str, at_last: float) -> Finding:
    """P95 of VoIP: within a factor of 2, and above a limit with most web flows."""
    found = _at(view, "VoIP", queue, P95)
    ratio = _ratio(found, PAPER_P95["VoIP", queue])
    near = _within(ratio, 2)[:, :-1]
    return Finding(
        near.all(axis=1) & (found[:, -1] > at_last),
        f"{_told(found[0])} s",
        f"By W = {_by_web('VoIP')}. Over the paper's values: {_told(ratio[0], digits=2)}.",
    )


def _loss(view: View, name: str, queue: str) -> tuple[Array, Array]:
    found = _at(view, name, queue, LOSS)
    return found, _ratio(found, PAPER_LOSS[name, queue])


@checks("s4-c13")
def bytes_below_packets(view: View) -> Finding:
    """P95 of VoIP by queue."""
    packets, count = _at(view, "VoIP", PACKETS, P95), _at(view, "VoIP", BYTES, P95)
    lower = count < packets
    return Finding(
        lower.all(axis=1),
        f"lower at {int(lower[0].sum())} of {lower.shape[1]} loads",
        f"Queue in bytes over queue in packets by W = {_by_web('VoIP')}: "
        f"{_told(count[0] / packets[0], digits=2)}.",
    )


@checks("s4-c17")
def voip_p95_packets(view: View) -> Finding:
    """P95 of VoIP at the queue in packets."""
    return _voip_p95(view, PACKETS, 2.0)


@checks("s4-c21")
def voip_p95_bytes(view: View) -> Finding:
    """P95 of VoIP at the queue in bytes."""
    return _voip_p95(view, BYTES, 1.0)


def _voip_loss(view: View, queue: str) -> Finding:
    found, ratio = _loss(view, "VoIP", queue)
    return Finding(
        _within(ratio, 2).all(axis=1),
        f"{_told(found[0], 100, 2)} %",
        f"By W = {_by_web('VoIP')}. Over the paper's values: {_told(ratio[0], digits=2)}.",
    )


@checks("s4-c18")
def voip_loss_packets(view: View) -> Finding:
    """Loss of VoIP at the queue in packets."""
    return _voip_loss(view, PACKETS)


@checks("s4-c19")
def voip_loss_bytes(view: View) -> Finding:
    """Loss of VoIP at the queue in bytes."""
    return _voip_loss(view, BYTES)


@checks("s4-c20")
def voip_round_trips(view: View) -> Finding:
    """Mean RTT of VoIP at both queues, 15 % about the paper's ranges."""
    packets, count = _at(view, "VoIP", PACKETS, RTT), _at(view, "VoIP", BYTES, RTT)
    inside = [
        ((rtt >= 0.85 * low) & (rtt <= 1.15 * high)).all(axis=1)
        for rtt, low, high in ((packets, 0.317, 0.385), (count, 0.172, 0.185))
    ]
    return Finding(
        inside[0] & inside[1],
        f"packets {_told(packets[0], 1000, 0)} ms; bytes {_told(count[0], 1000, 0)} ms",
        f"By W = {_by_web('VoIP')}.",
    )


def _line(view: View) -> str:
    """What a queue that counts the delay line gives, where the study has one."""
    try:
        loss, p95, rtt = (_at(view, "video", LINE, metric)[0] for metric in (LOSS, P95, RTT))
    except NotTestable:
        return ""
    return (
        f" Where the queue counts what the delay line holds: loss {_told(loss, 100, 2)} %, "
        f"{_told(p95)} s, RTT {_told(rtt, 1000, 0)} ms."
    )


def _video(view: View, queue: str, loads: int) -> Finding:
    """Loss and P95 of video within a factor of 2.5, at the first so many loads."""
    loss, of_loss = _loss(view, "video", queue)
    p95 = _at(view, "video", queue, P95)
    of_p95 = _ratio(p95, PAPER_P95["video", queue])
    near = (_within(of_loss, 2.5) & _within(of_p95, 2.5))[:, :loads]
    return Finding(
        near.all(axis=1),
        f"loss {_told(loss[0], 100, 2)} %; {_told(p95[0])} s",
        f"By W = {_by_web('video')}. Over the paper's values: loss {_told(of_loss[0], digits=2)}, "
        f"P95 {_told(of_p95[0], digits=2)}.{_line(view)}",
    )


@checks("s4-c22")
def video_packets(view: View) -> Finding:
    """Loss and P95 of video at the queue in packets, up to 50 web flows."""
    return _video(view, PACKETS, 4)


@checks("s4-c23")
def video_bytes(view: View) -> Finding:
    """Loss and P95 of video at the queue in bytes."""
    return _video(view, BYTES, 5)


@checks("s4-c24")
def video_round_trips(view: View) -> Finding:
    """Mean RTT of video at both queues."""
    both = [_at(view, "video", queue, RTT) for queue in (PACKETS, BYTES)]
    inside = [((rtt >= 0.1) & (rtt <= 0.14)).all(axis=1) for rtt in both]
    return Finding(
        inside[0] & inside[1],
        f"packets {_told(both[0][0], 1000, 0)} ms; bytes {_told(both[1][0], 1000, 0)} ms",
        f"By W = {_by_web('video')}.{_line(view)}",
    )


@checks("s4-c25")
def bytes_help_voip_only(view: View) -> Finding:
    """Loss and P95 by queue: lower in bytes for VoIP, higher for video, at every load."""
    told: list[str] = []
    kept: list[NDArray[np.bool_]] = []
    for name in FLOWS:
        for metric, label in ((LOSS, "loss"), (P95, "P95")):
            ratio = _at(view, name, BYTES, metric) / _at(view, name, PACKETS, metric)
            kept.append(ratio < 1 if name == "VoIP" else ratio > 1)
            told.append(f"{name} {label} {_told(ratio[0], digits=2)}")
    counts = [int(part[0].sum()) for part in kept]
    return Finding(
        np.logical_and.reduce([part.all(axis=1) for part in kept]),
        f"VoIP: loss lower at {counts[0]} of 5 loads, P95 at {counts[1]}; video: loss higher at "
        f"{counts[2]}, P95 at {counts[3]}",
        "Queue in bytes over queue in packets, by load: " + "; ".join(told) + ".",
    )


@checks("s4-c26")
def the_knee(view: View) -> Finding:
    """P95 at the last load over that at the one before, in every column of both tables."""
    knees: dict[str, Array] = {}
    rising = 0
    for name, queue in PAPER_P95:
        p95, loss = _at(view, name, queue, P95), _at(view, name, queue, LOSS)
        knees[f"{name}, {queue}"] = p95[:, -1] / p95[:, -2]
        rising += int((np.diff(p95[0]) > 0).all()) + int((np.diff(loss[0]) > 0).all())
    return Finding(
        np.logical_and.reduce([knee > 1.8 for knee in knees.values()]),
        "; ".join(f"{column} {knee[0]:.2f}" for column, knee in knees.items()),
        f"Of the 8 columns of delay and loss {rising} rise with every step of W.",
    )
