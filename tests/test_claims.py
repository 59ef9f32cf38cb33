"""Each claim on a table where it must hold, on one where it must not, and without its points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from headway.claims.check import judge
from headway.claims.facts import claims, grid_sizes
from headway.claims.grid import Grid, View
from headway.claims.registry import registered
from headway.claims.sip_random_loss import TABLE_1
from headway.claims.verdict import NotTestable, Outcome, Verdict
from sip_tables import FACTORS, sip_runs

IDS = [f"s0-c{n:02}" for n in (*range(1, 16), 23, 38)]
loss, delay = pl.col("path.loss.rate"), pl.col("path.one_way_delay")
rate, queue = pl.col("workload.call_rate"), pl.col("path.queue")
correlation = pl.col("path.loss.correlation")
ordered = pl.col("transport.delivery") == "ordered"
p95 = pl.col("psd_p95_s")


@pytest.fixture(scope="module")
def runs() -> pl.DataFrame:
    return sip_runs()


def verdict(claim_id: str, runs: pl.DataFrame, **settings: object) -> Verdict:
    view = View(runs, FACTORS, settings, resamples=200)
    return judge(claims()[claim_id], registered()[claim_id], view)


def test_every_claim_of_this_campaign_has_a_check() -> None:
    assert set(IDS) <= set(registered())


def test_facts_are_complete() -> None:
    assert list(grid_sizes("sip_over_sctp.toml").values()) == [336, 64, 48, 16]
    for claim in claims().values():
        assert all((claim.statement, claim.expected, claim.tolerance, claim.where, claim.source))


@pytest.mark.parametrize("claim_id", IDS)
def test_claim_holds_where_it_must(claim_id: str, runs: pl.DataFrame) -> None:
    found = verdict(claim_id, runs)
    assert found.verdict is Outcome.HOLDS, found
    assert found.measured
    # A test of equality between independent runs is the least stable: see docs/statistics.md.
    assert found.stable is not None and found.stable > (0.5 if claim_id == "s0-c14" else 0.8)


def changed(runs: pl.DataFrame, column: str, where: pl.Expr, value: pl.Expr) -> pl.DataFrame:
    return runs.with_columns(pl.when(where).then(value).otherwise(pl.col(column)).alias(column))


def p95_where(where: pl.Expr, value: pl.Expr) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda runs: changed(runs, "psd_p95_s", where, value)


def near(level: float) -> pl.Expr:
    return (loss - level).abs() < 1e-9


SPOILED: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "s0-c02": lambda runs: changed(runs, "offered_bps", rate == 40, pl.col("offered_bps") * 1.2),
    "s0-c03": p95_where(~ordered & near(0.02) & (delay == 0.06), 2 * delay * 1.3),
    "s0-c04": p95_where(~ordered & near(0.03), 2 * delay * 1.1),
    "s0-c05": lambda runs: changed(runs, "clean_calls", near(0.08), pl.col("clean_calls") - 30),
    "s0-c06": p95_where(~ordered & near(0.04) & (delay == 0.06), 2 * delay * 1.7),
    "s0-c07": p95_where(ordered & (loss > 0.025) & (delay == 0.02), p95 + 0.3),
    "s0-c08": p95_where(ordered & (loss < 0.015), 2 * delay * 1.021),
    "s0-c09": p95_where((queue == "50-60") & (loss > 0.05), p95 * 1.5),
    "s0-c10": lambda runs: runs.with_columns((p95 + 0.3 * correlation).alias("psd_p95_s")),
    "s0-c11": p95_where((rate == 20) & ordered & (loss < 0.025), p95 * 0.5),
    "s0-c12": lambda runs: changed(runs, "timeouts", rate == 40, pl.col("timeouts") * 1.9),
    "s0-c13": p95_where(ordered & near(0.01) & (delay == 0.06) & (rate == 20), 2 * delay),
    "s0-c14": p95_where(ordered & near(0.02), p95 * 1.3),
    "s0-c15": p95_where(ordered & near(0.02), p95 * 1.3),
    "s0-c23": lambda runs: changed(runs, "duplicates", rate == 20, pl.col("duplicates") * 3),
    "s0-c38": lambda runs: changed(
        runs,
        "psd_clean_sd_s",
        ordered
        & near(0.005)
        & (delay == 0.02)
        & (rate == 40)
        & (queue == "10-20")
        & (correlation == 0),
        pl.lit(0.0),
    ),
}


@pytest.mark.parametrize("claim_id", SPOILED)
def test_claim_fails_where_it_must(claim_id: str, runs: pl.DataFrame) -> None:
    found = verdict(claim_id, SPOILED[claim_id](runs))
    assert found.verdict is Outcome.FAILS, found
    assert found.stable is not None and found.stable > 0.5


def test_grid_claim_fails_on_another_number_of_points(runs: pl.DataFrame) -> None:
    more = pl.concat([runs, runs.filter(near(0.08)).with_columns(loss + 0.02)])
    assert verdict("s0-c01", more).verdict is Outcome.FAILS


@pytest.mark.parametrize("claim_id", IDS)
def test_claim_without_its_points_is_not_testable(claim_id: str, runs: pl.DataFrame) -> None:
    found = verdict(claim_id, runs.filter(near(0.005) & ordered & (rate == 20)))
    assert found.verdict is Outcome.NOT_TESTABLE
    assert found.detail and found.measured == "" and found.stable is None


def test_message_names_what_is_missing(runs: pl.DataFrame) -> None:
    found = verdict("s0-c15", runs.filter(~near(0.02)))
    assert "path.loss.rate = 2 % loss" in found.detail
    found = verdict("s0-c12", runs.drop("timeouts"))
    assert "timeouts" in found.detail


def test_two_rejections_too_many_spoil_a_count(runs: pl.DataFrame) -> None:
    where = ordered & near(0.005) & (queue == "10-20") & (correlation == 0.8)
    one = p95_where(where & (delay == 0.02) & (rate == 40), 2 * delay * 1.021)(runs)
    found = verdict("s0-c08", one)
    assert found.verdict is Outcome.HOLDS
    assert found.measured.startswith("27 of 28")
    assert "0.5 % at 20 ms, 40 calls/s" in found.detail


def test_fast_retransmit_once_is_not_what_the_claim_speaks_of(runs: pl.DataFrame) -> None:
    settings = {"transport.sctp.repeat_fast_retransmit": "off"}
    assert verdict("s0-c23", runs, **settings).verdict is Outcome.NOT_TESTABLE


def test_a_setting_that_does_not_vary_counts_as_its_level(runs: pl.DataFrame) -> None:
    fixed = runs.filter((queue == "10-20") & (correlation == 0.8)).drop(
        "path.queue", "path.loss.correlation"
    )
    settings = {"path.queue": "10-20", "path.loss.correlation": 0.8}
    assert verdict("s0-c03", fixed, **settings).verdict is Outcome.HOLDS
    assert verdict("s0-c03", fixed).verdict is Outcome.NOT_TESTABLE


def test_a_claim_on_the_edge_is_not_stable(runs: pl.DataFrame) -> None:
    rng = np.random.default_rng(2)
    noisy = runs.with_columns(
        (pl.lit(0.230) + pl.Series(rng.normal(0, 0.02, len(runs)))).alias("psd_p95_s")
    )
    found = verdict("s0-c15", noisy)
    assert found.stable is not None and found.stable < 0.95


def test_one_replication_gives_a_verdict_without_stability(runs: pl.DataFrame) -> None:
    found = verdict("s0-c03", runs.filter(pl.col("replication") == 0))
    assert found.verdict is Outcome.HOLDS and found.stable is None


def test_points_that_fall_together_are_refused(runs: pl.DataFrame) -> None:
    twice = pl.concat([runs, runs])
    with pytest.raises(NotTestable, match="several points"):
        Grid(View(twice, FACTORS), TABLE_1, "psd_p95_s")


def test_grid_places_levels(runs: pl.DataFrame) -> None:
    grid = Grid(View(runs, FACTORS), TABLE_1, "psd_p95_s")
    where = near(0.04) & (correlation == 0.5) & (queue == "50-60") & (delay == 0.06)
    expected = runs.filter(where & (rate == 20) & ~ordered).sort("replication")["psd_p95_s"]
    got = grid.at(
        loss=0.04, correlation=0.5, queue="50-60", delay=0.06, rate=20.0, delivery="unordered"
    )
    assert got.tolist() == expected.to_list()
    assert grid.at(loss=(0.01, 0.02), queue="10-20").shape == (2, 3, 2, 2, 2, 10)
