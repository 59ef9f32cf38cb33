"""Tables of the page: what is shown, what it is sorted by, what is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.plots import Source
from headway.report.words import NOTHING, number, sentence

MOST_ROWS = 2000
"""More rows than this are only in the file."""
STATISTICS = ("mean", "ci_low", "ci_high", "n")


@dataclass(frozen=True)
class Cell:
    """One cell: its text, and the number or word it is sorted by."""

    text: str
    key: float | str | None = None
    chip: str = ""
    """A class for a coloured mark."""


@dataclass(frozen=True)
class Head:
    """One column's head."""

    text: str
    numeric: bool = True
    hint: str = ""


@dataclass(frozen=True)
class PageTable:
    """One table with its download."""

    name: str
    title: str
    caption: str
    heads: list[Head]
    rows: list[list[Cell]]
    csv: str
    """The whole table as CSV, in base units."""
    left_out: int = 0


def points_table(source: Source) -> PageTable:
    """Every point: its factors and the means of the metrics worth reading."""
    wanted = [
        source.main_metric,
        *(m for m in SHOWN if m != source.main_metric),
    ]
    metrics = [m for m in wanted if f"{m}.mean" in source.points.columns and m in source.metrics]
    heads, makers = factor_columns(source)
    for name in metrics:
        metric, scale = source.metrics[name], source.scale(name)
        heads.append(Head(scale.title(SHORT.get(name, name)), hint=metric.text))
        makers.append(_mean(name, scale.factor))
    rows = source.points.head(MOST_ROWS).to_dicts()
    return PageTable(
        "points",
        "Every point",
        "Means over the replications of each point. The file holds every metric with its "
        "95 % interval, in base units.",
        heads,
        [[make(row) for make in makers] for row in rows],
        csv_of(source.points),
        max(0, source.points.height - MOST_ROWS),
    )


def comparison_table(
    source: Source, compared: pl.DataFrame, labels: tuple[str, str], what: str
) -> PageTable:
    """Two levels of a factor beside each other at each point."""
    scale = source.scale(source.main_metric)
    heads, makers = factor_columns(source, compared.columns)

    def shown(name: str, factor: float = 1.0) -> Callable[[dict[str, Any]], Cell]:
        def make(row: dict[str, Any]) -> Cell:
            value = row[name]
            return Cell(NOTHING if value is None else number(value * factor), value)

        return make

    def with_interval(name: str, factor: float) -> Callable[[dict[str, Any]], Cell]:
        def make(row: dict[str, Any]) -> Cell:
            value, low, high = (row[f"{name}{end}"] for end in ("", ".ci_low", ".ci_high"))
            if value is None:
                return Cell(NOTHING)
            text = number(value * factor)
            if low is not None and high is not None:
                text += f" ({number(low * factor)} to {number(high * factor)})"
            return Cell(text, value)

        return make

    def significant(row: dict[str, Any]) -> Cell:
        yes = row["significant"]
        return Cell("✓ yes" if yes else f"{NOTHING} no", float(yes), "good" if yes else "")

    def stable(row: dict[str, Any]) -> Cell:
        share = row["stable"]
        if share is None:
            return Cell(NOTHING)
        return Cell(f"{100 * share:.0f} %", share, "warn" if share < 0.9 else "")

    columns: list[tuple[Head, Callable[[dict[str, Any]], Cell]]] = [
        (Head(scale.title(labels[0])), shown("mean_a", scale.factor)),
        (Head(scale.title(labels[1])), shown("mean_b", scale.factor)),
        (
            Head(scale.title("difference"), hint="with its 95 % bootstrap interval"),
            with_interval("difference", scale.factor),
        ),
        (Head("ratio", hint="with its 95 % bootstrap interval"), with_interval("ratio", 1.0)),
        (
            Head("Cliff's delta", hint="1: every run of the first is above every run of the other"),
            with_interval("cliffs_delta", 1.0),
        ),
        (Head("p", hint="exact two-sample Kolmogorov-Smirnov"), shown("ks_p")),
        (Head("significant", hint="p at most 0.05"), significant),
        (
            Head("same finding", hint="share of resamples of the replications"),
            stable,
        ),
    ]
    for head, make in columns:
        heads.append(head)
        makers.append(make)
    rows = compared.head(MOST_ROWS).to_dicts()
    return PageTable(
        "comparison",
        f"{labels[0]} against {labels[1]}",
        f"{sentence(what)}, point by point, with bootstrap intervals. The file is in base units.",
        heads,
        [[make(row) for make in makers] for row in rows],
        csv_of(compared),
        max(0, compared.height - MOST_ROWS),
    )


SHOWN = (
    "psd_p50_s",
    "psd_p95_s",
    "psd_p99_s",
    "psd_mean_s",
    "f1_share",
    "failed",
    "td_mean_s",
    "td_p95_s",
    "td_plain_mean_s",
    "sender_wait_mean_s",
    "network_mean_s",
    "recovery_mean_s",
    "hol_blocking_mean_s",
    "retransmissions",
    "needless_retransmissions",
    "timeouts",
    "effective_loss",
)
"""Metrics worth a column on the page."""
SHORT = {
    "psd_p50_s": "median",
    "psd_p95_s": "P95",
    "psd_p99_s": "P99",
    "psd_mean_s": "mean",
    "f1_share": "one 200",
    "td_mean_s": "mean",
    "td_p95_s": "P95",
    "td_plain_mean_s": "without repetition",
    "sender_wait_mean_s": "sender wait",
    "network_mean_s": "network",
    "recovery_mean_s": "recovery",
    "hol_blocking_mean_s": "HOLB",
    "retransmissions": "retransmissions",
    "needless_retransmissions": "needless",
    "timeouts": "timeouts",
    "effective_loss": "effective loss",
}


def factor_columns(
    source: Source, among: Sequence[str] | None = None
) -> tuple[list[Head], list[Callable[[dict[str, Any]], Cell]]]:
    """Heads of the factors that vary, and what makes their cells."""
    heads: list[Head] = []
    makers: list[Callable[[dict[str, Any]], Cell]] = []
    for column in source.varied:
        if among is not None and column.key not in among:
            continue
        heads.append(Head(column.name, column.numeric, column.key))

        def make(row: dict[str, Any], column: Any = column) -> Cell:
            value = row[column.key]
            # Words keep the order of the study, not of the alphabet.
            key = value if column.numeric else float(column.values.index(value))
            return Cell(column.label(value), key)

        makers.append(make)
    return heads, makers


def _mean(name: str, factor: float) -> Callable[[dict[str, Any]], Cell]:
    def make(row: dict[str, Any]) -> Cell:
        value = row[f"{name}.mean"]
        return Cell(NOTHING if value is None else number(value * factor), value)

    return make


def csv_of(table: pl.DataFrame) -> str:
    """CSV with six significant digits, which is more than any interval allows."""
    floats = [name for name in table.columns if table[name].dtype == pl.Float64]
    return table.with_columns(pl.col(floats).round_sig_figs(6)).write_csv()
