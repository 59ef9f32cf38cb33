"""Starting, stopping and reading SIPp and headway-net."""

from __future__ import annotations

import csv
import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCENARIOS = Path(__file__).parent / "scenarios"
LOOPBACK = "127.0.0.1"

SIPP_OPTIONS = [
    *("-i", LOOPBACK),
    "-nostdin",
    "-trace_err",
    "-trace_counts",
    # Counts at the end, not every minute.
    *("-fd", "100000"),
    # Times to the millisecond rather than to 10 ms.
    *("-timer_resol", "1"),
    # Transmissions as RFC 3261 has them: seven of an INVITE, eleven of the rest.
    *("-max_non_invite_retrans", "10"),
]


def free_port(kind: socket.SocketKind = socket.SOCK_DGRAM) -> int:
    """A port that nobody uses at the moment."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_bound(port: int, kind: socket.SocketKind, patience: float = 10) -> None:
    """Return when a program listens on this port, found out without sending it anything."""
    table = Path("/proc/net/tcp" if kind == socket.SOCK_STREAM else "/proc/net/udp")
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        local = (line.split()[1] for line in table.read_text().splitlines()[1:])
        if any(int(address.split(":")[1], 16) == port for address in local):
            return
        time.sleep(0.02)
    message = f"nobody listens on port {port}"
    raise TimeoutError(message)


@dataclass
class Program:
    """A running headway-net."""

    process: subprocess.Popen[str]
    announced: str
    """What it said first: where it listens."""

    def stop(self) -> dict[str, Any]:
        """Ask it to stop and read what it counted."""
        self.process.send_signal(signal.SIGTERM)
        return self.finish(20)

    def finish(self, patience: float) -> dict[str, Any]:
        """Wait for its end and read what it counted."""
        out, err = self.process.communicate(timeout=patience)
        assert self.process.returncode == 0, f"exit code {self.process.returncode}: {err}\n{out}"
        report: dict[str, Any] = json.loads(out)
        return report

    def address(self) -> str:
        """Host and port in the announcement."""
        return next(word for word in self.announced.split() if word.startswith(LOOPBACK))


@contextmanager
def running_headway(binary: Path, *arguments: str) -> Iterator[Program]:
    """Run headway-net; it is killed where the test leaves it running."""
    command = [str(binary), *arguments, "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stderr is not None
            announced = process.stderr.readline()
            assert LOOPBACK in announced, announced + process.stderr.read()
            yield Program(process, announced)
        finally:
            if process.poll() is None:
                process.kill()


@dataclass
class Sipp:
    """A running SIPp."""

    process: subprocess.Popen[str]
    folder: Path
    port: int

    def finish(self, patience: float) -> dict[str, int]:
        """Wait for its end, at which every call must have succeeded."""
        out, _ = self.process.communicate(timeout=patience)
        errors = "".join(file.read_text() for file in self.folder.glob("*errors.log"))
        assert self.process.returncode == 0, f"SIPp: {self.process.returncode}\n{errors}\n{out}"
        return self._counts()

    def stop(self) -> dict[str, int]:
        """End it, although it would still wait for repeated requests."""
        self.process.send_signal(signal.SIGTERM)
        return self.finish(20)

    def _counts(self) -> dict[str, int]:
        """The last line of its counts, by column."""
        (file,) = self.folder.glob("*_counts.csv")
        with file.open(newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter=";"))
        return {
            name: int(value)
            for name, value in rows[-1].items()
            if name and name[0].isdigit() and value
        }


@contextmanager
def running_sipp(
    binary: Path, folder: Path, scenario: str, *arguments: str, tcp: bool = False
) -> Iterator[Sipp]:
    """Run SIPp with a scenario of this folder."""
    folder.mkdir()
    kind = socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM
    port = free_port(kind)
    transport = ["-t", "t1"] if tcp else ["-t", "u1"]
    command = [str(binary), "-sf", str(SCENARIOS / scenario), "-p", str(port), *transport]
    command += [*SIPP_OPTIONS, *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            if "answerer" in scenario:
                wait_until_bound(port, kind)
            yield Sipp(process, folder, port)
        finally:
            if process.poll() is None:
                process.kill()
