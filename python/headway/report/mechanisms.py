"""Which mechanism of a stack makes the difference: levels that differ in one setting."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Any

import polars as pl

from headway.claims.results import Results
from headway.claims.settings import KNOBS, settings, shown
from headway.report.answer import Answer, AnswerTable, Question
from headway.report.words import change, counted, listed, quantity
from headway.stats import compare
from headway.study import Factor


@dataclass(frozen=True)
class Step:
    """One level beside the level it is compared with."""

    label: str
    changes: dict[str, tuple[Any, Any]]
    """Settings that differ: there, here."""
    ratio: float
    """Geometric mean over the points of the ratio of means."""
    largest: float
    """The ratio farthest from 1."""
    significant: int
    points: int


def stack_factor(results: Results) -> Factor | None:
    """The factor whose named levels are variants of the transport, None when there is none."""
    for factor in results.study.factors:
        own = all(key.startswith("transport.") for key in factor.keys)
        if own and factor.columns != ("transport.delivery",) and len(factor.columns) == 1:
            return factor
    return None


def level_settings(results: Results, factor: Factor) -> dict[Any, dict[str, Any]]:
    """Every setting of the transport at each level that the results have."""
    present = set(results.points[factor.columns[0]].to_list())
    others = [
        item
        for other in results.study.factors
        if other is not factor
        for item in other.levels[0].assignments
    ]
    found = {}
    for level, values in zip(factor.levels, factor.values, strict=True):
        if values[0] not in present:
            continue
        scenario = results.study.base.resolve([*others, *level.assignments])
        if isinstance(scenario, list):
            continue
        # The profile is a name for its knobs, which are compared one by one.
        found[values[0]] = {
            key: value
            for key, value in settings(scenario).items()
            if key.startswith("transport.") and key != "transport.profile"
        }
    return found


def differences(a: dict[str, Any], b: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The settings in which two levels differ."""
    keys = sorted({*a, *b})
    return {key: (a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key)}


def reference(results: Results, factor: Factor) -> Any:
    """The level from which most others differ in one setting; the first when none stands out."""
    found = level_settings(results, factor)
    if not found:
        return None

    def neighbours(level: Any) -> int:
        return sum(len(differences(found[level], other)) == 1 for other in found.values())

    return max(found, key=neighbours)


def steps(question: Question) -> list[Step]:
    """Every level beside the reference."""
    results = question.results
    factor = stack_factor(results)
    if factor is None or factor.columns[0] not in question.varied:
        return []
    column = factor.columns[0]
    held = level_settings(results, factor)
    base = reference(results, factor)
    if base is None:
        return []
    others = [key for key in question.varied if key != column]
    found = []
    for level, own in held.items():
        if level == base:
            continue
        table = compare(
            results.runs, column, level, base, others, question.metric, resamples=0
        ).filter((pl.col("ratio") > 0) & pl.col("ratio").is_finite())
        if table.is_empty():
            continue
        logs = [log(ratio) for ratio in table["ratio"]]
        found.append(
            Step(
                str(level),
                differences(held[base], own),
                exp(sum(logs) / len(logs)),
                exp(max(logs, key=abs)),
                int(table["significant"].sum()),
                table.height,
            )
        )
    return found


def answer(question: Question) -> Answer | None:
    """The answer of a study that varies the stack; None for another."""
    found = steps(question)
    factor = stack_factor(question.results)
    if not found or factor is None:
        return None
    base = str(reference(question.results, factor))
    single = [step for step in found if len(step.changes) == 1]
    profiles = [step for step in found if len(step.changes) != 1]
    sentences = []
    metric = question.metric_text
    if single:
        moving = sorted(
            (step for step in single if step.significant),
            key=lambda step: (-step.significant, -abs(log(step.ratio))),
        )
        still = [_named(step) for step in single if not step.significant]
        if moving:
            first = moving[0]
            sentences.append(
                f'Of the mechanisms changed one at a time from "{base}", {_named(first)} matters '
                f"most for the {metric}: {_effect(first)}."
            )
            rest = [f"{_named(step)} {_effect(step)}" for step in moving[1:]]
            told = [f"Next: {'; '.join(rest)}."] if rest else []
            if still:
                told.append(f"No significant difference anywhere: {listed(still)}.")
            if told:
                sentences.append(" ".join(told))
        else:
            sentences.append(
                f'None of the {len(single)} mechanisms changed one at a time from "{base}" makes '
                f"a significant difference to the {metric}."
            )
    if profiles:
        wide = max(profiles, key=lambda step: abs(log(step.ratio)))
        sentences.append(
            f"Of the stacks that differ in more than one setting, {wide.label} is farthest from "
            f'"{base}": {_effect(wide)}.'
        )
    rows = [[f"{base} (compared with)", "", "", "", ""]] + [
        [
            step.label,
            "; ".join(
                f"{key.removeprefix(KNOBS).removeprefix('transport.')} "
                f"{shown(there)} → {shown(here)}"
                for key, (there, here) in list(step.changes.items())[:2]
            )
            + (f" and {len(step.changes) - 2} more" if len(step.changes) > 2 else ""),
            change(step.ratio),
            change(step.largest),
            f"{step.significant}/{step.points}",
        ]
        for step in found
    ]
    name = factor.columns[0].rpartition(".")[2]
    heads = [name, "changes", "on average", "largest", "significant"]
    mean = quantity(_mean(question, factor.columns[0], base), question.scale)
    title = f"{metric[:1].upper()}{metric[1:]} beside that of {base} (mean {mean})"
    return Answer(AnswerTable(title, heads, rows), sentences[:3])


def _named(step: Step) -> str:
    key, (there, here) = next(iter(step.changes.items()))
    name = key.rpartition(".")[2].replace("_", " ")
    return f"{name} ({shown(there)} → {shown(here)})"


def _effect(step: Step) -> str:
    return (
        f"{change(step.ratio)} on average, {change(step.largest)} at its largest, significant "
        f"at {step.significant} of {counted(step.points, 'point')}"
    )


def _mean(question: Question, column: str, level: str) -> float | None:
    points = question.results.points
    values = points.filter(pl.col(column) == level)[f"{question.metric}.mean"]
    mean = values.mean()
    return float(mean) if isinstance(mean, int | float) else None
