"""Every peer, each way round: the cells of the interop matrix."""

from __future__ import annotations

import pytest
from matrix import FAULTS, SCENES, WAYS, Scene, Stacks, run_cell
from peers import PEERS

CELLS = [
    pytest.param(
        scene,
        peer,
        way,
        id=f"{scene.name}-{peer}-{way}",
        marks=[] if scene.short else [pytest.mark.slow],
    )
    for scene in SCENES
    for peer in PEERS
    for way in WAYS
]


@pytest.mark.parametrize(("scene", "peer", "way"), CELLS)
def test_the_cell_passes_or_the_fault_is_the_peer_s(
    stacks: Stacks, scene: Scene, peer: str, way: str
) -> None:
    outcome = run_cell(stacks, scene, peer, way)
    if (scene.name, peer, way) in FAULTS:
        # Where it has become well, the page is to be corrected.
        assert outcome.passed is False, "a fault of the peer is gone"
        return
    assert outcome.passed is not False, outcome.why
