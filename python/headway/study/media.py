"""Real-time media, and recorded conversations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from headway.study.fields import Duration, PositiveDuration, PositiveSize, Size, Table

__all__ = ["MediaWorkload", "Silence"]


class Silence(Table):
    """Speech with pauses of exponential lengths; the means are those of ITU-T P.59."""

    talk_mean: PositiveDuration = Field(
        default=1_004_000_000, description="mean length of a talk spurt"
    )
    silence_mean: Duration = Field(default=1_587_000_000, description="mean length of a silence")
    filler_interval: PositiveDuration | None = Field(
        default=None,
        description="between packets that keep the window open in a silence; left out: none",
    )
    filler_payload: Size = Field(default=1, description="payload of such a packet")


class MediaWorkload(Table):
    """Packets at a constant rate, or voice with pauses."""

    kind: Literal["media"]
    flows: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, description="flows, each over a transport of its own"
    )
    direction: Literal["forward", "both"] = Field(default="forward", description="which ends send")
    payload: PositiveSize = Field(default=160, description="sound or picture in a packet")
    header: Size = Field(default=12, description="header before it: RTP's (RFC 3550)")
    interval: PositiveDuration = Field(default=20 * 10**6, description="between packets")
    silence: Silence | None = Field(default=None, description="pauses; left out: none")
    playout: Duration | None = Field(
        default=None,
        description="when a packet is played, after it was handed over; left out: 1.5 round-trip "
        "times of the empty path and three intervals",
    )
    codec: Literal["g711", "g711-plc", "g729a"] | None = Field(
        default=None,
        description="the codec, where the flows are voice and are to be rated (ITU-T G.107)",
    )
