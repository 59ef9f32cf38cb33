"""`headway run`."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from headway import plan as plans
from headway.cli.console import note, plural
from headway.cli.names import check_names
from headway.execute import Interrupted, Outcome, execute
from headway.plan import Plan
from headway.progress import Kind, duration
from headway.study import load

__all__ = ["Request", "run"]

INTERRUPTED = 130
"""The exit code that shells use for Ctrl-C."""


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    study: str
    out: Path | None
    jobs: int | None
    dask: str | None
    replications: int | None
    only: tuple[str, ...]
    overrides: tuple[str, ...]
    samples: bool
    report: bool
    progress: Kind
    force: bool


def run(request: Request) -> None:
    """Runs a study, tells what came out, and ends with 1 when one of its rules fails."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    study = load(request.study, request.overrides)
    check_names(study)
    plan = plans.build(
        study, replications=request.replications, only=request.only, samples=request.samples
    )
    folder = request.out or _folder(plan)
    try:
        outcome = execute(
            plan,
            folder,
            jobs=request.jobs,
            dask=request.dask,
            force=request.force,
            progress=request.progress,
        )
        _tell(outcome, plan)
        if not _finish(folder, request):
            sys.exit(1)
    except Interrupted as interrupted:
        _stop(f"interrupted: {interrupted}", folder)
    except KeyboardInterrupt:
        _stop("interrupted", folder)


def _folder(plan: Plan) -> Path:
    """Where results go by default: a folder of its own for every variant of a study."""
    study = plan.study
    varied = plan.only or study.overrides or plan.samples
    if varied or plan.replications != study.replications:
        return Path("out") / f"{study.name}-{plan.hash[:8]}"
    return Path("out") / study.name


def _tell(outcome: Outcome, plan: Plan) -> None:
    if outcome.runs:
        before = f", {outcome.resumed} done before" if outcome.resumed else ""
        rate = outcome.runs / outcome.wall_s if outcome.wall_s else 0.0
        note(
            f"{plural(outcome.runs, 'run')} in {duration(outcome.wall_s)} "
            f"({rate:.0f} runs/s){before}"
        )
    else:
        note(f"{outcome.folder}: all {plural(len(plan.runs), 'run')} were done before")
    if outcome.incomplete:
        shown = ", ".join(outcome.incomplete[:5])
        more = len(outcome.incomplete) - 5
        note(
            f"warning: {plural(len(outcome.incomplete), 'run')} ended before everything was "
            f"delivered (the connection broke, or scenario.run.drain is too short): "
            f"{shown}{f' and {more} more' if more > 0 else ''}"
        )


def _finish(folder: Path, request: Request) -> bool:
    """Judges, writes the report, prints the answer; whether every rule was kept."""
    from headway.cli import results

    judged = results.judge(folder)
    path = results.write_report(folder) if request.report else None
    results.show_answer(folder)
    results.show_rules(judged.rules)
    results.show_counts(judged)
    print(f"results: {folder}")
    if path is not None:
        print(f"report:  {path}")
    return judged.passed


def _stop(what: str, folder: Path) -> NoReturn:
    again = shlex.join(["headway", *sys.argv[1:]])
    if folder.exists():
        note(f"{what} in {folder}; the same command goes on from there:\n  {again}")
    else:
        note(f"{what} before the first run")
    sys.stdout.flush()
    sys.stderr.flush()
    # A thread may still be in a long run; it must not be waited for, nor meet an
    # interpreter that is being taken down.
    os._exit(INTERRUPTED)
