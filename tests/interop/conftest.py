"""Fixtures of the interop tests."""

from __future__ import annotations

import pytest
from matrix import Stacks
from peers import OURS, PEERS, Missing


@pytest.fixture(scope="session")
def stacks() -> Stacks:
    """All programs, built."""
    found = Stacks()
    for stack in (OURS, *PEERS):
        try:
            found[stack]
        except Missing as missing:
            pytest.fail(str(missing), pytrace=False)
    return found
