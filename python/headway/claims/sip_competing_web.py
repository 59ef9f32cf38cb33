"""Claims on SIP beside web traffic: Table 3 and Fig. 8 of the paper.

Each function follows the check and the tolerance that the claim's entry in
sip_over_sctp.toml states.
"""

from __future__ import annotations

import numpy as np

from headway.claims.grid import Axis, Grid, View
from headway.claims.registry import checks
from headway.claims.scenarios import (
    CALL_RATE,
    DELAY,
    DELIVERY,
    HOLB,
    NO_HOLB,
    P95,
    QUEUE,
    RTT,
    SCENARIOS,
    by_scenario,
    few_falls,
    ms,
)
from headway.claims.verdict import Finding

SHORT, LONG = "10-20", "50-60"
SESSIONS = (1.0, 2.0, 3.0)
TABLE_3 = {
    "queue": QUEUE,
    "sessions": Axis("competing.web.users.session_rate", SESSIONS, "sessions/s"),
    "delay": DELAY,
    "rate": CALL_RATE,
    "delivery": DELIVERY,
}


def _p95(view: View) -> Grid:
    return Grid(view, TABLE_3, P95)


@checks("s0-c30")
def long_queue_is_as_an_empty_network(view: View) -> Finding:
    """P95 at 50-60 in round-trip times, 24 points."""
    p95 = view.means(_p95(view).at(queue=LONG))
    ratio = p95 / RTT[..., np.newaxis]
    near = (ratio <= 1.15).reshape(len(ratio), -1)
    late = [
        f"{SESSIONS[k]:g} at {SCENARIOS[2 * d + r]}, {DELIVERY.levels[o]}: {ms(p95[0, k, d, r, o])}"
        for k, d, r, o in np.argwhere(ratio[0] > 1.15)
    ]
    return Finding(
        near.all(axis=1),
        f"{int(near[0].sum())} of {near.shape[1]} points within the band; "
        f"largest P95 {ratio[0].max():.2f} RTT",
        "Not so with " + "; ".join(late) + "." if late else "",
    )


@checks("s0-c31")
def holb_is_significant_beside_web(view: View) -> Finding:
    """12 tests at 10-20; a rejection counts when HOLB is slower."""
    grid = _p95(view)
    a, b = (grid.at(queue=SHORT, delivery=delivery) for delivery in (HOLB, NO_HOLB))
    slower = view.rejects(a, b) & (view.means(a) > view.means(b))
    missing = [f"{SESSIONS[k]:g} at {SCENARIOS[2 * d + r]}" for k, d, r in np.argwhere(~slower[0])]
    # Relative, because the scenarios differ in level.
    spread = [np.nanstd(x, axis=-1) / np.nanmean(x, axis=-1) for x in (a, b)]
    wider = int((spread[0] > spread[1]).sum())
    near, far = (np.median(spread[0][:, d]) for d in (0, 1))
    return Finding(
        slower.sum(axis=(1, 2, 3)) >= 10,
        f"{int(slower[0].sum())} of 12 tests reject, HOLB slower",
        ("Not so with " + "; ".join(missing) + ". " if missing else "")
        + f"Spread of the ten values over their mean: wider with HOLB at {wider} of 12 points; "
        f"with HOLB {near:.2f} at 20 ms and {far:.2f} at 60 ms (medians).",
    )


@checks("s0-c32")
def more_sessions_more_delay(view: View) -> Finding:
    """8 curves over the rate of sessions at 10-20."""
    p95 = np.moveaxis(view.means(_p95(view).at(queue=SHORT)), 1, -1)
    right = few_falls(p95, 0.10).reshape(len(p95), -1)
    return Finding(
        right.all(axis=1),
        f"{int(right[0].sum())} of {right.shape[1]} curves rise",
        "P95 with HOLB, from 1 to 3 sessions/s: "
        + by_scenario(p95[0, ..., 0, 0], ms)
        + " to "
        + by_scenario(p95[0, ..., 0, -1], ms),
    )


@checks("s0-c33")
def more_calls_less_delay_beside_web(view: View) -> Finding:
    """40 against 20 calls/s at 12 points of 10-20, and at all 24."""
    grid = _p95(view)
    fast, slow = (view.means(grid.at(rate=rate)) for rate in (40.0, 20.0))
    lower = fast < slow
    short = lower[:, 0].reshape(len(lower), -1)
    return Finding(
        short.sum(axis=1) >= 9,
        f"lower at {int(short[0].sum())} of {short.shape[1]} points",
        f"Over both queues: {int(lower[0].sum())} of {lower[0].size}. "
        f"At 20 ms: {int(lower[0, 0, :, 0].sum())} of 6; at 60 ms: "
        f"{int(lower[0, 0, :, 1].sum())} of 6.",
    )
