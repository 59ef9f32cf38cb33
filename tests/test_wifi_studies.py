"""Studies over UDP and in radio cells: their keys, their runs, their reports."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from headway import core, plan, report
from headway.claims import load as load_results
from headway.errors import StudyError
from headway.execute import execute
from headway.metrics import METRICS, RADIO
from headway.report.sources import drawn
from headway.samples import RUN_COLUMNS
from headway.study import load, parse
from headway.units import DECIBEL, QuantityError
from real_results import results_folder
from study_files import SMALL, edited

SHIPPED = ("unloaded", "loaded", "symmetric", "handoff", "retry-limit", "fading", "mechanisms")

CELL = """\
[study]
name = "cell"
title = "A small cell"
seed = 3
replications = 2

[scenario.run]
duration = "1 h"

[scenario.workload]
kind = "sip-transactions"
transactions = 40

[scenario.transport]
kind = "udp"

[scenario.path]
kind = "dot11"
retry_limit = 2
errors = { kind = "textbook", offset = "8.56 dB" }
jitter = { sigma = "1.61 dB" }

[[factor]]
key = "path.snr"
levels = ["3 dB", "4.5 dB", "9 dB"]

[[factor]]
key = "transport"
levels = [
    { label = "UDP", value = { kind = "udp" } },
    { label = "SCTP", value = { kind = "sctp", delivery = "unordered" } },
]
"""


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_studies_can_be_planned(name: str) -> None:
    made = plan.build(load(f"sip-wifi-{name}"))
    numbers = {"unloaded": 145, "loaded": 140}
    assert len(made.points) == numbers.get(name, len(made.points))
    for spec in (made.spec(made.runs[0]), made.spec(made.runs[-1])):
        core.check(spec)


def test_decibels_are_read() -> None:
    assert DECIBEL.read("4.4 dB") == 4.4
    assert DECIBEL.read("-3 dB") == -3.0
    assert DECIBEL.write(4.4) == "4.4 dB"
    for wrong in (4.4, "4.4", "4.4 db", "x dB", "2000 dB"):
        with pytest.raises(QuantityError):
            DECIBEL.read(wrong)


def test_a_cell_becomes_a_spec() -> None:
    made = plan.build(parse(CELL))
    spec = json.loads(made.spec(made.runs[0]))
    assert spec["path"]["kind"] == "dot11" and spec["path"]["snr_db"] == 3.0
    assert spec["path"]["errors"] == {"kind": "textbook", "offset_db": 8.56}
    assert spec["path"]["background"]["traffic"] == "none" and spec["path"]["voice"] is None
    assert spec["workload"]["pauses_ns"] == [10**9, 2 * 10**9]
    assert spec["transport"] == {"kind": "udp"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"3 dB"', '"3"', "lacks a unit"),
        ('kind = "dot11"', 'kind = "dot12"', 'did you mean "dot11"?'),
        ("retry_limit = 2", "retry_limits = 2", 'did you mean "retry_limit"?'),
        ('kind = "dot11"', 'kind = "dot11"\none_way_delay = "1 ms"', "no such key"),
        ('sigma = "1.61 dB"', 'sigma = "-1 dB"', "is negative"),
        ("transactions = 40", "transactions = 40\ninvite = '1500 B'", "up to 1472 bytes"),
        ("retry_limit = 2", 'retry_limit = 2\nrate = "3 Mb/s"', "no rate of 802.11b"),
        ("transactions = 40", "transactions = 40\npauses = []", "the list is empty"),
    ],
)
def test_one_mistake_is_told(old: str, new: str, told: str) -> None:
    assert old in CELL
    with pytest.raises(StudyError) as error:
        plan.build(parse(CELL.replace(old, new, 1)))
    assert told in str(error.value)


def test_kinds_of_paths_do_not_mix() -> None:
    mixed = SMALL.replace('[scenario.path]\none_way_delay = "20 ms"\nrate = "unlimited"\n', "")
    mixed = (
        mixed[: mixed.index("[scenario.path.loss]")]
        + """
[scenario.path]
one_way_delay = "20 ms"

[[factor]]
name = "path kind"
levels = [
    { label = "links", set = { "path" = { kind = "links", one_way_delay = "20 ms" } } },
    { label = "cell", set = { "path" = { kind = "dot11", snr = "6 dB" } } },
]
"""
    )
    mixed = mixed.replace('name = "path kind"', 'name = "between"')
    with pytest.raises(StudyError, match="may not vary within a study"):
        parse(mixed)


def test_sip_over_udp_beside_sctp() -> None:
    text = edited(
        (
            'key = "transport.delivery"\nlevels = ["ordered", "unordered"]',
            'key = "transport"\nlevels = [{ label = "SCTP", value = { kind = "sctp" } }, '
            '{ label = "UDP", value = { kind = "udp" } }]',
        ),
        ('"transport.delivery" = "unordered"', '"transport" = "UDP"'),
    )
    made = plan.build(parse(text), replications=1)
    tables = core.run(list(made.specs()))
    runs = pl.read_ipc_stream(tables["runs"])
    columns = [name for name in runs.columns if name in METRICS["sip"]]
    assert columns == list(METRICS["sip"])
    by_transport = runs.with_columns(udp=pl.col("point_id") % 2 == 1)
    sctp, udp = (by_transport.filter(pl.col("udp") == flag) for flag in (False, True))
    # The same arrivals; SIP repeats its own INVITEs over UDP only.
    assert sctp["calls"].to_list() == udp["calls"].to_list()
    assert (sctp["invites"] == sctp["calls"]).all() and (udp["invites"] > udp["calls"]).all()
    assert (udp["retransmissions"] == 0).all() and udp["complete"].all()


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "cell"
    execute(plan.build(parse(CELL)), folder, jobs=2)
    return folder


def test_runs_have_the_columns_of_their_kinds(cell: Path) -> None:
    runs = pl.read_parquet(cell / "runs.parquet")
    factors = ["path.snr", "transport"]
    metrics = [*METRICS["sip-transactions"], *RADIO]
    assert runs.columns == [*RUN_COLUMNS, *factors, *metrics]
    assert runs["complete"].all()
    good = runs.filter((pl.col("path.snr") == 9) & (pl.col("transport") == "UDP"))
    assert (good["plain_transactions"] == 40).all()
    counts = pl.read_parquet(cell / "distributions.parquet")
    assert counts["counts"].list.sum().to_list() == (
        (runs["transactions"] - runs["failed_no_answer"]).to_list()
    )


def test_an_answer_says_where_to_leave(cell: Path) -> None:
    found = report.answer(cell)
    assert found.table.columns[:3] == ["transport", "edge", "end"]
    assert [row[0] for row in found.table.rows] == ["UDP", "SCTP"]
    assert any("leave below" in sentence for sentence in found.sentences)


def test_the_report_of_a_campaign_draws_the_paper_s_figures() -> None:
    only = tuple(f"path.snr={snr} dB" for snr in (1, 2, 3, 4, 4.33, 4.58, 5, 6, 7, 8, 10, 12, 14))
    folder = results_folder("sip-wifi-unloaded", only)
    figures = {figure.name: figure for figure in drawn(load_results(folder))}
    assert list(figures) == [
        "edge-shares",
        "edge-of-all",
        "edge-region",
        "edge-delays",
        "edge-bins",
    ]
    shares = figures["edge-shares"]
    assert len(shares.panels) == 5
    assert [entry.label for entry in shares.legend] == ["one 200", "two", "three", "four", "five"]
    runs = load_results(folder).runs.filter(pl.col("path.retry_limit") == 2).sort("path.snr")
    assert shares.panels[1].data[0]["y"] == pytest.approx(
        [100 * share for share in runs["f1_share"]], rel=1e-4
    )
    region = figures["edge-region"].panels[0].data
    assert [trace["x"] for trace in region] == [list(range(1, 12))] * 5
    bars = figures["edge-bins"].panels[0].data[0]
    assert sum(bars["y"]) == 500
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "500 transactions each" in page
