"""Recording the loopback interface with dumpcap, and reading SCTP in it with tshark."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from peers import LOOPBACK, PATIENCE, PORTS, Missing, free_port

HARMLESS = (
    # tshark remarks on what was sent again, or twice, on long gaps and on every ABORT; that is
    # what the lossy rows and those that abort are about.
    "retransmi",
    "Retransmi",
    "Duplicate TSN",
    "TSNs were gap-acknowledged",
    "Association Abort",
)


HEARTBEATS = frozenset({"4", "5"})
"""HEARTBEAT and HEARTBEAT ACK: pion's lack the Heartbeat Info, which tshark calls malformed (see
`docs/interop.md`)."""


class NotPermitted(RuntimeError):
    """This user may not record the loopback interface."""


@dataclass
class Capture:
    """A recording under way."""

    file: Path
    process: subprocess.Popen[str]
    port: int
    """Where marks go; no cell has this port."""

    def mark(self, word: bytes) -> None:
        """Returns once a packet with this word, sent now, is in the file: so is all that came
        before it."""
        deadline = time.monotonic() + PATIENCE
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            while not (self.file.exists() and word in self.file.read_bytes()):
                assert time.monotonic() < deadline, f"{word!r} was not recorded"
                assert self.process.poll() is None, "dumpcap has ended"
                sock.sendto(word, (LOOPBACK, self.port))
                time.sleep(0.1)

    def stop(self) -> str:
        """Ends the recording; what dumpcap says at its end."""
        self.mark(b"the end of the recording")
        self.process.terminate()
        _, said = self.process.communicate(timeout=PATIENCE)
        return said

    def read(self, ports: frozenset[int]) -> tuple[int, list[str]]:
        """How many SCTP packets there are from or to these UDP ports, and what tshark finds
        wrong with some of them."""
        told = subprocess.run(
            [
                *("tshark", "-r", str(self.file), "-2"),
                # Ports change from cell to cell.
                *("-d", f"udp.port=={PORTS.start}-{PORTS.stop - 1},sctp"),
                *("-o", "sctp.checksum:crc-32c"),
                # Message contents are nobody's protocol, and are not to be taken for one.
                *("-o", "sctp.ulp_dissection:FALSE", "-o", "sctp.reassembly:FALSE"),
                *("-Y", "sctp", "-T", "fields", "-E", "separator=|", "-E", "occurrence=a"),
                *("-e", "frame.number", "-e", "udp.port", "-e", "sctp.checksum.status"),
                *("-e", "_ws.malformed", "-e", "_ws.expert.message", "-e", "sctp.chunk_type"),
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        count, remarks = 0, []
        for line in told.splitlines():
            number, ends, checksum, malformed, experts, chunks = line.split("|")
            # Others may have used other ports of the range.
            if ports.isdisjoint(map(int, ends.split(","))):
                continue
            count += 1
            packet = f"packet {number} (chunks {chunks})"
            # 1 is good; 0 is bad, 2 not looked at.
            if checksum == "1" and HEARTBEATS.issuperset(chunks.split(",")):
                continue
            if checksum != "1" or malformed:
                remarks.append(f"{packet}: checksum {checksum}, malformed {malformed!r}")
            if experts and not any(word in experts for word in HARMLESS):
                remarks.append(f"{packet}: {experts}")
        return count, remarks


@contextlib.contextmanager
def capturing(file: Path) -> Iterator[Capture]:
    """Records the UDP ports of the tests."""
    dumpcap = shutil.which("dumpcap")
    if dumpcap is None or shutil.which("tshark") is None:
        raise Missing("tshark is missing: install the Debian package tshark")
    only = f"udp portrange {PORTS.start}-{PORTS.stop - 1}"
    # A buffer of 64 MB, so that nothing is dropped while others have the processors.
    command = [dumpcap, "-q", "-B", "64", "-i", "lo", "-f", only, "-w", str(file)]
    with (
        free_port() as port,
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process,
    ):
        try:
            assert process.stderr is not None
            if "Capturing" not in process.stderr.readline():
                raise NotPermitted
            recording = Capture(file, process, port)
            # It says so before it does.
            recording.mark(b"the beginning of the recording")
            yield recording
        finally:
            if process.poll() is None:
                process.kill()
