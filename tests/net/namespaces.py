"""Two hosts in network namespaces, programs on them, and what passes between them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CAPTURE = Path(__file__).with_name("capture.py")


def ip(*arguments: str) -> None:
    """Run ip(8), which must succeed."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@dataclass(frozen=True)
class Hosts:
    """The names of both namespaces."""

    names: tuple[str, str]

    def start(self, host: int, *command: str) -> subprocess.Popen[str]:
        """Start a program on a host: 0 or 1."""
        pipe = subprocess.PIPE
        within = ["ip", "netns", "exec", self.names[host], *command]
        return subprocess.Popen(within, stdout=pipe, stderr=pipe, text=True)

    def cut(self, link: int) -> None:
        """Unplug a link, the first of which is 1, at host 0."""
        ip("-n", self.names[0], "link", "set", f"link{link}", "down")


@contextmanager
def two_hosts(name: str, links: Sequence[Sequence[str]]) -> Iterator[Hosts]:
    """Yield two hosts with so many links between them, for root.

    `links` has for each link the networks on it, such as "10.78.1.{}/24" or
    "fd78:1::{}/64"; host 0 gets number 1 there and host 1 number 2.
    """
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and iproute2")
    hosts = Hosts((f"hw-{name}-{os.getpid()}-a", f"hw-{name}-{os.getpid()}-b"))
    try:
        for host in hosts.names:
            ip("netns", "add", host)
            ip("-n", host, "link", "set", "lo", "up")
        for number, networks in enumerate(links, 1):
            link = f"link{number}"
            peer = ("type", "veth", "peer", "name", link, "netns", hosts.names[1])
            ip("-n", hosts.names[0], "link", "add", link, *peer)
            for place, host in enumerate(hosts.names, 1):
                for network in networks:
                    # There is nobody else who could have the address.
                    alone = ("nodad",) if ":" in network else ()
                    ip("-n", host, "address", "add", network.format(place), "dev", link, *alone)
                ip("-n", host, "link", "set", link, "up")
        yield hosts
    finally:
        for host in hosts.names:
            subprocess.run(["ip", "netns", "del", host], check=False, capture_output=True)


@contextmanager
def capturing(hosts: Hosts, file: Path) -> Iterator[None]:
    """Write what passes host 0 to a file, complete once the block is left."""
    with hosts.start(0, sys.executable, str(CAPTURE), str(file)) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            ready = process.stdout.readline()
            assert ready == "capturing\n", process.stderr.read()
            yield
            # `ip netns exec` becomes the program, so the signal is for the program.
            process.send_signal(signal.SIGTERM)
            told, errors = process.communicate(timeout=30)
            assert process.returncode == 0, errors
            assert json.loads(told)["dropped"] == 0, told
        finally:
            if process.poll() is None:
                process.kill()


@contextmanager
def running(hosts: Hosts, host: int, *command: str, ready: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program on a host, which says on standard error when it is ready."""
    with hosts.start(host, *command) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            assert ready in said, said + process.stderr.read()
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def figures(process: subprocess.Popen[str], patience: float = 60) -> dict[str, Any]:
    """Wait for the good end of a program and read its figures."""
    out, errors = process.communicate(timeout=patience)
    assert process.returncode == 0, f"exit code {process.returncode}: {errors}\n{out}"
    report: dict[str, Any] = json.loads(out)
    return report
