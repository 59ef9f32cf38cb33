"""Fixtures of the tests that drive real programs over real sockets."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--whole", action="store_true", help="10,000 SIP calls a run, some eight minutes in all"
    )


@pytest.fixture(scope="session")
def whole(request: pytest.FixtureRequest) -> bool:
    # Unknown where these tests run among others: then the short version is meant.
    return bool(request.config.getoption("--whole", default=False))


@pytest.fixture(scope="session")
def headway_net() -> Path:
    """The binary, built as `cargo test` builds it, so that nothing is built twice."""
    # All packages and one test, so that they have the same features as there.
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "test", "--workspace"]
    command += ["--exclude", "headway-py", "--bin", "headway-net", "--test", "settings"]
    subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / "target" / "debug" / "headway-net"


@pytest.fixture(scope="session")
def sipp() -> Path:
    found = shutil.which("sipp")
    if found is None:
        pytest.fail("SIPp is missing: install the Debian package sip-tester", pytrace=False)
    return Path(found)
