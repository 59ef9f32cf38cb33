"""Runs a plan: batches over native threads here, or over the workers of a Dask cluster."""

from __future__ import annotations

import datetime
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from headway import core
from headway.errors import UserError
from headway.plan import Plan
from headway.progress import Kind, make
from headway.provenance import Session, record
from headway.samples import assemble, incomplete
from headway.store import PROVENANCE, Batch, Store, open_store, write_json

__all__ = ["Interrupted", "Outcome", "execute", "measure_rate"]

SESSIONS = "sessions.json"
GRACE_S = 5.0
"""How long an interrupted run waits for the batches under way."""


class Interrupted(Exception):
    """The user, or the system, asked to stop; what is done is kept."""

    def __init__(self, done: int, total: int) -> None:
        self.done = done
        self.total = total
        super().__init__(f"{done} of {total} runs are done and kept")


@dataclass(frozen=True)
class Outcome:
    """What became of a plan."""

    folder: Path
    runs: int
    """Runs that were done now; 0 where the results were complete already."""
    resumed: int
    """Runs that were done before."""
    wall_s: float
    incomplete: tuple[str, ...]
    """Runs that ended before everything was delivered."""


def execute(
    plan: Plan,
    folder: Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    force: bool = False,
    progress: Kind = "none",
) -> Outcome:
    """Runs what is still to be run of `plan` and writes its results into `folder`.

    Raises Interrupted after KeyboardInterrupt (SIGINT, and SIGTERM where the caller turns
    it into one); the same call goes on from there. Raises UserError where the folder holds
    something else or the cluster cannot be used.
    """
    store = open_store(folder, plan, force=force)
    if store.finished:
        return Outcome(folder, 0, len(plan.runs), 0.0, ())
    threads = jobs or os.cpu_count() or 1
    if dask is None:
        source: _Source = _Threads(store, threads)
    else:
        from headway.remote import Cluster

        cluster = Cluster(dask, store)
        source, threads = cluster, cluster.threads
    store.begin()
    done = store.done()
    kept = {batch.index for batch in done}
    left = [batch for batch in store.batches if batch.index not in kept]
    resumed = sum(len(batch.runs) for batch in done)

    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    clock = time.monotonic()
    count = 0
    with make(progress, len(plan.runs), resumed) as shown:
        try:
            for batch in source.run(left):
                count += len(batch.runs)
                shown.advance(len(batch.runs))
        except KeyboardInterrupt:
            for batch in source.stop():
                count += len(batch.runs)
                shown.advance(len(batch.runs))
            raise Interrupted(resumed + count, len(plan.runs)) from None
        finally:
            wall_s = time.monotonic() - clock
            session = Session(started, count, round(wall_s, 3), threads, dask)
            sessions = _sessions(store, session)
    table = assemble(store)
    write_json(folder / PROVENANCE, record(plan, sessions))
    store.clear()
    return Outcome(folder, count, resumed, wall_s, tuple(incomplete(table)))


def measure_rate(plan: Plan, *, most_s: float = 1.0, most_runs: int = 8) -> float:
    """Runs per second on one thread, from a few runs spread over the plan."""
    step = max(1, len(plan.runs) // most_runs)
    clock = time.monotonic()
    count = 0
    for run in plan.runs[step // 2 :: step][:most_runs]:
        core.run([plan.spec(run)])
        count += 1
        if time.monotonic() - clock > most_s:
            break
    return count / (time.monotonic() - clock)


def _sessions(store: Store, session: Session) -> list[Session]:
    """Adds a session to those before it and keeps them for provenance."""
    file = store.partial / SESSIONS
    try:
        before = [Session(**item) for item in json.loads(file.read_text())["sessions"]]
    except (OSError, ValueError, KeyError, TypeError):
        before = []
    sessions = [*before, session] if session.runs or not before else before
    write_json(file, {"sessions": [asdict(item) for item in sessions]})
    return sessions


class _Source(Protocol):
    """Where runs are done."""

    def run(self, batches: Sequence[Batch]) -> Iterator[Batch]:
        """Does the batches and yields each once its tables are kept."""

    def stop(self) -> list[Batch]:
        """Starts nothing more; the batches that were still finished."""


class _Threads:
    """Native threads of this process; each spends its time in Rust, without the GIL."""

    def __init__(self, store: Store, count: int) -> None:
        if count < 1:
            raise UserError("--jobs: at least 1")
        self._store = store
        self._count = count
        self._stopping = threading.Event()
        self._finished: queue.SimpleQueue[Batch | BaseException] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def run(self, batches: Sequence[Batch]) -> Iterator[Batch]:
        """Does the batches and yields each once its tables are kept."""
        waiting = iter(batches)
        lock = threading.Lock()

        def following() -> Batch | None:
            with lock:
                return None if self._stopping.is_set() else next(waiting, None)

        self._threads = [
            # Daemons, so that a second interrupt need not wait for a long run.
            threading.Thread(target=self._work, args=(following,), daemon=True)
            for _ in range(min(self._count, len(batches)))
        ]
        for thread in self._threads:
            thread.start()
        for _ in batches:
            yield self._next()

    def stop(self) -> list[Batch]:
        """Starts nothing more; the batches that were still finished."""
        self._stopping.set()
        deadline = time.monotonic() + GRACE_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        found = []
        while not self._finished.empty():
            item = self._finished.get()
            if isinstance(item, Batch):
                found.append(item)
        return found

    def _next(self) -> Batch:
        item = self._finished.get()
        if isinstance(item, BaseException):
            self._stopping.set()
            raise item
        return item

    def _work(self, following: Callable[[], Batch | None]) -> None:
        plan = self._store.plan
        while (batch := following()) is not None:
            try:
                self._store.write(batch, core.run([plan.spec(run) for run in batch.runs]))
            except BaseException as error:
                self._finished.put(error)
                return
            self._finished.put(batch)
