"""The stacks of the interop matrix: building them, starting them, reading what they tell."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent / "peers"
BUILT = ROOT / "target" / "interop"
LOOPBACK = "127.0.0.1"
PORT = 5000
"""SCTP port of both ends: pion knows no other."""

PEERS = ("usrsctp", "dcsctp", "pion")
OURS = "headway"
RUST = {OURS: "headway-net", "dcsctp": "dcsctp-peer"}
"""Programs of this workspace."""


class Missing(RuntimeError):
    """Something that a peer needs is not on this machine."""


def build(stack: str) -> Path:
    """The program of a stack, built where it is not up to date."""
    if stack in RUST:
        # The packages, profile and target directory of `cargo test --workspace`, so that what
        # it has built is not built again with other features; those of tests count only where
        # one is built, however small.
        command = ["cargo", "build", "--quiet", "--locked", "--profile", "test", "--workspace"]
        command += ["--exclude", "headway-py", "--bin", RUST[stack], "--test", "settings"]
        subprocess.run(command, cwd=ROOT, check=True)
        return ROOT / "target" / "debug" / RUST[stack]
    BUILT.mkdir(parents=True, exist_ok=True)
    program = BUILT / f"{stack}-peer"
    if stack == "usrsctp":
        _needs("cc", "Debian's gcc")
        if not Path("/usr/include/usrsctp.h").exists():
            raise Missing("usrsctp is missing: install the Debian package libusrsctp-dev")
        source = str(SOURCES / "usrsctp" / "peer.c")
        libraries = ["-lusrsctp", "-lpthread"]
        subprocess.run(["cc", "-O2", "-o", str(program), source, *libraries], check=True)
        return program
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not Path(go).exists():
        raise Missing("Go 1.24 or later is missing: Debian's golang, or the one of go.dev")
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false"}
    folder = SOURCES / "pion"
    subprocess.run([go, "build", "-o", str(program), "."], cwd=folder, env=environment, check=True)
    return program


def _needs(command: str, package: str) -> None:
    if shutil.which(command) is None:
        raise Missing(f"{command} is missing: {package}")


PORTS = range(20_000, 30_000)
"""The UDP ports of the tests, below those that the system gives out, so that a capture of
them holds nothing else."""


@contextlib.contextmanager
def free_port() -> Iterator[int]:
    """A UDP port that nobody uses, and that no other test takes meanwhile: whoever runs these
    tests holds the TCP port of the same number."""
    while True:
        port = random.choice(PORTS)
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as lock:
            try:
                lock.bind((LOOPBACK, port))
            except OSError:
                continue
            # Looked up and not tried out: a program that another thread starts at this moment
            # would have a copy of the socket until it runs, and so the port.
            if port in _bound():
                continue
            yield port
            return


def _bound() -> set[int]:
    """The UDP ports in use."""
    tables = (Path(f"/proc/net/{name}") for name in ("udp", "udp6"))
    lines = (line for table in tables for line in table.read_text().splitlines()[1:])
    return {int(line.split()[1].rsplit(":", 1)[1], 16) for line in lines}


@dataclass(frozen=True)
class Traffic:
    """What one association carries and how it ends."""

    count: int = 100
    size: int = 450
    streams: int = 1
    unordered: bool = False
    interleave: bool = False
    max_rtx: int | None = None
    reset: bool = False
    both_ways: bool = False
    """What one side resets, the other resets as well."""
    rest_ms: int = 0
    """How long pion's client lets the line be quiet before it ends the association."""
    end: str = "shutdown"
    """Of the client: shutdown, abort or wait (the server ends it)."""
    server_end: str | None = None
    """What the server does once it has got `count` messages."""
    most_under_way: int = 64
    quick: bool = False
    """Short time-outs and few retransmissions, so that a silent peer is given up soon."""

    @property
    def window(self) -> int:
        return max(1, min(self.most_under_way, 400_000 // self.size))


PATIENCE = 120.0
"""Seconds until a program that does not do what is waited for counts as stuck. Cells that
pass do not wait for it: the slowest take some ten seconds on an idle machine."""


@dataclass
class Program:
    """A running end. What it says goes into files, so that it can be read at any time."""

    stack: str
    process: subprocess.Popen[bytes]
    out: IO[bytes]
    err: IO[bytes]
    remarks: list[str] = field(default_factory=list)

    def said(self) -> tuple[str, str]:
        """What it has said so far on standard output and on standard error."""
        out, err = (
            os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")
            for file in (self.out, self.err)
        )
        return out, err

    def wait_for(self, what: str, holds: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Returns once this holds or the program has ended; a program that is stuck is noted."""
        deadline = time.monotonic() + patience
        while not holds() and self.process.poll() is None:
            if time.monotonic() > deadline:
                self.remarks.append(f"{what}: not in {patience:.0f} s")
                return
            time.sleep(0.005)

    def wait_until_ready(self) -> None:
        """A server or a relay takes packets."""
        # Bound is not yet ready: usrsctp has its port before it listens.
        words = ('"ready":true', "serving ", "relaying ")
        self.wait_for("ready", lambda: any(w in text for w in words for text in self.said()))

    def wait_until_up(self) -> None:
        """A client has its association."""
        words = ('"up":true', "connected to ")
        self.wait_for("up", lambda: any(w in text for w in words for text in self.said()))

    def report(self, patience: float = PATIENCE) -> dict[str, Any]:
        """What it tells of an association that has ended; nothing, where it has not."""
        self.wait_for("report", lambda: bool(self._reports()), patience)
        reports = self._reports()
        return reports[-1] if reports else {}

    def _reports(self) -> list[dict[str, Any]]:
        """All that it has told of ended associations: one JSON text, or one in each line."""
        out, _ = self.said()
        found = []
        for text in (out, *out.splitlines()):
            with contextlib.suppress(json.JSONDecodeError):
                told = json.loads(text)
                if isinstance(told, dict) and "ready" not in told and "up" not in told:
                    found.append(told)
        return found

    def stop(self) -> int:
        """Asks it to stop; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.remarks.append("did not stop")
            self.process.kill()
            return self.process.wait()

    def story(self) -> str:
        """What became of it, for whoever looks for a fault."""
        out, err = self.said()
        code = self.process.poll()
        words = [*self.remarks, f"exit code {code}", " ".join(out.split()), " ".join(err.split())]
        return f"{self.stack}: {'; '.join(word for word in words if word)}"


def server_command(program: Path, stack: str, udp: int, traffic: Traffic) -> list[str]:
    """How the echo server of a stack is started."""
    if stack == OURS:
        command = [str(program), "sctp-echo", "serve", "--listen", LOOPBACK, "--json"]
        command += ["--port", str(PORT), "--udp-encap", str(udp), "--associations", "1"]
        if traffic.server_end:
            command += [f"--{traffic.server_end}-after", str(traffic.count)]
        command += ["--partial-reliability"] if traffic.max_rtx is not None else []
        command += ["--reconfiguration"] if traffic.reset else []
        command += ["--reset-back"] if traffic.both_ways else []
        return command + _knobs(traffic)
    command = [str(program), "serve", "--udp", str(udp)]
    if traffic.server_end:
        command += ["--end", traffic.server_end, "--end-after", str(traffic.count)]
    return command + _flags(traffic)


def client_command(program: Path, stack: str, udp: int, remote: int, traffic: Traffic) -> list[str]:
    """How the client of a stack is started."""
    if stack == OURS:
        end = {"wait": "peer"}.get(traffic.end, traffic.end)
        command = [str(program), "sctp-echo", "connect", LOOPBACK, "--json"]
        command += ["--port", str(PORT), "--local-port", str(PORT)]
        command += ["--udp-encap", str(remote), "--local-udp", str(udp), "--bind", LOOPBACK]
        command += ["--count", str(traffic.count), "--size", f"{traffic.size}B"]
        command += ["--streams", str(traffic.streams)]
        command += ["--unordered"] if traffic.unordered else []
        if traffic.max_rtx is None:
            command += ["--outstanding", str(traffic.window)]
        else:
            command += ["--rate", "1000/s", "--max-retransmissions", str(traffic.max_rtx)]
        command += ["--resets", "1"] if traffic.reset else []
        command += ["--both-ways"] if traffic.both_ways else []
        patience = f"{PATIENCE / 2:.0f}s"
        command += ["--wait", patience, "--linger", f"{2 * PATIENCE:.0f}s"]
        return [*command, "--end", end, *_knobs(traffic)]
    command = [str(program), "connect", "--udp", str(udp), "--remote-udp", str(remote)]
    command += ["--count", str(traffic.count), "--size", str(traffic.size)]
    command += ["--streams", str(traffic.streams), "--window", str(traffic.window)]
    if traffic.max_rtx is not None:
        command += ["--max-rtx", str(traffic.max_rtx)]
    command += ["--reset"] if traffic.reset else []
    if stack == "pion" and traffic.rest_ms:
        command += ["--rest", str(traffic.rest_ms)]
    return [*command, "--linger", "--end", traffic.end, *_flags(traffic)]


def _flags(traffic: Traffic) -> list[str]:
    flags = ["--unordered"] if traffic.unordered else []
    flags += ["--interleave"] if traffic.interleave else []
    if traffic.quick:
        flags += ["--rto-max", "300", "--assoc-max-rtx", "3"]
    return flags


def _knobs(traffic: Traffic) -> list[str]:
    knobs = ["send_buffer_bytes=2000000", "receive_buffer_bytes=2000000"]
    if traffic.quick:
        knobs += ["rto_initial_ns=200000000", "rto_min_ns=200000000", "rto_max_ns=300000000"]
        knobs += ["association_max_retransmits=3", "path_max_retransmits=3"]
        # At the moment at which the peer falls silent nothing may be under way.
        knobs += ["heartbeat_interval_ns=200000000"]
    words = [word for knob in knobs for word in ("--set", knob)]
    return [*words, "--interleave"] if traffic.interleave else words


@contextlib.contextmanager
def running(stack: str, command: list[str]) -> Iterator[Program]:
    """Runs a program, and kills it where the test leaves it running."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        ) as process,
    ):
        try:
            yield Program(stack, process, out, err)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()


@contextlib.contextmanager
def relay(program: Path, to: int, seed: int) -> Iterator[int]:
    """A path of 5 ms with 5 % loss and reordering each way; its UDP port."""
    with free_port() as port:
        ends = ["--listen", f"{LOOPBACK}:{port}", "--to", f"{LOOPBACK}:{to}"]
        command = [str(program), "relay", *ends]
        command += ["--delay", "5ms", "--loss", "5%", "--reorder", "5%:3ms"]
        command += ["--seed", str(seed)]
        with running("relay", command) as relaying:
            relaying.wait_until_ready()
            yield port


if __name__ == "__main__":
    for name in (OURS, *PEERS):
        print(name, build(name), file=sys.stderr)
