"""Results of the shipped study, really run once for all tests of a session."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from headway import claims, plan, report
from headway.execute import execute
from headway.study import load

ONLY = ("path.loss.correlation=0.8", "path.queue=10-20")
"""The part of the study that Fig. 4 shows: 56 of its 336 points."""


@cache
def results_folder(name: str = "sip-random-loss", only: tuple[str, ...] = ONLY) -> Path:
    """A results folder with verdicts and report."""
    parent = Path(tempfile.mkdtemp(prefix="headway-test-"))
    atexit.register(shutil.rmtree, parent, ignore_errors=True)
    folder = parent / name
    execute(plan.build(load(name), only=only), folder)
    claims.check(folder)
    report.write(folder)
    return folder
