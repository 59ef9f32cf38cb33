"""The only door to the Rust side: every other module asks here for `headway._core`."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

from headway.errors import UserError

__all__ = ["check", "profiled", "profiles", "run", "version"]


@functools.cache
def _core() -> Any:
    try:
        from headway import _core
    except ImportError as error:
        raise UserError(
            f"the extension module headway._core cannot be loaded ({error}); "
            "build it with `maturin develop --release`"
        ) from error
    return _core


def run(specs: Sequence[str]) -> dict[str, bytes]:
    """Runs the RunSpecs (JSON) one after another and returns Arrow IPC streams by table name.

    Other threads go on meanwhile. Raises ValueError for a bad spec.
    """
    tables: dict[str, bytes] = _core().run(list(specs))
    return tables


def check(spec: str) -> None:
    """Raises ValueError, its message led by the key's path, where a RunSpec cannot be run."""
    _core().check(spec)


def version() -> str:
    """The version of the Rust side; it is the package's version."""
    found: str = _core().version()
    return found


def profiled() -> bool:
    """Whether the engine was built by a profile of itself at work (`make fast`)."""
    found: bool = _core().profiled()
    return found


@functools.cache
def profiles() -> dict[str, list[dict[str, Any]]]:
    """Every stack profile with its knobs: `name` as in a RunSpec, `value` and `source`."""
    found: dict[str, list[dict[str, Any]]] = json.loads(_core().profiles())
    return found
