"""An 802.11b cell between the two ends: the client, and the server that is its access point."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from headway.study.fields import (
    BitRate,
    Decibel,
    OptionalDecibel,
    OptionalSize,
    PositiveDecibel,
    PositiveDuration,
    PositiveSize,
    Table,
)

__all__ = ["Background", "Dot11Path", "Jitter", "TableErrors", "TextbookErrors", "Voice"]

Count = Annotated[int, Field(ge=0, le=2**32 - 1)]
Pair = Annotated[list[float], Field(min_length=2, max_length=2)]


class TextbookErrors(Table):
    """Curves of the literature for DBPSK, DQPSK and CCK."""

    kind: Literal["textbook"]
    offset: Decibel = Field(
        default=0.0, description="what the card reports less what the receiver really has"
    )


class TableErrors(Table):
    """A table over the SNR that the card reports, linear between its points."""

    kind: Literal["table"]
    points: Annotated[list[Pair], Field(min_length=1)] = Field(
        description="pairs of SNR in dB and probability of a frame error, by rising SNR"
    )
    frame: OptionalSize = Field(
        default=None,
        description="length of the MAC frame that the table is for; others have as much more or "
        "less to lose as they have bits",
    )


Errors = Annotated[TextbookErrors | TableErrors, Field(discriminator="kind")]


class Jitter(Table):
    """Gaussian variation of the SNR about its mean."""

    sigma: PositiveDecibel = Field(default=0.0, description="standard deviation")
    per: Literal["try", "message", "transaction"] = Field(
        default="try",
        description="how long one draw lasts: a frame on the air, all tries of a packet, or a "
        "transaction",
    )


class Background(Table):
    """Stations that take no part in the signalling."""

    traffic: Literal["none", "cbr", "saturated"] = Field(
        default="none",
        description="what they send: nothing, packets at a constant rate, or always a packet",
    )
    rate: BitRate = Field(default=10**6, description="payload of each of them, for cbr")
    size: PositiveSize = Field(default=1000, description="payload of a UDP packet")
    stations: Annotated[int, Field(ge=1, le=900)] = Field(default=1, description="their number")
    to: Literal["client", "server"] = Field(default="server", description="who receives it")
    hearing: Literal["all", "hidden-from-client", "deaf-to-server"] = Field(
        default="all",
        description="who hears whom: all hear all; they and the client do not hear each other; "
        "they do not hear the server",
    )
    downlink_gain: OptionalDecibel = Field(
        default=None,
        description="SNR of the server's frames at these stations less that at the client; "
        "without it they hear the server as well as everybody else",
    )
    retry_limit: Count = Field(default=7, description="their retry limit")
    queue_pkts: Count = Field(default=100, description="packets that may wait at each")


class Voice(Table):
    """A stream of voice packets beside the signalling, whose delay is measured."""

    sender: Literal["client", "server"] = Field(default="server", description="who sends it")
    size: PositiveSize = Field(default=200, description="IP datagram: 20 ms of G.711 over RTP")
    interval: PositiveDuration = Field(
        default=20 * 10**6, description="from one packet to the next"
    )


class Dot11Path(Table):
    """An 802.11b cell: the caller is its client, the answerer its access point."""

    kind: Literal["dot11"]
    snr: Decibel = Field(
        description="signal-to-noise ratio (SNR) of the server's frames as the client's card "
        "reports it; the mean, where it varies"
    )
    uplink_snr: Decibel = Field(default=32.0, description="SNR of the client's frames")
    symmetric: bool = Field(
        default=False, description="whether the uplink is as weak as the downlink"
    )
    snr_sigma: PositiveDecibel = Field(
        default=0.0,
        description="standard deviation of the mean that each transaction draws about `snr`",
    )
    snr_trace: list[Pair] = Field(
        default=[],
        description="SNR over time in place of `snr`: pairs of seconds and dB, linear between",
    )
    errors: Errors = Field(
        default=TextbookErrors(kind="textbook"), description="from SNR to frame errors"
    )
    jitter: Jitter = Field(default=Jitter(), description="variation of the SNR")
    control_errors: bool = Field(
        default=True, description="whether ACK, RTS and CTS frames meet channel errors too"
    )
    rate: BitRate = Field(default=10**6, description="rate of data frames")
    preamble: Literal["long", "short"] = Field(
        default="long", description="preamble of frames above 1 Mb/s"
    )
    retry_limit: Count = Field(default=7, description="retry limit of client and server")
    retry_count: Literal["retries", "tries"] = Field(
        default="retries", description="what a retry limit counts"
    )
    rts_threshold: OptionalSize = Field(
        default=None, description="frames longer than this go after RTS and CTS"
    )
    queue_pkts: Count = Field(default=100, description="packets that may wait at each end")
    capture: OptionalDecibel = Field(
        default=None, description="margin by which a frame survives one that overlaps it"
    )
    background: Background = Field(default=Background(), description="other stations' traffic")
    voice: Voice | None = Field(default=None, description="a voice stream beside the signalling")
