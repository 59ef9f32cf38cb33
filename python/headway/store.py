"""What is done so far of a plan, on disk, so that an interrupted run can go on.

A results folder under way holds `.partial/`: the identity of the plan and the tables of each
batch that is done. Batches depend on the plan only, never on the number of threads, so the
final files have the same bytes however often the work was interrupted.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from headway import core
from headway.errors import UserError
from headway.plan import Plan, Run

__all__ = ["SAMPLES", "Batch", "Store", "batches", "identity", "open_store"]

PARTIAL = ".partial"
PLAN_FILE = "plan.json"
PROVENANCE = "provenance.json"
RECORDINGS = "recordings"
"""Conversations that the study names, by their names in it."""

OURS = (
    PARTIAL,
    PROVENANCE,
    "study.toml",
    "runs.parquet",
    "points.csv",
    "points.parquet",
    "distributions.parquet",
    "samples",
    RECORDINGS,
    "verdicts.json",
    "report.html",
    "figures",
)
"""Everything that Headway writes into a results folder; `--force` removes just this."""

SAMPLES = ("messages", "transactions", "windows", "flows")
"""Tables that only exist on request, in `samples/`."""

TABLES = (*SAMPLES, "distributions", "runs")
"""The tables of a batch; that of the runs is written last and makes the batch done."""

MOST_RUNS = 16
BATCHES = 256


@dataclass(frozen=True)
class Batch:
    """Some runs that go to one thread or worker together."""

    index: int
    runs: tuple[Run, ...]


def batches(plan: Plan) -> list[Batch]:
    """The plan's runs in batches: small enough to interrupt, large enough to cost nothing."""
    size = min(MOST_RUNS, max(1, len(plan.runs) // BATCHES))
    return [
        Batch(number, plan.runs[start : start + size])
        for number, start in enumerate(range(0, len(plan.runs), size))
    ]


def identity(plan: Plan) -> dict[str, Any]:
    """What tells one plan from another, in words for people; the hash decides."""
    return {
        "hash": plan.hash,
        "study": plan.study.name,
        "version": core.version(),
        "seed": plan.study.seed,
        "replications": plan.replications,
        "only": sorted(plan.only),
        "overrides": sorted(plan.study.overrides),
        "samples": plan.samples,
    }


class Store:
    """The results folder of one plan."""

    def __init__(self, folder: Path, plan: Plan, *, finished: bool) -> None:
        self.folder = folder
        self.plan = plan
        self.finished = finished
        """Whether the folder already holds this plan's results, complete."""
        self.partial = folder / PARTIAL
        self.batches = batches(plan)

    def begin(self) -> None:
        """Makes the folder ready for batches."""
        self.partial.mkdir(parents=True, exist_ok=True)
        for leftover in self.partial.glob("*.writing"):
            leftover.unlink()
        write_json(self.partial / PLAN_FILE, identity(self.plan))

    def done(self) -> list[Batch]:
        """The batches whose tables are here, whole."""
        return [batch for batch in self.batches if self._is_done(batch)]

    def write(self, batch: Batch, tables: Mapping[str, bytes]) -> None:
        """Keeps the tables of a batch."""
        wanted = [name for name in TABLES if name in tables]
        if not self.plan.samples:
            wanted = [name for name in wanted if name not in SAMPLES]
        for name in wanted:
            file = self.file(batch, name)
            writing = file.with_suffix(".writing")
            if name in SAMPLES:
                # Samples may be large: as a file, not a stream, they can be read in pieces.
                frame = pl.read_ipc_stream(BytesIO(tables[name]))
                frame.write_ipc(writing, compression="uncompressed")
            else:
                writing.write_bytes(tables[name])
            os.replace(writing, file)

    def file(self, batch: Batch, table: str) -> Path:
        """Where one table of a batch is kept."""
        return self.partial / f"{batch.index:06}.{table}.arrow"

    def files(self, table: str) -> list[Path]:
        """One table's files, in the order of the plan; batches without the table left out."""
        return [file for batch in self.batches if (file := self.file(batch, table)).is_file()]

    def clear(self) -> None:
        """Removes what is only needed until the results are complete."""
        shutil.rmtree(self.partial)

    def _is_done(self, batch: Batch) -> bool:
        file = self.file(batch, "runs")
        if not file.is_file():
            return False
        try:
            ids = pl.read_ipc_stream(file)["run_id"].to_list()
        except (pl.exceptions.PolarsError, OSError):
            return False
        return ids == [run.id for run in batch.runs]


def open_store(folder: Path, plan: Plan, *, force: bool = False) -> Store:
    """The folder for a plan's results: new, partly done, or complete.

    Writes nothing. Raises UserError where the folder holds anything else; with `force`,
    Headway's own files in it are removed instead.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: is a file; name a folder with --out")
    held = _held(folder)
    if held is not None and held.get("hash") == plan.hash and not force:
        return Store(folder, plan, finished=(folder / PROVENANCE).is_file())
    if force:
        for name in OURS:
            path = folder / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    elif held is not None:
        raise UserError(
            f"{folder}: holds results of another plan ({_difference(held, identity(plan))}); "
            "name another folder with --out, or replace what is there with --force"
        )
    elif folder.is_dir() and any(folder.iterdir()):
        raise UserError(
            f"{folder}: is not empty and holds no results of Headway; "
            "name another folder with --out"
        )
    return Store(folder, plan, finished=False)


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Writes a JSON file whole or not at all."""
    writing = file.with_name(f"{file.name}.writing")
    writing.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(writing, file)


def _held(folder: Path) -> dict[str, Any] | None:
    """The identity of the plan whose results the folder holds."""
    for file, key in ((folder / PROVENANCE, "plan"), (folder / PARTIAL / PLAN_FILE, None)):
        if not file.is_file():
            continue
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            held = found[key] if key else found
        except (ValueError, KeyError, TypeError):
            held = None
        return held if isinstance(held, dict) else {}
    return None


def _difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    words = {
        "study": "study",
        "version": "Headway version",
        "seed": "seed",
        "replications": "replications",
        "only": "--only",
        "overrides": "--set",
        "samples": "--samples",
    }
    told = [
        f"{word} {_shown(there.get(key))} there, {_shown(here[key])} here"
        for key, word in words.items()
        if there.get(key) != here[key]
    ]
    return "; ".join(told) if told else "the study file has changed since"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " and ".join(map(str, value)) or "none"
    return "unknown" if value is None else str(value)
