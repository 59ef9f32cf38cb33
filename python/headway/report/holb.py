"""What head-of-line blocking costs: delivery in order against delivery without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import polars as pl

from headway.plots.columns import Column, scale_of
from headway.report.answer import Answer, AnswerTable, Question
from headway.report.words import change, counted, listed, number, quantity, sentence

FACTOR = "transport.delivery"
SLOW, FAST = ("ordered",), ("unordered", "streams")
FIRM = 0.9
"""A finding that fewer resamples share is called unsettled."""
SET_IN = 0.9
"""HOLB has set in at a level where it is significant in this share of the scenarios."""


def answer(question: Question) -> Answer | None:
    """The answer of a study that varies the delivery; None for another."""
    column = question.varied.get(FACTOR)
    if column is None:
        return None
    slow = next((level for level in SLOW if level in column.values), None)
    fast = next((level for level in FAST if level in column.values), None)
    if slow is None or fast is None:
        return None
    x = _against(question)
    compared = question.compare(FACTOR, slow, fast)
    if compared.is_empty():
        return None
    curves = _scenarios(compared, x)
    told = Teller(question, x, curves, fast)
    sentences = [told.onset(), told.cost()]
    shift = told.shift()
    parts = told.parts()
    sentences.append(shift or parts or told.firmness(compared))
    notes = [parts] if shift and parts else []
    notes += [text for text in (told.firmness(compared),) if text not in sentences]
    return Answer(told.table(), sentences, notes, compared, (FACTOR, slow, fast))


def _against(question: Question) -> Column | None:
    """The factor along which HOLB sets in: the loss rate, else the longest scale of numbers."""
    others = [c for key, c in question.varied.items() if key != FACTOR]
    for key in ("path.loss.rate", "path.loss.loss_bad"):
        for column in others:
            if column.key == key:
                return column
    numeric = [column for column in others if column.numeric]
    return max(numeric, key=lambda c: len(c.values), default=None)


Row = dict[str, Any]


def _scenarios(compared: pl.DataFrame, x: Column | None) -> list[list[Row]]:
    """Rows of the comparison by scenario, each along x."""
    if x is None:
        return [[row] for row in compared.to_dicts()]
    at = compared.columns.index("mean_a")
    others = [key for key in compared.columns[:at] if key != x.key]
    ordered = compared.sort(x.key)
    if not others:
        return [ordered.to_dicts()]
    parts = ordered.partition_by(others, maintain_order=True)
    return [part.to_dicts() for part in parts]


@dataclass(frozen=True)
class Teller:
    """Writes the sentences."""

    question: Question
    x: Column | None
    curves: Sequence[Sequence[Row]]
    fast: str

    @property
    def _without(self) -> str:
        return "unordered delivery" if self.fast == "unordered" else "delivery in streams"

    def onset(self) -> str:
        """Where HOLB starts to matter."""
        metric, x = self.question.metric_text, self.x
        total = len(self.curves)
        every = "in the one scenario" if total == 1 else f"in all {total} scenarios"
        if x is None:
            worse = sum(_worse(curve[0]) for curve in self.curves)
            return (
                f"HOLB makes the {metric} significantly longer in {worse} of "
                f"{counted(total, 'scenario')}."
            )
        found = [_onset(curve, x) for curve in self.curves]
        if all(level is None for level in found):
            return f"HOLB makes no lasting significant difference to the {metric}, {every}."
        above = [
            _worse(row)
            for curve, level in zip(self.curves, found, strict=True)
            for row in curve
            if level is not None and row[x.key] > level
        ]
        rest = ""
        if not all(above):
            rest = f"; above, in {sum(above)} of {counted(len(above), 'comparison')}"
        if all(level == x.values[0] for level in found):
            return (
                f"HOLB matters from the lowest {x.name} studied: already at {x.labels[0]} the "
                f"{metric} is significantly longer in order, {every}{rest}."
            )
        told = [
            f"at {x.label(value)} in {found.count(value)} of {total}"
            for value in x.values
            if value in found
        ]
        never = found.count(None)
        tail = f", and in {never} it never does" if never else ""
        return sentence(
            f"HOLB starts to make the {metric} significantly longer at a {x.name} of "
            f"{listed(told).removeprefix('at ')} scenarios{tail}{rest}."
        )

    def cost(self) -> str:
        """What HOLB costs, where it has set in and at its worst."""
        x = self.x
        if x is None:
            rows = [curve[0] for curve in self.curves]
            return f"It costs {self._cost(rows)}."
        by_level = {value: self._at(value) for value in x.values}
        start = next(
            (
                value
                for value, rows in by_level.items()
                if sum(map(_worse, rows)) >= SET_IN * len(rows)
            ),
            None,
        )
        worst = max(by_level, key=lambda value: median(r["difference"] for r in by_level[value]))
        most = f"{self._cost(by_level[worst])} at {x.label(worst)}"
        if start is None:
            return f"The most it costs is {most}."
        text = f"At {x.label(start)} it costs {self._cost(by_level[start])}"
        return f"{text}." if worst == start else f"{text}; the most it costs is {most}."

    def shift(self) -> str | None:
        """How much more loss (or other x) delivery without HOLB stands for the same delay."""
        x = self.x
        if x is None or not x.numeric:
            return None
        reached: dict[Any, list[float]] = {}
        for curve in self.curves:
            for row in curve:
                level = _reaches(curve, x, row["mean_a"])
                if level is not None:
                    reached.setdefault(row[x.key], []).append(level)
        whole = [v for v in x.values if len(reached.get(v, [])) == len(self.curves)]
        if not whole:
            return None
        value = whole[len(whole) // 2]
        equal = reached[value]
        unit = x.scale
        span = f"{min(equal) * unit.factor:.2g} to {max(equal) * unit.factor:.2g}"
        single = f"{median(equal) * unit.factor:.2g}"
        least, _, most = span.partition(" to ")
        shown = single if least == most else span
        return (
            f"{sentence(self._without)} stands {shown} {unit.unit} before it is as slow as "
            f"ordered delivery at {x.label(value)}."
        ).replace("  ", " ")

    def parts(self) -> str | None:
        """How much of the mean delay is HOLB, in order, at the worst level."""
        points = self.question.results.points
        need = ("hol_blocking_mean_s", "recovery_mean_s", "message_delay_mean_s")
        if any(f"{name}.mean" not in points.columns for name in need):
            return None
        ordered = points.filter(pl.col(FACTOR) == SLOW[0])
        x = self.x
        at = ""
        if x is not None:
            middle = x.values[len(x.values) // 2]
            ordered = ordered.filter(pl.col(x.key) == middle)
            at = f" at {x.label(middle)}"
        hol, recovery, delay = (float(ordered[f"{name}.mean"].sum()) for name in need)
        if not delay > 0:
            return None
        return (
            f"Of the mean delay of a message in order{at}, {100 * hol / delay:.0f} % is the wait "
            f"for other messages and {100 * recovery / delay:.0f} % the recovery of its own losses."
        )

    def firmness(self, compared: pl.DataFrame) -> str:
        """Whether the replications are enough."""
        replications = self.question.results.replications
        shares = [share for share in compared["stable"].to_list() if share is not None]
        if not shares:
            return "One replication gives neither intervals nor tests: use --replications 10."
        loose = sum(share < FIRM for share in shares)
        if not loose:
            return (
                f"{replications} replications are enough: each of the {len(shares)} comparisons "
                f"has the same finding in at least {100 * min(shares):.0f} % of resamples."
            )
        return (
            f"{replications} replications leave {loose} of {counted(len(shares), 'comparison')} "
            f"unsettled: their finding changes in more than {100 * (1 - FIRM):.0f} % of resamples; "
            "--replications 100 would tell."
        )

    def table(self) -> AnswerTable:
        """One line for each level of x: medians over the scenarios."""
        metric = self.question.metric_text
        over = f", median of {len(self.curves)} scenarios" if len(self.curves) > 1 else ""
        x = self.x
        levels: list[tuple[str, list[Row]]] = (
            [("all", [row for curve in self.curves for row in curve])]
            if x is None
            else [(x.label(value), self._at(value)) for value in x.values]
        )
        medians = [median(row["mean_a"] for row in own) for _, own in levels if own]
        metrics = self.question.source.metrics
        scale = scale_of(metrics[self.question.metric].quantity, max(medians))
        rows = []
        for label, own in levels:
            if not own:
                continue
            added = [row["difference"] * scale.factor for row in own]
            rows.append(
                [
                    label,
                    number(median(row["mean_a"] for row in own) * scale.factor),
                    number(median(row["mean_b"] for row in own) * scale.factor),
                    number(median(added)),
                    *(
                        [f"{number(min(added))} to {number(max(added))}"]
                        if len(self.curves) > 1
                        else []
                    ),
                    change(median(row["ratio"] for row in own)),
                    f"{sum(map(_worse, own))}/{len(own)}",
                ]
            )
        heads = [
            x.name if x else "",
            "in order",
            "no order" if self.fast == "unordered" else "streams",
            "HOLB adds",
            *(["from, to"] if len(self.curves) > 1 else []),
            "that is",
            "significant",
        ]
        unit = f" in {scale.unit}" if scale.unit else ""
        return AnswerTable(sentence(f"{metric}{unit}{over}"), heads, rows)

    def _at(self, value: Any) -> list[Row]:
        assert self.x is not None
        return [row for curve in self.curves for row in curve if row[self.x.key] == value]

    def _cost(self, rows: Sequence[Row]) -> str:
        scale = self.question.scale
        added = [row["difference"] for row in rows]
        text = f"{quantity(median(added), scale)} ({change(median(r['ratio'] for r in rows))}"
        if len(rows) > 1:
            text += (
                f", median; {quantity(min(added), scale)} to {quantity(max(added), scale)} "
                "over the scenarios"
            )
        return text + ")"


def _worse(row: Row) -> bool:
    return bool(row["significant"]) and row["difference"] > 0


def _onset(curve: Sequence[Row], x: Column) -> Any:
    """The lowest level that is significant, as are most of the levels above it, if any is."""
    for at, row in enumerate(curve):
        above = curve[at + 1 :]
        if _worse(row) and 2 * sum(map(_worse, above)) >= len(above):
            return row[x.key]
    return None


def _reaches(curve: Sequence[Row], x: Column, target: float) -> float | None:
    """The first level, interpolated, at which delivery without HOLB is as slow as `target`."""
    for before, after in pairwise(curve):
        low, high = before["mean_b"], after["mean_b"]
        if low <= target <= high and high > low:
            share = (target - low) / (high - low)
            left, right = before[x.key], after[x.key]
            return float(left + share * (right - left))
    return None
