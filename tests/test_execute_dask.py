"""Execution on a Dask cluster of worker processes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway import plan
from headway.errors import UserError
from headway.execute import execute
from headway.store import Batch
from headway.study import parse
from study_files import SMALL, edited

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "provenance.json"
    }


def test_a_cluster_gives_the_bytes_of_threads_even_when_a_worker_dies(
    cluster: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough that a killed worker has runs under way.
    made = plan.build(parse(edited(('duration = "2 s"', 'duration = "60 s"'))), replications=6)
    execute(made, tmp_path / "threads", jobs=2)

    address = cluster.scheduler_address  # type: ignore[attr-defined]
    with distributed.Client(address, set_as_default=False) as client:
        victims = client.run(os.getpid)
    victim = next(iter(victims.values()))
    killed = threading.Event()

    from headway.remote import Cluster

    whole = Cluster.run

    def run(self: Cluster, waiting: list[Batch]) -> Iterator[Batch]:
        for number, batch in enumerate(whole(self, waiting)):
            if number == 5 and not killed.is_set():
                os.kill(victim, signal.SIGKILL)
                killed.set()
            yield batch

    monkeypatch.setattr(Cluster, "run", run)
    outcome = execute(made, tmp_path / "dask", dask=address)
    assert killed.is_set()
    assert outcome.runs == len(made.runs)
    assert files(tmp_path / "dask") == files(tmp_path / "threads")


def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask

    monkeypatch.setattr("headway.remote.TIMEOUT", "1s")
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(UserError, match="no scheduler answers there"),
    ):
        execute(plan.build(parse(SMALL)), tmp_path / "out", dask="tcp://127.0.0.1:1")
    assert not (tmp_path / "out").exists()
