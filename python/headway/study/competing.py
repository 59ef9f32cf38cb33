"""Traffic that shares the path with what is studied."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from headway.study.fields import (
    Duration,
    EventRate,
    PositiveDuration,
    PositiveSize,
    Table,
)
from headway.study.tcp import TcpKnobs, TcpProfile

__all__ = ["BulkTransfers", "Competing", "ShortMessages", "Stack", "WebTraffic", "WebUsers"]

Flows = Annotated[int, Field(ge=0, le=10_000)]
Positive = Annotated[int, Field(ge=1)]
SECOND = 10**9


class Stack(Table):
    """The TCP of competing traffic."""

    profile: TcpProfile = Field(default="rfc", description="the stack that is modelled")
    tcp: TcpKnobs = Field(
        default=TcpKnobs(),
        description="single knobs over the profile; the send buffer has no limit unless "
        "`send_buffer` sets one",
    )


class BulkTransfers(Table):
    """File transfers without end."""

    flows: Flows = Field(default=1, description="how many")
    direction: Literal["forward", "reverse", "both"] = Field(
        default="forward", description="where the data go; both: in turn"
    )
    receive_window: PositiveSize | None = Field(
        default=None, description="the receivers' buffer; left out: that of the profile"
    )
    start_spread: Duration = Field(
        default=SECOND, description="they begin at random within this time"
    )
    stack: Stack = Field(default=Stack(), description="their TCP")


class WebUsers(Table):
    """What users do: sessions of pages with time to think."""

    session_rate: EventRate = Field(default=1.0, description="sessions that begin in a second")
    arrivals: Literal["regular", "poisson"] = Field(
        default="regular", description="when sessions begin"
    )
    pages: Positive = Field(default=3, description="pages of a session")
    think_time: Duration = Field(
        default=10 * SECOND, description="from the end of a page to the request of the next"
    )
    page: PositiveSize = Field(default=85_000, description="size of a page with its objects")
    objects: Positive = Field(
        default=3, description="objects of a page, of equal size; the first is asked for alone"
    )
    request: PositiveSize = Field(default=100, description="size of a request")
    connections: Literal["session", "page", "object"] = Field(
        default="session", description="how long a connection lasts"
    )


class WebTraffic(Table):
    """Users who surf."""

    users: WebUsers = Field(default=WebUsers(), description="what users do")
    direction: Literal["forward", "reverse"] = Field(
        default="forward", description="where the pages go"
    )
    stack: Stack = Field(default=Stack(), description="their TCP")


class ShortMessages(Table):
    """Connections with a short message at exponential intervals."""

    flows: Flows = Field(default=1, description="how many")
    direction: Literal["forward", "reverse", "both"] = Field(
        default="forward", description="where the messages go; both: in turn"
    )
    message: PositiveSize = Field(default=512, description="size of a message")
    mean_interval: PositiveDuration = Field(
        default=50 * 10**6, description="mean time between messages of a flow"
    )
    start_spread: Duration = Field(
        default=SECOND, description="they begin at random within this time"
    )
    stack: Stack = Field(default=Stack(), description="their TCP")


class Competing(Table):
    """Who else uses the path, in both its directions."""

    settle: Duration = Field(
        default=10 * SECOND, description="how long they go on before what is studied begins"
    )
    bulk: BulkTransfers | None = Field(default=None, description="file transfers")
    web: WebTraffic | None = Field(default=None, description="web surfing")
    messages: ShortMessages | None = Field(default=None, description="short messages")
