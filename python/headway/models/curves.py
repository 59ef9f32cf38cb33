"""A model's curve beside a simulation: from a scenario to the settings of its model.

A scenario is the body of a RunSpec or the `[scenario]` of a study: both spellings of a key
are read (`one_way_delay_ns` with a whole number, `one_way_delay` with "20 ms").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.models.base import ModelError
from headway.models.registry import get
from headway.units import DURATION, EVENT_RATE, FRACTION, SIZE, Quantity, QuantityError

__all__ = ["Match", "curve_for", "laid_beside", "match_for", "model_for"]


@dataclass(frozen=True)
class _Profile:
    """What the models ask of an SCTP stack."""

    reports: int
    repeat: bool


_PROFILES = {
    # RFC 9260: three reports, a chunk fast-retransmitted once; the stacks by their sources.
    "rfc9260": _Profile(3, False),
    "lksctp-2.6.11": _Profile(4, True),
    "lksctp-2.6.18": _Profile(3, False),
    "freebsd-6.1": _Profile(3, True),
}
_RTO_MIN_S = 1.0
"""Least time-out of all SCTP profiles, which constant delays of up to a second lead to."""

_VOICE_PAYLOAD_BYTES, _RTP_BYTES, _FRAME_BYTES = 160, 12, 2
_VOICE_INTERVAL_S = 0.02
"""What a RunSpec of media has where it says nothing: seed 4's voice."""

_SIP_FULL_MESSAGES = 3
"""INVITE, ACK and BYE one way; 180 and two 200s the other."""


class _Scenario:
    """Reads values in base units, with the factors of one point over the scenario."""

    def __init__(self, scenario: Mapping[str, Any], point: Mapping[str, Any]) -> None:
        self._scenario = scenario
        self._point = point

    def get(self, path: str, quantity: Quantity | None = None, default: Any = None) -> Any:
        """The value at a dotted path; a factor's column is in base units already."""
        if path in self._point:
            return self._point[path]
        table: Any = self._scenario
        *parents, last = path.split(".")
        for name in parents:
            table = table.get(name) if isinstance(table, Mapping) else None
        if not isinstance(table, Mapping):
            return default
        if quantity is not None and quantity.suffix and last + quantity.suffix in table:
            value = quantity.column(table[last + quantity.suffix])
            return default if value is None else value
        if last not in table or table[last] is None:
            return default
        value = table[last]
        if quantity is None or not isinstance(value, str):
            return value
        try:
            return quantity.column(quantity.read(value))
        except QuantityError as error:
            raise ModelError(f"{path}: {error}") from error

    def need(self, path: str, quantity: Quantity | None = None) -> Any:
        """The same where the model cannot do without. ModelError where it is missing."""
        value = self.get(path, quantity)
        if value is None:
            raise ModelError(f"the scenario has no {path}, which the model needs")
        return value

    def loss(self) -> tuple[float, tuple[str, ...]]:
        """The loss rate, and what about the losses the models leave aside."""
        rate = self.get("path.loss.rate", FRACTION)
        kind = self.get("path.loss.kind", default="none" if rate is None else "bernoulli")
        if kind == "none":
            return 0.0, ()
        if kind != "bernoulli":
            raise ModelError(f'the models know independent losses only, not "{kind}"')
        aside = ("correlated losses",) if self.get("path.loss.correlation", default=0) else ()
        if rate is None:
            raise ModelError("the scenario has no path.loss.rate, which the model needs")
        return float(rate), aside

    def rtt_s(self) -> float:
        """Both ways; the reverse path is as long unless it says otherwise."""
        there = self.need("path.one_way_delay", DURATION)
        back = self.get("path.reverse.one_way_delay", DURATION, there)
        return float(there + back)

    def aside(self) -> tuple[str, ...]:
        """What the path has that no model here knows."""
        found = []
        if self.get("competing") is not None:
            found.append("competing traffic")
        if self.get("path.rate", default=self.get("path.rate_bps")) not in (None, "unlimited"):
            found.append("limited rate")
        if self.get("path.queue.kind", default="unlimited") not in ("unlimited", "drd"):
            found.append("queue")
        if self.get("path.reorder.probability", FRACTION, 0):
            found.append("reordering")
        return tuple(found)


@dataclass(frozen=True)
class Match:
    """What a model is told of one scenario."""

    model: str
    settings: dict[str, Any]
    columns: Mapping[str, str]
    """Metric of the study: output of the model."""
    aside: tuple[str, ...]
    """What the scenario has that the model leaves aside: correlated losses, a queue."""

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for scenarios between which the model makes no difference."""
        return (self.model, *sorted(self.settings.items()))

    def evaluate(self) -> Mapping[str, Any]:
        """All outputs of the model. ModelError for values that it cannot take."""
        model = get(self.model)
        try:
            return model.evaluate(**model.complete(self.settings))
        except ValueError as error:
            raise ModelError(f"{model.name}: {error}") from error


_PSD = {
    name: name
    for name in (
        "psd_mean_s", "psd_sd_s", "psd_p50_s", "psd_p90_s", "psd_p95_s", "psd_p99_s",
        "message_delay_mean_s", "network_mean_s", "recovery_mean_s", "hol_blocking_mean_s",
        "clean_share", "hol_blocked_share",
    )
}  # fmt: skip

_DELAY = {
    name: name
    for name in (
        "delay_mean_s", "delay_sd_s", "delay_p50_s", "delay_p95_s", "delay_p99_s",
        "backlog_share", "timeouts_per_loss", "late_share",
    )
} | {"delay_max_s": "delay_highest_s", "timeout_share": "timeouts_per_loss"}  # fmt: skip


def _sip(at: _Scenario) -> Match:
    loss, aside = at.loss()
    kind = at.need("transport.kind")
    if kind not in ("sctp", "tcp", "tcp-parallel"):
        raise ModelError(f'no model for SIP over "{kind}"')
    known = _PROFILES.get(at.get("transport.profile", default="rfc9260"), _Profile(3, False))
    repeat = at.get("transport.sctp.repeat_fast_retransmit")
    rate = at.need("workload.call_rate", EVENT_RATE)
    if at.get("workload.flow", default="invite-ringing") == "full":
        rate *= _SIP_FULL_MESSAGES
        aside = (*aside, "calls of several messages")
    settings = {
        "rate": rate,
        "loss": loss,
        "rtt_s": at.rtt_s(),
        "delivery": at.get("transport.delivery", default="ordered"),
        "streams": at.get("transport.streams", default=16),
        "connections": at.get("transport.connections", default=1),
        "rto_s": max(at.get("transport.sctp.rto_min", DURATION, _RTO_MIN_S), at.rtt_s()),
        "reports": at.get("transport.sctp.missing_report_threshold", default=known.reports),
        "repeat": known.repeat if repeat is None else repeat != "off",
    }
    if kind != "sctp":
        settings["delivery"] = "ordered"
        # TCP: three duplicate ACKs; what is retransmitted is not found lost again by them.
        settings |= {
            "rto_s": max(at.get("transport.tcp.rto_min", DURATION, 0.2), at.rtt_s()),
            "reports": 3,
            "repeat": False,
        }
    return Match("holb", settings, _PSD, (*aside, *at.aside()))


def _media(at: _Scenario) -> Match:
    loss, aside = at.loss()
    pieces, connections = _divided(at)
    settings = {
        "loss": loss,
        "rtt_s": at.rtt_s(),
        "packet_bytes": _packet_bytes(at),
        "interval_s": at.get("workload.interval", DURATION, _VOICE_INTERVAL_S),
        "pieces": pieces,
        "connections": connections,
    }
    switch = at.get("transport.tcp.limited_transmit")
    if switch is not None:
        settings["limited_transmit"] = bool(switch)
    if connections > 1:
        aside = (*aside, "re-sequencing over connections")
    return Match("tcp-chain", settings, _DELAY, (*aside, *_media_aside(at, pieces), *at.aside()))


def _media_recovery(at: _Scenario) -> Match:
    loss, aside = at.loss()
    pieces, connections = _divided(at)
    settings = {
        "loss": loss,
        "rtt_s": at.rtt_s(),
        "interval_s": at.get("workload.interval", DURATION, _VOICE_INTERVAL_S),
        "pieces": pieces,
        "connections": connections,
        "resequenced": at.get("transport.resequence", default=True),
    }
    known = ("delay_mean_s", "delay_p50_s", "delay_p95_s", "delay_p99_s", "late_share")
    aside = (*aside, *_media_aside(at, pieces), *at.aside())
    return Match("media-recovery", settings, {name: name for name in known}, aside)


def _divided(at: _Scenario) -> tuple[int, int]:
    """Pieces and connections; what is left out depends on the kind of transport."""
    kind = str(at.need("transport.kind"))
    if not kind.startswith("tcp"):
        raise ModelError(f'no model for media over "{kind}"')
    pieces = at.get("transport.pieces", default=2 if kind == "tcp-split" else 1)
    connections = at.get("transport.connections", default=5 if kind == "tcp-parallel" else 1)
    return int(pieces), int(connections)


def _packet_bytes(at: _Scenario) -> float:
    """What TCP is given of a packet: payload, header and the framing before it."""
    whole = at.get("workload.packet", SIZE)
    if whole is not None:
        return float(whole)
    payload = at.get("workload.payload", SIZE, _VOICE_PAYLOAD_BYTES)
    header = at.get("workload.header", SIZE, _RTP_BYTES)
    return float(payload + header + at.get("transport.frame", SIZE, _FRAME_BYTES))


def _media_aside(at: _Scenario, pieces: int) -> tuple[str, ...]:
    """What a media run has that the models of media do not know."""
    found = []
    if at.get("workload.silence") is not None:
        found.append("pauses")
    if at.get("workload.direction", default="forward") != "forward":
        found.append("media in both directions")
    if pieces > 1 and not at.get("transport.piece_gap", DURATION, 0):
        found.append("pieces sent at once")
    if at.get("transport.schedule", default="round-robin") != "round-robin":
        found.append("the choice of a connection")
    if at.get("transport.drop_above", SIZE) is not None:
        found.append("packets dropped at the sender")
    if at.get("transport.out_of_order"):
        found.append("delivery out of order")
    found += [
        what for knob, known, what in _OTHER_TCP if at.get(f"transport.tcp.{knob}") not in known
    ]
    return tuple(found)


_OTHER_TCP = (
    ("window_when_limited", (None, "keep"), "a window that grows while it is not filled"),
    ("validation", (None, "off"), "a window that shrinks while it is not filled"),
    ("growth_counting", (None, "acks"), "a window that grows by bytes or segments"),
    ("ack_policy", (None, "immediate"), "delayed ACKs"),
    ("nagle", (None, "off"), "Nagle's algorithm"),
    ("coalesce", (None, True), "packets that never share a segment"),
)
"""Knobs of TCP that a study sets, the values that the models of media know, and what others are."""


def _simco(at: _Scenario) -> Match:
    loss, aside = at.loss()
    kind = at.need("transport.kind")
    if kind != "sctp":
        raise ModelError(f'no model for SIMCO over "{kind}"')
    delivery = at.get("transport.delivery", default="ordered")
    if delivery == "unordered":
        raise ModelError("seed 2's model knows streams, not unordered delivery")
    settings = {
        "loss": loss,
        "rtt_s": at.rtt_s(),
        "streams": at.get("transport.streams", default=16) if delivery == "streams" else 1,
        "pinhole_interval_s": 1 / at.need("workload.request_rate", EVENT_RATE),
        "lifetime_s": at.need("workload.lifetime", DURATION),
        "refresh_s": at.need("workload.refresh", DURATION),
        "processing_s": at.get("workload.processing", DURATION, 0.0005),
    }
    columns = {"response_mean_s": "response_mean_s"}
    return Match("simco", settings, columns, (*aside, *at.aside()))


_WORKLOADS: dict[str, dict[str, Callable[[_Scenario], Match]]] = {
    "sip": {"holb": _sip},
    "media": {"tcp-chain": _media, "media-recovery": _media_recovery},
    "cbr": {"tcp-chain": _media, "media-recovery": _media_recovery},
    "simco": {"simco": _simco},
}
"""For each kind of workload its models, the one that speaks for it first."""


def laid_beside(workload: str | None = None) -> tuple[str, ...]:
    """The models that can be laid beside a study, or beside one of that kind of workload."""
    kinds = _WORKLOADS if workload is None else (workload,)
    found = [name for kind in kinds for name in _WORKLOADS.get(kind, ())]
    return tuple(dict.fromkeys(found))


def model_for(scenario: Mapping[str, Any]) -> str | None:
    """The name of the model for a scenario, None where there is none."""
    try:
        return match_for(scenario).model
    except ModelError:
        return None


def match_for(
    scenario: Mapping[str, Any], point: Mapping[str, Any] | None = None, model: str | None = None
) -> Match:
    """What a model, by default the first for the workload, is told of a scenario.

    `point` takes the place of the scenario's values, as in `curve_for`. ModelError where the
    model has nothing to say of it.
    """
    at = _Scenario(scenario, point or {})
    workload = at.need("workload.kind")
    known = _WORKLOADS.get(workload, {})
    if not known:
        raise ModelError(f'no model for the workload "{workload}"')
    if model is None:
        return next(iter(known.values()))(at)
    if model not in known:
        raise ModelError(f'{model} has nothing to say of the workload "{workload}"')
    return known[model](at)


def curve_for(
    scenario: Mapping[str, Any], metric: str, points: pl.DataFrame | None = None
) -> pl.DataFrame:
    """The model's value of a study's metric at each point.

    `points` holds the points of a study: columns named by dotted keys of the scenario, in
    base units, take the place of the scenario's values, and all columns are kept. Without it
    the scenario itself is the only point. Added columns: `model`, `metric`, `value`,
    `inside` (whether the point lies in the region of validity and the model knows everything
    that the scenario has), `why` (what not), `validity` (the region in words).

    Raises ModelError where no model fits the workload and transport or knows the metric.
    """
    rows = [{}] if points is None else points.to_dicts()
    found = []
    for row in rows:
        match = match_for(scenario, row)
        model = get(match.model)
        if metric not in match.columns:
            known = ", ".join(match.columns)
            raise ModelError(f'{model.name} does not know "{metric}"; it knows {known}')
        result = match.evaluate()
        why = [result["why"]] if result["why"] else []
        why += [f"the model leaves {name} aside" for name in match.aside]
        found.append(
            {
                **row,
                "model": model.name,
                "metric": metric,
                "value": float(result[match.columns[metric]]),
                "inside": not why,
                "why": ", ".join(why),
                "validity": model.validity,
            }
        )
    return pl.DataFrame(found, infer_schema_length=None)
