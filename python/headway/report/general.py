"""The answer of any study: what its main metric is and which factor moves it most."""

from __future__ import annotations

import polars as pl

from headway.report.answer import Answer, AnswerTable, Question
from headway.report.words import NOTHING, change, counted, quantity, sentence


def answer(question: Question) -> Answer:
    """Tell the range of the main metric and the weight of each factor."""
    points, metric = question.results.points, f"{question.metric}.mean"
    name, scale = question.metric_text, question.scale
    if metric not in points.columns:
        return Answer(AnswerTable("", [], []), ["The results hold no metric."])
    known = points.filter(pl.col(metric).is_not_null()).sort(metric)
    if known.is_empty():
        return Answer(AnswerTable("", [], []), [f"No run has a value for the {name}."])
    if not question.varied:
        return _single(question)
    low, high = known.row(0, named=True), known.row(-1, named=True)

    def place(row: dict[str, object]) -> str:
        return ", ".join(f"{c.name} {c.label(row[c.key])}" for c in question.varied.values())

    effects = []
    for column in question.varied.values():
        means = dict(known.group_by(column.key).agg(pl.col(metric).mean()).iter_rows())
        least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        ratio = means[most] / means[least] if means[least] else float("inf")
        effects.append((ratio, column, least, most, means))
    effects.sort(key=lambda effect: -effect[0])
    ratio, column, least, most, means = effects[0]
    sentences = [
        f"The {name} lies between {quantity(low[metric], scale)} ({place(low)}) and "
        f"{quantity(high[metric], scale)} ({place(high)}).",
        f"{sentence(column.name)} moves it most: from {quantity(means[least], scale)} at "
        f"{column.label(least)} to {quantity(means[most], scale)} at {column.label(most)}, "
        "averaged over the other factors.",
    ]
    rows = [
        [
            c.name,
            f"{c.label(lo)}: {quantity(m[lo], scale)}",
            f"{c.label(hi)}: {quantity(m[hi], scale)}",
            change(r),
        ]
        for r, c, lo, hi, m in effects
    ]
    title = sentence(f"{name}, averaged over the other factors")
    return Answer(AnswerTable(title, ["factor", "least at", "most at", "that is"], rows), sentences)


def _single(question: Question) -> Answer:
    points, metric, scale = question.results.points, question.metric, question.scale
    row = points.row(0, named=True)
    rows = [
        [
            question.source.metrics[name].text,
            quantity(row[f"{name}.mean"], question.source.scale(name)),
            _interval(question, row, name),
        ]
        for name in question.source.metrics
        if name.endswith("_s") and row.get(f"{name}.mean") is not None
    ]
    runs = counted(row[f"{metric}.n"], "run")
    return Answer(
        AnswerTable("One point", ["metric", "mean", "95 % interval"], rows),
        [
            f"The {question.metric_text} is {quantity(row[f'{metric}.mean'], scale)} "
            f"(95 % interval {_interval(question, row, metric)}, {runs})."
        ],
    )


def _interval(question: Question, row: dict[str, float | None], name: str) -> str:
    scale = question.source.scale(name)
    low, high = row[f"{name}.ci_low"], row[f"{name}.ci_high"]
    if low is None or high is None:
        return NOTHING
    return f"{quantity(low, scale)} to {quantity(high, scale)}"
