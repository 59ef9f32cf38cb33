"""Claims on SIP over long paths: Table 4 and Fig. 9 of the paper, here on emulated paths.

Each function follows the check and the tolerance that the claim's entry in
sip_over_sctp.toml states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.claims.grid import Array, Axis, Grid, View
from headway.claims.registry import checks
from headway.claims.scenarios import CALL_RATE, DELIVERY, HOLB, NO_HOLB, P95, ms
from headway.claims.verdict import Finding, NotTestable

MADRID, NEW_YORK = 0.035, 0.06
TABLE_4 = {
    "flows": Axis("competing.bulk.flows", (0.0, 2.0), "connections"),
    "delay": Axis("path.one_way_delay", (MADRID, NEW_YORK), "ms", 1000),
    "rate": CALL_RATE,
    "delivery": DELIVERY,
}


def _tests(view: View, delay: float) -> tuple[NDArray[np.bool_], str]:
    """Whether HOLB is significant, (resamples, flows, call rates), and the means in words."""
    grid = Grid(view, TABLE_4, P95)
    a, b = (grid.at(delay=delay, delivery=delivery) for delivery in (HOLB, NO_HOLB))
    slower = view.rejects(a, b) & (view.means(a) > view.means(b))
    means = [view.means(x)[0] for x in (a, b)]
    shown = "; ".join(
        f"{flows:g} TCP, {rate:g} calls/s: {ms(means[0][k, r])} with HOLB and "
        f"{ms(means[1][k, r])} without"
        for k, flows in enumerate((0, 2))
        for r, rate in enumerate((40, 20))
    )
    return slower, f"P95: {shown}."


@checks("s0-c34")
def madrid(view: View) -> Finding:
    """Four tests: two that reject without TCP, two with TCP that do not."""
    slower, shown = _tests(view, MADRID)
    right = np.stack([slower[:, 0], ~slower[:, 1]], axis=1)
    return Finding(
        right.all(axis=(1, 2)),
        f"without TCP {int(slower[0, 0].sum())} of 2 tests reject, with two connections "
        f"{int(slower[0, 1].sum())} of 2",
        shown,
    )


@checks("s0-c35")
def new_york(view: View) -> Finding:
    """Four tests, of which the one at 40 calls/s without TCP rejects."""
    slower, shown = _tests(view, NEW_YORK)
    right = ~slower
    right[:, 0, 0] = slower[:, 0, 0]
    return Finding(
        right.all(axis=(1, 2)),
        f"{int(right[0].sum())} of 4 outcomes as stated; without TCP "
        f"{'significant' if slower[0, 0, 0] else 'not significant'} at 40 calls/s and "
        f"{'significant' if slower[0, 0, 1] else 'not significant'} at 20, with two connections "
        f"{int(slower[0, 1].sum())} of 2",
        shown,
    )


@checks("s0-c36")
def above_twice_the_longest_round_trip(view: View) -> Finding:
    """P95 beside two connections against the round trip through a full buffer."""
    rate, limit = (view.settings.get(key) for key in ("path.rate", "path.queue.limit"))
    if rate is None or limit is None:
        raise NotTestable("it speaks of a bottleneck with a rate and a buffer")
    grid = Grid(view, TABLE_4, P95)
    p95 = view.means(grid.at(flows=2.0))
    refused = Grid(view, TABLE_4, "packets_lost_queue").at(flows=2.0)
    full = int((refused > 0).sum())
    if full == 0:
        raise NotTestable("the buffer never overflowed, so that its delay was never reached")
    longest: Array = 2 * np.array([MADRID, NEW_YORK]) + 8 * limit / rate
    late = (p95 > 2 * longest[:, np.newaxis, np.newaxis]).reshape(len(p95), -1)
    ratio = p95[0] / longest[:, np.newaxis, np.newaxis]
    return Finding(
        late.all(axis=1),
        f"P95 {ms(p95[0].min())} to {ms(p95[0].max())}, {ratio.min():.1f} to {ratio.max():.1f} of "
        f"the longest round trip ({ms(longest[0])} and {ms(longest[1])})",
        f"Above twice that at {int(late[0].sum())} of {late.shape[1]} points, above 4 s at "
        f"{int((p95[0] > 4).sum())}. The buffer overflowed in {full} of {refused.size} runs.",
    )
