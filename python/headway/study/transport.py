"""What carries the messages."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from headway import core
from headway.study.fields import Duration, PositiveDuration, PositiveSize, Table
from headway.units import nearest

__all__ = ["Transport"]


def _known_profile(name: str) -> str:
    known = list(core.profiles())
    if name in known:
        return name
    meant = nearest(name, known)
    hint = f'did you mean "{meant}"? ' if meant else ""
    what = f'unknown profile "{name}"; {hint}profiles: {", ".join(known)}'
    raise PydanticCustomError("profile", "{what}", {"what": what})


Profile = Annotated[str, AfterValidator(_known_profile)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class SctpKnobs(Table):
    """Single knobs of SCTP over what the profile says; a knob left out keeps its value."""

    sparse: ClassVar[bool] = True

    rto_initial: PositiveDuration | None = Field(
        default=None, description="retransmission timeout before the first measurement"
    )
    rto_min: PositiveDuration | None = Field(default=None, description="least timeout")
    rto_max: PositiveDuration | None = Field(default=None, description="longest timeout")
    missing_report_threshold: Positive | None = Field(
        default=None, description="missing reports before a fast retransmit"
    )
    repeat_fast_retransmit: Literal["off", "qualified", "unqualified"] | None = Field(
        default=None,
        description="whether a chunk may be fast-retransmitted again: never, after reports "
        "for data sent later, or after any further reports",
    )
    fast_recovery: bool | None = Field(
        default=None, description="whether one loss event cuts the congestion window once only"
    )
    sack_delay: Duration | None = Field(default=None, description="longest wait of a SACK")
    sack_every: Positive | None = Field(
        default=None, description="packets with DATA after which a SACK goes out at once"
    )
    initial_cwnd: PositiveSize | None = Field(
        default=None, description="congestion window at the start"
    )
    ssthresh_floor_mtus: Positive | None = Field(
        default=None, description="least slow-start threshold after a loss, in MTUs"
    )
    byte_counting_limit: Positive | None = Field(
        default=None, description="MTUs that one SACK may add in slow start (the limit L)"
    )
    max_burst: Count | None = Field(
        default=None, description="packets that may leave at once; 0 for no limit"
    )
    cwnd_when_limited: Literal["keep", "grow"] | None = Field(
        default=None,
        description="whether the congestion window grows while the application does not fill it",
    )
    scheduler: Literal["first-come", "round-robin"] | None = Field(
        default=None, description="which stream sends next"
    )
    nagle: bool | None = Field(
        default=None, description="whether small messages wait for others while data is out"
    )
    mtu: PositiveSize | None = Field(default=None, description="largest IP packet")
    send_buffer: PositiveSize | None = Field(default=None, description="send buffer")
    receive_buffer: PositiveSize | None = Field(default=None, description="receive buffer")
    heartbeat_interval: Duration | None = Field(
        default=None, description="between heartbeats on an idle path, above the timeout"
    )
    association_max_retransmits: Count | None = Field(
        default=None, description="timeouts in a row after which the association is given up"
    )
    path_max_retransmits: Count | None = Field(
        default=None, description="timeouts in a row after which a path is taken as down"
    )


class SctpTransport(Table):
    """One SCTP association."""

    kind: Literal["sctp"]
    delivery: Literal["ordered", "streams", "unordered"] = Field(
        default="ordered",
        description="one stream in order, `streams` of them each in order (a call keeps to "
        "one), or no order",
    )
    streams: Annotated[int, Field(ge=1, le=65535)] = Field(
        default=16, description="number of streams, for delivery streams"
    )
    profile: Profile = Field(
        default="rfc9260", description="the stack that is modelled; `headway profiles` lists them"
    )
    sctp: SctpKnobs = Field(default=SctpKnobs(), description="single knobs over the profile")


# With a second kind this becomes a union that `kind` discriminates, as in path.py.
Transport = SctpTransport
