"""Seeds of runs.

A run's seed derives from the study's seed, the levels of the point and the replication. Of
the levels only those count that lie outside the transport: two transports, deliveries or
stack profiles compared at one point see the same arrivals and, as far as they send the same
packets, the same losses (common random numbers). The levels count by key and value in a
RunSpec's units, so neither their labels nor the order of factors or levels matters, and
`--only` leaves every seed as it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["COMMON", "point_text", "run_seed"]

COMMON = "transport."
"""Keys that begin with this leave the seed alone."""


def point_text(levels: Mapping[str, Any]) -> str:
    """What a point adds to the seeds of its runs.

    `levels` are the keys that the point's levels set, with values as in its RunSpec.
    """
    counted = {
        key: value
        for key, value in levels.items()
        if not key.startswith(COMMON) and key != COMMON.removesuffix(".")
    }
    return json.dumps(counted, sort_keys=True, separators=(",", ":"))


def run_seed(study_seed: int, point: str, replication: int) -> str:
    """The seed of one run: 64 bits in hexadecimal, as a RunSpec has it."""
    text = f"headway run seed 1\n{study_seed}\n{point}\n{replication}"
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
