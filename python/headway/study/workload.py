"""What the applications at the two ends do."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from headway.study.fields import Duration, EventRate, PositiveSize, Table

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
        default=3 * 10**9, description="from the 180 to the 200 at the callee, flow full"
    )
    talk_time: Duration = Field(
        default=10 * 10**9, description="from the ACK to the BYE at the caller, flow full"
    )
    content: Literal["size", "full"] = Field(
        default="size",
        description="whether only lengths travel, or real SIP that is parsed on arrival; "
        "the samples are the same",
    )


# With a second kind this becomes a union that `kind` discriminates, as in path.py.
Workload = SipWorkload
