"""What lies between the two ends: delay, rate, loss, queue, reordering, duplication."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from headway.study.fields import (
    Duration,
    Fraction,
    Size,
    Table,
    UnlimitedRate,
)

__all__ = ["Path"]

Packets = Annotated[int, Field(ge=0)]


class NoLoss(Table):
    """Nothing is lost on the wire."""

    kind: Literal["none"]


class BernoulliLoss(Table):
    """Each packet is lost with the same probability, given how the one before it fared."""

    kind: Literal["bernoulli"]
    rate: Fraction = Field(description="share of packets lost, whatever the correlation")
    correlation: Fraction = Field(
        default=0.0, description="how much the fate of a packet follows that of the one before"
    )
    generator: Literal["markov", "copula"] = Field(
        default="markov",
        description="for correlation above 0: two states, or a Gaussian AR(1); both keep the rate",
    )


class GilbertElliottLoss(Table):
    """Two states, good and bad, each with a loss rate of its own."""

    kind: Literal["gilbert-elliott"]
    good_to_bad: Fraction = Field(description="probability of the change, for each packet")
    bad_to_good: Fraction = Field(description="probability of the change, for each packet")
    loss_good: Fraction = Field(description="loss rate in the good state")
    loss_bad: Fraction = Field(description="loss rate in the bad state")


class TraceLoss(Table):
    """The packets named by a list are lost."""

    kind: Literal["trace"]
    lost: Annotated[list[Annotated[int, Field(ge=0, le=1)]], Field(min_length=1)] = Field(
        description="one 0 or 1 for each packet, repeated from the start at its end"
    )


class UnlimitedQueue(Table):
    """Never drops."""

    kind: Literal["unlimited"]


class DropTailPackets(Table):
    """Drops what arrives when so many packets wait."""

    kind: Literal["drop-tail-packets"]
    limit_pkts: Packets = Field(description="packets that may wait")


class DropTailBytes(Table):
    """Drops what no longer fits into so many bytes."""

    kind: Literal["drop-tail-bytes"]
    limit: Size = Field(description="bytes that may wait")
    overshoot: bool = Field(
        default=False,
        description="whether a packet is let in as long as the bytes before it keep the limit",
    )


class DerivativeRandomDrop(Table):
    """Drops at random, the likelier the longer the queue is at that instant."""

    kind: Literal["drd"]
    min_pkts: Packets = Field(description="length up to which nothing is dropped")
    max_pkts: Packets = Field(description="length at which 95 % is dropped")
    reading: Literal["delay-line", "server"] = Field(
        default="delay-line",
        description="what the length counts: packets on their way through the delay, "
        "or packets that wait for a server of the path's rate",
    )
    above: Literal["all", "0.95"] = Field(
        default="all", description="what is dropped above max_pkts: everything, or still 95 %"
    )


Loss = Annotated[
    NoLoss | BernoulliLoss | GilbertElliottLoss | TraceLoss, Field(discriminator="kind")
]
Queue = Annotated[
    UnlimitedQueue | DropTailPackets | DropTailBytes | DerivativeRandomDrop,
    Field(discriminator="kind"),
]


class Reorder(Table):
    """Some packets take longer, so that later ones overtake them."""

    probability: Fraction = Field(default=0.0, description="share of packets held back")
    extra_delay: Duration = Field(default=0, description="how much longer those take")


class Duplicate(Table):
    """Some packets arrive twice."""

    probability: Fraction = Field(default=0.0, description="share of packets doubled")


class ReversePath(Table):
    """The way back, where it differs; what is left out is as in the forward direction."""

    sparse: ClassVar[bool] = True

    one_way_delay: Duration = Field(default=0, description="propagation delay")
    rate: UnlimitedRate = Field(default=None, description="serialisation rate")
    loss: Loss = Field(default=NoLoss(kind="none"), description="loss on the wire")
    queue: Queue = Field(default=UnlimitedQueue(kind="unlimited"), description="queue")
    reorder: Reorder = Field(default=Reorder(), description="reordering")
    duplicate: Duplicate = Field(default=Duplicate(), description="duplication")
    wire: Literal["structured", "encoded"] = Field(
        default="structured", description="form of the packets"
    )


class Path(Table):
    """One link each way, alike in both directions unless `reverse` says otherwise."""

    kind: Literal["links"] = "links"
    one_way_delay: Duration = Field(description="propagation delay of each direction")
    rate: UnlimitedRate = Field(default=None, description="serialisation rate")
    loss: Loss = Field(default=NoLoss(kind="none"), description="loss on the wire")
    queue: Queue = Field(
        default=UnlimitedQueue(kind="unlimited"), description="queue before the wire"
    )
    reorder: Reorder = Field(default=Reorder(), description="reordering on the wire")
    duplicate: Duplicate = Field(default=Duplicate(), description="duplication on the wire")
    wire: Literal["structured", "encoded"] = Field(
        default="structured",
        description="whether packets travel as structures or through the wire codec and back",
    )
    reverse: ReversePath = Field(
        default=ReversePath(), description="keys of the path that differ on the way back"
    )
