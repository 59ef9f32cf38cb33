"""`headway list`, `validate` and `plan`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from headway import plan as plans
from headway.cli.console import console, note, plural, table
from headway.cli.names import check_names
from headway.errors import StudyError
from headway.execute import measure_rate
from headway.progress import duration
from headway.study import Study, load, shipped

__all__ = ["plan", "show_list", "validate"]


def show_list() -> None:
    """Prints the shipped studies."""
    listed = table("study", "points>", "runs>", "what it is")
    for name, file in shipped().items():
        try:
            study = load(file)
        except StudyError as error:
            listed.add_row(name, "", "", f"cannot be run: {error.problems[0]}")
            continue
        points = _points(study)
        listed.add_row(name, f"{points}", f"{points * study.replications}", study.title)
    console().print(listed)


def validate(named: str, overrides: Sequence[str]) -> None:
    """Checks a study and every combination of its levels."""
    study = load(named, overrides)
    check_names(study)
    plan = plans.build(study)
    print(
        f"{study.file}: {study.name} is valid: {plural(len(study.factors), 'factor')}, "
        f"{plural(len(plan.points), 'point')}, {plural(len(plan.runs), 'run')}, "
        f"{plural(len(study.expects), 'rule')}"
    )


def plan(
    named: str,
    overrides: Sequence[str],
    only: Sequence[str],
    replications: int | None,
    json: bool,
) -> None:
    """Prints what would run."""
    study = load(named, overrides)
    plan = plans.build(study, replications=replications, only=only)
    if json:
        for spec in plan.specs():
            print(spec)
        return
    kept = plans.select(study, only)
    console().print(f"[bold]{study.name}[/]: {study.title}")
    factors = table("factor", "levels>", "level")
    for factor, chosen in zip(study.factors, kept, strict=True):
        labels = [factor.levels[index].label for index in sorted(chosen)]
        factors.add_row(factor.name, str(len(labels)), " · ".join(labels))
    if study.factors:
        console().print(factors)
    print(
        f"{plural(len(plan.points), 'point')} x {plural(plan.replications, 'replication')} = "
        f"{plural(len(plan.runs), 'run')}"
    )
    jobs = os.cpu_count() or 1
    rate = measure_rate(plan)
    expected = len(plan.runs) / (rate * min(jobs, len(plan.runs)))
    print(
        f"about {duration(expected)} on {plural(jobs, 'thread')}, at {1000 / rate:.1f} ms a run "
        "as just measured"
    )
    if plan.only or study.overrides:
        changed = [*(f"--only {text}" for text in only), *(f"--set {text}" for text in overrides)]
        note(f"with {' '.join(changed)}")


def _points(study: Study) -> int:
    count = 1
    for factor in study.factors:
        count *= len(factor.levels)
    return count
