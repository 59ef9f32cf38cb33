"""Claims on packet splitting and parallel connections, held against simulation (seed 4, 7).

Each function takes the runs of a study and follows the check and the tolerance that the
claim's entry in media_over_tcp.toml states. A reduction is a share of what one connection with
whole packets has; it is negative where the remedy hurts. Packets over several connections count as
they come: the paper's delay ends where TCP hands a packet over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.claims.grid import Array, Axis, Grid, View
from headway.claims.registry import checks
from headway.claims.verdict import Finding

P95, BULK = "delay_p95_s", "bulk_goodput_bps"
WEB = Axis("competing.messages.flows", (0.0, 10.0, 25.0, 50.0, 100.0), "web flows")
LOSSES = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
DELAYS = (0.05, 0.15)
PLAIN = "1 connection"
PIECES = ["transport.pieces", "transport.piece_gap"]
LINES = ["transport.connections", "transport.schedule", "transport.resequence"]
IN_TURN, SHORTEST = "round-robin", "shortest-queue"
AS_THEY_COME, IN_ORDER = "as they come", "in order"


def _told(values: Array) -> str:
    return ", ".join(f"{100 * value:+.0f}" for value in values) + " %"


def _split(view: View, metric: str, pieces: float) -> Array:
    """Means by load of packets in pieces that go out at once, one row a resample."""
    axes = {
        "web": WEB,
        "pieces": Axis(PIECES[0], (1.0, 2.0, 4.0), "pieces"),
        "gap": Axis(PIECES[1], (0.0,), "s between pieces"),
    }
    return view.means(Grid(view, axes, metric).at(pieces=pieces, gap=0.0))


def _reduction(after: Array, before: Array) -> Array:
    return np.asarray(1 - after / before)


@checks("s4-c37", compares=PIECES)
def splitting_in_drop_tail(view: View) -> Finding:
    """Reduction of P95 by two and four pieces up to 50 web flows."""
    plain = _split(view, P95, 1.0)
    two, four = (_reduction(_split(view, P95, n), plain)[:, :4] for n in (2.0, 4.0))
    most = two.max(axis=1)
    ordered = (four <= two).sum(axis=1)
    return Finding(
        (most >= 0.1) & (most <= 0.45) & (ordered >= 3),
        f"at most {100 * most[0]:.0f} % lower; four pieces no better at {int(ordered[0])} of 4 "
        "loads",
        f"Reduction by W = 0, 10, 25, 50: two pieces {_told(two[0])}, four {_told(four[0])}.",
    )


@checks("s4-c38", compares=PIECES)
def splitting_under_congestion(view: View) -> Finding:
    """Reduction of P95 by two pieces with 100 web flows."""
    plain = _split(view, P95, 1.0)[:, 4]
    two, four = (_reduction(_split(view, P95, n)[:, 4], plain) for n in (2.0, 4.0))
    return Finding(
        two <= 0.1,
        f"{100 * two[0]:+.0f} %",
        f"{plain[0]:.3g} s without; four pieces {100 * four[0]:+.0f} %.",
    )


@checks("s4-c39", compares=PIECES)
def what_bulk_pays_for_splitting(view: View) -> Finding:
    """Goodput of the bulk flows with two and four pieces, mean over the loads."""
    plain = _split(view, BULK, 1.0)
    two, four = (_reduction(_split(view, BULK, n), plain) for n in (2.0, 4.0))
    mean = four.mean(axis=1)
    return Finding(
        (mean >= 0.15) & (mean <= 0.4) & (mean > two.mean(axis=1)),
        f"{100 * mean[0]:.0f} % lower with four pieces, {100 * two[0].mean():.0f} % with two",
        f"By W = 0, 10, 25, 50, 100: two {_told(two[0])}, four {_told(four[0])}.",
    )


def _lines(
    view: View,
    metric: str,
    connections: float,
    schedule: str = IN_TURN,
    order: str = AS_THEY_COME,
) -> Array:
    """Means by load over several connections, one row a resample."""
    axes = {
        "web": WEB,
        "connections": Axis(LINES[0], (1.0, 2.0, 5.0, 7.0), "connections"),
        "schedule": Axis(LINES[1], (IN_TURN, SHORTEST)),
        "order": Axis(LINES[2], (AS_THEY_COME, IN_ORDER)),
    }
    grid = Grid(view, axes, metric)
    return view.means(grid.at(connections=connections, schedule=schedule, order=order))


@checks("s4-c41", compares=LINES)
def five_connections(view: View) -> Finding:
    """Reduction of P95 by five connections in turn, mean over the loads."""
    plain = _lines(view, P95, 1.0)
    five = _reduction(_lines(view, P95, 5.0), plain)
    shortest = _reduction(_lines(view, P95, 5.0, SHORTEST), plain)
    ordered = _reduction(_lines(view, P95, 5.0, IN_TURN, IN_ORDER), plain)
    mean = five.mean(axis=1)
    return Finding(
        (mean >= 0.7) & (mean <= 0.97),
        f"{100 * mean[0]:.0f} % on average",
        f"By W = 0, 10, 25, 50, 100: {_told(five[0])}; by the shortest queue "
        f"{_told(shortest[0])}. Where the receiver restores the order first: {_told(ordered[0])}, "
        f"{100 * ordered[0].mean():.0f} % on average. P95 of one connection: "
        + ", ".join(f"{value:.3g}" for value in plain[0])
        + " s.",
    )


@checks("s4-c42", compares=LINES)
def shortest_queue_is_better(view: View) -> Finding:
    """P95 by the shortest queue against in turn, two and five connections."""
    ratio = np.stack(
        [_lines(view, P95, n, SHORTEST) / _lines(view, P95, n) for n in (2.0, 5.0)], axis=1
    )
    lower = (ratio <= 1).mean(axis=(1, 2))
    return Finding(
        lower >= 0.8,
        f"not higher at {int((ratio[0] <= 1).sum())} of {ratio[0].size} points",
        "P95 over that in turn, by W = 0, 10, 25, 50, 100: "
        + "; ".join(
            f"{n} connections " + ", ".join(f"{value:.2f}" for value in found)
            for n, found in zip((2, 5), ratio[0], strict=True)
        )
        + ".",
    )


@checks("s4-c43", compares=LINES)
def more_than_five(view: View) -> Finding:
    """P95 of seven connections over that of five, mean over the loads."""
    ratio = {
        schedule: _lines(view, P95, 7.0, schedule) / _lines(view, P95, 5.0, schedule)
        for schedule in (IN_TURN, SHORTEST)
    }
    means = {schedule: found.mean(axis=1) for schedule, found in ratio.items()}
    return Finding(
        (means[IN_TURN] >= 0.8) & (means[SHORTEST] >= 0.8),
        f"{means[IN_TURN][0]:.2f} in turn, {means[SHORTEST][0]:.2f} by the shortest queue",
        "By W = 0, 10, 25, 50, 100: "
        + "; ".join(
            f"{schedule} " + ", ".join(f"{value:.2f}" for value in found[0])
            for schedule, found in ratio.items()
        )
        + ".",
    )


@checks("s4-c44", compares=LINES)
def what_bulk_pays_for_connections(view: View) -> Finding:
    """Goodput of the bulk flows beside five connections, mean over the loads."""
    plain = _lines(view, BULK, 1.0)
    lower = {
        schedule: _reduction(_lines(view, BULK, 5.0, schedule), plain)
        for schedule in (IN_TURN, SHORTEST)
    }
    means = {schedule: found.mean(axis=1) for schedule, found in lower.items()}
    return Finding(
        (means[IN_TURN] <= 0.07) & (means[SHORTEST] <= 0.07),
        f"{-100 * means[IN_TURN][0]:+.1f} % in turn, {-100 * means[SHORTEST][0]:+.1f} % by the "
        "shortest queue",
        "By W = 0, 10, 25, 50, 100: "
        + "; ".join(f"{schedule} {_told(-found[0])}" for schedule, found in lower.items())
        + ".",
    )


def _configured(view: View, source: str, transport: str, delays: Sequence[float]) -> Array:
    """P95 by delay and loss, one row a resample."""
    axes = {
        "source": Axis("workload", ("VoIP", "video")),
        "delay": Axis("path.one_way_delay", DELAYS, "ms", 1000),
        "loss": Axis("path.loss.rate", LOSSES, "% loss", 100),
        "transport": Axis("transport", (transport,)),
    }
    grid = Grid(view, axes, P95)
    return view.means(grid.at(source=source, delay=delays, transport=transport))


def _reduced(view: View, source: str, transport: str) -> Array:
    """Reduction of P95 by delay and loss, one row a resample."""
    plain = _configured(view, source, PLAIN, DELAYS)
    return _reduction(_configured(view, source, transport, DELAYS), plain)


def _by_loss(reduced: Array) -> str:
    return "; ".join(
        f"RTT {2000 * delay:.0f} ms {_told(found)}"
        for delay, found in zip(DELAYS, reduced, strict=True)
    )


@checks("s4-c36", compares=["transport"])
def splitting_video(view: View) -> Finding:
    """Reduction of P95 of video by splitting in two, at 300 ms and at every point."""
    two = _reduced(view, "video", "2 pieces")
    far = two[:, 1].mean(axis=1)
    return Finding(
        far > 0.35,
        f"{100 * far[0]:.0f} % on average at 300 ms, {100 * two[0].mean():.0f} % over all points",
        f"By loss from 0.1 to 10 %: {_by_loss(two[0])}.",
    )


@checks("s4-c40", compares=["transport"])
def parallel_connections(view: View) -> Finding:
    """Reduction of P95 by five connections in turn, video and VoIP."""
    video, voice = (_reduced(view, source, "5 in turn") for source in ("video", "VoIP"))
    ordered = [_reduced(view, source, "5 in turn, in order") for source in ("video", "VoIP")]
    of_video, of_voice = video.mean(axis=(1, 2)), voice.mean(axis=(1, 2))
    return Finding(
        (of_video > 0.35) & (np.abs(of_voice) <= 0.2),
        f"video {100 * of_video[0]:.0f} %, VoIP {100 * of_voice[0]:+.0f} % on average",
        f"By loss from 0.1 to 10 %, video: {_by_loss(video[0])}; VoIP: {_by_loss(voice[0])}. "
        f"Where the receiver restores the order first: video {100 * ordered[0][0].mean():.0f} %, "
        f"VoIP {100 * ordered[1][0].mean():+.0f} % on average.",
    )


@checks("s4-c45", compares=["transport"])
def splitting_voip(view: View) -> Finding:
    """Reduction of the P95 of VoIP by splitting in two."""
    two = _reduced(view, "VoIP", "2 pieces")
    most = two.max(axis=(1, 2))
    return Finding(
        most <= 0.15,
        f"at most {100 * most[0]:.0f} %, {100 * two[0].mean():+.0f} % on average",
        f"By loss from 0.1 to 10 %: {_by_loss(two[0])}.",
    )
