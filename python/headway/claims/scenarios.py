"""The four scenarios of the paper on SIP over SCTP: two delays by two call rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.claims.grid import Array, Axis

HOLB, NO_HOLB = "ordered", "unordered"
QUEUE = Axis("path.queue", ("10-20", "50-60"), "packets")
DELAY = Axis("path.one_way_delay", (0.02, 0.06), "ms", 1000)
CALL_RATE = Axis("workload.call_rate", (40.0, 20.0), "calls/s")
DELIVERY = Axis("transport.delivery", (HOLB, NO_HOLB))
# Panels of the paper's figures in their order.
SCENARIOS = ("20 ms, 40 calls/s", "20 ms, 20 calls/s", "60 ms, 40 calls/s", "60 ms, 20 calls/s")
RTT = np.array([[0.04, 0.04], [0.12, 0.12]])
"""Round-trip time of the empty path, by delay and call rate."""
P95 = "psd_p95_s"
PESSIMISTIC = (
    "Resampling is pessimistic where tests are to find nothing: a resampled pair differs at "
    "least as much as the pair it came from."
)


def ms(seconds: float) -> str:
    """A time as people read it."""
    return f"{1000 * seconds:.1f} ms" if abs(seconds) < 0.1 else f"{1000 * seconds:.0f} ms"


def by_scenario(values: Array | NDArray[Any], show: Callable[[Any], str]) -> str:
    """One value for each scenario."""
    return "; ".join(
        f"{name}: {show(value)}" for name, value in zip(SCENARIOS, values.ravel(), strict=True)
    )


def few_falls(curves: Array, slack: float) -> NDArray[np.bool_]:
    """Whether each curve (last axis) falls at most once, and then by less than `slack`.

    A fall within rounding, a millionth, is none.
    """
    change = curves[..., 1:] / curves[..., :-1] - 1
    falls = change < -1e-6
    return np.asarray((falls.sum(axis=-1) <= 1) & (change > -slack).all(axis=-1))
