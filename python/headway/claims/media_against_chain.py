"""Claims on how far the chain is from a TCP that is run packet by packet (seed 4, 5.1 and 5.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.claims.grid import Array, View
from headway.claims.media_configured import INTERVALS, LOSSES, PAYLOADS, VIDEO, VOIP, at, told
from headway.claims.registry import checks
from headway.claims.verdict import Finding, NotTestable


def _errors(view: View, metric: str, **where: Any) -> Array:
    """|model - simulated| / simulated of the conserving chain by loss rate."""
    from headway.models.tcp_chain import CbrFlow, solve
    from headway.models.tcp_chain.flow import FRAMING_BYTES

    flow = CbrFlow.of(where["payload"] + FRAMING_BYTES, where["interval"])
    results = [solve(flow, 2 * where["delay"], loss) for loss in LOSSES]
    model = np.array(
        [r.mean_s if metric == "delay_mean_s" else r.percentile(0.95) for r in results]
    )
    simulated = at(view, metric, LOSSES, **where)
    return np.asarray(np.abs(model - simulated) / simulated)


@checks("s4-c27")
def model_of_voip(view: View) -> Finding:
    """Error of the mean for VoIP up to 2 %, RTT 100 and 300 ms."""
    errors = [_errors(view, "delay_mean_s", delay=delay, **VOIP)[:, :4] for delay in (0.05, 0.15)]
    worst = np.concatenate(errors, axis=1).max(axis=1)
    return Finding(
        worst <= 0.15,
        f"at most {100 * worst[0]:.1f} %",
        "; ".join(
            f"RTT {2000 * delay:.0f} ms: {told(LOSSES[:4], found[0], 100, '%')}"
            for delay, found in zip((0.05, 0.15), errors, strict=True)
        )
        + ". Model: tcp-chain, conserving.",
    )


@checks("s4-c28")
def model_of_video(view: View) -> Finding:
    """Error of the mean for video up to 1 % at 100 ms and up to 0.1 % at 300 ms."""
    near = _errors(view, "delay_mean_s", delay=0.05, **VIDEO)[:, :3]
    far = _errors(view, "delay_mean_s", delay=0.15, **VIDEO)[:, :1]
    worst = np.concatenate([near, far], axis=1).max(axis=1)
    return Finding(
        worst <= 0.3,
        f"at most {100 * worst[0]:.1f} %",
        f"RTT 100 ms: {told(LOSSES[:3], near[0], 100, '%')}; RTT 300 ms: "
        f"{told(LOSSES[:1], far[0], 100, '%')}. Model: tcp-chain, conserving.",
    )


def _every_flow(view: View, metric: str) -> tuple[Array, Array]:
    """Errors at every point, (resamples, points), and what bulk TCP carries over the rate."""
    from headway.models.padhye import throughput_approximate
    from headway.models.tcp_chain import CbrFlow
    from headway.models.tcp_chain.flow import FRAMING_BYTES

    errors, ratios = [], []
    for payload in PAYLOADS:
        for interval in INTERVALS:
            flow = CbrFlow.of(payload + FRAMING_BYTES, interval)
            for delay in (0.05, 0.15):
                where = {"payload": payload, "interval": interval, "delay": delay}
                errors.append(_errors(view, metric, **where))
                rtt = 2 * delay
                ratios += [
                    throughput_approximate(loss, rtt, 4 * rtt)
                    * flow.mss_bytes
                    * 8
                    / flow.offered_bps
                    for loss in LOSSES
                ]
    return np.concatenate(errors, axis=1), np.array(ratios)


@checks("s4-c29")
def model_with_room(view: View) -> Finding:
    """Error of the mean where bulk TCP carries at least twice the rate."""
    errors, ratio = _every_flow(view, "delay_mean_s")
    chosen = errors[:, ratio >= 2]
    worst = chosen.max(axis=1)
    within = int((chosen[0] <= 0.25).sum())
    return Finding(
        worst <= 0.25,
        f"within 25 % at {within} of {chosen.shape[1]} points, at most {100 * worst[0]:.0f} %, "
        f"{100 * chosen[0].mean():.1f} % on average",
        f"At the {int((ratio < 2).sum())} points with less room the error is "
        f"{100 * errors[0, ratio < 2].mean():.0f} % on average. Model: tcp-chain, conserving.",
    )


def _rank(values: Array) -> Array:
    """Ranks along the last axis, ties shared."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=-1), dtype=np.float64)


@checks("s4-c30")
def error_grows(view: View) -> Finding:
    """Rank correlation of the error with loss and with how little room there is."""
    errors, ratio = _every_flow(view, "delay_mean_s")
    of_p95, _ = _every_flow(view, "delay_p95_s")
    loss = np.tile(LOSSES, errors.shape[1] // len(LOSSES))

    def correlation(with_: Array) -> Array:
        a, b = _rank(errors), _rank(np.broadcast_to(with_, errors.shape))
        a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
        found: Array = (a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
        return found

    by_loss, by_room = correlation(loss), correlation(-ratio)
    farther = np.median(of_p95, axis=1) > np.median(errors, axis=1)
    return Finding(
        (by_loss > 0.5) & (by_room > 0.5) & farther,
        f"rank correlation {by_loss[0]:.2f} with loss, {by_room[0]:.2f} with the rate over what "
        f"TCP carries; median error {100 * np.median(errors[0]):.1f} % of the mean, "
        f"{100 * np.median(of_p95[0]):.1f} % of the 95th percentile",
    )


@checks("s4-c31")
def internet_paths(view: View) -> Finding:  # noqa: ARG001 - no run can decide it
    """The comparison on Internet paths needs their traces."""
    raise NotTestable("which losses these paths had is not known, and no run can stand for them")
