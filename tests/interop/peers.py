"""The stacks of the interop matrix: building them, starting them, reading what they tell."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent / "peers"
BUILT = ROOT / "target" / "interop"
LOOPBACK = "127.0.0.1"
PORT = 5000
"""SCTP port of both ends: pion knows no other."""

PEERS = ("usrsctp", "dcsctp", "pion")
OURS = "headway"


class Missing(RuntimeError):
    """Something that a peer needs is not on this machine."""


def build(stack: str) -> Path:
    """The program of a stack, built where it is not up to date."""
    if stack == OURS:
        command = ["cargo", "build", "--quiet", "--locked", "--profile", "test"]
        subprocess.run([*command, "-p", "headway-programs"], cwd=ROOT, check=True)
        return ROOT / "target" / "debug" / "headway-net"
    if stack == "dcsctp":
        command = ["cargo", "build", "--quiet", "--locked", "--release"]
        subprocess.run([*command, "-p", "interop-dcsctp"], cwd=ROOT, check=True)
        return ROOT / "target" / "release" / "dcsctp-peer"
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


def free_port() -> int:
    """A UDP port that nobody uses at the moment."""
    while True:
        port = random.choice(PORTS)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port


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


@dataclass
class Program:
    """A running end."""

    stack: str
    process: subprocess.Popen[str]
    lines: list[dict[str, Any]] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    def wait(self, patience: float) -> dict[str, Any]:
        """The last report, once the program has ended or said how the association ended."""
        try:
            out, err = self.process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            self.other.append("no end in time")
        self._read(out)
        self.other.extend(err.splitlines())
        return self.lines[-1] if self.lines else {}

    def stop(self) -> dict[str, Any]:
        """Asks it to stop, and reads what it has told."""
        # A peer of the tests ends at once and has told all it knows before.
        self.process.send_signal(signal.SIGTERM)
        return self.wait(10)

    def _read(self, out: str) -> None:
        with contextlib.suppress(json.JSONDecodeError):
            self.lines.append(json.loads(out))
            return
        for line in out.splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                told = json.loads(line)
                if "ready" not in told and "up" not in told:
                    self.lines.append(told)


def server_command(program: Path, stack: str, udp: int, traffic: Traffic) -> list[str]:
    """How the echo server of a stack is started."""
    if stack == OURS:
        command = [str(program), "sctp-echo", "serve", "--listen", LOOPBACK, "--json"]
        command += ["--port", str(PORT), "--udp-encap", str(udp)]
        if traffic.server_end:
            command += [f"--{traffic.server_end}-after", str(traffic.count)]
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
        command += ["--streams", str(traffic.streams), "--outstanding", str(traffic.window)]
        command += ["--unordered"] if traffic.unordered else []
        return [*command, "--end", end, *_knobs(traffic)]
    command = [str(program), "connect", "--udp", str(udp), "--remote-udp", str(remote)]
    command += ["--count", str(traffic.count), "--size", str(traffic.size)]
    command += ["--streams", str(traffic.streams), "--window", str(traffic.window)]
    if traffic.max_rtx is not None:
        command += ["--max-rtx", str(traffic.max_rtx)]
    command += ["--reset"] if traffic.reset else []
    return [*command, "--end", traffic.end, *_flags(traffic)]


def _flags(traffic: Traffic) -> list[str]:
    flags = ["--unordered"] if traffic.unordered else []
    flags += ["--interleave"] if traffic.interleave else []
    if traffic.quick:
        flags += ["--rto-max", "300", "--assoc-max-rtx", "3"]
    return flags


def _knobs(traffic: Traffic) -> list[str]:
    knobs = ["send_buffer_bytes=2000000", "receive_buffer_bytes=2000000"]
    if traffic.interleave:
        knobs.append("interleaving=true")
    if traffic.max_rtx is not None:
        knobs.append("partial_reliability=true")
    if traffic.reset:
        knobs.append("reconfiguration=true")
    if traffic.quick:
        knobs += ["rto_initial_ns=200000000", "rto_min_ns=200000000", "rto_max_ns=300000000"]
        knobs += ["association_max_retransmits=3", "path_max_retransmits=3"]
    return [word for knob in knobs for word in ("--set", knob)]


@contextlib.contextmanager
def running(stack: str, command: list[str], udp: int) -> Iterator[Program]:
    """Runs a program, and kills it where the test leaves it running."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            wait_until_bound(udp, process)
            yield Program(stack, process)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()


def wait_until_bound(port: int, process: subprocess.Popen[str], patience: float = 20) -> None:
    """Returns when a program has this UDP port, or has ended."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and process.poll() is None:
        lines = Path("/proc/net/udp").read_text().splitlines()[1:]
        if any(int(line.split()[1].split(":")[1], 16) == port for line in lines):
            return
        time.sleep(0.02)


@contextlib.contextmanager
def relay(program: Path, to: int) -> Iterator[int]:
    """A path of 5 ms with 5 % loss and reordering each way; its UDP port."""
    port = free_port()
    command = [str(program), "relay", "--listen", f"{LOOPBACK}:{port}", "--to", f"{LOOPBACK}:{to}"]
    command += ["--delay", "5ms", "--loss", "5%", "--reorder", "5%:3ms"]
    with running("relay", command, port):
        yield port


def knob_names(program: Path) -> str:
    """What the program says about an unknown knob: the names that it knows."""
    command = [str(program), "sctp-echo", "serve", "--set", "no_such_knob=1"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return re.sub(r"\s+", " ", told.stderr)


if __name__ == "__main__":
    for name in (OURS, *PEERS):
        print(name, build(name), file=sys.stderr)
