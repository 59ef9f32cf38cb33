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
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from headway import _core
from headway.models.tcp_chain import FLOWS, delay_map

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
    conditions += f", {'profiled' if _core.profiled() else 'plain'} engine"
    return [
        Figure("standard_run", wall * 1e3, "ms", None, None, conditions),
        Figure("packets_per_second", packets / wall, "1/s", None, None, conditions),
        Figure("events_per_second", events / wall, "1/s", None, None, conditions),
        Figure("time_per_packet", wall / packets * 1e9, "ns", None, None, conditions),
    ]


def _spec(name: str, **keys: object) -> str:
    head = {"version": 1, "run": {"id": name, "point": 0, "replication": 0}}
    return json.dumps({**head, "seed": f"{2007:016x}", **keys})


def tcp_specs() -> dict[str, tuple[str, int, str]]:
    """Runs over TCP: RunSpec, how often it is measured, and what it is."""
    second = 1_000_000_000
    stack = {"profile": "linux-2.6.17"}
    tcp = {"kind": "tcp", **stack, "tcp": {"nagle": "off"}}

    def bottleneck(delay_ms: int, rate: int, packets: int) -> dict[str, object]:
        queue = {"kind": "drop-tail-packets", "limit_pkts": packets}
        return {"one_way_delay_ns": delay_ms * 1_000_000, "rate_bps": rate, "queue": queue}

    def bulk(flows: int, window: int) -> dict[str, object]:
        transfers = {"flows": flows, "receive_window_bytes": window, "stack": stack}
        return {"settle_ns": 0, "bulk": transfers}

    voice = _spec(
        "tcp_voice",
        duration_ns=300 * second,
        workload={"kind": "media", "payload_bytes": 160},
        transport=tcp,
        path={"one_way_delay_ns": 50_000_000, "loss": {"kind": "bernoulli", "rate": 0.01}},
    )
    transfers = _spec(
        "tcp_bulk",
        duration_ns=60 * second,
        # A run has a flow under study: here one byte a second.
        workload={"kind": "media", "payload_bytes": 1, "interval_ns": second},
        transport=tcp,
        path=bottleneck(20, 10_000_000, 60),
        competing=bulk(6, 65_536),
    )
    video = _spec(
        "tcp_video_and_bulk",
        duration_ns=300 * second,
        workload={"kind": "media", "payload_bytes": 1434, "flows": 5},
        transport=tcp,
        path=bottleneck(50, 30_000_000, 100),
        competing=bulk(5, 1 << 20),
    )
    return {
        "tcp_voice": (
            voice,
            1001,
            "174 B each 20 ms over TCP, 1 % loss, RTT 100 ms, 300 s virtual",
        ),
        "tcp_bulk": (
            transfers,
            51,
            "six bulk transfers, 10 Mb/s, 20 ms one way, 60-packet drop-tail, 60 s virtual",
        ),
        "tcp_video_and_bulk": (
            video,
            11,
            "five 573 kb/s video flows and five bulk transfers, 30 Mb/s, 50 ms one way, "
            "100-packet drop-tail, 300 s virtual",
        ),
    }


def tcp_runs() -> list[Figure]:
    """Runs over TCP on one core each."""
    figures = []
    for name, (spec, times, what) in tcp_specs().items():

        def once(spec: str = spec) -> float:
            begin = time.perf_counter()
            _core.run([spec])
            return time.perf_counter() - begin

        once()
        wall = statistics.median(once() for _ in range(times))
        conditions = f"{what}, one core, median of {times}"
        figures.append(Figure(name, wall * 1e3, "ms", None, None, conditions))
    return figures


def _study(name: str) -> float:
    """Seconds that a shipped study takes with its report, as a user runs it."""
    command = [sys.executable, "-m", "headway", "run", name]
    with tempfile.TemporaryDirectory() as out:
        begin = time.perf_counter()
        subprocess.run(
            [*command, "--out", f"{out}/results", "--progress", "none"],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return time.perf_counter() - begin


def competing_campaigns(runs: int = 3) -> list[Figure]:
    """The campaigns of SIP beside bulk transfers (Table 2) and web traffic (Table 3)."""
    campaigns = {
        "sip-competing-tcp": "640 runs beside bulk transfers",
        "sip-competing-web": "480 runs beside web traffic",
    }
    figures = []
    for name, what in campaigns.items():
        wall = statistics.median(_study(name) for _ in range(runs))
        conditions = f"{what} and the report, {os.cpu_count()} cores, median of {runs}"
        figures.append(Figure(name.replace("-", "_"), wall, "s", None, None, conditions))
    return figures


def whole_study(runs: int = 3) -> list[Figure]:
    """The study sip-random-loss with its report, as a user runs it."""
    walls = [_study("sip-random-loss") for _ in range(runs)]
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
    names = ("sip-wifi-unloaded", "sip-wifi-loaded")
    walls = [sum(_study(name) for name in names) for _ in range(runs)]
    conditions = (
        f"285 runs of 500 transactions, saturated background included, and both reports, "
        f"{os.cpu_count()} cores, median of {runs}"
    )
    return [Figure("sip_wifi_campaigns", statistics.median(walls), "s", None, None, conditions)]


def chain_maps() -> list[Figure]:
    """The maps of seed 4's Markov chain: the paper's grid, and a fine one for one flow."""

    def seconds(**grid: Any) -> float:
        begin = time.perf_counter()
        delay_map(**grid)
        return time.perf_counter() - begin

    paper = statistics.median(seconds() for _ in range(3))
    fine = seconds(
        flows={"live-20ms": FLOWS["live-20ms"]},
        losses=[float(loss) for loss in np.geomspace(0.001, 0.1, 50)],
        rtts_s=[float(rtt) for rtt in np.linspace(0.02, 0.3, 50)],
    )
    cores = f"{os.cpu_count()} cores"
    grid = f"6 flows, 7 loss rates, 3 round-trip times, {cores}, median of 3"
    live = f"live video each 20 ms, 50 loss rates, 50 round-trip times, {cores}, once"
    return [
        Figure("chain_paper_map", paper, "s", None, None, grid),
        Figure("chain_fine_map", fine, "s", None, None, live),
    ]


def sctp_stacks() -> list[Figure]:
    """CPU time of the user-space SCTP stacks; usrsctp is the peer."""
    command = [sys.executable, str(ROOT / "bench" / "sctp" / "run.py"), "--json"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [Figure(**figure) for figure in json.loads(told)]


def main() -> None:
    """Measures everything, prints a table and writes the results."""
    figures = [
        *standard_run(),
        *tcp_runs(),
        *whole_study(),
        *radio_campaigns(),
        *competing_campaigns(),
        *chain_maps(),
        *sctp_stacks(),
    ]
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
