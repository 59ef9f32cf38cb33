"""Maps of the chain over loss rates and round-trip times, and the working region in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from headway.models.tcp_chain.chain import TcpChain
from headway.models.tcp_chain.flow import FLOWS, PAPER_LOSSES, PAPER_RTTS_S, CbrFlow
from headway.models.tcp_chain.result import RUN_S
from headway.models.tcp_chain.variant import CONSERVING, ChainVariant, variant

__all__ = ["LIVE", "VOIP", "Criterion", "delay_map", "working_region"]

Progress = Callable[[int, int], None]
"""Called with the number of points done and of all points."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """When an application works (seed 4, section 6.1)."""

    name: str
    column: Literal["delay_p95_s", "delay_highest_s"]
    limit_s: float
    least_backlog_s: float
    """Backlog that the state space must hold so that the limit can be exceeded."""


VOIP = Criterion("VoIP", "delay_p95_s", 0.2, 0.0)
"""The 95th percentile stays within 200 ms."""

LIVE = Criterion("live video", "delay_highest_s", 5.0, 6.0)
"""The highest delay of a five-minute run stays within 5 s. A chain has no highest delay; the
one that a single packet of such a run exceeds on average stands for it. The paper's b_max of
16 RTT holds 5 s of backlog only above 313 ms, so the state space is widened to 6 s."""


def delay_map(
    flows: Mapping[str, CbrFlow] | None = None,
    losses: Iterable[float] = PAPER_LOSSES,
    rtts_s: Iterable[float] = PAPER_RTTS_S,
    named: str | ChainVariant = CONSERVING,
    *,
    least_backlog_s: float = 0.0,
    points_per_packet: int | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    **switches: Any,
) -> pl.DataFrame:
    """One row for each flow, round-trip time and loss rate, in this order.

    Without arguments the whole grid of the paper: six flows, three round-trip times, seven
    loss rates, with the paper's state spaces. `jobs` threads share the work (default: all
    cores). Columns: "flow" and those of `ChainResult.row`.
    """
    chosen = variant(named, **switches)
    named_flows = FLOWS if flows is None else flows
    rates = sorted(losses)
    tasks = [(name, flow, rtt) for name, flow in named_flows.items() for rtt in rtts_s]
    total = len(tasks) * len(rates)
    done = 0

    def column(task: tuple[str, CbrFlow, float]) -> list[dict[str, Any]]:
        name, flow, rtt = task
        chain = TcpChain(
            flow,
            rtt,
            chosen,
            least_backlog_s=least_backlog_s,
            points_per_packet=points_per_packet,
        )
        return [{"flow": name, **chain.solve(loss).row()} for loss in rates]

    rows: list[list[dict[str, Any]]] = [[] for _ in tasks]
    with ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as pool:
        waiting = {pool.submit(column, task): at for at, task in enumerate(tasks)}
        try:
            for future in as_completed(waiting):
                rows[waiting[future]] = future.result()
                done += len(rates)
                if progress is not None:
                    progress(done, total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return pl.DataFrame([row for column_rows in rows for row in column_rows])


def working_region(
    flow: CbrFlow,
    criterion: Criterion,
    losses: Sequence[float] = PAPER_LOSSES,
    rtts_s: Sequence[float] = PAPER_RTTS_S,
    named: str | ChainVariant = CONSERVING,
    *,
    points_per_packet: int | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    **switches: Any,
) -> pl.DataFrame:
    """The map of one flow with a verdict: "inside", "outside" or "cannot say".

    "cannot say": the limit is kept, but so much traffic falls off the end of the state
    space that the figure is not to be trusted.
    """
    frame = delay_map(
        {criterion.name: flow},
        losses,
        rtts_s,
        named,
        least_backlog_s=criterion.least_backlog_s,
        points_per_packet=points_per_packet,
        jobs=jobs,
        progress=progress,
        **switches,
    )
    # What falls off would have been late: it may be as much as the criterion lets pass.
    spare = 0.05 if criterion.column == "delay_p95_s" else 1 / (float(flow.rate) * RUN_S)
    kept = pl.col(criterion.column) <= criterion.limit_s + 1e-9
    return frame.with_columns(
        pl.when(~kept)
        .then(pl.lit("outside"))
        .when(pl.col("cut_share") > spare)
        .then(pl.lit("cannot say"))
        .otherwise(pl.lit("inside"))
        .alias("verdict"),
        pl.lit(criterion.name).alias("criterion"),
    )
