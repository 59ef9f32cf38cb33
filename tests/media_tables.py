"""Results of media over TCP as the claims expect them, made by hand: no run stands behind them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache

import polars as pl

from headway.claims.check import judge
from headway.claims.facts import claims
from headway.claims.grid import View
from headway.claims.registry import registered
from headway.claims.verdict import Verdict
from headway.models.padhye import throughput_approximate
from headway.models.tcp_chain import PAPER_LOSSES, CbrFlow, solve

PAYLOAD, INTERVAL = "workload.payload", "workload.interval"
DELAY, LOSS = "path.one_way_delay", "path.loss.rate"
FACTORS = [PAYLOAD, INTERVAL, DELAY, LOSS]
REPLICATIONS = 2
HALVES = (710.0, 0.01)
FLOWS = [*itertools.product((160.0, 710.0, 1434.0), (0.02, 0.03)), HALVES]


def verdict(claim_id: str, runs: pl.DataFrame, factors: Sequence[str]) -> Verdict:
    """What the claim's check says of these runs."""
    view = View(runs, factors, {}, resamples=60)
    return judge(claims()[claim_id], registered()[claim_id], view)


def table(points: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Each point with its replications."""
    rows = [dict(point) | {"replication": r} for point in points for r in range(REPLICATIONS)]
    return pl.DataFrame(rows).with_row_index("run_id")


@cache
def configured_runs() -> pl.DataFrame:
    """Configured drops: delays a little above the chain's, the more the less room there is."""
    points = []
    for (payload, interval), delay, loss in itertools.product(
        FLOWS, (0.01, 0.05, 0.15), PAPER_LOSSES
    ):
        flow = CbrFlow.of(payload + 14, interval)
        chain = solve(flow, 2 * delay, loss)
        ratio = throughput_approximate(loss, 2 * delay, 8 * delay) * 11584 / flow.offered_bps
        off = 0.3 / max(ratio, 0.3)
        # What splitting brings by the chain is no more than this claim asks for.
        gain = 0.9 if (payload, interval) == HALVES else 1.0
        whole = solve(CbrFlow.of(1448, 0.02), 2 * delay, loss) if gain < 1 else chain
        voice = payload < 200
        points.append(
            {
                PAYLOAD: payload,
                INTERVAL: interval,
                DELAY: delay,
                LOSS: loss,
                "offered_bps": (payload + 12) * 8 / interval,
                "delay_mean_s": chain.mean_s / (1 - off / 2),
                "delay_p95_s": gain * whole.percentile(0.95) * (1 + (0.4 if not voice else 0.0)),
                # Bulk TCP carries as much as a flow of 573 kb/s and its headers up to here.
                "delay_max_s": 4.0 if ratio > 1.3 else 6.0,
                "sender_wait_mean_s": 0.3 if voice else 0.8,
                "message_delay_mean_s": 1.0 + delay,
                "network_mean_s": delay,
            }
        )
    return table(points)


COUNTING = "transport.tcp.growth_counting"
RIVALS = "competing.bulk.stack.tcp.growth_counting"
QUEUE, WEB = "path.queue", "competing.messages.flows"
COUNTED = [PAYLOAD, QUEUE, COUNTING, RIVALS, WEB]


@cache
def counted_runs() -> pl.DataFrame:
    """Voice and the same rate in large packets beside bulk and web traffic."""
    points = []
    for payload, queue, (own, rivals), web in itertools.product(
        (160.0, 1434.0),
        ("packets", "bytes"),
        (("acks", "acks"), ("bytes", "acks"), ("bytes", "bytes")),
        (0.0, 10.0, 15.0, 20.0, 25.0),
    ):
        p95 = (0.5 if queue == "packets" else 0.2) * (1 + web / 10)
        if payload < 200 and own == "bytes":
            p95 *= 1.15
        if payload > 200:
            p95 = 0.8 * (1 + web / 10)
        if rivals == "bytes":
            p95 *= 1.5
        points.append(
            {
                PAYLOAD: payload,
                QUEUE: queue,
                COUNTING: own,
                RIVALS: rivals,
                WEB: web,
                "delay_p95_s": p95,
                "delay_max_s": 3 * p95,
            }
        )
    return table(points)


TRANSMIT = "transport.tcp.limited_transmit"
LIMITED, VALIDATION = "transport.tcp.window_when_limited", "transport.tcp.validation"
TIMED = [LOSS, TRANSMIT, LIMITED, VALIDATION]


@cache
def timeout_runs() -> pl.DataFrame:
    """Timeouts grow with loss, and are more without limited transmit."""
    windows = (("keep", "off"), ("grow", "off"), ("keep", "rfc2861"))
    return table(
        [
            {
                LOSS: loss,
                TRANSMIT: transmit,
                LIMITED: limited,
                VALIDATION: validation,
                "timeout_share": 2 * loss * (4 if transmit == "off" else 1),
            }
            for loss, transmit, (limited, validation) in itertools.product(
                PAPER_LOSSES, ("on", "off"), windows
            )
        ]
    )
