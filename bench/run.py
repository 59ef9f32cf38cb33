"""Measures how fast Headway is and writes `bench/results.json`.

Every figure is the median of several runs in one session, so that a machine whose
speed drifts does not decide. Nothing here fails because a machine is slow.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

from headway import _core

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results.json"


@dataclass(frozen=True)
class Figure:
    """One measured number; `peer` and `ratio` where another program did the same."""

    name: str
    value: float
    unit: str
    peer: float | None
    ratio: float | None
    conditions: str


def standard_spec() -> str:
    """The standard run: 20 ms, 40 calls/s, 2 % loss, unordered, one minute."""
    return json.dumps(
        {
            "version": 1,
            "run": {"id": "standard", "point": 0, "replication": 0},
            "seed": f"{2007:016x}",
            "duration_ns": 60_000_000_000,
            "workload": {"kind": "sip", "call_rate": 40.0},
            "transport": {"kind": "sctp", "delivery": "unordered"},
            "path": {
                "one_way_delay_ns": 20_000_000,
                "loss": {"kind": "bernoulli", "rate": 0.02},
            },
        }
    )


def standard_run() -> list[Figure]:
    """One standard run on one core, and what its packets and events cost."""
    spec = standard_spec()

    def once() -> float:
        begin = time.perf_counter()
        _core.run([spec])
        return time.perf_counter() - begin

    # A shared machine has slow seconds: the runs last longer than one of those.
    for _ in range(10):
        once()
    wall = statistics.median(once() for _ in range(1001))
    row = pl.read_ipc_stream(_core.run([spec])["runs"]).row(0, named=True)
    packets, events = row["packets"], row["events"]
    conditions = "20 ms, 40 calls/s, 2 % loss, unordered, 60 s virtual, one core, median of 1001"
    return [
        Figure("standard_run", wall * 1e3, "ms", None, None, conditions),
        Figure("packets_per_second", packets / wall, "1/s", None, None, conditions),
        Figure("events_per_second", events / wall, "1/s", None, None, conditions),
        Figure("time_per_packet", wall / packets * 1e9, "ns", None, None, conditions),
    ]


def whole_study(runs: int = 3) -> list[Figure]:
    """The study sip-random-loss with its report, as a user runs it."""
    command = [sys.executable, "-m", "headway", "run", "sip-random-loss"]
    walls: list[float] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as out:
            begin = time.perf_counter()
            subprocess.run(
                [*command, "--out", f"{out}/results", "--progress", "none"],
                cwd=ROOT,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            walls.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    conditions = f"3360 runs and the report, {os.cpu_count()} cores, median of {runs}"
    return [
        Figure("sip_random_loss", statistics.median(walls), "s", None, None, conditions),
        Figure(
            "sip_random_loss_memory", peak, "MiB", None, None, "greatest resident size of a process"
        ),
    ]


def radio_campaigns(runs: int = 3) -> list[Figure]:
    """Both campaigns of SIP in an 802.11b cell with their reports, one after the other."""
    walls: list[float] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as out:
            begin = time.perf_counter()
            for name in ("sip-wifi-unloaded", "sip-wifi-loaded"):
                command = [sys.executable, "-m", "headway", "run", name]
                subprocess.run(
                    [*command, "--out", f"{out}/{name}", "--progress", "none"],
                    cwd=ROOT,
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
            walls.append(time.perf_counter() - begin)
    conditions = (
        f"285 runs of 500 transactions, saturated background included, and both reports, "
        f"{os.cpu_count()} cores, median of {runs}"
    )
    return [Figure("sip_wifi_campaigns", statistics.median(walls), "s", None, None, conditions)]


def main() -> None:
    """Measures everything, prints a table and writes the results."""
    figures = [*standard_run(), *whole_study(), *radio_campaigns()]
    table = Table("figure", "value", "unit", "peer", "ratio", "conditions")
    for figure in figures:
        peer = "" if figure.peer is None else f"{figure.peer:.4g}"
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
        table.add_row(
            figure.name, f"{figure.value:.4g}", figure.unit, peer, ratio, figure.conditions
        )
    Console().print(table)
    document = {
        "version": _core.version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "figures": [asdict(figure) for figure in figures],
    }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
