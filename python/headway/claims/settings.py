"""Every setting of a scenario by dotted key, with what its stack profile fills in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from headway import core
from headway.study import keys
from headway.study.fields import quantity_of, spec_key
from headway.study.transport import SctpKnobs

if TYPE_CHECKING:
    from headway.study.scenario import Scenario

KNOBS = "transport.sctp."


@dataclass(frozen=True)
class ProfileKnob:
    """One knob of a stack profile."""

    name: str
    """As a study spells it."""
    value: Any
    """In base units."""
    unit: str
    source: str

    @property
    def text(self) -> str:
        """The value with its unit."""
        return f"{shown(self.value)} {self.unit}".strip()


def shown(value: Any) -> str:
    """A setting as people read it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "unlimited"
    return f"{value:g}" if isinstance(value, float) else str(value)


def unit_of(key: str) -> str:
    """The unit in which a setting is shown, empty for plain numbers and words."""
    for entry in keys.find(key):
        quantity = quantity_of(entry.model, entry.name)
        if quantity is not None:
            return quantity.column_unit
    return ""


def profile_knobs(profile: str) -> list[ProfileKnob]:
    """The knobs of a stack profile; empty for an unknown one."""
    names = {spec_key(SctpKnobs, name): name for name in SctpKnobs.model_fields}
    found = []
    for entry in core.profiles().get(profile, []):
        name = names.get(entry["name"], entry["name"])
        quantity = quantity_of(SctpKnobs, name) if name in SctpKnobs.model_fields else None
        value = _read(str(entry["value"]))
        unit = ""
        if quantity is not None and isinstance(value, int):
            value, unit = quantity.column(value), quantity.column_unit
        found.append(ProfileKnob(name, value, unit, entry["source"]))
    return found


def settings(scenario: Scenario) -> dict[str, Any]:
    """Every single setting of a scenario by dotted key, as result columns show it.

    A queue with two thresholds is also named by them ("10-20"), as a factor would be, and the
    knobs of the stack profile are filled in where the scenario leaves them out.
    """
    found = dict(_walk("", scenario))
    if found.get("path.queue.kind") == "drd":
        low, high = found["path.queue.min_pkts"], found["path.queue.max_pkts"]
        found["path.queue"] = f"{low}-{high}"
    if found.get("transport.kind") != "sctp":
        return found
    for knob in profile_knobs(found.get("transport.profile", "")):
        if found.get(f"{KNOBS}{knob.name}") is None:
            found[f"{KNOBS}{knob.name}"] = knob.value
    return found


def _walk(prefix: str, table: BaseModel) -> Iterator[tuple[str, Any]]:
    for name in type(table).model_fields:
        value = getattr(table, name)
        if isinstance(value, BaseModel):
            # The way back is as the way out where nothing else is said.
            if not getattr(value, "sparse", False) or name == "sctp" or value.model_fields_set:
                yield from _walk(f"{prefix}{name}.", value)
        else:
            quantity = quantity_of(type(table), name)
            yield f"{prefix}{name}", value if quantity is None else quantity.column(value)


def _read(text: str) -> Any:
    """A knob's value: the engine hands them over as text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return text
