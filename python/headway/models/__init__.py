"""Analytical models: what theory says before anything is run.

Pure functions on numbers; no state, no input or output. `predict` makes tables, `curve_for`
lays a model beside a study, `MODELS` lists what there is with inputs, sources and regions of
validity. docs/models.md is the reader's page.
"""

from headway.models.base import Input, Model, ModelError, Output
from headway.models.predict import catalogue, curve_for, predict
from headway.models.registry import MODELS, get

__all__ = [
    "MODELS",
    "Input",
    "Model",
    "ModelError",
    "Output",
    "catalogue",
    "curve_for",
    "get",
    "predict",
]
