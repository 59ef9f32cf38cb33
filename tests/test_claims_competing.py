"""Claims on competing traffic: where they must hold, where they must not, without their runs."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from competing_tables import (
    TABLE_2,
    TABLE_3,
    TABLE_4,
    bulk_runs,
    long_path_runs,
    longer_runs,
    web_runs,
)
from headway import claims as checking
from headway import plan
from headway.claims.check import judge
from headway.claims.facts import claims
from headway.claims.grid import View
from headway.claims.registry import registered
from headway.claims.scenarios import few_falls
from headway.claims.sip_competing import TABLE_2 as AXES_2
from headway.claims.sip_competing_web import TABLE_3 as AXES_3
from headway.claims.sip_internet import TABLE_4 as AXES_4
from headway.claims.verdict import Outcome, Verdict
from headway.plots import chosen
from headway.study import load, shipped
from real_results import results_folder

Change = Callable[[pl.DataFrame], pl.DataFrame]

flows, sessions = pl.col("competing.bulk.flows"), pl.col("competing.web.users.session_rate")
delay, rate, queue = (
    pl.col("path.one_way_delay"),
    pl.col("workload.call_rate"),
    pl.col("path.queue"),
)
ordered = pl.col("transport.delivery") == "ordered"
short, long = queue == "10-20", queue == "50-60"
SERVER = {"path.rate": 2e6}
ONLY = (
    "path.queue=10-20",
    "competing.bulk.flows=1",
    "competing.bulk.flows=2",
    "path.one_way_delay=20 ms",
    "workload.call_rate=40",
)
BUFFER = {"path.rate": 512_000.0, "path.queue.limit": 99_200.0}


def verdict(claim_id: str, runs: pl.DataFrame, factors: list[str], **settings: object) -> Verdict:
    view = View(runs, factors, settings, resamples=100)
    return judge(claims()[claim_id], registered()[claim_id], view)


def changed(column: str, where: pl.Expr, value: pl.Expr) -> Change:
    return lambda runs: runs.with_columns(
        pl.when(where).then(value).otherwise(pl.col(column)).alias(column)
    )


def times(where: pl.Expr, factor: float) -> Change:
    return changed("psd_p95_s", where, pl.col("psd_p95_s") * factor)


def same(where: pl.Expr) -> Change:
    return changed("psd_p95_s", where, pl.lit(0.2))


BULK: dict[str, Change] = {
    "s0-c16": times(short & ordered & (flows == 4) & (delay == 0.02) & (rate == 20), 0.6),
    "s0-c17": times(long, 5),
    "s0-c18": same(flows == 2),
    "s0-c19": times(long & (flows == 1) & ordered & (delay == 0.06), 1.3),
    "s0-c20": times(short & ~ordered & (flows == 1) & (delay == 0.02), 9),
    "s0-c21": times(long & ~ordered & (flows == 4) & (delay == 0.02), 4),
    "s0-c22": changed("retransmissions", flows == 2, pl.col("duplicates") + 0.03 * pl.col("calls")),
    "s0-c23": changed("duplicates", delay == 0.02, pl.col("retransmissions")),
    "s0-c24": times(rate == 40, 5),
    "s0-c25": times(short & ~ordered & (flows == 2), 1.3),
    "s0-c26": times(short & ~ordered & (flows == 6), 3),
    "s0-c27": times(short & ~ordered & (flows == 2), 0.6),
    "s0-c28": times(long & ~ordered & (flows == 6), 3),
    "s0-c29": times(long & ordered, 0.4),
}
WEB: dict[str, Change] = {
    "s0-c30": times(long & ordered & (sessions == 3) & (delay == 0.06), 1.3),
    "s0-c31": same(sessions == 1),
    "s0-c32": times(ordered & (sessions == 3) & (delay == 0.02), 0.3),
    "s0-c33": times(rate == 40, 5),
}
LONG_PATH: dict[str, Change] = {
    "s0-c34": times((flows == 2) & ordered & (delay == 0.035), 3),
    "s0-c35": times((flows == 0) & ordered & (delay == 0.06) & (rate == 20), 1.3),
    "s0-c36": times((flows == 2) & (delay == 0.06) & (rate == 20), 0.5),
}


def test_every_claim_of_the_paper_has_a_check() -> None:
    # c37 states what the two paths of Table 4 are; nothing can be held against it.
    ids = [f"s0-c{n:02}" for n in (*range(1, 37), 38, 39)]
    assert [name for name in claims() if name.startswith("s0-")] == ids
    assert [name for name in registered() if name.startswith("s0-")] == ids


@pytest.mark.parametrize("claim_id", BULK)
def test_claim_beside_tcp(claim_id: str) -> None:
    runs = bulk_runs()
    found = verdict(claim_id, runs, TABLE_2)
    assert found.verdict is Outcome.HOLDS, found
    assert found.measured and found.stable is not None and found.stable > 0.8
    spoiled = verdict(claim_id, BULK[claim_id](runs), TABLE_2)
    assert spoiled.verdict is Outcome.FAILS, spoiled


@pytest.mark.parametrize("claim_id", WEB)
def test_claim_beside_web(claim_id: str) -> None:
    runs = web_runs()
    assert verdict(claim_id, runs, TABLE_3).verdict is Outcome.HOLDS
    spoiled = verdict(claim_id, WEB[claim_id](runs), TABLE_3)
    assert spoiled.verdict is Outcome.FAILS, spoiled


@pytest.mark.parametrize("claim_id", LONG_PATH)
def test_claim_over_long_paths(claim_id: str) -> None:
    runs = long_path_runs()
    assert verdict(claim_id, runs, TABLE_4, **BUFFER).verdict is Outcome.HOLDS
    spoiled = verdict(claim_id, LONG_PATH[claim_id](runs), TABLE_4, **BUFFER)
    assert spoiled.verdict is Outcome.FAILS, spoiled


def test_a_far_longer_queue() -> None:
    runs = longer_runs()
    assert verdict("s0-c39", runs, TABLE_2, **SERVER).verdict is Outcome.HOLDS
    shorter = times(queue == "500-600", 0.1)(runs)
    assert verdict("s0-c39", shorter, TABLE_2, **SERVER).verdict is Outcome.FAILS
    # A delay line that holds more packets has no rate at which they would leave it.
    assert verdict("s0-c39", runs, TABLE_2).verdict is Outcome.NOT_TESTABLE


@pytest.mark.parametrize(
    ("claim_id", "runs", "factors"),
    [
        *((claim_id, bulk_runs(), TABLE_2) for claim_id in BULK),
        *((claim_id, web_runs(), TABLE_3) for claim_id in WEB),
        *((claim_id, long_path_runs(), TABLE_4) for claim_id in LONG_PATH),
    ],
)
def test_claim_without_its_points_is_not_testable(
    claim_id: str, runs: pl.DataFrame, factors: list[str]
) -> None:
    some = runs.filter(ordered & (rate == 20) & (delay > 0.05))
    if "path.queue" in runs.columns:
        some = some.filter(short if claim_id != "s0-c23" else long)
    found = verdict(claim_id, some, factors, **BUFFER)
    assert found.verdict is Outcome.NOT_TESTABLE
    assert found.detail and found.measured == ""


@pytest.mark.parametrize("claim_id", [*BULK, *WEB, *LONG_PATH, "s0-c39"])
def test_random_loss_says_nothing_of_competing_traffic(claim_id: str) -> None:
    if claim_id == "s0-c23":
        return  # It is of both campaigns.
    runs = bulk_runs().drop("competing.bulk.flows").with_columns(pl.lit(0.01).alias("loss"))
    found = verdict(claim_id, runs.filter(short), ["loss"], **BUFFER)
    assert found.verdict is Outcome.NOT_TESTABLE


def test_a_buffer_that_never_overflows_says_nothing_of_pings() -> None:
    runs = long_path_runs().with_columns(pl.lit(0).alias("packets_lost_queue"))
    found = verdict("s0-c36", runs, TABLE_4, **BUFFER)
    assert found.verdict is Outcome.NOT_TESTABLE
    assert "overflowed" in found.detail
    assert verdict("s0-c36", runs, TABLE_4).verdict is Outcome.NOT_TESTABLE


def test_the_longest_round_trip_is_that_of_the_buffer() -> None:
    found = verdict("s0-c36", long_path_runs(), TABLE_4, **BUFFER)
    assert "1620 ms and 1670 ms" in found.measured


def test_falls_of_a_curve() -> None:
    curves = np.array(
        [
            [1.0, 1.0, 1.0, 1.0],
            [1.0, 1.0 - 1e-9, 1.0, 1.0 - 1e-9],
            [1.0, 0.96, 1.2, 1.3],
            [1.0, 0.94, 1.2, 1.3],
            [1.0, 0.99, 1.2, 1.19],
        ]
    )
    assert few_falls(curves, 0.05).tolist() == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("name", "axes", "points"),
    [
        ("sip-competing-tcp", AXES_2, 64),
        ("sip-competing-web", AXES_3, 48),
        ("sip-internet", AXES_4, 16),
    ],
)
def test_studies_are_the_tables(name: str, axes: dict[str, object], points: int) -> None:
    study = load(name)
    values = {
        column: [row[0] for row in factor.values]
        for factor in study.factors
        for column in factor.columns
    }
    for axis in axes:
        column, levels = axes[axis].column, axes[axis].levels  # type: ignore[attr-defined]
        assert sorted(values.pop(column)) == sorted(levels), column
    paths = [len(levels) for levels in values.values()]
    assert len(plan.build(study).points) == points * int(np.prod(paths, dtype=int))
    assert study.replications == 10
    assert study.scenario.spec()["duration_ns"] == 60 * 10**9


def test_paths_to_madrid_and_new_york_hold_1_55_s() -> None:
    paths = [json.loads(spec)["path"] for spec in plan.build(load("sip-internet")).specs()]
    held = {8 * path["queue"]["limit_bytes"] / path["rate_bps"] for path in paths}
    assert held == {1.55}
    # Rounded, these are the longest pings of the paper.
    assert {round(2 * path["one_way_delay_ns"] / 1e9 + 1.55, 2) for path in paths} == {1.62, 1.67}


def test_mechanisms_change_one_thing_each() -> None:
    study = load("sip-competing-mechanisms")
    shipped = load("sip-competing-tcp").scenario.spec()
    variant = next(factor for factor in study.factors if factor.columns == ("variant",))
    assert study.scenario.spec() == shipped
    kinds = [{item.key.rsplit(".", 1)[0] for item in level.assignments} for level in variant.levels]
    assert kinds[0] == set()
    assert all(len(kind) == 1 for kind in kinds[1:])


def test_verdicts_of_real_runs() -> None:
    """Part of Table 2, really run: what it lacks is said, what it has is judged."""
    folder = results_folder("sip-competing-tcp", ONLY)
    found = {v.id: v for v in checking.check(folder)}
    assert list(found) == list(load("sip-competing-tcp").report.claims)
    tested = {i for i, v in found.items() if v.verdict is not Outcome.NOT_TESTABLE}
    assert tested == {"s0-c27"}
    assert found["s0-c27"].measured.count("ms") == 2


@pytest.mark.parametrize("name", sorted(n for n in shipped() if n.startswith("sip-competing")))
def test_figures_suit_their_studies(name: str) -> None:
    study = load(name)
    varied = set(study.factor_columns)
    for figure in chosen(study.report.figures, varied):
        assert set(figure.needs) <= varied, figure.name
        if figure.name in ("fig5", "fig8"):
            axes = {figure.x, *figure.series, *figure.panels, *figure.start}
            assert axes <= varied
            assert varied - axes <= {"variant", "bottleneck"}
