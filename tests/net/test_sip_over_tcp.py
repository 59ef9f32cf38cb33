"""SIPp and headway-net call each other over TCP: nothing is lost, and nothing is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger import ANSWERER, CALLER, MESSAGES, Side, of_headway, of_sipp
from net_programs import LOOPBACK, running_headway, running_sipp

PATIENCE = 120.0


@pytest.fixture(scope="module")
def calls(whole: bool) -> int:
    return 10_000 if whole else 300


def check(side: Side, calls: int) -> None:
    for kind in MESSAGES:
        assert (side[kind].times, side[kind].again) == (calls, 0), kind


def test_sipp_calls_headway(headway_net: Path, sipp: Path, calls: int, tmp_path: Path) -> None:
    arguments = ["sip", "uas", "--transport", "tcp", "--listen", f"{LOOPBACK}:0"]
    limits = ["--calls", str(calls), "--time-limit", f"{PATIENCE:.0f}s"]
    pace = ["-m", str(calls), "-r", "200", "-d", "500", "-l", str(calls)]
    with running_headway(headway_net, *arguments, "--ring-time", "500ms", *limits) as uas:
        target = uas.address()
        with running_sipp(sipp, tmp_path / "sipp", "caller.xml", target, *pace, tcp=True) as uac:
            check(of_sipp(uac.finish(PATIENCE), CALLER), calls)
        # It ends by itself after the last call.
        report = uas.finish(20)
    check(of_headway(report), calls)
    ended = [report[key] for key in ("calls", "answered", "acknowledged", "ended")]
    assert ended == [calls] * 4
    assert report["failed_no_ack"] == report["unreadable"] == 0


def test_headway_calls_sipp(headway_net: Path, sipp: Path, calls: int, tmp_path: Path) -> None:
    with running_sipp(sipp, tmp_path / "sipp", "answerer.xml", "-d", "500", tcp=True) as uas:
        arguments = ["sip", "uac", f"{LOOPBACK}:{uas.port}", "--transport", "tcp"]
        pace = ["--calls", str(calls), "--rate", "200/s", "--talk-time", "500ms"]
        limit = ["--time-limit", f"{PATIENCE:.0f}s"]
        with running_headway(headway_net, *arguments, *pace, *limit) as uac:
            report = uac.finish(PATIENCE)
        counts = uas.stop()
    check(of_headway(report), calls)
    check(of_sipp(counts, ANSWERER), calls)
    assert (report["finished"], report["failed"], report["open"]) == (calls, 0, 0)
    assert report["psd_p50_s"] < 0.1
    assert 0.5 <= report["transaction_p50_s"] < 0.6
