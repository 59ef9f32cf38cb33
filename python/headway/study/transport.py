"""What carries the messages."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from headway import core
from headway.study.fields import Duration, PositiveDuration, PositiveSize, Size, Table
from headway.study.tcp import PREFIX, TcpParallel, TcpSplit, TcpTransport
from headway.units import nearest

__all__ = ["Transport"]


def _known_profile(name: str) -> str:
    known = [known for known in core.profiles() if not known.startswith(PREFIX)]
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
        default=None, description="retransmission timeout (RTO) before the first measurement"
    )
    rto_min: Duration | None = Field(default=None, description="least RTO")
    rto_max: PositiveDuration | None = Field(default=None, description="longest RTO")
    rto_formula: Literal["rfc", "freebsd2006"] | None = Field(
        default=None,
        description="how the RTO follows from measurements: SRTT + 4 RTTVAR, or as the FreeBSD "
        "stack did before June 2007",
    )
    rto_margin_min: Duration | None = Field(
        default=None, description="how far the RTO lies above the smoothed round trip at least"
    )
    time_loss_detection: bool | None = Field(
        default=None,
        description="whether losses are found by time (RFC 8985) instead of by missing reports",
    )
    tail_loss_probe: bool | None = Field(
        default=None, description="whether a probe goes out where the end of a flight may be lost"
    )
    early_retransmit: bool | None = Field(
        default=None, description="whether small flights need fewer missing reports (RFC 5827)"
    )
    immediate_sack_on_burst_end: bool | None = Field(
        default=None,
        description="whether the last chunk of a burst asks for a SACK without delay (RFC 7053)",
    )
    missing_report_threshold: Positive | None = Field(
        default=None, description="missing reports before a fast retransmit"
    )
    repeat_fast_retransmit: Literal["off", "qualified", "unqualified"] | None = Field(
        default=None,
        description="whether a chunk is fast-retransmitted again: never, after reports for data "
        "sent later, or after any further reports",
    )
    fast_recovery: bool | None = Field(
        default=None, description="whether one loss event cuts the congestion window once only"
    )
    fast_retransmit_amount: Literal["one-packet", "all-marked"] | None = Field(
        default=None, description="what a fast retransmit sends at once"
    )
    sack_delay: Duration | None = Field(default=None, description="longest wait of a SACK")
    sack_every: Positive | None = Field(
        default=None, description="packets with DATA after which a SACK goes out at once"
    )
    sack_bundling: Literal["always", "while-unread"] | None = Field(
        default=None,
        description="when a SACK travels with DATA: whenever it fits, or only while messages "
        "are unread",
    )
    sack_on_gap_closed: bool | None = Field(
        default=None, description="whether a SACK goes out at once when a gap closes"
    )
    initial_cwnd: Size | None = Field(
        default=None, description="congestion window at the start; 0 B for the formula of RFC 9260"
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
    max_burst_rule: Literal["temporary", "permanent", "permanent-raising-ssthresh"] | None = Field(
        default=None, description="whether the burst limit cuts the congestion window for good"
    )
    cwnd_when_limited: Literal["keep", "grow"] | None = Field(
        default=None,
        description="whether the congestion window grows while the application does not fill it",
    )
    growth_needs_advance: bool | None = Field(
        default=None, description="whether the window grows only when the cumulative TSN advances"
    )
    window_counts: Literal["chunk", "payload"] | None = Field(
        default=None, description="what counts as in flight: whole chunks, or user bytes"
    )
    window_unit: Literal["pmdcs", "mtu"] | None = Field(
        default=None, description="the unit of the congestion window: the largest chunk, or the MTU"
    )
    cwnd_overshoot: Literal["packet", "chunk"] | None = Field(
        default=None,
        description="what may exceed the window: the packet begun within it, or one chunk",
    )
    idle_decay: Literal["each-rto", "at-heartbeat", "never"] | None = Field(
        default=None, description="when an idle sender loses its congestion window"
    )
    timeout_marks: Literal["all", "older-than-estimate"] | None = Field(
        default=None, description="what a timeout takes for lost"
    )
    timeout_one_packet: bool | None = Field(
        default=None, description="whether a timeout sends one packet only"
    )
    timeout_rearm: Literal["doubled", "undoubled"] | None = Field(
        default=None, description="the RTO of the retransmission after a timeout"
    )
    scheduler: (
        Literal[
            "first-come",
            "round-robin",
            "round-robin-packet",
            "priority",
            "fair-bandwidth",
            "weighted-fair",
        ]
        | None
    ) = Field(default=None, description="which stream sends next (RFC 8260, section 3)")
    interleaving: bool | None = Field(
        default=None,
        description="whether I-DATA is offered, so that a long message lets others pass "
        "(RFC 8260, section 2)",
    )
    partial_reliability: bool | None = Field(
        default=None, description="whether FORWARD-TSN is offered (RFC 3758)"
    )
    reconfiguration: bool | None = Field(
        default=None, description="whether RE-CONFIG is offered (RFC 6525)"
    )
    nagle: bool | None = Field(
        default=None, description="whether small messages wait for others while data is out"
    )
    mtu: PositiveSize | None = Field(default=None, description="largest IP packet")
    ip_header: Size | None = Field(default=None, description="IP header of every packet")
    send_buffer: PositiveSize | None = Field(default=None, description="send buffer")
    receive_buffer: PositiveSize | None = Field(default=None, description="receive buffer")
    peer_window_chunk_cost: Size | None = Field(
        default=None, description="what each chunk costs of the peer's window beside its bytes"
    )
    heartbeat_interval: Duration | None = Field(
        default=None, description="between heartbeats on an idle path, above the RTO"
    )
    association_max_retransmits: Count | None = Field(
        default=None, description="timeouts in a row after which the association is given up"
    )
    path_max_retransmits: Count | None = Field(
        default=None, description="timeouts in a row after which a path is taken as down"
    )
    init_max_retransmits: Count | None = Field(
        default=None, description="timeouts after which setting up is given up"
    )
    cookie_lifetime: PositiveDuration | None = Field(
        default=None, description="how long a state cookie is valid"
    )
    shutdown_guard: Duration | None = Field(
        default=None, description="longest shutdown; 0 s for no limit"
    )


class _OverStreams(Table):
    """How messages map onto the streams of an association."""

    delivery: Literal["ordered", "streams", "unordered"] = Field(
        default="ordered",
        description="one stream in order, `streams` of them each in order (a call keeps to "
        "one), or no order",
    )
    streams: Annotated[int, Field(ge=1, le=65535)] = Field(
        default=16, description="number of streams, for delivery streams"
    )


class SctpTransport(_OverStreams):
    """One SCTP association."""

    kind: Literal["sctp"]
    profile: Profile = Field(
        default="rfc9260", description="the stack that is modelled; `headway profiles` lists them"
    )
    sctp: SctpKnobs = Field(default=SctpKnobs(), description="single knobs over the profile")


class DcsctpOptions(Table):
    """Single options of dcSCTP over its own defaults; one left out keeps its default."""

    sparse: ClassVar[bool] = True

    mtu: PositiveSize | None = Field(
        default=None, description="largest SCTP packet without the IP header (1191 B)"
    )
    ip_header: Size | None = Field(default=None, description="IP header of every packet (20 B)")
    receive_buffer: PositiveSize | None = Field(
        default=None, description="`max_receiver_window_buffer_size` (5 MiB)"
    )
    send_buffer: PositiveSize | None = Field(
        default=None, description="`max_send_buffer_size`, also for each stream (2 MB)"
    )
    rto_initial: PositiveDuration | None = Field(
        default=None,
        description="`rto_initial` (500 ms), and the timers of the handshake and of the shutdown "
        "(1 s)",
    )
    rto_min: PositiveDuration | None = Field(default=None, description="`rto_min` (400 ms)")
    rto_max: PositiveDuration | None = Field(default=None, description="`rto_max` (60 s)")
    min_rtt_variance: Duration | None = Field(
        default=None,
        description="`min_rtt_variance` (220 ms); an eighth of it is the least RTTVAR",
    )
    max_timer_backoff: PositiveDuration | None = Field(
        default=None, description="`max_timer_backoff_duration` (no limit)"
    )
    delayed_ack_max: Duration | None = Field(
        default=None, description="`delayed_ack_max_timeout` (200 ms)"
    )
    heartbeat_interval: Duration | None = Field(
        default=None, description="`heartbeat_interval` (30 s)"
    )
    cwnd_mtus_initial: Positive | None = Field(
        default=None, description="congestion window at the start, in MTUs (10)"
    )
    cwnd_mtus_min: Positive | None = Field(
        default=None, description="congestion window after a loss at least, in MTUs (4)"
    )
    immediate_sack_under_cwnd_mtus: Count | None = Field(
        default=None,
        description="congestion window below which each chunk asks for a SACK without delay, "
        "in MTUs (10)",
    )
    max_burst: Positive | None = Field(
        default=None, description="packets that may leave at once (4)"
    )
    max_retransmissions: Count | None = Field(
        default=None, description="timeouts in a row after which the association is given up (10)"
    )
    max_init_retransmits: Count | None = Field(
        default=None, description="timeouts after which setting up is given up (8)"
    )


class DcsctpTransport(_OverStreams):
    """One association of the crate `dcsctp`, the SCTP of WebRTC's data channels."""

    kind: Literal["dcsctp"]
    dcsctp: DcsctpOptions = Field(
        default=DcsctpOptions(), description="single options over dcSCTP's defaults"
    )


class UdpTransport(Table):
    """Each message a UDP datagram, which SIP itself sends again where it has to."""

    kind: Literal["udp"]


Transport = Annotated[
    SctpTransport | DcsctpTransport | UdpTransport | TcpTransport | TcpParallel | TcpSplit,
    Field(discriminator="kind"),
]
