"""What a column is called, in which unit it is shown, and how its levels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from headway.metrics import Metric
from headway.units import BIT_RATE, DECIBEL, DURATION, EVENT_RATE, FRACTION, SIZE, Quantity

if TYPE_CHECKING:
    from headway.study import Study

_NAMES = {
    "path.loss.rate": "loss rate",
    "path.loss.correlation": "loss correlation",
    "path.queue": "queue thresholds",
    "competing.bulk.flows": "bulk transfers",
    "competing.messages.flows": "flows of short messages",
    "path.one_way_delay": "one-way delay",
    "path.rate": "rate of the path",
    "workload.call_rate": "call rate",
    "transport.delivery": "delivery",
    "transport.profile": "stack profile",
    "transport.kind": "transport",
    "path.snr": "SNR",
    "path.retry_limit": "retry limit",
    "path.background.traffic": "other stations",
}
_LEVELS = {
    ("transport.delivery", "ordered"): "HOLB (in order)",
    ("transport.delivery", "streams"): "HOLB within a stream",
    ("transport.delivery", "unordered"): "no HOLB (no order)",
    ("path.background.traffic", "none"): "quiet channel",
    ("path.background.traffic", "cbr"): "loaded channel",
    ("path.symmetric", False): "downlink weak",
    ("path.symmetric", True): "both ways weak",
}


@dataclass(frozen=True)
class Scale:
    """From base units to the ones shown."""

    factor: float = 1.0
    unit: str = ""

    def title(self, name: str) -> str:
        """An axis title."""
        return f"{name} ({self.unit})" if self.unit else name


@dataclass(frozen=True)
class Column:
    """A factor as figures and tables show it."""

    key: str
    name: str
    values: tuple[Any, ...]
    """Its levels as the results hold them."""
    labels: tuple[str, ...]
    """The same levels in words."""
    scale: Scale

    @property
    def numeric(self) -> bool:
        """Whether its levels are numbers."""
        return all(isinstance(v, int | float) and not isinstance(v, bool) for v in self.values)

    def label(self, value: Any) -> str:
        """A level in words."""
        return self.labels[self.values.index(value)] if value in self.values else str(value)

    def position(self, value: float) -> float:
        """Where a level lies on an axis in shown units."""
        return round(value * self.scale.factor, 9)


def scale_of(quantity: Quantity | None, largest: float = 0.0) -> Scale:
    """The unit in which values of a quantity up to `largest` (base units) read best."""
    if quantity is None:
        return Scale()
    if quantity.suffix == DURATION.suffix and quantity.units == DURATION.units:
        return Scale(1000.0, "ms") if largest < 10 else Scale(1.0, "s")
    if quantity.units == DECIBEL.units:
        return Scale(1.0, "dB")
    if quantity.units == FRACTION.units:
        return Scale(100.0, "%")
    if quantity.units == BIT_RATE.units:
        return Scale(1e-6, "Mb/s") if largest >= 1e6 else Scale(1e-3, "kb/s")
    if quantity.units == SIZE.units:
        return Scale(1e-3, "kB") if largest >= 1e5 else Scale(1.0, "B")
    if quantity.units == EVENT_RATE.units:
        return Scale(1.0, "/s")
    return Scale()


def metric_scale(metric: Metric | None, points: pl.DataFrame) -> Scale:
    """The unit in which most of a metric's means read best."""
    if metric is None:
        return Scale()
    column = f"{metric.name}.mean"
    middle = points[column].median() if column in points.columns else 0.0
    return scale_of(metric.quantity, float(middle) if isinstance(middle, int | float) else 0.0)


def columns_of(study: Study, points: pl.DataFrame) -> dict[str, Column]:
    """The study's factors by column, with the levels that the results really have."""
    found: dict[str, Column] = {}
    for factor in study.factors:
        for at, key in enumerate(factor.columns):
            if key not in points.columns:
                continue
            quantity = _quantity(key)
            present = set(points[key].unique().to_list())
            written: dict[Any, str] = {}
            for level, row in zip(factor.levels, factor.values, strict=True):
                value = row[at]
                if value in present and value not in written:
                    label = level.labels[at]
                    if label is None and len(factor.columns) == 1:
                        label = level.label
                    written[value] = label if label is not None else str(value)
            # What the study file does not list, as after an override of a level.
            for value in sorted(present - set(written), key=str):
                written[value] = str(value)
            scale = scale_of(quantity, _largest(written))
            if scale.unit == "%" and not any("%" in text for text in written.values()):
                # A share that the study writes as a plain number stays one.
                scale = Scale()
            found[key] = Column(
                key,
                name_of(key),
                tuple(written),
                tuple(_word(key, value, text, scale) for value, text in written.items()),
                scale,
            )
    return found


def name_of(key: str) -> str:
    """A dotted key in words."""
    if key in _NAMES:
        return _NAMES[key]
    *_, last = key.split(".")
    return last.replace("_", " ")


def _word(key: str, value: Any, text: str, scale: Scale) -> str:
    if (key, value) in _LEVELS:
        return _LEVELS[key, value]
    if isinstance(value, int | float) and not isinstance(value, bool) and scale.unit == "/s":
        return f"{value:g} calls/s" if key == "workload.call_rate" else f"{value:g}/s"
    return text


def _largest(values: Sequence[Any] | dict[Any, str]) -> float:
    return max((float(v) for v in values if isinstance(v, int | float)), default=0.0)


def _quantity(key: str) -> Quantity | None:
    from headway.study import keys
    from headway.study.fields import quantity_of

    for entry in keys.find(key):
        quantity = quantity_of(entry.model, entry.name)
        if quantity is not None:
            return quantity
    return None
