"""Which dotted keys a scenario has, and which one a mistyped key most likely meant."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from headway.study.fields import kind_of, models_of
from headway.study.scenario import Scenario
from headway.units import nearest

__all__ = ["Entry", "entries", "find", "is_key", "suggest"]


@dataclass(frozen=True)
class Entry:
    """One key of one table: a dotted key may occur in the tables of several kinds."""

    key: str
    model: type[BaseModel]
    name: str
    kind: str | None
    """The `kind` of the table that has the key, None where the table has no kinds."""
    table: bool
    """Whether the key holds a table."""


@functools.cache
def entries() -> tuple[Entry, ...]:
    """Every key of the scenario, in the order of the models."""
    return tuple(_walk("", Scenario))


def _walk(prefix: str, model: type[BaseModel]) -> Iterator[Entry]:
    for name in model.model_fields:
        inner = models_of(model, name)
        key = f"{prefix}{name}"
        yield Entry(key, model, name, kind_of(model), bool(inner))
        for table in inner:
            yield from _walk(f"{key}.", table)


def find(key: str) -> list[Entry]:
    """The entries of a dotted key; empty where the scenario has no such key."""
    return [entry for entry in entries() if entry.key == key]


def is_key(key: str) -> bool:
    """Whether the scenario has such a key, whatever the kind."""
    return bool(find(key))


def suggest(key: str) -> str:
    """A sentence that names the nearest key, or the keys of the nearest table."""
    known = list(dict.fromkeys(entry.key for entry in entries()))
    parent, _, last = key.rpartition(".")
    siblings = [name for name in known if name.rpartition(".")[0] == parent]
    names = [name.rpartition(".")[2] for name in siblings]
    meant = nearest(last, names)
    if meant:
        return f'did you mean "{parent + "." if parent else ""}{meant}"?'
    # The right name in the wrong table is as likely as a slip of the keys.
    same_name = [name for name in known if name.rpartition(".")[2] == last]
    if same_name:
        return f'did you mean "{nearest(key, same_name, cutoff=0.0) or same_name[0]}"?'
    meant = nearest(key, known)
    if meant:
        return f'did you mean "{meant}"?'
    return f"keys here: {', '.join(names or known)}"
