"""Claims on what the window and the queue count, held against simulation (seed 4, 6.3 and 6.5).

Each function takes the runs of a study and follows the check and the tolerance that the
claim's entry in media_over_tcp.toml states.
"""

from __future__ import annotations

import numpy as np

from headway.claims.grid import Array, Axis, Grid, View
from headway.claims.registry import checks
from headway.claims.verdict import Finding

COUNTING = "transport.tcp.growth_counting"
RIVALS = "competing.bulk.stack.tcp.growth_counting"
ACKS, BYTES, PACKETS = "acks", "bytes", "packets"
P95, MOST = "delay_p95_s", "delay_max_s"
WEB = (0.0, 10.0, 15.0, 20.0, 25.0)
DRAWN = 4
"""The loads that the axis of Fig. 19 reaches: up to 20 web flows."""
AXES = {
    "payload": Axis("workload.payload", (160.0, 1434.0), "B"),
    "queue": Axis("path.queue", (PACKETS, BYTES)),
    "counting": Axis(COUNTING, (ACKS, BYTES)),
    "rivals": Axis(RIVALS, (ACKS, BYTES)),
    "web": Axis("competing.messages.flows", WEB, "web flows"),
}


def _at(
    view: View, metric: str, queue: str, counting: str, rivals: str = ACKS, payload: float = 160.0
) -> Array:
    """Means over replications by number of web flows, one row a resample."""
    grid = Grid(view, AXES, metric)
    return view.means(grid.at(payload=payload, queue=queue, counting=counting, rivals=rivals))


def _told(values: Array) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


@checks("s4-c11", compares=[COUNTING])
def byte_counting_is_slower(view: View) -> Finding:
    """P95 and maximum with byte counting over those with ACK counting, queue in packets."""
    own, everybody = {}, {}
    for metric in (P95, MOST):
        acks = _at(view, metric, PACKETS, ACKS)
        own[metric] = _at(view, metric, PACKETS, BYTES) / acks
        everybody[metric] = _at(view, metric, PACKETS, BYTES, BYTES) / acks
    means = np.stack([own[metric][:, :DRAWN].mean(axis=1) for metric in (P95, MOST)])
    return Finding(
        ((means >= 1.03) & (means <= 1.35)).all(axis=0),
        f"95th percentile {100 * (means[0, 0] - 1):+.0f} %, maximum {100 * (means[1, 0] - 1):+.0f}"
        " % on average up to 20 web flows",
        f"Calls that count bytes over calls that count ACKs, by W = 0, 10, 15, 20, 25: 95th "
        f"percentile {_told(own[P95][0])}, maximum {_told(own[MOST][0])}. At 25 the calls are "
        "saturated; the axis of the figure ends at 20. Where everybody counts bytes: "
        f"{_told(everybody[P95][0])} and {_told(everybody[MOST][0])}.",
    )


@checks("s4-c14", compares=[COUNTING])
def acks_at_a_queue_in_bytes(view: View) -> Finding:
    """The same two at the queue in bytes, load by load."""
    p95, most = (
        _at(view, metric, BYTES, ACKS) / _at(view, metric, BYTES, BYTES) for metric in (P95, MOST)
    )
    kept = (p95 <= 1.03) & (most <= 1.03)
    return Finding(
        kept.all(axis=1),
        f"not higher at {int(kept[0].sum())} of {kept.shape[1]} loads",
        f"ACK counting over byte counting by W = 0, 10, 15, 20, 25: 95th percentile "
        f"{_told(p95[0])}, maximum {_told(most[0])}.",
    )


@checks("s4-c15", compares=[COUNTING])
def bytes_beat_packets_either_way(view: View) -> Finding:
    """P95 at the queue in bytes over that at the queue in packets, for both ways of counting."""
    ratio = {
        counting: _at(view, P95, BYTES, counting) / _at(view, P95, PACKETS, counting)
        for counting in (ACKS, BYTES)
    }
    lower = np.concatenate([found < 1 for found in ratio.values()], axis=1)
    return Finding(
        lower.all(axis=1),
        f"lower at {int(lower[0].sum())} of {lower.shape[1]} points",
        "Queue in bytes over queue in packets by W = 0, 10, 15, 20, 25: "
        + "; ".join(f"counting {name}: {_told(found[0])}" for name, found in ratio.items())
        + ".",
    )


@checks("s4-c16", compares=[COUNTING])
def who_gains_from_small_packets(view: View) -> Finding:
    """P95 of the same bit rate in packets of the MSS over that of the calls, in the four cells."""
    cells = {
        (queue, counting): _at(view, P95, queue, counting, payload=1434.0)
        / _at(view, P95, queue, counting)
        for queue in (PACKETS, BYTES)
        for counting in (ACKS, BYTES)
    }
    gain = {cell: np.exp(np.log(found).mean(axis=1)) for cell, found in cells.items()}
    most, none = gain[BYTES, ACKS], gain[PACKETS, BYTES]
    others = np.stack([gain[PACKETS, ACKS], gain[BYTES, BYTES]])
    return Finding(
        (most > others.max(axis=0)) & (none < others.min(axis=0)),
        f"{most[0]:.2f} with a queue in bytes and ACK counting, {none[0]:.2f} with a queue in "
        "packets and byte counting",
        "Geometric mean over W of the 95th percentile of 64 kb/s in packets of 1448 B over that "
        "in packets of 174 B. The other two: "
        f"{gain[PACKETS, ACKS][0]:.2f} with a queue in packets and ACK counting, "
        f"{gain[BYTES, BYTES][0]:.2f} with one in bytes and byte counting.",
    )
