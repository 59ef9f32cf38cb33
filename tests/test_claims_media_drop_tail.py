"""Claims of Tables 3 and 4: on the paper's own values, on spoiled ones, without their runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from headway.claims.media_drop_tail import FLOWS, PAPER_LOSS, PAPER_P95
from headway.claims.verdict import Outcome, Verdict
from headway.study import locate, parse
from media_tables import verdict

FACTORS = ["workload.payload", "competing.messages.flows", "path"]
PAYLOAD, WEB = pl.col(FACTORS[0]), pl.col(FACTORS[1])
RTT = {("VoIP", "packets"): 0.35, ("VoIP", "bytes"): 0.178}
Change = Callable[[pl.DataFrame], pl.DataFrame]
IDS = ["s4-c13", *(f"s4-c{number}" for number in range(17, 27))]


def paper_runs(line: bool = False) -> pl.DataFrame:
    """Five runs of each point whose means are the numbers of the paper's tables."""
    rng = np.random.default_rng(4)
    columns = [*PAPER_P95, *([("video", "delay line")] if line else [])]
    rows = []
    for name, queue in columns:
        told = (name, "packets" if queue == "delay line" else queue)
        for web, p95, loss in zip(FLOWS[name].web, PAPER_P95[told], PAPER_LOSS[told], strict=True):
            for replication in range(5):
                spread = 1 + 0.01 * rng.standard_normal()
                rows.append(
                    {
                        "replication": replication,
                        "workload.payload": int(FLOWS[name].payload),
                        "competing.messages.flows": int(web),
                        "path": queue,
                        "delay_p95_s": p95 * spread,
                        "flow_loss_share": loss * spread,
                        "flow_rtt_mean_s": RTT.get((name, queue), 0.101),
                    }
                )
    return pl.DataFrame(rows)


def found(claim_id: str, runs: pl.DataFrame) -> Verdict:
    return verdict(claim_id, runs, FACTORS)


def times(column: str, factor: float, *, payload: int, queue: str, web: int) -> Change:
    where = (payload == PAYLOAD) & (pl.col("path") == queue) & (web == WEB)
    new = pl.when(where).then(factor * pl.col(column)).otherwise(pl.col(column))
    return lambda runs: runs.with_columns(new.alias(column))


P95, LOSS, RTT_MEAN = "delay_p95_s", "flow_loss_share", "flow_rtt_mean_s"
SPOILED: dict[str, Change] = {
    "s4-c13": times(P95, 5.0, payload=160, queue="bytes", web=20),
    "s4-c17": times(P95, 0.3, payload=160, queue="packets", web=25),
    "s4-c18": times(LOSS, 2.1, payload=160, queue="packets", web=0),
    "s4-c19": times(LOSS, 0.45, payload=160, queue="bytes", web=10),
    "s4-c20": times(RTT_MEAN, 1.4, payload=160, queue="bytes", web=15),
    "s4-c21": times(P95, 2.2, payload=160, queue="bytes", web=0),
    "s4-c22": times(LOSS, 0.3, payload=1434, queue="packets", web=50),
    "s4-c23": times(P95, 2.7, payload=1434, queue="bytes", web=100),
    "s4-c24": times(RTT_MEAN, 1.45, payload=1434, queue="packets", web=0),
    "s4-c25": times(P95, 0.3, payload=1434, queue="bytes", web=25),
    "s4-c26": times(P95, 0.5, payload=1434, queue="bytes", web=100),
}


@pytest.mark.parametrize("claim_id", IDS)
def test_a_claim_holds_on_the_paper_s_own_values(claim_id: str) -> None:
    verdict_ = found(claim_id, paper_runs())
    assert verdict_.verdict is Outcome.HOLDS, verdict_
    assert verdict_.measured and verdict_.stable == 1


@pytest.mark.parametrize("claim_id", IDS)
def test_a_claim_fails_where_it_must(claim_id: str) -> None:
    assert found(claim_id, SPOILED[claim_id](paper_runs())).verdict is Outcome.FAILS


@pytest.mark.parametrize("claim_id", IDS)
def test_a_claim_without_its_points_is_not_testable(claim_id: str) -> None:
    runs = paper_runs().filter((PAYLOAD == 160) & (WEB == 0))
    verdict_ = found(claim_id, runs)
    assert verdict_.verdict is Outcome.NOT_TESTABLE
    assert verdict_.detail and verdict_.stable is None


def test_the_last_load_of_video_is_left_out_of_the_packet_queue() -> None:
    change = times(P95, 9.0, payload=1434, queue="packets", web=100)
    assert found("s4-c22", change(paper_runs())).verdict is Outcome.HOLDS


def test_the_delay_line_is_told_but_not_judged() -> None:
    change = times(LOSS, 30.0, payload=1434, queue="delay line", web=0)
    with_line = found("s4-c22", change(paper_runs(line=True)))
    assert with_line.verdict is Outcome.HOLDS
    assert "what the delay line holds: loss 22." in with_line.detail
    assert "delay line" not in found("s4-c22", paper_runs()).detail


def test_the_study_has_the_points_of_the_tables() -> None:
    file = locate("media-drop-tail")
    study = parse(file.read_text(encoding="utf-8"), str(file), [])
    (factor,) = study.factors
    points = {tuple(values) for values in factor.values}
    wanted = {
        (int(flow.payload), int(web), queue)
        for flow in FLOWS.values()
        for web in flow.web
        for queue in ("packets", "bytes")
    }
    assert wanted <= points
    assert {point[2] for point in points - wanted} == {"delay line"}
    assert set(IDS) == set(study.report.claims)
