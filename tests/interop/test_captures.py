"""What crosses the wire between the stacks, as tshark reads it."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from matrix import SCENES, WAYS, Stacks, run_cell
from peers import PEERS, PORTS

SHORT = [scene for scene in SCENES if scene.short and scene.kind == "transfer"]

HARMLESS = (
    # tshark remarks on what was sent again, or twice, and on every ABORT; that is
    # what the lossy rows and those that abort are about.
    "retransmi",
    "Retransmi",
    "Duplicate TSN",
    "Association Abort",
)


SLOW = [pytest.param(peer, marks=pytest.mark.slow) for peer in PEERS if peer != "usrsctp"]


@pytest.mark.parametrize("peer", ["usrsctp", *SLOW])
def test_tshark_finds_nothing_wrong(stacks: Stacks, peer: str, tmp_path: Path) -> None:
    dumpcap = shutil.which("dumpcap")
    if dumpcap is None or shutil.which("tshark") is None:
        pytest.fail("tshark is missing: install the Debian package tshark", pytrace=False)
    capture = tmp_path / "matrix.pcapng"
    only = f"udp portrange {PORTS.start}-{PORTS.stop - 1}"
    command = [dumpcap, "-q", "-i", "lo", "-f", only, "-w", str(capture)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        if "Capturing" not in process.stderr.readline():
            pytest.skip("capturing on the loopback interface is not permitted here")
        # It says so before it does.
        time.sleep(1)
        cells = [(scene, way) for scene in SHORT for way in WAYS]
        ran = [run_cell(stacks, scene, peer, way).passed is not None for scene, way in cells]
        time.sleep(1)
        process.terminate()
        process.wait(20)
    assert any(ran)
    counted, remarks = read(capture)
    assert counted > 1000
    assert not remarks, "\n".join(remarks[:20])


def read(capture: Path) -> tuple[int, list[str]]:
    """How many SCTP packets there are, and what tshark finds wrong with some of them."""
    told = subprocess.run(
        [
            *("tshark", "-r", str(capture), "-2"),
            # Ports change from cell to cell.
            *("-d", f"udp.port=={PORTS.start}-{PORTS.stop - 1},sctp"),
            *("-o", "sctp.checksum:crc-32c"),
            # Message contents are nobody's protocol.
            *("--disable-protocol", "nbap", "--disable-heuristic", "jxta_sctp"),
            *("-Y", "sctp", "-T", "fields", "-E", "separator=|", "-E", "occurrence=a"),
            *("-e", "frame.number", "-e", "sctp.checksum.status", "-e", "_ws.malformed"),
            *("-e", "_ws.expert.message"),
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    lines = told.splitlines()
    remarks = []
    for line in lines:
        number, checksum, malformed, experts = (line.split("|") + [""] * 4)[:4]
        # 1 is good; 0 is bad, 2 not looked at.
        if checksum != "1" or malformed:
            remarks.append(f"packet {number}: checksum {checksum}, malformed {malformed!r}")
        if experts and not any(word in experts for word in HARMLESS):
            remarks.append(f"packet {number}: {experts}")
    return len(lines), remarks
