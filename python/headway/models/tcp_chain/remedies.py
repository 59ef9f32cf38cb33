"""Packet splitting and parallel connections, as far as the chain can say (seed 4, section 7).

Splitting: the chain of a flow with smaller packets at a higher rate; a packet is late when
its pieces are. Parallel connections, blind: the chain of the share of one connection; what
re-sequencing over the connections adds at the receiver is not in it, nor that several
senders fill the path together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import polars as pl

from headway.models.tcp_chain.chain import TcpChain
from headway.models.tcp_chain.flow import PAPER_LOSSES, CbrFlow
from headway.models.tcp_chain.variant import CONSERVING, ChainVariant, variant

__all__ = ["reduction"]


def reduction(
    flow: CbrFlow,
    remedy: Literal["split", "parallel"],
    counts: Iterable[int],
    *,
    rtts_s: Iterable[float] = (0.1, 0.3),
    losses: Iterable[float] = PAPER_LOSSES,
    named: str | ChainVariant = CONSERVING,
    points_per_packet: int | None = None,
    **switches: Any,
) -> pl.DataFrame:
    """The 95th percentile with and without the remedy (Figs. 25 and 27).

    Columns: remedy, count, rtt_s, loss, delay_p95_s, plain_p95_s, reduction (a share of
    plain_p95_s; negative where the remedy hurts), cut_share (the larger of the two).
    """
    chosen = variant(named, **switches)
    rates = sorted(losses)
    many = list(counts)
    rows: list[dict[str, Any]] = []
    for rtt in rtts_s:
        plain = TcpChain(flow, rtt, chosen, points_per_packet=points_per_packet)
        without = [plain.solve(loss) for loss in rates]
        for count in many:
            changed = flow.split(count) if remedy == "split" else flow.over_connections(count)
            chain = TcpChain(changed, rtt, chosen, points_per_packet=points_per_packet)
            for loss, before in zip(rates, without, strict=True):
                after = chain.solve(loss)
                p95, plain_p95 = after.percentile(0.95), before.percentile(0.95)
                rows.append(
                    {
                        "remedy": remedy,
                        "count": count,
                        "variant": after.variant,
                        "rtt_s": float(rtt),
                        "loss": loss,
                        "delay_p95_s": p95,
                        "plain_p95_s": plain_p95,
                        "reduction": 1 - p95 / plain_p95,
                        "cut_share": max(after.cut_share, before.cut_share),
                    }
                )
    return pl.DataFrame(rows)
