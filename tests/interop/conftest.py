"""Fixtures of the interop tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from matrix import SHORT_CELLS, Key, Matrix, Stacks
from peers import OURS, PEERS, Missing
from wire import Capture, NotPermitted, capturing


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


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Capture]:
    """What crosses the loopback interface from now on."""
    with contextlib.ExitStack() as all_of:
        file = tmp_path_factory.mktemp("capture") / "matrix.pcapng"
        try:
            recording = all_of.enter_context(capturing(file))
        except Missing as missing:
            pytest.fail(str(missing), pytrace=False)
        except NotPermitted:
            pytest.skip("capturing on the loopback interface is not permitted here")
        yield recording


@pytest.fixture(scope="session")
def matrix(request: pytest.FixtureRequest, stacks: Stacks) -> Iterator[Matrix]:
    """The cells that are asked for; they all run from now on, a few at once."""
    wanted: dict[Key, None] = {}
    with contextlib.ExitStack() as all_of:
        for item in request.session.items:
            assert isinstance(item, pytest.Function)
            if "capture" in item.fixturenames:
                # Before the first packet. Where there is none, that test says so.
                with contextlib.suppress(pytest.fail.Exception, pytest.skip.Exception):
                    request.getfixturevalue("capture")
                wanted.update(dict.fromkeys(SHORT_CELLS))
            elif Path(item.path).name == "test_matrix.py":
                wanted[item.callspec.params["cell"]] = None
        yield all_of.enter_context(Matrix(stacks, wanted))
