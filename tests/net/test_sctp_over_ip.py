"""SCTP directly in IP between two hosts, over both versions, as tshark reads it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from namespaces import capturing, figures, running, two_hosts

V4, V6 = "10.78.{link}.{{}}/24", "fd78:{link}::{{}}/64"

READY = "serving SCTP port 7 over IP on "

# Chunk types (RFC 9260, section 3.2).
DATA, INIT, INIT_ACK, SACK, HEARTBEAT, HEARTBEAT_ACK = range(6)
SHUTDOWN, SHUTDOWN_ACK, COOKIE_ECHO, COOKIE_ACK, SHUTDOWN_COMPLETE = 7, 8, 10, 11, 14
OF_EVERY_ASSOCIATION = {
    *(DATA, INIT, INIT_ACK, SACK, COOKIE_ECHO, COOKIE_ACK),
    *(SHUTDOWN, SHUTDOWN_ACK, SHUTDOWN_COMPLETE),
}

QUICK = [
    f"--set={knob}"
    for knob in (
        "rto_initial_ns=100000000",
        "rto_min_ns=50000000",
        "rto_max_ns=200000000",
        "path_max_retransmits=2",
        "heartbeat_interval_ns=100000000",
    )
]

RETRANSMISSIONS = ("retransmi", "Retransmi", "Duplicate TSN")
"""What tshark remarks on chunks that were sent again or came twice."""


@pytest.fixture(autouse=True)
def nobody_else() -> None:
    """Only this stack may answer, and tshark must be there to judge it."""
    if shutil.which("tshark") is None:
        pytest.fail("tshark is missing: install the Debian package tshark", pytrace=False)
    if Path("/proc/net/sctp").exists():
        pytest.fail("the kernel's own SCTP would answer as well: rmmod sctp", pytrace=False)


@dataclass
class Seen:
    """The SCTP packets of a capture."""

    packets: int = 0
    chunks: Counter[tuple[int, int]] = field(default_factory=Counter)
    """How often there is a chunk of a type, by IP version and type."""
    announced: set[str] = field(default_factory=set)
    """Addresses in INIT and INIT ACK."""
    parameters: set[int] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    """What tshark finds wrong."""

    def kinds(self, version: int) -> set[int]:
        """Types of the chunks in packets of an IP version."""
        return {kind for at, kind in self.chunks if at == version}


def read(capture: Path) -> Seen:
    """Have tshark dissect a capture, outside of the namespace in which it was made."""
    fields = (
        *("frame.number", "ip.src", "ipv6.src", "sctp.chunk_type", "sctp.checksum.status"),
        *("_ws.malformed", "_ws.expert.message", "sctp.parameter_type"),
        *("sctp.parameter_ipv4_address", "sctp.parameter_ipv6_address"),
    )
    told = subprocess.run(
        [
            *("tshark", "-r", str(capture), "-2", "-o", "sctp.checksum:crc-32c"),
            *("-o", "ip.check_checksum:TRUE"),
            # Message contents are nobody's protocol.
            *("--disable-protocol", "nbap", "--disable-heuristic", "jxta_sctp"),
            *("-Y", "sctp", "-T", "fields", "-E", "separator=|", "-E", "occurrence=a"),
            *(word for name in fields for word in ("-e", name)),
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seen = Seen()
    for line in told.splitlines():
        columns = dict(zip(fields, line.split("|"), strict=True))
        version = 4 if columns["ip.src"] else 6
        seen.packets += 1
        for kind in columns["sctp.chunk_type"].split(","):
            seen.chunks[version, int(kind, 0)] += 1
        for column in fields[-2:]:
            seen.announced |= set(filter(None, columns[column].split(",")))
        parameters = filter(None, columns["sctp.parameter_type"].split(","))
        seen.parameters |= {int(kind, 0) for kind in parameters}
        # 1 is good; 0 is bad, 2 not looked at.
        checksum, malformed = columns["sctp.checksum.status"], columns["_ws.malformed"]
        experts = columns["_ws.expert.message"]
        if checksum != "1" or malformed:
            seen.remarks.append(f"packet {line}: checksum {checksum}, malformed {malformed!r}")
        if experts and not any(word in experts for word in RETRANSMISSIONS):
            seen.remarks.append(f"packet {line}: {experts}")
    return seen


def unreachable(capture: Path) -> list[str]:
    """What the kernels said of packets that nobody took."""
    display = "icmp.type == 3 || icmpv6.type == 1 || icmpv6.type == 4"
    command = ["tshark", "-r", str(capture), "-Y", display]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("network", [V4, V6], ids=["IPv4", "IPv6"])
def test_an_association_over_ip(headway_net: Path, network: str, tmp_path: Path) -> None:
    network = network.format(link=1)
    near, far = (network.format(place).partition("/")[0] for place in (1, 2))
    version = 6 if ":" in far else 4
    capture = tmp_path / "one-path.pcap"
    echo = (str(headway_net), "sctp-echo")
    with two_hosts(f"ip{version}", [[network]]) as hosts, capturing(hosts, capture):
        serve = (*echo, "serve", "--raw", "--listen", far, "--associations", "1", "--json")
        with running(hosts, 1, *serve, ready=READY) as server:
            connect = (*echo, "connect", far, "--raw", "--bind", near, "--time-limit", "30s")
            load = ("--size", "1B..20kB", "--count", "100", "--streams", "4", "--json")
            client = figures(hosts.start(0, *connect, *load, "--outstanding", "8"))
            served = figures(server)
    assert (client["right"], client["echoed"], served["shut_down"]) == (True, 100, 1)
    seen = read(capture)
    assert not seen.remarks, "\n".join(seen.remarks[:20])
    # A megabyte each way.
    assert seen.packets > 1000
    assert {at for at, _ in seen.chunks} == {version}
    assert seen.kinds(version) >= OF_EVERY_ASSOCIATION
    # One address is not announced, and packets without a checksum are not offered.
    assert not seen.announced
    assert 0x8001 not in seen.parameters
    assert not unreachable(capture)


def test_one_path_of_each_version(headway_net: Path, tmp_path: Path) -> None:
    networks = [V4.format(link=1)], [V6.format(link=2)]
    near, far = (
        ",".join(network.format(place).partition("/")[0] for (network,) in networks)
        for place in (1, 2)
    )
    capture = tmp_path / "two-paths.pcap"
    echo = (str(headway_net), "sctp-echo")
    with two_hosts("ip46", networks) as hosts, capturing(hosts, capture):
        serve = (*echo, "serve", "--raw", "--listen", far, "--associations", "1", "--json")
        with running(hosts, 1, *serve, *QUICK, ready=READY) as server:
            connect = (*echo, "connect", far, "--raw", "--bind", near, "--time-limit", "30s")
            load = ("--count", "300", "--rate", "150/s", "--json")
            client = hosts.start(0, *connect, *load, *QUICK)
            # About a third of the messages.
            time.sleep(0.7)
            hosts.cut(1)
            told = figures(client)
            served = figures(server)
    assert (told["right"], told["echoed"], served["shut_down"]) == (True, 300, 1)
    first, second = told["paths"]
    assert (first["state"], second["state"]) == ("inactive", "active")
    assert (first["primary"], second["carries_data"]) == (True, True)
    assert second["local"] == f"[{near.split(',')[1]}]:0"

    seen = read(capture)
    assert not seen.remarks, "\n".join(seen.remarks[:20])
    assert seen.announced == {*near.split(","), *far.split(",")}
    assert seen.kinds(4) >= {INIT, INIT_ACK, COOKIE_ECHO, COOKIE_ACK, DATA, SACK}
    assert seen.kinds(6) >= {HEARTBEAT, HEARTBEAT_ACK, DATA, SACK, SHUTDOWN, SHUTDOWN_ACK}
    # Some of the three hundred each way went over either.
    assert min(seen.chunks[4, DATA], seen.chunks[6, DATA]) > 60
    assert 0x8001 not in seen.parameters
