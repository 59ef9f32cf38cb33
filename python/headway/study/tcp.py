"""Messages over TCP: over one connection or several, whole or in pieces."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from headway import core
from headway.study.fields import Duration, PositiveDuration, PositiveSize, Size, Table
from headway.units import nearest

__all__ = ["TcpKnobs", "TcpParallel", "TcpProfile", "TcpSplit", "TcpTransport"]

PREFIX = "tcp:"
"""What the engine puts before the names of TCP profiles."""


def _known_profile(name: str) -> str:
    known = [full.removeprefix(PREFIX) for full in core.profiles() if full.startswith(PREFIX)]
    if name in known:
        return name
    meant = nearest(name, known)
    hint = f'did you mean "{meant}"? ' if meant else ""
    what = f'unknown TCP profile "{name}"; {hint}profiles: {", ".join(known)}'
    raise PydanticCustomError("profile", "{what}", {"what": what})


TcpProfile = Annotated[str, AfterValidator(_known_profile)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Several = Annotated[int, Field(ge=1, le=64)]


class TcpKnobs(Table):
    """Single knobs of TCP over what the profile says; a knob left out keeps its value."""

    sparse: ClassVar[bool] = True

    mss: PositiveSize | None = Field(
        default=None, description="largest payload of a segment; timestamps take 12 B of it"
    )
    window_scale: bool | None = Field(default=None, description="window scaling (RFC 7323)")
    timestamps: bool | None = Field(default=None, description="timestamps (RFC 7323)")
    timestamp_tick: PositiveDuration | None = Field(
        default=None, description="a tick of the timestamp clock"
    )
    sack: bool | None = Field(default=None, description="selective acknowledgements (RFC 2018)")
    dsack: bool | None = Field(default=None, description="reports of duplicates (RFC 2883)")
    send_buffer: PositiveSize | None = Field(
        default=None, description="bytes written and not acknowledged"
    )
    receive_buffer: PositiveSize | None = Field(
        default=None, description="bytes received and not read; the largest window offered"
    )
    nagle: Literal["off", "on", "minshall"] | None = Field(
        default=None,
        description="whether a short segment waits: never, while anything is unacknowledged, or "
        "while another short one is",
    )
    coalesce: bool | None = Field(
        default=None, description="whether waiting writes share a segment, up to the MSS"
    )
    retransmit_merge: Literal["off", "one", "full"] | None = Field(
        default=None, description="whether a retransmission takes in the segments after it"
    )
    initial_window_segments: Count | None = Field(
        default=None, description="congestion window at the start; 0 for RFC 3390's formula"
    )
    initial_ssthresh_segments: Count | None = Field(
        default=None, description="slow-start threshold inherited; 0 for none"
    )
    congestion_control: Literal["reno", "bic", "cubic"] | None = Field(
        default=None, description="the function by which the window grows"
    )
    hystart: bool | None = Field(
        default=None, description="whether slow start ends when delays rise"
    )
    slow_start_at_ssthresh: bool | None = Field(
        default=None, description="whether a window equal to ssthresh is still in slow start"
    )
    window_unit: Literal["segments", "bytes"] | None = Field(
        default=None, description="what the congestion window counts"
    )
    growth_counting: Literal["acks", "segments", "bytes"] | None = Field(
        default=None,
        description="what makes the window grow: ACKs, segments, or bytes acknowledged (RFC 3465)",
    )
    byte_counting_limit_segments: Positive | None = Field(
        default=None, description="segments that one ACK may add in slow start (the limit L)"
    )
    window_when_limited: Literal["grow", "keep", "linux"] | None = Field(
        default=None,
        description="whether the window grows while the application does not fill it",
    )
    validation: Literal["off", "rfc2861", "rfc7661"] | None = Field(
        default=None, description="whether a window that is not used shrinks"
    )
    idle_restart: Literal["off", "initial-window", "one-segment", "decay"] | None = Field(
        default=None, description="the window after an idle RTO"
    )
    ssthresh_basis: Literal["flight", "window", "smaller-window"] | None = Field(
        default=None, description="what ssthresh is half of after a loss"
    )
    max_burst_segments: Count | None = Field(
        default=None, description="new segments in answer to one ACK or write; 0 for no limit"
    )
    moderation_segments: Count | None = Field(
        default=None,
        description="segments above what is in flight that the window keeps after recovery; "
        "0 for no limit",
    )
    recovery: Literal["reno", "new-reno", "sack", "rack-tlp"] | None = Field(
        default=None, description="how losses are repaired before a timeout"
    )
    sack_detection: Literal["rfc6675", "segments", "fack", "holes"] | None = Field(
        default=None, description="when a segment that was not SACKed counts as lost"
    )
    duplicate_threshold: Positive | None = Field(
        default=None, description="duplicate ACKs that show a loss"
    )
    reduction: Literal["immediate", "rate-halving", "prr-crb", "prr-ssrb", "one-segment"] | None = (
        Field(default=None, description="how the window falls in fast recovery")
    )
    window_inflation: bool | None = Field(
        default=None, description="whether duplicate ACKs inflate the window, without SACK"
    )
    limited_transmit: bool | None = Field(
        default=None, description="new data on the first two duplicate ACKs (RFC 3042)"
    )
    restart_timer_on_partial_acks: bool | None = Field(
        default=None, description="whether every partial ACK restarts the timer (RFC 6582)"
    )
    rescue_retransmission: bool | None = Field(
        default=None, description="one retransmission where recovery would stall (RFC 6675)"
    )
    detect_lost_retransmissions: bool | None = Field(
        default=None, description="whether a lost retransmission is found without a timeout"
    )
    head_timeout: bool | None = Field(
        default=None, description="whether recovery begins when the oldest segment is an RTO old"
    )
    undo_dsack: bool | None = Field(
        default=None, description="whether D-SACK takes a needless reduction back"
    )
    undo_timestamps: bool | None = Field(
        default=None, description="whether timestamps take a needless reduction back"
    )
    undo_early_ack: bool | None = Field(
        default=None, description="whether an early ACK takes a needless timeout back"
    )
    frto: bool | None = Field(
        default=None, description="whether needless timeouts are found by new data (RFC 5682)"
    )
    keep_sack_after_timeout: bool | None = Field(
        default=None, description="whether a timeout keeps what was SACKed"
    )
    tail_loss_probe: bool | None = Field(
        default=None, description="tail loss probes, with recovery rack-tlp (RFC 8985)"
    )
    probe_ack_delay: Duration | None = Field(
        default=None, description="added to the probe timeout where one segment is out"
    )
    rto_form: Literal["rfc6298", "linux", "freebsd", "rtt-multiple"] | None = Field(
        default=None, description="how the RTO follows from round-trip times"
    )
    rto_initial: PositiveDuration | None = Field(
        default=None, description="RTO before the first measurement"
    )
    rto_min: Duration | None = Field(default=None, description="least RTO, or least variance term")
    rto_max: PositiveDuration | None = Field(default=None, description="longest RTO")
    rto_slop: Duration | None = Field(default=None, description="added to the RTO, form freebsd")
    rto_rtt_multiple: Positive | None = Field(
        default=None, description="round-trip times in an RTO, form rtt-multiple"
    )
    rto_backoff_limit: Count | None = Field(default=None, description="most doublings of the RTO")
    clock_granularity: Duration | None = Field(
        default=None, description="granularity G of RFC 6298"
    )
    rtt_sampling: Literal["one-per-flight", "every-ack"] | None = Field(
        default=None, description="which round-trip times are measured"
    )
    max_retransmissions: Count | None = Field(
        default=None,
        description="timeouts in a row after which the connection is given up; 0 for never",
    )
    time_wait: Duration | None = Field(
        default=None, description="how long a closed connection is remembered"
    )
    ack_policy: Literal["immediate", "delayed", "delayed-full-sized", "adaptive"] | None = Field(
        default=None, description="when data in order is acknowledged"
    )
    ack_delay: Duration | None = Field(default=None, description="longest delay of an ACK")
    ack_delay_min: Duration | None = Field(
        default=None, description="shortest delay of an ACK, policy adaptive"
    )
    ack_every_segments: Positive | None = Field(
        default=None, description="segments that are acknowledged together at the latest"
    )
    quick_acks: Count | None = Field(
        default=None, description="ACKs sent at once at the start, policy adaptive"
    )
    ack_on_drain: bool | None = Field(
        default=None, description="whether reading everything sends a waiting ACK"
    )
    ack_gap_at_once: bool | None = Field(
        default=None, description="whether what arrives beyond a gap is acknowledged at once"
    )
    window_update: Literal["rfc9293", "freebsd", "linux"] | None = Field(
        default=None, description="when reading sends an ACK that opens the window"
    )


class _OverTcp(Table):
    profile: TcpProfile = Field(
        default="rfc", description="the stack that is modelled; `headway profiles` lists them"
    )
    tcp: TcpKnobs = Field(default=TcpKnobs(), description="single knobs over the profile")
    frame: Size | None = Field(
        default=None,
        description="framing before each message or piece: 0, 2 or 4 B; left out: none for SIP, "
        "which tells its own length, else 2 B (RFC 4571)",
    )
    when_full: Literal["wait", "drop"] = Field(
        default="wait",
        description="what becomes of a message that the send buffer has no room for",
    )
    drop_above: Size | None = Field(
        default=None,
        description="bytes waiting at the sender above which a new message is not sent at all; "
        "left out: never",
    )
    out_of_order: bool = Field(
        default=False, description="whether messages that lie whole beyond a gap are delivered"
    )


class TcpTransport(_OverTcp):
    """One TCP connection."""

    kind: Literal["tcp"]


class TcpParallel(_OverTcp):
    """Several TCP connections, over which the messages are divided."""

    kind: Literal["tcp-parallel"]
    connections: Several = Field(default=5, description="connections")
    schedule: Literal["round-robin", "shortest-queue"] = Field(
        default="round-robin",
        description="which connection is next: all in turn, or the one with the least in its "
        "send buffer of those not in a timeout",
    )
    resequence: bool = Field(
        default=True, description="whether the receiver brings messages into order again"
    )
    pieces: Several = Field(default=1, description="pieces of each message")
    piece_gap: Duration = Field(
        default=0, description="between the pieces of a message; 0 s: all at once"
    )


class TcpSplit(_OverTcp):
    """One TCP connection, over which each message goes in several pieces."""

    kind: Literal["tcp-split"]
    pieces: Several = Field(default=2, description="pieces of each message")
    piece_gap: Duration = Field(
        default=0, description="between the pieces of a message; 0 s: all at once"
    )
