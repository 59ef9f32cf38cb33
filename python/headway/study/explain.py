"""Pydantic's errors, in the words of the study file."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from headway.study.fields import kind_of, models_of, quantity_of
from headway.study.positions import KeyPath
from headway.units import nearest

__all__ = ["explain", "show"]


def explain(
    error: ValidationError, data: object, model: type[BaseModel]
) -> Iterator[tuple[KeyPath, str]]:
    """Each error as the place in `data` and what is wrong there.

    A missing key that was misspelt is reported once, as the key that nobody knows.
    """
    found = [(_place(item["loc"], data, model), item) for item in error.errors()]
    unknown = {
        place.path[:-1]: str(place.path[-1])
        for place, item in found
        if item["type"] == "extra_forbidden"
    }
    for place, item in found:
        if item["type"] in ("missing", "union_tag_not_found"):
            misspelt = unknown.get(place.path[:-1])
            if misspelt and nearest(misspelt, [str(place.path[-1])]):
                continue
        path = place.path
        if item["type"] == "union_tag_invalid":
            path = (*path, "kind")
        yield path, _what(place, item)


class _Place:
    """Where an error is: its path in the data, and the table and field of the models."""

    def __init__(self, path: KeyPath, tables: list[type[BaseModel]], field: str | None) -> None:
        self.path = path
        self.tables = tables
        """The tables that may stand around the last key."""
        self.field = field


def _place(loc: tuple[str | int, ...], data: object, model: type[BaseModel]) -> _Place:
    """Strips from pydantic's location the tags of unions, which the file does not have."""
    path: list[str | int] = []
    around = [model]
    inside: list[type[BaseModel]] = [model]
    field: str | None = None
    value: object = data
    for part in loc:
        chosen = [table for table in inside if kind_of(table) == part]
        if len(inside) > 1 and chosen:
            inside = chosen
            continue
        path.append(part)
        around = inside
        field = part if isinstance(part, str) else field
        owners = [table for table in inside if part in table.model_fields]
        if owners:
            inside = [inner for table in owners for inner in models_of(table, str(part))]
        elif isinstance(part, str):
            inside = []
        value = _child(value, part)
    return _Place(tuple(path), around, field)


def _child(value: object, part: str | int) -> object:
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def _what(place: _Place, item: Any) -> str:
    kind: str = item["type"]
    value = item["input"]
    context = item.get("ctx", {})
    if kind in ("quantity", "profile"):
        return str(context["what"])
    if kind == "extra_forbidden":
        return _unknown(place)
    if kind == "missing":
        return f"is missing{_needs(place)}"
    if kind in ("union_tag_invalid", "union_tag_not_found", "literal_error"):
        return _choice(place, kind, value, context)
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return f"{show(value)} is not a table"
    plain = {
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "string_type": "a string",
        "list_type": "a list",
    }
    if kind in plain:
        return f"{show(value)} is not {plain[kind]}"
    if kind == "greater_than_equal":
        return f"{show(value)} is below {context['ge']}"
    if kind == "less_than_equal":
        return f"{show(value)} is above {context['le']}"
    if kind == "too_short":
        return "the list is empty"
    if kind == "string_pattern_mismatch":
        return f"{show(value)} does not match {context['pattern']}"
    if kind == "value_error":
        return str(context["error"])
    message: str = item["msg"]
    return f"{show(value)}: {message[:1].lower()}{message[1:]}"


def _unknown(place: _Place) -> str:
    name = str(place.path[-1])
    known = list(dict.fromkeys(field for table in place.tables for field in table.model_fields))
    kinds = [kind for table in place.tables if (kind := kind_of(table))]
    whose = f' of kind "{kinds[0]}"' if len(kinds) == 1 else ""
    meant = nearest(name, known)
    if meant:
        return f'no such key{whose}; did you mean "{meant}"?'
    return f"no such key{whose}; keys here: {', '.join(known)}"


def _needs(place: _Place) -> str:
    for table in place.tables:
        if place.field in table.model_fields:
            quantity = quantity_of(table, str(place.field))
            if quantity is not None:
                return f"; {quantity.allowed()}"
            words = typing.get_args(table.model_fields[str(place.field)].annotation)
            if words and all(isinstance(word, str) for word in words):
                return f"; one of: {', '.join(words)}"
    return ""


def _choice(place: _Place, kind: str, value: object, context: dict[str, Any]) -> str:
    """A word out of a list; for a table of several kinds, the word is its `kind`."""
    if kind == "literal_error":
        choices = _words(place) or [str(context["expected"])]
        word = value
    else:
        inner = [
            inner
            for table in place.tables
            if place.field in table.model_fields
            for inner in models_of(table, str(place.field))
        ]
        choices = [name for table in inner if (name := kind_of(table))]
        if not isinstance(value, dict):
            return f"{show(value)} is not a table"
        if kind == "union_tag_not_found":
            return f"lacks its kind; one of: {', '.join(choices)}"
        word = value.get("kind")
    meant = nearest(word, choices) if isinstance(word, str) else None
    if meant:
        return f'{show(word)} is unknown; did you mean "{meant}"? One of: {", ".join(choices)}'
    return f"{show(word)} is unknown; one of: {', '.join(choices)}"


def _words(place: _Place) -> list[str]:
    found: list[str] = []

    def look(annotation: Any) -> None:
        if typing.get_origin(annotation) is typing.Literal:
            found.extend(str(word) for word in typing.get_args(annotation))
        else:
            for argument in typing.get_args(annotation):
                look(argument)

    for table in place.tables:
        if place.field in table.model_fields:
            look(table.model_fields[str(place.field)].annotation)
    return found


def show(value: object) -> str:
    """A value as TOML writes it, short enough for a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, dict):
        inner = ", ".join(f"{key} = {show(item)}" for key, item in value.items())
        text = f"{{ {inner} }}" if inner else "{}"
    elif isinstance(value, list):
        text = f"[{', '.join(show(item) for item in value)}]"
    else:
        text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
