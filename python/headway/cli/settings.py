"""KEY=VALUE on the command line of `headway predict`: single values, lists and ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from headway.errors import UserError
from headway.models import Model, ModelError

__all__ = ["MOST_POINTS", "read_settings"]

MOST_POINTS = 100_000
"""A grid of more points than this is a slip of the keyboard."""
MOST_IN_RANGE = 10_000

_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>.+?):(?P<count>[0-9]+)(?P<log>log)?\Z")


def read_settings(model: Model, texts: Sequence[str]) -> dict[str, list[Any]]:
    """The settings of a model, each a list of values in the unit of its name.

    A text is KEY=VALUE; VALUE one value, several with commas ("1 %, 2 %"), or a range
    "LOW..HIGH:COUNT" ("COUNTlog" for equal ratios). Raises UserError that names the nearest
    key.
    """
    found: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, written = text.partition("=")
        key, written = key.strip(), written.strip()
        if not equals or not key or not written:
            raise UserError(f'"{text}" is not KEY=VALUE')
        model.input(key)
        if key in found:
            raise UserError(f"{key} is set twice; several values are one list: {key}=A,B")
        found[key] = _values(model, key, written)
    # Whatever is prepared for all loss rates together stays at hand while they vary.
    ordered = sorted(found, key=lambda key: key == "loss")
    return {key: found[key] for key in ordered}


def _values(model: Model, key: str, written: str) -> list[Any]:
    inner = written[1:-1] if written.startswith("[") and written.endswith("]") else written
    values: list[Any] = []
    for part in inner.split(","):
        word = part.strip().strip("\"'")
        if not word:
            raise UserError(f'{key}: an empty value in "{written}"')
        match = _RANGE.match(word)
        values += _range(model, key, match) if match else [model.input(key).read(word)]
    return list(dict.fromkeys(values))


def _range(model: Model, key: str, match: re.Match[str]) -> list[float]:
    one = model.input(key)
    if one.choices:
        raise ModelError(f"{key} takes words, not a range")
    low, high = (float(one.read(match[end].strip())) for end in ("low", "high"))
    count = int(match["count"])
    if not 2 <= count <= MOST_IN_RANGE:
        raise UserError(f"{key}: a range has 2 to {MOST_IN_RANGE} values, not {count}")
    if low >= high:
        raise UserError(f"{key}: a range runs upwards; {match['low']} is not below {match['high']}")
    if match["log"]:
        if low <= 0:
            raise UserError(f"{key}: a range of equal ratios begins above zero")
        spread = [low * (high / low) ** (i / (count - 1)) for i in range(count)]
    else:
        spread = [low + (high - low) * i / (count - 1) for i in range(count)]
    # Rounding keeps 0.1 % + 3 * 0.1 % from becoming 0.39999999999999997 %.
    rounded = [_tidy(value) for value in spread]
    whole = all(value == int(value) for value in rounded) and one.quantity is None
    return [int(value) if whole else value for value in rounded]


def _tidy(value: float) -> float:
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, 11 - math.floor(math.log10(abs(value))))
