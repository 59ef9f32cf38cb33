"""The answer of a study of SIP transactions over the SNR of a radio cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl

from headway.plots.columns import Column
from headway.plots.leave import LEVEL, SNR, kept, place
from headway.report.answer import Answer, AnswerTable, Question
from headway.report.words import NOTHING, counted, listed, sentence
from headway.stats import edge

BUDGETS = (0.1, 0.2, 0.5)
"""Seconds: what a handoff of voice, of video and of a patient caller may take."""
MOST_ROWS = 24


def answer(question: Question) -> Answer | None:
    """Where the cell's edge lies, and below which SNR delay budgets are no longer kept.

    None for a study that is not about it, or varies too much besides.
    """
    source = question.source
    if source.quantiles is None or SNR not in question.varied:
        return None
    if "f1_share.mean" not in source.points.columns:
        return None
    others = [column for key, column in question.varied.items() if key != SNR]
    columns = _apart(source.points, others)
    levels = list(product(*(column.values for column in columns)))
    if len(levels) > MOST_ROWS:
        return None
    shares = kept(source, list(BUDGETS))
    rows, told = [], []
    for values in levels:
        at = dict(zip([column.key for column in columns], values, strict=True))
        points = source.points.filter(*(pl.col(key) == value for key, value in at.items()))
        own = [row for row in shares if all(row[key] == value for key, value in at.items())]
        if points.is_empty():
            continue
        words = [_word(column, value) for column, value in zip(columns, values, strict=True)]
        region, delay = _region(points)
        places = [place(own, budget)[0] for budget in BUDGETS]
        rows.append(
            [
                " / ".join(words) or "all",
                _db(region.high[0]),
                _db(region.low[0]),
                NOTHING if np.isnan(delay) else f"{1000 * delay:.0f} ms",
                *(_db(where) for where in places),
            ]
        )
        told.append((words, region, delay, places))
    heads = [
        ", ".join(column.name for column in columns) or "study",
        "edge",
        "end",
        "delay at the edge",
        *(f"{1000 * budget:.0f} ms" for budget in BUDGETS),
    ]
    title = (
        "Edge and end: where 90 and 10 % take one 200. "
        f"Then down to where {100 * LEVEL:.0f} % keep a delay budget"
    )
    return Answer(AnswerTable(title, heads, rows), _sentences(told))


def _word(column: Column, value: object) -> str:
    """A level in words; a bare number says little without its name."""
    label = column.label(value)
    return f"{column.name} {label}" if column.numeric else label


def _apart(points: pl.DataFrame, columns: Sequence[Column]) -> list[Column]:
    """The factors without those that another one settles, as where two are varied together."""
    found: list[Column] = []
    for column in columns:
        settled = any(
            points.group_by(other.key).agg(pl.col(column.key).n_unique())[column.key].max() == 1
            for other in found
        )
        if not settled:
            found.append(column)
    return found


def _region(points: pl.DataFrame) -> tuple[edge.Region, float]:
    ordered = points.sort(SNR)
    snr = ordered[SNR].to_numpy().astype(np.float64)

    def values(name: str) -> edge.Array:
        return ordered[f"{name}.mean"].cast(pl.Float64).fill_null(float("nan")).to_numpy()[None]

    region = edge.region(snr, values("f1_share"))
    return region, float(edge.at(snr, values("td_mean_s"), region.high)[0])


def _db(value: float) -> str:
    return NOTHING if np.isnan(value) else f"{value:.1f} dB"


def _whose(words: Sequence[str]) -> str:
    return f" ({', '.join(words)})" if words else ""


def _sentences(told: list[tuple[list[str], edge.Region, float, list[float]]]) -> list[str]:
    found = []
    edges = [(words, region, delay) for words, region, delay, _ in told if not np.isnan(delay)]
    if edges:
        words, region, delay = min(edges, key=lambda entry: float(entry[1].high[0]))
        found.append(
            f"Nine of ten transactions take one 200 down to {region.high[0]:.1f} dB"
            f"{_whose(words)}; the mean delay there is {1000 * delay:.0f} ms."
        )
        if len(edges) > 1:
            nearest = max(edges, key=lambda entry: float(entry[1].high[0]))
            found.append(
                f"That is the furthest of {counted(len(told), 'setting')}; the nearest edge lies "
                f"at {nearest[1].high[0]:.1f} dB{_whose(nearest[0])}."
            )
    at = BUDGETS.index(0.2)
    kept_at = [(words, places[at]) for words, _, _, places in told if not np.isnan(places[at])]
    if kept_at:
        shown = [f"{where:.1f} dB{_whose(words)}" for words, where in kept_at[:4]]
        found.append(
            sentence(
                f"for {100 * LEVEL:.0f} % of the transactions within "
                f"{1000 * BUDGETS[at]:.0f} ms, leave below {listed(shown)}."
            )
        )
    return found
