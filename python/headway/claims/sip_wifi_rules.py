"""Claims on the rules of SIP over UDP: tried out on the spot.

A campaign returns shares and moments, not the time of each message. So each check here runs
one transaction with the study's timers over links that lose just what the claim speaks of,
and reads the times from its rows.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from headway import core
from headway.claims.grid import View
from headway.claims.registry import checks
from headway.claims.verdict import Finding, NotTestable

INVITE, OK = 0, 3
"""Kinds of messages, in the lowest four bits of a message's number."""
DELAY = 0.001
"""One-way delay of the links, seconds."""
EXACT = 1e-6
_SECOND = 10**9


def _try(view: View, forward: Sequence[int], reverse: Sequence[int]) -> dict[str, pl.DataFrame]:
    """One transaction that loses the packets marked 1, from the client and to it."""
    settings = view.settings
    if settings.get("workload.kind") != "sip-transactions":
        raise NotTestable("these are no transactions one after another")
    if settings.get("transport.kind") != "udp":
        raise NotTestable("SIP repeats nothing over this transport")

    def loss(marks: Sequence[int]) -> dict[str, Any]:
        # A list begins anew at its end, which no transaction reaches.
        return {"kind": "trace", "lost": [*marks[:-1], *([marks[-1]] * 100)]}

    spec = {
        "version": 1,
        "run": {"id": "rule", "point": 0, "replication": 0},
        "seed": "0" * 16,
        "duration_ns": 1,
        "workload": {
            "kind": "sip-transactions",
            "transactions": 1,
            **{f"{t}_ns": round(settings[f"workload.{t}"] * _SECOND) for t in ("t1", "t2", "t4")},
        },
        "transport": {"kind": "udp"},
        "path": {
            "one_way_delay_ns": round(DELAY * _SECOND),
            "loss": loss(forward),
            "reverse": {"loss": loss(reverse)},
        },
        "collect": {"messages": True, "transactions": True, "distributions": False},
    }
    found = core.run([json.dumps(spec)])
    return {name: pl.read_ipc_stream(io.BytesIO(table)) for name, table in found.items()}


def _times(tables: dict[str, pl.DataFrame], kind: int) -> list[float]:
    """When the messages of a kind were sent, in seconds after the first."""
    rows = tables["messages"].filter((pl.col("message_id") & 0xF) == kind)
    sent = rows["handed_over_ns"].sort().to_list()
    return [(at - sent[0]) / _SECOND for at in sent]


def _schedule(found: Sequence[float], expected: Sequence[float]) -> Finding:
    same = len(found) == len(expected) and np.allclose(found, expected, rtol=0, atol=EXACT)
    return Finding(
        np.array([same]),
        ", ".join(f"{at:g}" for at in found[1:]) + " s",
        "One transaction in virtual time, with the timers of this study.",
    )


@checks("s1-c01")
def invites_back_off(view: View) -> Finding:
    """Every response is lost: when the INVITEs go."""
    tables = _try(view, forward=[0], reverse=[1])
    return _schedule(_times(tables, INVITE), [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5])


@checks("s1-c02")
def oks_back_off_to_four_seconds(view: View) -> Finding:
    """Every ACK is lost: when the 200s go."""
    tables = _try(view, forward=[0, 1], reverse=[0])
    steps = [0, 0.5, 1.5, 3.5, 7.5, 11.5, 15.5, 19.5, 23.5, 27.5, 31.5]
    return _schedule(_times(tables, OK), steps)


@checks("s1-c03")
def two_rules_of_failure(view: View) -> Finding:
    """When each side gives up, without a 200 and without an ACK."""
    row = {}
    for name, tables in (
        ("no-answer", _try(view, forward=[0], reverse=[1])),
        ("no-ack", _try(view, forward=[0, 1], reverse=[0])),
    ):
        row[name] = tables["transactions"].row(0, named=True)
    no_answer = row["no-answer"]["gave_up_ns"] / _SECOND
    # The server's 32 s begin when the INVITE arrives.
    no_ack = row["no-ack"]["gave_up_ns"] / _SECOND - DELAY
    right = all(row[name]["outcome"] == name for name in row)
    near = abs(no_answer - 32) < EXACT and abs(no_ack - 32) < EXACT
    return Finding(
        np.array([right and near]), f"{no_answer:g} s without a 200, {no_ack:g} s without an ACK"
    )


@checks("s1-c04")
def what_losses_cost(view: View) -> Finding:
    """The delay of a transaction whose first one, two or three pairs of 100 and 200 are lost."""
    extra = []
    for lost in (1, 2, 3):
        tables = _try(view, forward=[0], reverse=[1, 1] * lost + [0])
        delay = tables["transactions"]["td_ns"][0] / _SECOND
        extra.append(delay - 2 * DELAY)
    holds = bool(np.allclose(extra, [0.5, 1.5, 3.5], rtol=0, atol=EXACT))
    return Finding(np.array([holds]), ", ".join(f"{x:g}" for x in extra) + " s")
