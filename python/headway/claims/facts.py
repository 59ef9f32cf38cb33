"""The claims as data: one TOML file beside this module for each paper."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import prod


@dataclass(frozen=True)
class Claim:
    """One checkable statement of a paper."""

    id: str
    kind: str
    where: str
    statement: str
    expected: str
    tolerance: str
    conditions: str
    source: str


@cache
def claims() -> dict[str, Claim]:
    """Every claim of every paper, by id, in the order of the files."""
    found: dict[str, Claim] = {}
    for file in sorted(files(__package__).iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".toml"):
            continue
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        for entry in data["claim"]:
            found[entry["id"]] = Claim(
                **entry
                | {"conditions": data["conditions"][entry["conditions"]], "source": data["source"]}
            )
    return found


def grid_sizes(file: str) -> dict[str, int]:
    """Number of configurations of each table of a paper: the product of its levels."""
    data = tomllib.loads((files(__package__) / file).read_text(encoding="utf-8"))
    return {name: prod(levels.values()) for name, levels in data["grids"].items()}
