"""Every peer, each way round: the cells of the interop matrix."""

from __future__ import annotations

import pytest
from matrix import CELLS, FAULTS, Key, Matrix


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(
            (scene, peer, way),
            id=f"{scene.name}-{peer}-{way}",
            marks=[] if scene.short else [pytest.mark.slow],
        )
        for scene, peer, way in CELLS
    ],
)
def test_the_cell_passes_or_the_fault_is_the_peer_s(matrix: Matrix, cell: Key) -> None:
    outcome = matrix[cell]
    scene, peer, way = cell
    if (scene.name, peer, way) in FAULTS:
        # Where it has become well, the page is to be corrected.
        assert not outcome.passed, "a fault of the peer is gone"
        return
    assert outcome.passed, outcome.why
