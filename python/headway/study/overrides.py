"""`--set KEY=VALUE`: changes to a study from the command line."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headway.errors import UserError
from headway.study import keys
from headway.study.factors import Factor
from headway.study.resolve import Assignment, assign

__all__ = ["Changed", "apply_overrides", "split_pair"]

SEED = "study.seed"


@dataclass(frozen=True)
class Changed:
    """A scenario and its factors after `--set`."""

    tables: dict[str, Any]
    factors: list[Factor]
    assignments: tuple[Assignment, ...]
    seed: int | None


def apply_overrides(
    tables: dict[str, Any], factors: Sequence[Factor], overrides: Sequence[str]
) -> Changed:
    """Puts `overrides` into the scenario; a factor that varies just that key is dropped.

    Raises UserError where a key is unknown, given twice, or set by levels as well.
    """
    changed = copy.deepcopy(tables)
    kept = list(factors)
    assignments: list[Assignment] = []
    seed: int | None = None
    seen: set[str] = set()
    for text in overrides:
        key, written = split_pair(text, "--set")
        if key in seen:
            raise UserError(f"--set {text}: {key} is set twice")
        seen.add(key)
        value = _value(written)
        if key == SEED:
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise UserError(f"--set {text}: the seed is a whole number, 0 or above")
            seed = value
            continue
        if not keys.is_key(key):
            raise UserError(f"--set {text}: no such key; {keys.suggest(key)}")
        kept = _without(kept, key, text)
        assignment = Assignment(key, value, f"--set {text}", None, "")
        wrong = assign(changed, assignment.path, value)
        if wrong:
            raise UserError(f"--set {text}: {wrong}")
        assignments.append(assignment)
    return Changed(changed, kept, tuple(assignments), seed)


def split_pair(text: str, option: str) -> tuple[str, str]:
    """KEY and VALUE of an option's text."""
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not key or not value:
        raise UserError(f'{option} {text}: write KEY=VALUE, for example path.loss.rate="2 %"')
    return key, value


def _without(factors: list[Factor], key: str, text: str) -> list[Factor]:
    kept = []
    for factor in factors:
        if factor.columns == (key,):
            continue
        for touched in factor.keys:
            # A level would overwrite what the user asked for, without a word.
            if key == touched or key.startswith(f"{touched}."):
                raise UserError(
                    f"--set {text}: the factor {factor.name} sets {touched}; choose some of "
                    "its levels with --only instead"
                )
        kept.append(factor)
    return kept


def _value(written: str) -> Any:
    """A value as TOML has it; what is not TOML is a string, so that quotes may be left out."""
    try:
        return tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        return written
