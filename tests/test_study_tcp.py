"""Study keys of messages over TCP, of media and of competing traffic, against the engine."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from headway import core
from headway.errors import StudyError
from headway.metrics import COMPETING, METRICS
from headway.plan import build
from headway.samples import RUN_COLUMNS
from headway.study import parse
from headway.study.fields import spec_key
from headway.study.tcp import PREFIX, TcpKnobs

BASE = """
[study]
name = "small"
title = "small"
replications = 1

[scenario.run]
duration = "2 s"

[scenario.workload]
kind = "media"

[scenario.transport]
kind = "tcp"

[scenario.path]
one_way_delay = "20 ms"
rate = "10 Mb/s"
queue = { kind = "drop-tail-packets", limit_pkts = 60 }
"""

SIP = BASE.replace('kind = "media"', 'kind = "sip"\ncall_rate = 40')

CROWD = """
[scenario.competing]
settle = "1 s"

[scenario.competing.bulk]

[scenario.competing.web]

[scenario.competing.messages]
"""


def specs(text: str) -> list[dict[str, Any]]:
    return [json.loads(spec) for spec in build(parse(text)).specs()]


def runs(specs: list[dict[str, Any]]) -> pl.DataFrame:
    tables = core.run([json.dumps(spec) for spec in specs])
    return pl.read_ipc_stream(tables["runs"])


def test_windows_and_flows_come_with_the_samples() -> None:
    text = BASE.replace('kind = "tcp"', 'kind = "tcp-parallel"') + CROWD
    (plan,) = [build(parse(text), samples=True)]
    tables = core.run(list(plan.specs()))
    windows, flows, runs = (
        pl.read_ipc_stream(tables[name]) for name in ("windows", "flows", "runs")
    )
    row = runs.row(0, named=True)
    assert windows.columns == ["run_id", "flow", "direction", "at_ns", "cwnd_bytes"]
    sender = windows.filter(direction="forward")
    assert sender["at_ns"].is_sorted() and sender["cwnd_bytes"].max() == row["cwnd_max_bytes"]
    assert flows.columns == [
        "run_id",
        "kind",
        "flow",
        "direction",
        "packets",
        "packets_lost",
        "round_trip_ns",
        "goodput_bps",
    ]
    assert flows["kind"].to_list() == ["study", "bulk", "messages", "web"]
    bulk = flows.row(1, named=True)
    assert bulk["goodput_bps"] == row["bulk_goodput_bps"]
    studied = flows.row(0, named=True)
    assert studied["round_trip_ns"] / 1e9 == pytest.approx(row["flow_rtt_mean_s"], rel=1e-6)
    without = core.run(list(build(parse(text)).specs()))
    assert pl.read_ipc_stream(without["windows"]).is_empty()
    assert pl.read_ipc_stream(without["flows"]).is_empty()


def test_every_knob_of_the_engine_can_be_set_and_no_other() -> None:
    ours = {spec_key(TcpKnobs, name) for name in TcpKnobs.model_fields}
    named = {name for name in core.profiles() if name.startswith(PREFIX)}
    assert {"tcp:rfc", "tcp:model-seed4", "tcp:linux-6"} <= named
    for name in named:
        assert {knob["name"] for knob in core.profiles()[name]} == ours


@pytest.mark.parametrize("kind", ["tcp", "tcp-parallel", "tcp-split"])
@pytest.mark.parametrize("base", [BASE, SIP])
def test_defaults_are_those_of_the_engine(kind: str, base: str) -> None:
    """A spec with only what is required gives the same bytes as one with every default."""
    (full,) = specs(base.replace('kind = "tcp"', f'kind = "{kind}"') + CROWD)
    bare = dict(full)
    bare["transport"] = {"kind": kind}
    bare["competing"] = {"settle_ns": 10**9, "bulk": {}, "web": {}, "messages": {}}
    if bare["workload"]["kind"] == "media":
        bare["workload"] = {"kind": "media"}
    written = [core.run([json.dumps(spec)]) for spec in (full, bare)]
    assert written[0] == written[1]


@pytest.mark.parametrize("base", [BASE, SIP])
@pytest.mark.parametrize("crowd", ["", CROWD])
def test_metrics_are_those_of_the_catalogue(base: str, crowd: str) -> None:
    study = parse(base + crowd)
    found = runs(specs(base + crowd))
    own = [name for name in RUN_COLUMNS if name in found.columns]
    assert found.columns == [*own, *study.metrics]
    kind = study.scenario.workload.kind
    assert list(study.metrics) == list(METRICS[kind] | (COMPETING if crowd else {}))


def test_speech_is_rated() -> None:
    text = BASE.replace(
        'kind = "media"',
        'kind = "media"\ncodec = "g711-plc"\nplayout = "60 ms"\n'
        'silence = { talk_mean = "1 s", silence_mean = "1 s", filler_interval = "30 ms" }',
    )
    # With Nagle most packets would wait for an acknowledgement, and be late.
    text = text.replace('kind = "tcp"', 'kind = "tcp"\ntcp = { nagle = "off" }')
    row = runs(specs(text)).row(0, named=True)
    assert row["playout_s"] == 0.06
    assert 80 < row["rating_r"] < 93.2
    assert row["messages"] > row["media_packets"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('kind = "tcp"', 'kind = "tcp"\nprofile = "linux-7"'), 'did you mean "linux-6"?'),
        (('kind = "tcp"', 'kind = "tcp"\nconnections = 2'), "connections"),
        (('kind = "tcp"', 'kind = "tcp"\nframe = "3 B"'), "0, 2 or 4"),
        (('kind = "media"', 'kind = "media"\nflows = 0'), "flows"),
    ],
)
def test_mistakes_are_told_with_their_key(change: tuple[str, str], told: str) -> None:
    with pytest.raises(StudyError) as error:
        build(parse(BASE.replace(*change)))
    assert told in str(error.value)


def test_competing_traffic_is_a_factor() -> None:
    text = BASE + '[[factor]]\nkey = "competing.bulk.flows"\nlevels = [0, 2]\n'
    made = build(parse(text))
    assert [point.values for point in made.points] == [(0,), (2,)]
    found = runs(specs(text))
    assert found["bulk_goodput_bps"][0] == 0
    assert found["bulk_goodput_bps"][1] > 1e6
