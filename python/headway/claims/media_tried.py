"""Claims on what one or two losses do, and on the start of a flow: tried out on the spot.

A study returns means over minutes. So each check here runs single flows with the study's TCP
over a path that loses just what the claim speaks of, and reads delays and window from them
(seed 4, sections 4.2, 6.2, 6.4 and 8.1; Figs. 2 and 18).
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from headway import core
from headway.claims.grid import View
from headway.claims.registry import checks
from headway.claims.verdict import Finding, NotTestable
from headway.study.fields import quantity_of, spec_key
from headway.study.tcp import TcpKnobs

HANDSHAKE = 2
"""Packets of the sender before its first data: SYN and the ACK of the peer's."""
LOST_AT_S = 5.0
"""When the first packet is lost: long after the start."""
ENDS_S = (15.0, 25.0)
"""When runs end: between the two the window is the one that is kept."""
_SECOND = 10**9


@dataclass(frozen=True)
class Flow:
    """Packets of one size, without headers, at a fixed interval."""

    payload: int
    interval_s: float

    def sent_by(self, time_s: float) -> int:
        """Packets of an application-limited flow before this time."""
        return round(time_s / self.interval_s)


VOIP, VIDEO = Flow(160, 0.02), Flow(1434, 0.02)
FULL, HALF = Flow(1434, 0.01), Flow(710, 0.005)
"""The flows of Fig. 18: 100 packets of an MSS a second, 200 of half an MSS."""


def _transport(view: View) -> dict[str, Any]:
    """The study's TCP as a RunSpec has it."""
    if view.settings.get("transport.kind") != "tcp":
        raise NotTestable("the messages do not go over one TCP connection")
    knobs: dict[str, Any] = {}
    for name in TcpKnobs.model_fields:
        value = view.settings.get(f"transport.tcp.{name}")
        if value is None:
            continue
        quantity = quantity_of(TcpKnobs, name)
        if quantity is not None:
            value = quantity.read(f"{value:.12g} {quantity.column_unit}")
        knobs[spec_key(TcpKnobs, name)] = value
    return {"kind": "tcp", "profile": view.settings["transport.profile"], "tcp": knobs}


def _spec(
    transport: dict[str, Any], flow: Flow, rtt_s: float, end_s: float, lost: Sequence[int]
) -> str:
    # A list of losses begins anew at its end, which no run reaches.
    marks = [0] * (3 * flow.sent_by(end_s) + 1000)
    for packet in lost:
        marks[packet] = 1
    return json.dumps(
        {
            "version": 1,
            "run": {"id": "tried", "point": 0, "replication": 0},
            "seed": "0" * 16,
            "duration_ns": round(end_s * _SECOND),
            "workload": {
                "kind": "media",
                "payload_bytes": flow.payload,
                "interval_ns": round(flow.interval_s * _SECOND),
            },
            "transport": transport,
            "path": {
                "one_way_delay_ns": round(rtt_s / 2 * _SECOND),
                "loss": {"kind": "trace", "lost": marks},
                "reverse": {"loss": {"kind": "none"}},
            },
            "collect": {"messages": True, "transactions": False, "distributions": False},
        }
    )


def _run(spec: str) -> dict[str, pl.DataFrame]:
    return {name: pl.read_ipc_stream(io.BytesIO(table)) for name, table in core.run([spec]).items()}


@dataclass(frozen=True)
class Peak:
    """What two losses did."""

    apart_s: float
    """From the first transmission that is lost to the second."""
    longest_s: float
    """The largest delay after the first."""
    window: float
    """Segments, when all is over."""


@cache
def _after_two(transport: str, flow: Flow, rtt_s: float, apart: int) -> Peak | None:
    """Lose two packets, `apart` on the wire; None where the second is a retransmission."""
    first = HANDSHAKE + flow.sent_by(LOST_AT_S)
    specs = [
        _spec(json.loads(transport), flow, rtt_s, end, [first, first + apart]) for end in ENDS_S
    ]
    short, long = (_run(spec) for spec in specs)
    sent = pl.col("handed_over_ns") + pl.col("sender_wait_ns")
    lost = long["messages"].filter("lost_first").select(sent.unique().sort()).to_series().to_list()
    if len(lost) != 2:
        return None
    after = long["messages"].filter(sent >= lost[0])
    area = [
        found["runs"]["cwnd_mean_segments"][0] * found["runs"]["virtual_s"][0]
        for found in (short, long)
    ]
    span = long["runs"]["virtual_s"][0] - short["runs"]["virtual_s"][0]
    return Peak(
        (lost[1] - lost[0]) / _SECOND,
        float(str(after["delay_ns"].max())) / _SECOND,
        (area[1] - area[0]) / span,
    )


RTT_S = 0.2
PLACES_S = tuple(round(0.1 * step, 1) for step in range(1, 11))
"""Where the second loss lies after the first: up to five round trips, within the backlog that
the first leaves."""


def _peaks(view: View, flow: Flow) -> list[Peak]:
    """For each place the run whose second loss came nearest to it."""
    transport = json.dumps(_transport(view))
    step = max(1, flow.sent_by(0.02))
    known = [
        peak
        for apart in range(step, flow.sent_by(1.2) + 1, step)
        if (peak := _after_two(transport, flow, RTT_S, apart)) is not None
    ]
    if not known:
        raise NotTestable("no second packet could be lost")
    return [min(known, key=lambda peak: abs(peak.apart_s - place)) for place in PLACES_S]


@checks("s4-c08")
def peak_after_two_losses(view: View) -> Finding:
    """Peak delay with half packets against that with full ones, over the place of the second."""
    full, half = _peaks(view, FULL), _peaks(view, HALF)
    lower = [1 - b.longest_s / a.longest_s for a, b in zip(full, half, strict=True)]
    within = sum(0.3 <= value <= 0.6 for value in lower)
    return Finding(
        np.array([2 * within > len(lower)]),
        f"{100 * min(lower):.0f} to {100 * max(lower):.0f} % lower, {100 * np.median(lower):.0f} % "
        f"at the median; within 30 to 60 % at {within} of {len(lower)} places",
        "The second loss lies 0.1, 0.2, ... 1 s after the first. Peak delays: "
        + ", ".join(
            f"{1000 * b.longest_s:.0f} for {1000 * a.longest_s:.0f} ms"
            for a, b in zip(full, half, strict=True)
        )
        + ". Single flows in virtual time, with the TCP of this study.",
    )


@checks("s4-c10")
def the_kept_window(view: View) -> Finding:
    """The window after two losses over the load."""
    over = [
        np.array([peak.window * flow.interval_s / RTT_S - 1 for peak in _peaks(view, flow)])
        for flow in (FULL, HALF)
    ]
    means = [float(found.mean()) for found in over]
    told = [
        f"{100 * mean:.0f} % ({100 * found.min():.0f} to {100 * found.max():.0f} %)"
        for mean, found in zip(means, over, strict=True)
    ]
    return Finding(
        np.array([all(0.15 <= mean <= 0.55 for mean in means)]),
        f"{told[0]} with full packets, {told[1]} with half ones",
        "Mean and range over ten places of the second loss, 0.1 to 1 s after the first; the load "
        "is 20 and 40 packets in a round trip. Single flows with the TCP of this study.",
    )


@checks("s4-c32")
def recovery_of_one_loss(view: View) -> Finding:
    """How long a single loss of an application-limited flow takes to be found and repaired."""
    transport = _transport(view)
    told, right = [], True
    for flow, rtt in ((VIDEO, 0.2), (VOIP, 0.1), (VOIP, 0.3)):
        first = HANDSHAKE + flow.sent_by(LOST_AT_S)
        found = _run(_spec(transport, flow, rtt, 10, [first]))["messages"].filter("lost_first")
        if found.is_empty():
            raise NotTestable("the flow is not application-limited, so that no packet was lost")
        repaired = float(found["delay_ns"][0]) / _SECOND
        # The retransmission is under way for the one-way delay.
        noticed, expected = repaired - rtt / 2, rtt + 3 * flow.interval_s
        right &= abs(noticed - expected) < 0.02
        told.append((noticed, repaired, expected, rtt))
    at_200 = told[0]
    return Finding(
        np.array([right]),
        f"found after {1000 * at_200[0]:.0f} ms, repaired after {1000 * at_200[1]:.0f} ms "
        "(RTT 200 ms, 50 packets/s)",
        "; ".join(
            f"RTT {1000 * rtt:.0f} ms: found after {1000 * noticed:.0f} ms for "
            f"{1000 * expected:.0f} ms"
            for noticed, _, expected, rtt in told
        )
        + ". Single flows with the TCP of this study.",
    )


WINDOWS = (1, 2, 4, 10)


@checks("s4-c48")
def initial_window(view: View) -> Finding:
    """The largest delay at the start of a flow by initial window, without and with a loss."""
    base = _transport(view)
    told, kept, saved_most = [], True, 0.0
    for name, flow in (("VoIP", VOIP), ("video", VIDEO)):
        for rtt in (0.1, 0.3):
            clean: list[float] = []
            lossy: list[float] = []
            timeouts: list[int] = []
            for window in WINDOWS:
                knobs = base["tcp"] | {"initial_window_segments": window}
                for lost, delays in (((), clean), ((HANDSHAKE,), lossy)):
                    found = _run(_spec(base | {"tcp": knobs}, flow, rtt, 5, lost))
                    most = float(str(found["messages"]["delay_ns"].max())) / _SECOND
                    delays.append((most - rtt / 2) / rtt)
                timeouts.append(int(found["runs"]["timeouts"][0]))
            saved = clean[0] - clean[WINDOWS.index(4)]
            saved_most = max(saved_most, saved)
            kept &= 0 < saved <= 3 + 1e-9
            told.append(
                f"{name}, RTT {1000 * rtt:.0f} ms: {_listed(clean)} RTT; first packet lost: "
                f"{_listed(lossy)} RTT, {', '.join(map(str, timeouts))} timeouts"
            )
    return Finding(
        np.array([kept]),
        f"up to {saved_most:.1f} RTT less than from one segment",
        f"Largest delay beyond the way by initial window of {', '.join(map(str, WINDOWS))} "
        f"segments. {'. '.join(told)}. Single flows with the TCP of this study.",
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)
