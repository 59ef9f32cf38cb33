"""Claims on playout, splitting and parallel connections, held against made-up runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from headway import plan, report
from headway.claims import check
from headway.claims.registry import compared, registered
from headway.claims.verdict import Outcome
from headway.execute import execute
from headway.study import load, locate, parse
from media_tables import table, verdict

Change = Callable[[pl.DataFrame], pl.DataFrame]
LOSSES = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
WEB = (0, 10, 25, 50, 100)
P95, P99, LATE, BULK = "delay_p95_s", "delay_p99_s", "late_share", "bulk_goodput_bps"
DELAY, LOSS, FLOWS = "path.one_way_delay", "path.loss.rate", "competing.messages.flows"
SPLIT = [FLOWS, "transport.pieces", "transport.piece_gap"]
PARALLEL = [FLOWS, "transport.connections", "transport.schedule", "transport.resequence"]
CONFIGURED = ["workload", DELAY, LOSS, "transport"]


def playout_runs() -> pl.DataFrame:
    """VoIP that the playout delay covers in its region, video that it does not."""
    points: list[Mapping[str, object]] = []
    for source, delay, loss in itertools.product(("VoIP", "video"), (0.01, 0.05, 0.15), LOSSES):
        slower = 1.0 if source == "VoIP" else 1.5
        p95 = slower * (delay + 10 * loss)
        for transport in ("TCP", "UDP"):
            tcp = transport == "TCP"
            points.append(
                {
                    "workload": source,
                    DELAY: delay,
                    LOSS: loss,
                    "transport": transport,
                    P95: p95 if tcp else delay,
                    P99: p95 + slower * delay if tcp else delay,
                    LATE: (loss if source == "VoIP" else 3 * loss) * tcp,
                }
            )
    return table(points)


def split_runs() -> pl.DataFrame:
    """Two pieces gain a fifth up to 50 web flows and nothing beyond; bulk transfers pay."""
    gain = {1: 1.0, 2: 0.8, 4: 0.95}
    pays = {1: 1.0, 2: 0.88, 4: 0.73}
    return table(
        [
            {
                FLOWS: web,
                "transport.pieces": pieces,
                "transport.piece_gap": 0.0,
                P95: (0.2 + 0.01 * web) * (gain[pieces] if web < 100 else 1.0),
                BULK: (20e6 - 1e5 * web) * pays[pieces],
            }
            for web, pieces in itertools.product(WEB, (1, 2, 4))
        ]
    )


def parallel_runs() -> pl.DataFrame:
    """Five connections gain nine tenths; the shortest queue a little more."""
    gain = {1: 1.0, 2: 0.4, 5: 0.1, 7: 0.095}
    return table(
        [
            {
                FLOWS: web,
                "transport.connections": connections,
                "transport.schedule": schedule,
                "transport.resequence": order,
                P95: (1 + 0.01 * web)
                * gain[connections]
                * (0.9 if schedule == "shortest-queue" else 1.0)
                * (3.0 if order == "in order" else 1.0),
                BULK: (20e6 - 1e5 * web) * (1 - 0.005 * connections),
            }
            for web, connections, schedule, order in itertools.product(
                WEB, gain, ("round-robin", "shortest-queue"), ("as they come", "in order")
            )
        ]
    )


def configured_runs() -> pl.DataFrame:
    """Both remedies gain for video alone."""
    gain = {
        "1 connection": 1.0,
        "2 pieces": 0.5,
        "5 in turn": 0.4,
        "5 in turn, in order": 0.9,
    }
    return table(
        [
            {
                "workload": source,
                DELAY: delay,
                LOSS: loss,
                "transport": transport,
                P95: (delay + 10 * loss) * (gain[transport] if source == "video" else 1.02),
            }
            for source, delay, loss, transport in itertools.product(
                ("VoIP", "video"), (0.05, 0.15), LOSSES, gain
            )
        ]
    )


def times(column: str, factor: float, **levels: object) -> Change:
    """Another value where columns, named by their last part, have these levels."""
    names = {name.split(".")[-1]: name for name in (*SPLIT, *PARALLEL, *CONFIGURED)}

    def change(runs: pl.DataFrame) -> pl.DataFrame:
        where = pl.lit(True)
        for key, level in levels.items():
            where &= pl.col(names[key]) == level
        return runs.with_columns(
            pl.when(where).then(factor * pl.col(column)).otherwise(pl.col(column)).alias(column)
        )

    return change


Case = tuple[Callable[[], pl.DataFrame], Sequence[str], Change]
CASES: dict[str, Case] = {
    "s4-c33": (
        playout_runs,
        CONFIGURED,
        times(LATE, 4.0, workload="VoIP", rate=0.02, one_way_delay=0.05),
    ),
    "s4-c34": (playout_runs, CONFIGURED, times(P95, 9.0, workload="VoIP", rate=0.01)),
    "s4-c35": (
        playout_runs,
        CONFIGURED,
        times(LATE, 1.1, workload="VoIP", rate=0.05, one_way_delay=0.01),
    ),
    "s4-c36": (configured_runs, CONFIGURED, times(P95, 1.4, transport="2 pieces")),
    "s4-c37": (split_runs, SPLIT, times(P95, 0.6, pieces=4)),
    "s4-c38": (split_runs, SPLIT, times(P95, 0.85, pieces=2, flows=100)),
    "s4-c39": (split_runs, SPLIT, times(BULK, 1.3, pieces=4)),
    "s4-c40": (
        configured_runs,
        CONFIGURED,
        times(P95, 1.5, workload="VoIP", transport="5 in turn"),
    ),
    "s4-c41": (parallel_runs, PARALLEL, times(P95, 5.0, connections=5)),
    "s4-c42": (parallel_runs, PARALLEL, times(P95, 1.2, connections=2, schedule="shortest-queue")),
    "s4-c43": (parallel_runs, PARALLEL, times(P95, 0.8, connections=7)),
    "s4-c44": (parallel_runs, PARALLEL, times(BULK, 0.93, connections=5)),
    "s4-c45": (
        configured_runs,
        CONFIGURED,
        times(P95, 0.8, workload="VoIP", transport="2 pieces", rate=0.01),
    ),
}


@pytest.mark.parametrize("claim_id", CASES)
def test_a_claim_holds_where_it_must(claim_id: str) -> None:
    runs, factors, _ = CASES[claim_id]
    found = verdict(claim_id, runs(), factors)
    assert found.verdict is Outcome.HOLDS, found
    assert found.measured and found.stable == 1


@pytest.mark.parametrize("claim_id", CASES)
def test_a_claim_fails_where_it_must(claim_id: str) -> None:
    runs, factors, change = CASES[claim_id]
    assert verdict(claim_id, change(runs()), factors).verdict is Outcome.FAILS


@pytest.mark.parametrize("claim_id", CASES)
def test_a_claim_without_its_points_is_not_testable(claim_id: str) -> None:
    runs, factors, _ = CASES[claim_id]
    few = runs()
    for factor in factors[:2]:
        few = few.filter(pl.col(factor) == few[factor][0])
    found = verdict(claim_id, few, factors)
    assert found.verdict is Outcome.NOT_TESTABLE and found.detail


@pytest.mark.parametrize(
    ("claim_id", "change"),
    [
        ("s4-c34", times(P99, 0.3, workload="video", one_way_delay=0.15)),
        ("s4-c35", times(LATE, 0.1, workload="video")),
        ("s4-c37", times(P95, 0.6, pieces=2)),
        ("s4-c37", times(P95, 1.2, pieces=2)),
        ("s4-c39", times(BULK, 0.7, pieces=2)),
        ("s4-c41", times(P95, 0.1, connections=5)),
        ("s4-c40", times(P95, 2.0, workload="video", transport="5 in turn")),
    ],
)
def test_the_other_end_of_a_band(claim_id: str, change: Change) -> None:
    runs, factors, _ = CASES[claim_id]
    assert verdict(claim_id, change(runs()), factors).verdict is Outcome.FAILS


def test_playout_claims_do_not_look_at_other_transports() -> None:
    for claim_id in ("s4-c33", "s4-c34", "s4-c35"):
        change = times(LATE, 0.0, transport="UDP")
        runs = change(playout_runs()).with_columns(
            pl.when(pl.col("transport") == "UDP").then(9.0).otherwise(pl.col(P95)).alias(P95)
        )
        assert verdict(claim_id, runs, CONFIGURED).verdict is Outcome.HOLDS


@pytest.mark.parametrize(
    "name",
    ["media-drop-tail", "media-playout", "media-splitting", "media-parallel", "media-remedies"],
)
def test_a_study_judges_its_claims_as_one_table(name: str) -> None:
    """Every key of the transport that the study varies is one that its claims compare."""
    file = locate(name)
    study = parse(file.read_text(encoding="utf-8"), str(file), [])
    known = registered()
    assert study.report.claims and all(claim in known for claim in study.report.claims)
    varied = {key for factor in study.factors for key in factor.keys if "transport" in key}
    assert varied <= compared(study.report.claims)


SHORT = ["run.duration=4 s", "run.drain=30 s"]


@pytest.mark.parametrize(
    ("name", "fixed", "only"),
    [
        ("media-drop-tail", ["competing.settle=2 s"], []),
        ("media-splitting", ["competing.settle=2 s"], []),
        ("media-parallel", ["competing.settle=2 s"], []),
        ("media-remedies", [], []),
        ("media-playout", [], ["workload=VoIP", "workload=video", "transport=TCP"]),
    ],
)
def test_a_short_run_of_the_study_decides_all_its_claims(
    name: str, fixed: list[str], only: list[str], tmp_path: Path
) -> None:
    """Every point that a claim needs is in the study, and every figure can be drawn."""
    study = load(name, [*SHORT, *fixed])
    execute(plan.build(study, only=only, replications=1), tmp_path / name)
    verdicts = {verdict.id: verdict for verdict in check(tmp_path / name)}
    assert list(verdicts) == list(study.report.claims)
    assert all(v.verdict is not Outcome.NOT_TESTABLE and v.measured for v in verdicts.values())
    page = report.write(tmp_path / name).read_text(encoding="utf-8")
    assert all(f'id="figure-{figure}"' in page for figure in study.report.figures)
