"""From the tables of batches to the files of a results folder.

Every file is written with fixed settings and its rows in the order of the plan, so that the
same plan gives the same bytes however it was executed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from headway.plan import Plan
from headway.store import RECORDINGS, SAMPLES, Store

__all__ = ["RUN_COLUMNS", "assemble", "incomplete"]

RUN_COLUMNS = ("run_id", "point_id", "replication", "seed", "complete")
"""Columns of runs.parquet before the factors; the metrics follow them."""

ROW_GROUP = 100_000


def assemble(store: Store) -> pl.DataFrame:
    """Writes the results of a plan whose batches are all done; the table of runs.

    Files already there are replaced one by one, each whole.
    """
    runs = _runs(store)
    folder = store.folder
    _write_parquet(runs.lazy(), folder / "runs.parquet")
    points = _points(runs, store.plan)
    _write_parquet(points.lazy(), folder / "points.parquet")
    writing = folder / "points.csv.writing"
    points.write_csv(writing)
    os.replace(writing, folder / "points.csv")
    distributions = _concatenated(store, "distributions")
    _write_parquet(distributions.lazy(), folder / "distributions.parquet")
    for table in SAMPLES:
        if store.files(table):
            (folder / "samples").mkdir(exist_ok=True)
            _write_samples(store, table, folder / "samples" / f"{table}.parquet")
    _keep_recordings(store.plan, folder / RECORDINGS)
    writing = folder / "study.toml.writing"
    writing.write_text(store.plan.study.text, encoding="utf-8")
    os.replace(writing, folder / "study.toml")
    return runs


def _keep_recordings(plan: Plan, folder: Path) -> None:
    """Copies the conversations that the study names, so that the results stand on their own."""
    for source, name in plan.recordings:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def incomplete(runs: pl.DataFrame) -> Sequence[str]:
    """The ids of runs that ended before everything was delivered."""
    return runs.filter(~pl.col("complete"))["run_id"].to_list()


def _runs(store: Store) -> pl.DataFrame:
    plan = store.plan
    measured = _concatenated(store, "runs")
    known = {"run_id", "point_id", "replication", "complete"}
    metrics = [name for name in measured.columns if name not in known]
    rows = [run.point.values for run in plan.runs]
    factors = [
        pl.Series(column, [row[at] for row in rows])
        for at, column in enumerate(plan.study.factor_columns)
    ]
    seeds = pl.Series("seed", [run.seed for run in plan.runs])
    return measured.select(
        "run_id", "point_id", "replication", seeds, "complete", *factors, *metrics
    )


def _points(runs: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    # scipy comes with it, which only this step and the report need.
    from headway import stats

    columns = plan.study.factor_columns
    known = {*RUN_COLUMNS, *columns}
    metrics = [name for name in runs.columns if name not in known]
    return stats.points(runs, ["point_id", *columns], metrics)


def _concatenated(store: Store, table: str) -> pl.DataFrame:
    """One table of all batches, in memory."""
    return pl.concat([pl.read_ipc_stream(file) for file in store.files(table)], rechunk=True)


def _write_samples(store: Store, table: str, file: Path) -> None:
    """Streams one table's batches into one file; memory stays bounded."""
    _write_parquet(pl.concat([pl.scan_ipc(part) for part in store.files(table)]), file)


def _write_parquet(frame: pl.LazyFrame, file: Path) -> None:
    writing = file.with_name(f"{file.name}.writing")
    frame.sink_parquet(
        writing,
        compression="zstd",
        compression_level=3,
        row_group_size=ROW_GROUP,
        maintain_order=True,
    )
    os.replace(writing, file)
