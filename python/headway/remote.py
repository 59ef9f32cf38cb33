"""Runs on an existing dask.distributed cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headway import core
from headway.errors import UserError
from headway.store import Batch, Store

__all__ = ["Cluster"]

TIMEOUT = "10s"
"""How long the scheduler has to answer."""

AHEAD = 3
"""Batches that each thread of the cluster is given at a time, so that none runs dry."""


class Cluster:
    """The workers of a cluster; a worker that dies has its batches done by another."""

    def __init__(self, address: str, store: Store) -> None:
        self._client = _connect(address)
        self._address = address
        self._store = store
        self._futures: set[Any] = set()
        self.threads = _check(self._client, address)
        """Threads of all its workers."""

    def run(self, batches: Sequence[Batch]) -> Iterator[Batch]:
        """Does the batches and yields each once its tables are kept here."""
        from distributed import as_completed

        waiting = iter(batches)
        by_key: dict[str, Batch] = {}
        results: Any = as_completed([], loop=self._client.loop)  # type: ignore[no-untyped-call]

        def submit() -> None:
            batch = next(waiting, None)
            if batch is None:
                return
            plan = self._store.plan
            # The key names the work, so that nothing is done twice after a reconnection.
            key = f"headway-{plan.hash}-{batch.index}"
            specs = [plan.spec(run) for run in batch.runs]
            future = self._client.submit(core.run, specs, key=key)
            by_key[key] = batch
            self._futures.add(future)
            results.add(future)

        try:
            for _ in range(AHEAD * self.threads):
                submit()
            for future in results:
                batch = by_key.pop(future.key)
                self._store.write(batch, self._result(future))
                self._futures.discard(future)
                future.release()
                submit()
                yield batch
        finally:
            # Nothing is left after the last batch; after an error or an interrupt, the
            # workers need not go on.
            self._client.cancel(list(self._futures), force=True)
            self._client.close()

    def stop(self) -> list[Batch]:
        """Starts nothing more; what the workers had not sent back is lost."""
        return []

    def _result(self, future: Any) -> dict[str, bytes]:
        from distributed import KilledWorker

        try:
            tables: dict[str, bytes] = future.result()
        except KilledWorker as error:
            raise UserError(
                f"--dask {self._address}: workers died again and again on the same runs "
                f"({error}); what is done is kept"
            ) from error
        return tables


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise UserError(
            "--dask needs dask.distributed; install it with: pip install 'headway[dask]'"
        ) from error
    try:
        client: Any = Client(address, timeout=TIMEOUT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise UserError(f"--dask {address}: no scheduler answers there ({error})") from error
    return client


def _check(client: Any, address: str) -> int:
    """The cluster's threads; every worker must run this very version."""
    threads = sum(int(count) for count in client.nthreads().values())
    if threads == 0:
        client.close()
        raise UserError(f"--dask {address}: the cluster has no workers")
    here = core.version()
    try:
        versions = client.run(core.version)
    except Exception as error:
        client.close()
        raise UserError(
            f"--dask {address}: headway cannot be loaded on the workers ({error})"
        ) from error
    others = {name: found for name, found in versions.items() if found != here}
    if others:
        client.close()
        worker, found = next(iter(others.items()))
        raise UserError(
            f"--dask {address}: worker {worker} has Headway {found}, this is {here}; "
            "results would differ"
        )
    return threads
