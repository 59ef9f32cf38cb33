"""Claims on packet splitting and parallel connections that the chain decides (Figs. 25, 27)."""

from __future__ import annotations

from typing import Literal

import polars as pl

from headway.claims.by_model import model_checks
from headway.claims.media_chain import CUT, VIDEO, VOICE, ms, percent
from headway.claims.verdict import Finding
from headway.models.tcp_chain import CbrFlow, ChainVariant, reduction


def _mean(table: pl.DataFrame) -> float:
    mean = table["reduction"].mean()
    return float(mean) if isinstance(mean, int | float) else float("nan")


def _told(table: pl.DataFrame) -> str:
    """The reduction at every point, by RTT."""
    parts = []
    for (rtt,), own in table.group_by("rtt_s", maintain_order=True):
        points = ", ".join(
            f"{100 * value:+.0f} % at {percent(loss)}"
            for loss, value in own.select("loss", "reduction").iter_rows()
        )
        parts.append(f"RTT {ms(float(str(rtt)))}: {points}")
    return "; ".join(parts)


def _saturated(table: pl.DataFrame) -> str:
    over = table.filter(pl.col("cut_share") > CUT).height
    return (
        f"At {over} of {table.height} points more than {percent(CUT)} of the packets fall off the "
        "end of the state space, where bulk TCP carries less than the flow and delays have no "
        "bound. "
        if over
        else ""
    )


def _reduction(
    flow: CbrFlow, remedy: Literal["split", "parallel"], count: int, variant: ChainVariant
) -> tuple[pl.DataFrame, float]:
    table = reduction(flow, remedy, [count], named=variant)
    return table, _mean(table)


@model_checks("s4-c36")
def splitting_video(variant: ChainVariant) -> Finding:
    """Reduction of P95 by splitting in two, at 300 ms and at every point."""
    table, mean = _reduction(VIDEO, "split", 2, variant)
    far = table.filter(pl.col("rtt_s") > 0.2)
    clear = far.filter(pl.col("cut_share") <= CUT)
    backlogged = table.filter(pl.col("plain_p95_s") > pl.col("rtt_s"))
    return Finding(
        _mean(far) > 0.35,
        f"{100 * _mean(far):.0f} % on average at 300 ms, {100 * mean:.0f} % over all points",
        f"The paper's 60 % is not met on average over both RTTs. {_saturated(table)}"
        f"Where nothing falls off at 300 ms it is {100 * _mean(clear):.0f} %. It gains at "
        f"{backlogged.filter(pl.col('reduction') > 0).height} of {backlogged.height} points whose "
        f"P95 exceeds the RTT. {_told(table)}.",
    )


@model_checks("s4-c40")
def parallel_connections(variant: ChainVariant) -> Finding:
    """Reduction of P95 by five connections in turn, video and VoIP."""
    video, of_video = _reduction(VIDEO, "parallel", 5, variant)
    voice, of_voice = _reduction(VOICE, "parallel", 5, variant)
    return Finding(
        of_video > 0.35 and abs(of_voice) <= 0.2,
        f"video {100 * of_video:.0f} %, VoIP {100 * of_voice:+.0f} % on average",
        "The delay of one connection, without the order that the receiver restores over all of "
        f"them. {_saturated(video)}Video: {_told(video)}. VoIP gains where its windows stay "
        f"large and loses where a fifth of them is too small for a fast retransmission: "
        f"{_told(voice)}.",
    )


@model_checks("s4-c45")
def splitting_voip(variant: ChainVariant) -> Finding:
    """Reduction of the P95 of VoIP by splitting in two."""
    table, mean = _reduction(VOICE, "split", 2, variant)
    most = float(str(table["reduction"].max()))
    return Finding(
        most <= 0.15,
        f"at most {100 * most:.0f} %, {100 * mean:+.0f} % on average",
        f"It raises the percentile nearly everywhere: with twice the packets there are twice the "
        f"losses. {_told(table)}.",
    )
