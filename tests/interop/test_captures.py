"""What crosses the wire between the stacks, as tshark reads it."""

from __future__ import annotations

import re

from matrix import SHORT_CELLS, Matrix
from wire import Capture


def test_tshark_finds_nothing_wrong(capture: Capture, matrix: Matrix) -> None:
    ports = frozenset[int]().union(*(matrix[cell].ports for cell in SHORT_CELLS))
    said = capture.stop()
    dropped = re.search(r"dropped on interface .*: \d+/(\d+)", said)
    assert dropped is not None, said
    assert dropped[1] == "0", said
    counted, remarks = capture.read(ports)
    # Each cell carries a hundred messages or more, there and back.
    assert counted > 100 * len(SHORT_CELLS)
    assert not remarks, "\n".join(remarks[:20])
