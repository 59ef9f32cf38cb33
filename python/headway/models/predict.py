"""Tables and curves of the models, for the command line, for studies and for notebooks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import polars as pl

from headway.models.base import Model, ModelError
from headway.models.curves import curve_for
from headway.models.registry import MODELS, get

__all__ = ["catalogue", "curve_for", "predict"]

Progress = Callable[[int, int], None]
"""Called with the number of points done and of all points."""


def predict(
    model: str | Model, *, progress: Progress | None = None, **settings: Any
) -> pl.DataFrame:
    """One row for each combination of settings: inputs, outputs, validity.

    A setting is a number in the unit of its name, a quantity as text ("20 ms", "2 %"), or a
    list of either, over which the table runs. Inputs that the model leaves out stay out of the
    table. Raises ModelError for an unknown setting or a value that the model cannot take.
    """
    chosen = get(model) if isinstance(model, str) else model
    lists = {
        name: list(value) if isinstance(value, (list, tuple, range)) else [value]
        for name, value in settings.items()
    }
    for name, values in lists.items():
        chosen.input(name)
        if not values:
            raise ModelError(f"{name}: an empty list")
    rows: list[dict[str, Any]] = []
    combinations = list(itertools.product(*lists.values()))
    for done, combination in enumerate(combinations, start=1):
        inputs = chosen.complete(dict(zip(lists, combination, strict=True)))
        try:
            outputs = chosen.evaluate(**inputs)
        except ValueError as error:
            raise ModelError(f"{chosen.name}: {error}") from error
        given = {name: value for name, value in inputs.items() if value is not None}
        rows.append({"model": chosen.name, **given, **outputs})
        if progress is not None:
            progress(done, len(combinations))
    return pl.DataFrame(rows, infer_schema_length=None)


def catalogue() -> pl.DataFrame:
    """Every model: name, title, source, region of validity, inputs."""
    return pl.DataFrame(
        [
            {
                "model": model.name,
                "title": model.title,
                "source": model.source,
                "validity": model.validity,
                "inputs": ", ".join(one.name for one in model.inputs),
                "outputs": ", ".join(one.name for one in model.outputs),
            }
            for model in MODELS.values()
        ]
    )
