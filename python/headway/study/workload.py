"""What the applications at the two ends do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from headway.study.fields import Duration, EventRate, PositiveDuration, PositiveSize, Table
from headway.study.media import MediaWorkload
from headway.study.trace import TraceWorkload

__all__ = ["Workload"]


class SipWorkload(Table):
    """SIP signalling between two proxies: calls arrive as a Poisson process."""

    kind: Literal["sip"]
    flow: Literal["invite-ringing", "full"] = Field(
        default="invite-ringing",
        description="INVITE and 180 only, or the whole call: INVITE, 180, 200, ACK, BYE, 200",
    )
    call_rate: EventRate = Field(description="calls per second, on average")
    invite: PositiveSize = Field(default=225, description="size of an INVITE")
    ringing: PositiveSize = Field(default=225, description="size of a 180")
    ok: PositiveSize = Field(default=225, description="size of a 200")
    ack: PositiveSize = Field(default=150, description="size of an ACK")
    bye: PositiveSize = Field(default=150, description="size of a BYE")
    ring_time: Duration = Field(
        default=3 * 10**9, description="from the INVITE's arrival to the 200, flow full"
    )
    talk_time: Duration = Field(
        default=10 * 10**9, description="from the arrival of the 200 to the BYE, flow full"
    )
    content: Literal["size", "full"] = Field(
        default="size",
        description="whether only lengths travel, or real SIP that is parsed on arrival; "
        "the samples are the same",
    )
    t1: PositiveDuration = Field(
        default=500 * 10**6,
        description="timer T1 of RFC 3261; over a reliable transport it only bounds how long a "
        "request is waited for (64 T1)",
    )
    t2: PositiveDuration = Field(default=4 * 10**9, description="timer T2 of RFC 3261")
    t4: PositiveDuration = Field(default=5 * 10**9, description="timer T4 of RFC 3261")
    repeat_ok_when_reliable: bool = Field(
        default=False,
        description="whether a 200 is repeated until its ACK comes over a reliable transport too",
    )


class SipTransactions(Table):
    """INVITE transactions one after another: INVITE, 100 and 200 at once, ACK, a pause."""

    kind: Literal["sip-transactions"]
    transactions: Annotated[int, Field(ge=1)] = Field(
        default=500, description="transactions of a run"
    )
    pauses: Annotated[list[Duration], Field(min_length=1)] = Field(
        default=[10**9, 2 * 10**9],
        description="pauses between transactions; each time one of them is drawn",
    )
    invite: PositiveSize = Field(default=900, description="size of an INVITE")
    trying: PositiveSize = Field(default=900, description="size of a 100")
    ok: PositiveSize = Field(default=900, description="size of a 200")
    ack: PositiveSize = Field(default=900, description="size of an ACK")
    t1: PositiveDuration = Field(default=500 * 10**6, description="timer T1 of RFC 3261")
    t2: PositiveDuration = Field(default=4 * 10**9, description="timer T2 of RFC 3261")
    t4: PositiveDuration = Field(default=5 * 10**9, description="timer T4 of RFC 3261")
    repeated_invite: Literal["absorb", "trying", "trying-and-ok"] = Field(
        default="trying",
        description="what a repeated INVITE brings from a server that has sent its 200: nothing "
        "(RFC 6026), one more 100, or one more 100 and one more 200",
    )
    content: Literal["size", "full"] = Field(
        default="size",
        description="whether only lengths travel, or real SIP that is parsed on arrival",
    )


Workload = Annotated[
    SipWorkload | SipTransactions | MediaWorkload | TraceWorkload, Field(discriminator="kind")
]
