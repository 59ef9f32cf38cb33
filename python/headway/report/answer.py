"""The answer of a study in a small table and a few sentences, written from its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from headway.claims.results import Results
from headway.plots import Source
from headway.plots.columns import Column, Scale
from headway.report.words import NOTHING
from headway.stats import compare

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class AnswerTable:
    """A table small enough for a terminal: everything is text already."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    @property
    def numeric(self) -> list[bool]:
        """For each column whether it holds numbers, which stand to the right."""
        signs = f"+-{NOTHING}0123456789"
        return [
            at > 0 and all(not row[at] or row[at][0] in signs for row in self.rows)
            for at in range(len(self.columns))
        ]

    @property
    def wide(self) -> bool:
        """Whether it holds more words than fit beside the sentences."""
        return not all(self.numeric[1:])

    def __rich__(self) -> Table:
        """The table as rich prints it: the first column to the left, numbers to the right."""
        from rich import box
        from rich.table import Table

        made = Table(title=self.title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
        for name, numeric in zip(self.columns, self.numeric, strict=True):
            made.add_column(name, justify="right" if numeric else "left")
        for row in self.rows:
            made.add_row(*row)
        return made


@dataclass(frozen=True)
class Answer:
    """What a study found."""

    table: AnswerTable
    sentences: list[str]
    """The answer, at most three sentences."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the whole report wants to know besides."""
    comparison: pl.DataFrame | None = None
    """The comparison behind the answer, one row a point, as `stats.compare` makes it."""
    compared: tuple[str, str, str] | None = None
    """Factor, first level and second level of that comparison."""


@dataclass(frozen=True)
class Question:
    """A study's results with the words for them."""

    results: Results
    source: Source

    @property
    def metric(self) -> str:
        """The metric the study is about."""
        return self.source.main_metric

    @property
    def scale(self) -> Scale:
        """The unit in which that metric is shown."""
        return self.source.scale(self.metric)

    @property
    def metric_text(self) -> str:
        """That metric in words."""
        metric = self.source.metrics.get(self.metric)
        text = metric.text if metric else self.metric
        head, comma, tail = text.partition(", ")
        return f"{tail} of the {head}" if comma else text

    @property
    def varied(self) -> Mapping[str, Column]:
        """The factors with more than one level, by column."""
        return {column.key: column for column in self.source.varied}

    def compare(self, factor: str, a: object, b: object) -> pl.DataFrame:
        """The main metric at two levels of a factor, at every point of the others."""
        others = [key for key in self.varied if key != factor]
        return compare(self.results.runs, factor, a, b, others, self.metric)


def write_answer(question: Question) -> Answer:
    """Answer the study's question, from what it varies."""
    from headway.report import edge, general, holb, mechanisms

    found = [
        answer
        for answer in (holb.answer(question), mechanisms.answer(question))
        if answer is not None
    ]
    if not found:
        return edge.answer(question) or general.answer(question)
    if len(found) == 1:
        return found[0]
    delivery, stacks = found
    # A study of stacks is about them; what HOLB costs in it comes second.
    return Answer(
        stacks.table,
        [*stacks.sentences[:2], delivery.sentences[0]],
        [*stacks.sentences[2:], *delivery.sentences[1:], *stacks.notes, *delivery.notes],
        delivery.comparison,
        delivery.compared,
    )
