"""Claims on media over TCP: where they must hold, where they must not, without their runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from headway.claims.facts import claims
from headway.claims.grid import View
from headway.claims.registry import compared, registered
from headway.claims.verdict import Outcome
from media_tables import (
    COUNTED,
    COUNTING,
    DELAY,
    FACTORS,
    INTERVAL,
    LOSS,
    PAYLOAD,
    QUEUE,
    TIMED,
    TRANSMIT,
    WEB,
    configured_runs,
    counted_runs,
    timeout_runs,
    verdict,
)

Change = Callable[[pl.DataFrame], pl.DataFrame]
voip = (pl.col(PAYLOAD) == 160) & (pl.col(INTERVAL) == 0.02)
video = (pl.col(PAYLOAD) == 1434) & (pl.col(INTERVAL) == 0.02)
halves = pl.col(INTERVAL) == 0.01
rtt_20, rtt_100, rtt_300 = (pl.col(DELAY) == delay for delay in (0.01, 0.05, 0.15))


def loss(rate: float) -> pl.Expr:
    return pl.col(LOSS) == rate


def changed(column: str, where: pl.Expr, value: pl.Expr | float | str) -> Change:
    """Another value at some points."""
    new = value if isinstance(value, pl.Expr) else pl.lit(value)
    return lambda runs: runs.with_columns(
        pl.when(where).then(new).otherwise(pl.col(column)).alias(column)
    )


def times(column: str, where: pl.Expr, factor: float) -> Change:
    return changed(column, where, factor * pl.col(column))


CONFIGURED: dict[str, Change] = {
    "s4-c01": times("offered_bps", video & rtt_100 & loss(0.001), 1.01),
    "s4-c02": changed("delay_p95_s", voip & rtt_100 & loss(0.02), 0.23),
    "s4-c03": changed("delay_p95_s", voip & rtt_20 & loss(0.05), 0.23),
    "s4-c04": changed("delay_max_s", video & rtt_100 & loss(0.02), 5.1),
    "s4-c05": changed("delay_max_s", video & rtt_300 & loss(0.001), 5.1),
    "s4-c06": changed("delay_p95_s", voip & rtt_300 & loss(0.05), 90.0),
    "s4-c07": changed("delay_p95_s", halves & rtt_100 & loss(0.001), 0.2),
    "s4-c09": changed("sender_wait_mean_s", voip & rtt_100 & loss(0.03), 0.56),
    "s4-c27": times("delay_mean_s", voip & rtt_300 & loss(0.02), 1.3),
    "s4-c28": times("delay_mean_s", video & rtt_100 & loss(0.01), 1.5),
    "s4-c29": times("delay_mean_s", voip & rtt_100 & loss(0.1), 1.5),
    "s4-c30": times("delay_mean_s", loss(0.001), 8.0),
}


@pytest.mark.parametrize("claim_id", CONFIGURED)
def test_configured_claim_holds_where_it_must(claim_id: str) -> None:
    found = verdict(claim_id, configured_runs(), FACTORS)
    assert found.verdict is Outcome.HOLDS, found
    assert found.measured and found.stable == 1


@pytest.mark.parametrize("claim_id", CONFIGURED)
def test_configured_claim_fails_where_it_must(claim_id: str) -> None:
    found = verdict(claim_id, CONFIGURED[claim_id](configured_runs()), FACTORS)
    assert found.verdict is Outcome.FAILS, found


@pytest.mark.parametrize(
    ("claim_id", "change"),
    [
        ("s4-c02", changed("delay_p95_s", voip & rtt_100 & loss(0.05), 0.19)),
        ("s4-c04", changed("delay_max_s", video & rtt_100 & loss(0.1), 4.9)),
        ("s4-c05", changed("delay_max_s", video & rtt_300 & loss(0.005), 3.4)),
        ("s4-c07", times("delay_p95_s", halves & rtt_100 & loss(0.03), 2.0)),
        ("s4-c09", changed("sender_wait_mean_s", video & rtt_100 & loss(0.01), 0.44)),
    ],
)
def test_the_other_end_of_a_boundary(claim_id: str, change: Change) -> None:
    assert verdict(claim_id, change(configured_runs()), FACTORS).verdict is Outcome.FAILS


def test_a_claim_without_its_points_is_not_testable() -> None:
    found = verdict("s4-c06", configured_runs().filter(~rtt_300), FACTORS)
    assert found.verdict is Outcome.NOT_TESTABLE
    assert "path.one_way_delay = 150 ms" in found.detail


def test_no_run_stands_for_the_internet() -> None:
    assert verdict("s4-c31", configured_runs(), FACTORS).verdict is Outcome.NOT_TESTABLE


in_packets, in_bytes = pl.col(QUEUE) == "packets", pl.col(QUEUE) == "bytes"
calls, large = pl.col(PAYLOAD) == 160, pl.col(PAYLOAD) == 1434
by_acks, by_bytes = pl.col(COUNTING) == "acks", pl.col(COUNTING) == "bytes"

COUNTED_CASES: dict[str, Change] = {
    "s4-c11": times("delay_p95_s", calls & in_packets & by_bytes, 1.3),
    "s4-c14": times("delay_max_s", calls & in_bytes & by_acks & (pl.col(WEB) == 20), 1.3),
    "s4-c15": times("delay_p95_s", calls & in_bytes & by_bytes & (pl.col(WEB) == 25), 3.0),
    "s4-c16": times("delay_p95_s", large & in_packets & by_bytes, 5.0),
}


@pytest.mark.parametrize("claim_id", COUNTED_CASES)
def test_counting_claim_holds_and_fails_where_it_must(claim_id: str) -> None:
    assert verdict(claim_id, counted_runs(), COUNTED).verdict is Outcome.HOLDS
    spoiled = COUNTED_CASES[claim_id](counted_runs())
    assert verdict(claim_id, spoiled, COUNTED).verdict is Outcome.FAILS


def test_saturated_calls_do_not_decide_byte_counting() -> None:
    # The axis of the paper's figure ends at 20 web flows.
    spoiled = times("delay_p95_s", calls & by_bytes & (pl.col(WEB) == 25), 0.1)(counted_runs())
    assert verdict("s4-c11", spoiled, COUNTED).verdict is Outcome.HOLDS


def test_timeouts_without_both_mechanisms() -> None:
    assert verdict("s4-c12", timeout_runs(), TIMED).verdict is Outcome.HOLDS
    same = times("timeout_share", (pl.col(TRANSMIT) == "off") & loss(0.03), 0.25)(timeout_runs())
    assert verdict("s4-c12", same, TIMED).verdict is Outcome.FAILS


def test_claims_name_what_they_compare() -> None:
    assert compared(["s4-c11"]) == {COUNTING}
    assert TRANSMIT in compared(["s4-c02", "s4-c12"])
    assert compared(["s4-c02"]) == frozenset()
    assert compared() >= {COUNTING, TRANSMIT}


TCP = {"transport.kind": "tcp", "transport.profile": "model-seed4"}


def tried(claim_id: str, **knobs: Any) -> tuple[Outcome, str]:
    """Judge a claim that makes its own runs, with some knobs of TCP changed."""
    settings = TCP | {f"transport.tcp.{name}": value for name, value in knobs.items()}
    runs = pl.DataFrame({"replication": [0]})
    found = registered()[claim_id](View(runs, [], settings))
    (outcome,) = list(found.outcomes)  # type: ignore[arg-type]
    return Outcome.HOLDS if outcome else Outcome.FAILS, found.measured


@pytest.mark.parametrize(
    ("claim_id", "holds", "fails"),
    [
        ("s4-c08", {}, {"coalesce": False}),
        ("s4-c10", {"coalesce": False, "ssthresh_basis": "window"}, {}),
        ("s4-c32", {}, {"duplicate_threshold": 6}),
        # A receiver that takes two segments at most makes no difference between windows.
        ("s4-c48", {}, {"receive_buffer": 2000.0}),
    ],
)
def test_claims_that_are_tried_out(
    claim_id: str, holds: dict[str, Any], fails: dict[str, Any]
) -> None:
    outcome, measured = tried(claim_id, **holds)
    assert outcome is Outcome.HOLDS, measured
    outcome, measured = tried(claim_id, **fails)
    assert outcome is Outcome.FAILS, measured


def test_one_loss_is_found_after_a_round_trip_and_three_packets() -> None:
    _, measured = tried("s4-c32")
    assert measured.startswith("found after 260 ms, repaired after 360 ms")


@pytest.mark.parametrize("claim_id", ["s4-c08", "s4-c10", "s4-c32", "s4-c48"])
def test_only_tcp_is_tried(claim_id: str) -> None:
    runs = pl.DataFrame({"replication": [0]})
    found = verdict(claim_id, runs, [])
    assert found.verdict is Outcome.NOT_TESTABLE


def test_every_claim_that_a_run_can_decide_here_has_a_check() -> None:
    numbers = (*range(1, 13), *range(14, 17), *range(27, 33), 48)
    ours = {f"s4-c{number:02}" for number in numbers}
    assert ours <= set(registered()) and ours <= set(claims())
