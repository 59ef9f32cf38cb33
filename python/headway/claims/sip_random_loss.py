"""Claims on SIP under random loss: Table 1 and Fig. 4 of the paper.

Each function takes the runs of one study and says whether a claim holds, in the study and
in every resample of its replications. It follows the check and the tolerance that the
claim's entry in sip_over_sctp.toml states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headway.claims.facts import grid_sizes
from headway.claims.grid import Array, Axis, Grid, View
from headway.claims.registry import checks
from headway.claims.scenarios import (
    CALL_RATE,
    DELAY,
    DELIVERY,
    HOLB,
    NO_HOLB,
    P95,
    PESSIMISTIC,
    QUEUE,
    RTT,
    SCENARIOS,
    by_scenario,
    ms,
)
from headway.claims.verdict import Finding
from headway.stats import least_squares, ratio_equivalence, resampled_p
from headway.stats.ks import ALPHA

LOSSES = (0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08)
TABLE_1 = {
    "loss": Axis("path.loss.rate", LOSSES, "% loss", 100),
    "correlation": Axis("path.loss.correlation", (0.0, 0.5, 0.8), "correlation"),
    "queue": QUEUE,
    "delay": DELAY,
    "rate": CALL_RATE,
    "delivery": DELIVERY,
}
FIG_4: dict[str, Any] = {"correlation": 0.8, "queue": "10-20"}


def _p95(view: View) -> Grid:
    return Grid(view, TABLE_1, P95)


def _fig4(grid: Grid, loss: float | tuple[float, ...], delivery: str) -> Array:
    """Runs of Fig. 4, shape (losses if several, delays, call rates, runs)."""
    return grid.at(loss=loss, delivery=delivery, **FIG_4)


@checks("s0-c01")
def grid_of_table_1(view: View) -> Finding:
    """The study's own points are counted; the other tables are products of their levels."""
    sizes = grid_sizes("sip_over_sctp.toml")
    points = view.runs.select(view.factors).n_unique()
    _p95(view).at()
    right = list(sizes.values()) == [336, 64, 48, 16] and points == sizes["Table 1"]
    return Finding(
        np.full(len(view.weights), right),
        f"{points} points here; {', '.join(str(size) for size in sizes.values())} by levels",
        f"{len(view.runs)} runs of {points} points; Tables 2 to 4 belong to other studies, "
        "and only the products of their levels are compared here.",
    )


@checks("s0-c02")
def offered_load(view: View) -> Finding:
    """Bits handed over for each call, by nominal call rate."""
    grid = Grid(view, TABLE_1, "offered_bps")
    rates = np.array(TABLE_1["rate"].levels, dtype=np.float64)
    offered = np.stack(
        [
            view.means(grid.at(rate=float(rate))).reshape(len(view.weights), -1).mean(axis=1)
            for rate in rates
        ],
        axis=1,
    )
    bits = offered / rates
    holds = ((bits >= 0.85 * 3600) & (bits <= 1.15 * 3600)).all(axis=1)
    shown = " and ".join(
        f"{load / 1000:.1f} kb/s at {rate:g} calls/s"
        for rate, load in sorted(zip(rates, offered[0], strict=True))
    )
    return Finding(holds, shown, f"That is {bits[0].mean():.0f} bit a call, both directions.")


@checks("s0-c03")
def flat_below_two_percent(view: View) -> Finding:
    """P95 without HOLB within 25 % of the RTT (or 15 ms) at 0.5, 1 and 2 % loss."""
    p95 = view.means(_fig4(_p95(view), (0.005, 0.01, 0.02), NO_HOLB))
    within = p95 <= np.maximum(1.25 * RTT, RTT + 0.015)
    return Finding(
        within.all(axis=(1, 2, 3)),
        f"{within[0].sum()} of {within[0].size} points within the band; "
        f"largest P95 {(p95[0] / RTT).max():.2f} RTT",
        "P95 at 2 % loss: " + by_scenario(p95[0, 2], ms),
    )


@checks("s0-c04")
def jump_between_two_and_three(view: View) -> Finding:
    """The step from 2 to 3 % against the one before it."""
    p95 = view.means(_fig4(_p95(view), (0.01, 0.02, 0.03, 0.04), NO_HOLB))
    before, step, after = (p95[:, i + 1] - p95[:, i] for i in range(3))
    jumps = (step >= 3 * before).all(axis=(1, 2))
    average = (step / RTT).mean(axis=(1, 2))
    larger = int((step[0] > after[0]).sum())
    return Finding(
        jumps & (average >= 0.4),
        f"step {average[0]:.2f} RTT on average; at least 3 times the one before in "
        f"{int((step[0] >= 3 * before[0]).sum())} of 4 scenarios",
        f"Step from 2 to 3 %: {by_scenario(step[0], ms)}. "
        f"It is larger than the step from 3 to 4 % in {larger} of 4.",
    )


@checks("s0-c05")
def share_of_clean_calls(view: View) -> Finding:
    """The share of calls without loss against (1 - p)^2, pooled at each loss rate."""
    clean, calls = Grid(view, TABLE_1, "clean_calls"), Grid(view, TABLE_1, "calls")
    share = np.stack(
        [view.sums(clean.at(loss=p)) / view.sums(calls.at(loss=p)) for p in LOSSES], axis=1
    )
    expected = (1 - np.array(LOSSES)) ** 2
    off = np.abs(share - expected)
    pairs = "; ".join(
        f"{100 * p:g} %: {s:.4f} for {e:.4f}"
        for p, s, e in zip(LOSSES, share[0], expected, strict=True)
    )
    return Finding(
        (off < 0.01).all(axis=1),
        f"largest deviation {100 * off[0].max():.2f} points",
        f"Share of calls that met no loss, and (1 - p)^2: {pairs}.",
    )


@checks("s0-c06")
def a_retransmission_costs_a_round_trip(view: View) -> Finding:
    """P95 without HOLB in round-trip times from 4 % loss on."""
    p95 = view.means(_fig4(_p95(view), (0.04, 0.06, 0.08), NO_HOLB))
    late = p95 >= 1.8 * RTT
    return Finding(
        late.all(axis=(1, 2, 3)),
        f"least P95 {(p95[0] / RTT).min():.2f} RTT",
        "P95 at 4 % loss: " + by_scenario(p95[0, 0], ms),
    )


@checks("s0-c07")
def no_jump_with_holb(view: View) -> Finding:
    """With HOLB the step from 2 to 3 % is of the size of its neighbours."""
    p95 = view.means(_fig4(_p95(view), (0.01, 0.02, 0.03, 0.04), HOLB))
    before, step, after = (p95[:, i + 1] - p95[:, i] for i in range(3))
    gradual = step < 2 * np.maximum(before, after)
    ratio = step[0] / np.maximum(before[0], after[0])
    return Finding(
        gradual.all(axis=(1, 2)),
        f"gradual in {int(gradual[0].sum())} of 4 scenarios; "
        f"step at most {ratio.max():.2f} of its larger neighbour",
        f"Step from 2 to 3 %: {by_scenario(step[0], ms)}",
    )


@checks("s0-c08")
def holb_is_significant(view: View) -> Finding:
    """28 tests of ordered against unordered; a rejection counts when HOLB is slower."""
    grid = _p95(view)
    a, b = _fig4(grid, LOSSES, HOLB), _fig4(grid, LOSSES, NO_HOLB)
    slower = view.rejects(a, b) & (view.means(a) > view.means(b))
    missing = [
        f"{100 * LOSSES[i]:g} % at {SCENARIOS[2 * d + r]}" for i, d, r in np.argwhere(~slower[0])
    ]
    return Finding(
        slower.sum(axis=(1, 2, 3)) >= 26,
        f"{int(slower[0].sum())} of 28 tests reject, HOLB slower",
        "Not so at " + "; ".join(missing) + "." if missing else "",
    )


@checks("s0-c09")
def queues_are_equal(view: View) -> Finding:
    """56 tests of one queue against the other at correlation 0.8, and all 168 of the grid."""
    grid = _p95(view)
    short, long = grid.at(queue="10-20"), grid.at(queue="50-60")
    rejects = view.rejects(short, long)
    reported = rejects[:, :, TABLE_1["correlation"].levels.index(0.8)].reshape(len(rejects), -1)
    full = rejects.reshape(len(rejects), -1)
    identical = float(np.mean(short == long))
    return Finding(
        (reported.sum(axis=1) <= 5) & (full.sum(axis=1) <= 15),
        f"{int(reported[0].sum())} of {reported.shape[1]} tests reject at correlation 0.8, "
        f"{int(full[0].sum())} of {full.shape[1]} on the full grid",
        f"{100 * identical:.0f} % of the runs have exactly the same P95 with both queues: they "
        f"share arrivals, and differ where the short queue drops. {PESSIMISTIC}",
    )


@checks("s0-c10")
def correlation_has_no_effect(view: View) -> Finding:
    """The coefficient of the loss correlation in a regression on all factors of Table 1."""
    _p95(view).at()
    column = TABLE_1["correlation"].column
    terms = [axis.column for axis in TABLE_1.values()]
    row = least_squares(view.runs, P95, terms).row(
        by_predicate=pl.col("term") == column, named=True
    )
    p = resampled_p(view.runs, P95, terms, column, view.weights)
    mean = float(np.nanmean(view.runs[P95].to_numpy()))
    return Finding(
        p > ALPHA,
        f"p = {row['p_value']:.3g}",
        f"From correlation 0 to 0.8 the P95 changes by {ms(0.8 * row['coefficient'])} (95 % "
        f"interval {ms(0.8 * row['ci_low'])} to {ms(0.8 * row['ci_high'])}), beside a mean of "
        f"{ms(mean)}. With standard errors that allow unequal spread (HC3), "
        f"p = {row['p_value_robust']:.3g}.",
    )


@checks("s0-c11")
def more_calls_less_delay(view: View) -> Finding:
    """40 against 20 calls/s: 28 points with HOLB, and those without from 3 % loss on."""
    grid = _p95(view)

    def lower(delivery: str, losses: tuple[float, ...], queue: Any) -> NDArray[np.bool_]:
        where: dict[str, Any] = {
            "delivery": delivery,
            "loss": losses,
            "queue": queue,
            "correlation": 0.8,
        }
        fast, slow = (view.means(grid.at(rate=rate, **where)) for rate in (40.0, 20.0))
        return np.asarray(fast < slow).reshape(len(view.weights), -1)

    both = TABLE_1["queue"].levels
    with_holb, without = lower(HOLB, LOSSES, both), lower(NO_HOLB, LOSSES[3:], both)
    fig4 = np.hstack([lower(delivery, LOSSES, "10-20") for delivery in (HOLB, NO_HOLB)])
    return Finding(
        (with_holb.sum(axis=1) >= 24) & without.all(axis=1),
        f"lower at {with_holb[0].sum()} of 28 points with HOLB, at {without[0].sum()} of "
        f"{without.shape[1]} without from 3 % loss on",
        f"Over both deliveries with the queue 10-20: {fig4[0].sum()} of {fig4.shape[1]}.",
    )


@checks("s0-c12")
def more_calls_fewer_timeouts(view: View) -> Finding:
    """Timeouts for each lost chunk and mean window, 40 against 20 calls/s, from 2 % loss on."""
    losses = LOSSES[2:]
    share: dict[float, Array] = {}
    fast: dict[float, float] = {}
    window: dict[float, Array] = {}
    for rate in (40.0, 20.0):
        total = {
            name: view.sums(Grid(view, TABLE_1, name).at(loss=losses, rate=rate))
            for name in ("timeouts", "lost_chunks", "fast_retransmissions")
        }
        with np.errstate(invalid="ignore", divide="ignore"):
            share[rate] = total["timeouts"] / total["lost_chunks"]
            fast[rate] = float(total["fast_retransmissions"][0] / total["lost_chunks"][0])
        cwnd = Grid(view, TABLE_1, "cwnd_mean_bytes").at(loss=losses, rate=rate)
        window[rate] = view.means(cwnd).reshape(len(view.weights), -1).mean(axis=1)
    return Finding(
        (share[40.0] < 0.9 * share[20.0]) & (window[40.0] > window[20.0]),
        f"timeouts for each lost chunk {share[40.0][0]:.3f} at 40 and {share[20.0][0]:.3f} at 20 "
        f"calls/s; mean window {window[40.0][0]:.0f} B and {window[20.0][0]:.0f} B",
        f"Fast retransmissions for each lost chunk: {fast[40.0]:.3f} at 40 and "
        f"{fast[20.0]:.3f} at 20 calls/s. All points with at least 2 % loss.",
    )


@checks("s0-c13")
def one_percent_against_two(view: View) -> Finding:
    """1 % with HOLB against 2 % without, in the four scenarios."""
    grid = _p95(view)
    a, b = _fig4(grid, 0.01, HOLB), _fig4(grid, 0.02, NO_HOLB)
    mean_a, mean_b = view.means(a), view.means(b)
    slower = view.rejects(a, b) & (mean_a > mean_b)
    return Finding(
        slower.all(axis=(1, 2)),
        f"{int(slower[0].sum())} of 4 tests reject, HOLB slower",
        f"P95 at 1 % with HOLB: {by_scenario(mean_a[0], ms)}. "
        f"At 2 % without: {by_scenario(mean_b[0], ms)}.",
    )


@checks("s0-c14")
def two_percent_equals_four(view: View) -> Finding:
    """2 % with HOLB against 4 % without: tests, and means within 25 %."""
    grid = _p95(view)
    a, b = _fig4(grid, 0.02, HOLB), _fig4(grid, 0.04, NO_HOLB)
    rejects = view.rejects(a, b)
    ratio = view.means(a) / view.means(b)
    near = (np.abs(ratio - 1) <= 0.25).all(axis=(1, 2))
    shown = [
        ratio_equivalence(x, y, 0.25)
        for x, y in zip(a.reshape(4, -1), b.reshape(4, -1), strict=True)
    ]
    judged = "; ".join(
        f"{name}: {test.judgement} (ratio {test.estimate:.2f}, {test.low:.2f} to {test.high:.2f})"
        for name, test in zip(SCENARIOS, shown, strict=True)
    )
    return Finding(
        (rejects.sum(axis=(1, 2)) <= 1) & near,
        f"{int(rejects[0].sum())} of 4 tests reject; ratios of means "
        + ", ".join(f"{value:.2f}" for value in ratio[0].ravel()),
        f"Equivalence within 25 %, tested as such (90 % interval): {judged}. {PESSIMISTIC}",
    )


@checks("s0-c15")
def slightly_under_200_ms(view: View) -> Finding:
    """P95 at 20 ms and 40 calls/s: 2 % with HOLB and 4 % without."""
    grid = _p95(view)
    both = [
        view.means(grid.at(loss=loss, delivery=delivery, delay=0.02, rate=40.0, **FIG_4))
        for loss, delivery in ((0.02, HOLB), (0.04, NO_HOLB))
    ]
    within = [(p95 >= 0.150) & (p95 <= 0.230) for p95 in both]
    return Finding(
        within[0] & within[1],
        f"{ms(both[0][0])} at 2 % with HOLB, {ms(both[1][0])} at 4 % without",
    )


@checks("s0-c38")
def narrower_spread_of_clean_calls(view: View) -> Finding:
    """Standard deviation of the delay of calls without loss, at every point of Table 1."""
    grid = Grid(view, TABLE_1, "psd_clean_sd_s")
    a, b = view.means(grid.at(delivery=HOLB)), view.means(grid.at(delivery=NO_HOLB))
    less = (b < a).reshape(len(a), -1)
    return Finding(
        less.all(axis=1),
        f"lower at {int(less[0].sum())} of {less.shape[1]} points; on average "
        f"{ms(float(b[0].mean()))} without HOLB and {ms(float(a[0].mean()))} with",
    )
