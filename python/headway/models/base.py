"""What a model is to the rest of Headway: named inputs, outputs, where it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headway.errors import UserError
from headway.units import Quantity, QuantityError, nearest

__all__ = ["Input", "Model", "ModelError", "Output"]


class ModelError(UserError):
    """A setting that a model does not have, or a value that it cannot take."""


@dataclass(frozen=True, slots=True)
class Input:
    """One setting of a model."""

    name: str
    """With its unit as suffix, as the columns have it."""
    text: str
    default: Any = None
    """None where the model must be told, or where `optional`."""
    quantity: Quantity | None = None
    """How people write it ("20 ms", "2 %"); a bare number is in the column's unit."""
    choices: tuple[Any, ...] = ()
    """All values it can take; empty where it is a number."""
    optional: bool = False

    @property
    def required(self) -> bool:
        """Whether the model must be told."""
        return self.default is None and not self.optional

    def read(self, written: Any) -> Any:
        """The value of what a person wrote. ModelError where it is none."""
        if written is None:
            return None
        if self.choices:
            return self._choice(written)
        if isinstance(written, str):
            return self._quantity(written)
        if isinstance(written, bool) or not isinstance(written, (int, float)):
            raise ModelError(f"{self.name}: {written!r} is not a number")
        return written

    def _choice(self, written: Any) -> Any:
        words = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
        value = words.get(written, written) if True in self.choices else written
        if value in self.choices:
            return value
        known = ", ".join(_word(choice) for choice in self.choices)
        raise ModelError(f'{self.name}: "{written}" is none of {known}')

    def _quantity(self, written: str) -> int | float:
        try:
            return float(written) if not written.strip().lstrip("+-").isdigit() else int(written)
        except ValueError:
            pass
        if self.quantity is None:
            raise ModelError(f'{self.name}: "{written}" is not a number')
        try:
            value = self.quantity.column(self.quantity.read(written))
        except QuantityError as error:
            raise ModelError(f"{self.name}: {error}") from error
        if value is None:
            raise ModelError(f'{self.name}: "{written}" is not a number')
        return value


@dataclass(frozen=True, slots=True)
class Output:
    """One column that a model yields."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Model:
    """One analytical model: a pure function from settings to numbers."""

    name: str
    title: str
    source: str
    """Where its equations come from."""
    validity: str
    """Where it holds, in words."""
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    evaluate: Callable[..., Mapping[str, Any]]
    """Settings in, one row out; the row ends with `inside` and `why`."""

    def input(self, name: str) -> Input:
        """The input of a name. ModelError, with the nearest name, where there is none."""
        for candidate in self.inputs:
            if candidate.name == name:
                return candidate
        names = tuple(candidate.name for candidate in self.inputs)
        meant = nearest(name, names)
        hint = f'did you mean "{meant}"?' if meant else f"settings: {', '.join(names)}"
        raise ModelError(f'{self.name} has no setting "{name}"; {hint}')

    def complete(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All inputs with their values, defaults included, in the model's order."""
        for name in settings:
            self.input(name)
        values: dict[str, Any] = {}
        for one in self.inputs:
            value = one.read(settings[one.name]) if one.name in settings else one.default
            if value is None and one.required:
                raise ModelError(f"{self.name} needs {one.name} ({one.text})")
            values[one.name] = value
        return values


def _word(choice: Any) -> str:
    return {True: "on", False: "off"}[choice] if isinstance(choice, bool) else str(choice)
