"""All models by name, as `headway predict` lists them."""

from __future__ import annotations

from headway.models.base import Model, ModelError
from headway.models.catalog import HOLB, MEDIA, PADHYE, SIMCO, TCP_CHAIN
from headway.units import nearest

__all__ = ["MODELS", "get"]

MODELS: dict[str, Model] = {model.name: model for model in (TCP_CHAIN, HOLB, MEDIA, SIMCO, PADHYE)}
"""Every model, the largest first."""


def get(name: str) -> Model:
    """The model of a name. ModelError, with the nearest name, where there is none."""
    if name in MODELS:
        return MODELS[name]
    meant = nearest(name, tuple(MODELS))
    hint = f'did you mean "{meant}"?' if meant else f"models: {', '.join(MODELS)}"
    raise ModelError(f'no such model "{name}"; {hint}')
