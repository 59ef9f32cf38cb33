"""Where results come from: the study, the version, the machine and how long it took."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway import core
from headway.plan import Plan
from headway.store import identity

__all__ = ["Session", "record"]


@dataclass(frozen=True)
class Session:
    """One go at a plan, until it was complete or interrupted."""

    started: str
    """When, in UTC."""
    runs: int
    wall_s: float
    jobs: int
    """Threads here, or threads of the cluster."""
    dask: str | None
    """The cluster's address; None for threads of this process."""


def record(plan: Plan, sessions: Sequence[Session]) -> dict[str, Any]:
    """Everything but the results themselves that a reader may ask for."""
    study = plan.study
    runs = sum(session.runs for session in sessions)
    wall_s = sum(session.wall_s for session in sessions)
    return {
        "version": core.version(),
        "study": {
            "name": study.name,
            "title": study.title,
            "file": study.file,
            "sha256": hashlib.sha256(study.text.encode()).hexdigest(),
            "text": study.text,
        },
        "seed": study.seed,
        "replications": plan.replications,
        "only": list(plan.only),
        "overrides": list(study.overrides),
        "samples": plan.samples,
        "points": len(plan.points),
        "runs": len(plan.runs),
        "plan": identity(plan),
        "machine": machine(),
        "started": sessions[0].started if sessions else None,
        "wall_s": round(wall_s, 3),
        "runs_per_second": round(runs / wall_s, 1) if wall_s > 0 else None,
        "jobs": sessions[-1].jobs if sessions else None,
        "sessions": [asdict(session) for session in sessions],
    }


def machine() -> dict[str, Any]:
    """The machine, as far as it matters for speed."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    """The processor's name; Linux tells it in a file only."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor()
