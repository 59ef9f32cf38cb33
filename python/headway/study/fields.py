"""The building blocks of the study's models: quantities as field types, tables, emission."""

from __future__ import annotations

import functools
import typing
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from headway import units
from headway.units import Quantity, QuantityError

__all__ = [
    "BitRate",
    "Decibel",
    "Duration",
    "EventRate",
    "Fraction",
    "OptionalDecibel",
    "OptionalSize",
    "PositiveDecibel",
    "PositiveDuration",
    "PositiveSize",
    "Size",
    "Table",
    "UnlimitedRate",
    "kind_of",
    "models_of",
    "quantity_of",
    "spec_key",
]


class _Reads:
    """Makes a pydantic field of a Quantity."""

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity

    def __get_pydantic_core_schema__(
        self, _source: Any, _handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def _read(self, written: object) -> int | float | None:
        try:
            return self.quantity.read(written)
        except QuantityError as error:
            # Braces in a message are pydantic's placeholders; the text goes in as a value.
            raise PydanticCustomError("quantity", "{what}", {"what": str(error)}) from error


def _varied(quantity: Quantity, **changes: Any) -> Quantity:
    return Quantity(**{**vars(quantity), **changes})


Duration = Annotated[int, _Reads(units.DURATION)]
PositiveDuration = Annotated[int, _Reads(_varied(units.DURATION, positive=True))]
Size = Annotated[int, _Reads(units.SIZE)]
PositiveSize = Annotated[int, _Reads(_varied(units.SIZE, positive=True))]
BitRate = Annotated[int, _Reads(units.BIT_RATE)]
UnlimitedRate = Annotated[
    int | None, _Reads(_varied(units.BIT_RATE, words={"unlimited": None}, name="a bit rate"))
]
Decibel = Annotated[float, _Reads(units.DECIBEL)]
PositiveDecibel = Annotated[float, _Reads(_varied(units.DECIBEL, signed=False))]
OptionalDecibel = Annotated[
    float | None, _Reads(_varied(units.DECIBEL, words={"none": None}, name="a number of decibels"))
]
OptionalSize = Annotated[
    int | None, _Reads(_varied(units.SIZE, positive=True, words={"none": None}, name="a size"))
]
EventRate = Annotated[float, _Reads(units.EVENT_RATE)]
Fraction = Annotated[float, _Reads(units.FRACTION)]


class Table(BaseModel):
    """A table of the scenario: every key is known, and every type is taken at its word."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    sparse: ClassVar[bool] = False
    """Whether only the keys that were written go into a RunSpec, so that what is left out
    keeps the value of the profile or of the forward direction."""

    def spec(self) -> dict[str, Any]:
        """The table as the RunSpec has it: suffixed keys, base units."""
        emitted: dict[str, Any] = {}
        for name, key in _spec_keys(type(self)):
            if self.sparse and name not in self.model_fields_set:
                continue
            value = getattr(self, name)
            if isinstance(value, Table):
                inner = value.spec()
                if inner or not value.sparse:
                    emitted[key] = inner
            else:
                emitted[key] = value
        return emitted


@functools.cache
def _spec_keys(model: type[Table]) -> tuple[tuple[str, str], ...]:
    return tuple((name, spec_key(model, name)) for name in model.model_fields)


def spec_key(model: type[BaseModel], name: str) -> str:
    """How a RunSpec spells the field `name` of `model`."""
    quantity = quantity_of(model, name)
    return name if quantity is None else name + quantity.suffix


def quantity_of(model: type[BaseModel], name: str) -> Quantity | None:
    """The quantity that a field holds, None for plain numbers, words and tables."""
    info = model.model_fields[name]
    for candidate in (info.metadata, *_annotations(info.annotation)):
        for item in candidate:
            if isinstance(item, _Reads):
                return item.quantity
    return None


def models_of(model: type[BaseModel], name: str) -> list[type[BaseModel]]:
    """The tables that a field may hold, one for each kind."""
    found: list[type[BaseModel]] = []

    def look(annotation: Any) -> None:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            found.append(annotation)
        else:
            for argument in typing.get_args(annotation):
                look(argument)

    look(model.model_fields[name].annotation)
    return found


def kind_of(model: type[BaseModel]) -> str | None:
    """What a table's `kind` must say, None for a table without one."""
    info = model.model_fields.get("kind")
    if info is None:
        return None
    words = typing.get_args(info.annotation)
    return str(words[0]) if words else None


def _annotations(annotation: Any) -> list[tuple[Any, ...]]:
    """The metadata of every Annotated inside a type."""
    found: list[tuple[Any, ...]] = []
    if hasattr(annotation, "__metadata__"):
        found.append(annotation.__metadata__)
    for argument in typing.get_args(annotation):
        found.extend(_annotations(argument))
    return found
