"""Recorded conversations as a workload: CSV files and captures, from the file to the results."""

from __future__ import annotations

import builtins
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headway import claims, core
from headway.errors import StudyError
from headway.execute import execute
from headway.metrics import METRICS
from headway.plan import build
from headway.samples import RUN_COLUMNS
from headway.study import load

RECORDINGS = Path(__file__).parent / "recordings"

STUDY = """
[study]
name = "recorded"
title = "A recorded conversation"
replications = 1

[scenario.run]
duration = "10 s"

[scenario.workload]
kind = "trace"
playout = "200 ms"
file = "talk.csv"

[scenario.transport]
kind = "tcp"
tcp = { nagle = "off" }

[scenario.path]
one_way_delay = "50 ms"
"""

CALL = [
    [0, 500, False],
    [0, 340, False],
    [120_000_000, 300, True],
    [200_000_100, 1400, False],
    [750_000_000, 1, True],
    [2_250_000_000, 65, False],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the study file and every recording."""
    shutil.copytree(RECORDINGS, tmp_path, dirs_exist_ok=True)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def workload(folder: Path, *overrides: str) -> dict[str, Any]:
    (spec,) = build(load(folder, overrides)).specs()
    found: dict[str, Any] = json.loads(spec)["workload"]
    return found


def messages(folder: Path, *overrides: str) -> list[list[Any]]:
    found: list[list[Any]] = workload(folder, *overrides)["messages"]
    return found


def problem(folder: Path, *overrides: str) -> str:
    with pytest.raises(StudyError) as caught:
        load(folder, overrides)
    return str(caught.value)


def test_a_csv_file_becomes_the_messages_of_the_run(folder: Path) -> None:
    assert workload(folder) == {"kind": "trace", "playout_ns": 200_000_000, "messages": CALL}


@pytest.mark.parametrize("name", ["talk.pcap", "talk.pcapng"])
def test_a_capture_by_protocol_port_and_direction(folder: Path, name: str) -> None:
    def of(*more: str) -> list[list[Any]]:
        return messages(folder, f"workload.file={name}", *(f"workload.{key}" for key in more))

    voice = [[0, 172, False], [12_500_000, 160, True], [20_000_000, 172, False]]
    assert of() == [*voice[:2], [15_000_000, 30, False], voice[2]]
    assert of("port=5004") == voice
    assert of("port=5004", "forward_from=10.0.0.2") == [
        [at, size, not reverse] for at, size, reverse in voice
    ]
    # Of the last segment 300 bytes are new; the one before it is a retransmission.
    assert of("protocol=tcp") == [
        [0, 500, False],
        [10_000_000, 300, True],
        [210_000_000, 200, False],
    ]
    # Two fragments make one message, when the second one leaves.
    assert of("protocol=sctp") == [
        [0, 225, False],
        [10_000_000, 1200, False],
        [20_000_000, 150, True],
    ]


@pytest.mark.parametrize("transport", ["tcp", "udp", "sctp", "tcp-parallel"])
def test_the_conversation_runs_over_every_transport(folder: Path, transport: str) -> None:
    text = STUDY.replace('kind = "tcp"\ntcp = { nagle = "off" }', f'kind = "{transport}"')
    (folder / "study.toml").write_text(text)
    plan = build(load(folder), samples=True)
    tables = core.run(list(plan.specs()))
    runs = pl.read_ipc_stream(tables["runs"])
    names = [name for name in runs.columns if name not in RUN_COLUMNS]
    assert names == list(METRICS["trace"])
    assert runs["complete"].to_list() == [True]
    assert runs["media_packets"].to_list() == runs["media_received"].to_list() == [len(CALL)]
    sent = pl.read_ipc_stream(tables["messages"])
    assert sent["delay_ns"].min() >= 50_000_000
    for direction in ("forward", "reverse"):
        # Each end counts from when its side of the transport was ready.
        said = sent.filter(direction=direction).sort("message_id")
        ours = [(at, size) for at, size, reverse in CALL if reverse == (direction == "reverse")]
        ready = said["handed_over_ns"][0] - ours[0][0]
        assert said.select(pl.col("handed_over_ns") - ready, "size_bytes").rows() == ours


def test_results_keep_the_recording(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    execute(build(load(folder)), out)
    (folder / "talk.csv").unlink()
    results = claims.load(out)
    assert results.study.scenario.spec()["workload"]["messages"] == CALL


def test_another_recording_is_another_plan(folder: Path) -> None:
    before = build(load(folder)).hash
    text = (folder / "talk.csv").read_text()
    (folder / "talk.csv").write_text(text.replace("1400", "1401"))
    assert build(load(folder)).hash != before


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("time_s,size_bytes\n", 'talk.csv: line 1: the column "direction" is missing'),
        (
            "time_s,size_bytes,direction,time_s\n",
            'talk.csv: line 1: the column "time_s" stands there twice',
        ),
        (
            "direction,time_s,size_bytes\nforward,0,10\nforward,x,10\n",
            'talk.csv: line 3, column 2 (time_s): "x" is not a number of seconds',
        ),
        (
            "time_s,size_bytes,direction\n0,0,forward\n",
            'talk.csv: line 2, column 2 (size_bytes): "0" is not a whole number of bytes',
        ),
        (
            "time_s,size_bytes,direction\n0,70000,forward\n",
            "bytes from 1 to 65507",
        ),
        (
            f"time_s,size_bytes,direction\n0,{'9' * 5000},forward\n",
            "is not a whole number of bytes from 1 to 65507",
        ),
        (
            "time_s,size_bytes,direction\n0,7,up\n",
            'talk.csv: line 2, column 3 (direction): "up" is neither forward nor reverse',
        ),
        (
            "time_s,size_bytes,direction\n2,7,forward\n\n1,7,forward\n",
            "talk.csv: line 4, column 1 (time_s): is earlier than that of the row before",
        ),
        ("time_s,size_bytes,direction\n1,7\n", "talk.csv: line 2: has 2 columns, the header 3"),
        ("time_s,size_bytes,direction\n", "talk.csv: holds no message"),
        ("", "talk.csv: line 1: the header is missing"),
        ('time_s,size_bytes,direction\n"1,7,forward\n', "talk.csv: line 2: is not CSV"),
    ],
)
def test_what_is_wrong_with_a_csv_file(folder: Path, rows: str, told: str) -> None:
    (folder / "talk.csv").write_text(rows)
    text = problem(folder)
    assert told in text
    assert "study.toml:" in text and "workload.file" in text


def test_what_is_wrong_with_a_capture(folder: Path) -> None:
    (folder / "other.pcap").write_text("time_s,size_bytes\n")
    assert "other.pcap: is neither pcap nor pcapng" in problem(folder, "workload.file=other.pcap")
    name = "workload.file=talk.pcap"
    assert "talk.pcap: holds no message over UDP of port 9" in problem(
        folder, name, "workload.port=9"
    )
    told = problem(folder, name, "workload.forward_from=10.0.0.3")
    assert "comes from 10.0.0.3, but from 10.0.0.1, 10.0.0.2" in told
    assert '"me" is not an IP address' in problem(folder, name, "workload.forward_from=me")


def test_a_capture_cannot_last_for_ages(folder: Path) -> None:
    """A run could not count the times of a damaged pcapng in nanoseconds."""
    text = (folder / "talk.pcapng").read_bytes()
    kind, length, interface = (n.to_bytes(4, "little") for n in (6, 0xEC, 0))
    block = kind + length + interface
    # The upper half of a packet's time stands behind these in its block.
    assert text.count(block + b"\0\0\0\0") == 1
    late = text.replace(block + b"\0\0\0\0", block + b"\xff\xff\xff\xff")
    (folder / "talk.pcapng").write_bytes(late)
    told = problem(folder, "workload.file=talk.pcapng")
    assert "talk.pcapng: lasts longer than 10^9 seconds" in told


@pytest.mark.parametrize("name", ["../talk.csv", "/talk.csv", "."])
def test_a_recording_lies_beside_its_study(folder: Path, name: str) -> None:
    assert "must name a file in the study's folder or below it" in problem(
        folder, f"workload.file={name}"
    )
    assert '"none.csv" cannot be read' in problem(folder, "workload.file=none.csv")


def test_without_its_library_a_capture_is_told_how(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name == "dpkt":
            raise ImportError(name)
        return really(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    (folder / "again.pcap").write_bytes((folder / "talk.pcap").read_bytes())
    told = problem(folder, "workload.file=again.pcap")
    assert 'pip install "headway[capture]"' in told
