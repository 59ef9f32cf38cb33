"""A relay whose link to the target goes down."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from namespaces import Hosts, figures, running, two_hosts

LISTEN, TARGET = "127.0.0.1:5000", "10.79.1.2:9"

SEND = """
import socket
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.bind(("127.0.0.1", 5001))
for _ in range(10):
    client.sendto(b"hello", ("127.0.0.1", 5000))
"""


def offer(hosts: Hosts) -> None:
    """Ten datagrams from the client, always the same one."""
    client = hosts.start(0, sys.executable, "-c", SEND)
    _, errors = client.communicate(timeout=20)
    assert client.returncode == 0, errors


def test_what_goes_nowhere_is_dropped_and_counted(headway_net: Path) -> None:
    relay = (str(headway_net), "relay", "--listen", LISTEN, "--to", TARGET, "--json")
    with (
        two_hosts("relay", [["10.79.1.{}/24"]]) as hosts,
        running(hosts, 0, *relay, ready="relaying ") as process,
    ):
        offer(hosts)
        # The client's socket exists, and now there is no way from it to the target.
        hosts.cut(1)
        offer(hosts)
        process.send_signal(signal.SIGTERM)
        counted = figures(process, patience=20)
    assert counted["clients"] == 1
    assert counted["forward"]["packets_delivered"] == 20
    assert counted["outside"]["unsent"] == 10
