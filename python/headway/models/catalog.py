"""The models with their inputs, outputs and regions of validity."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args, get_type_hints

from headway.models import padhye, simco
from headway.models.base import Input, Model, Output
from headway.models.holb import MediaRecovery, Signalling
from headway.models.tcp_chain import FLOWS, MSS_BYTES, VARIANTS, CbrFlow, ChainVariant, solve
from headway.models.tcp_chain import variant as chain_variant
from headway.units import DURATION, EVENT_RATE, FRACTION, SIZE

__all__ = ["HOLB", "MEDIA", "PADHYE", "SIMCO", "TCP_CHAIN"]

_LOSS = Input("loss", "loss probability of a packet, in each direction", quantity=FRACTION)
_RTT = Input("rtt_s", "round-trip time without queueing", quantity=DURATION)
_VALIDITY = (
    Output("inside", "whether the point lies in the region of validity"),
    Output("why", "what leaves the region; empty inside"),
)


def _verdict(**reasons: bool) -> dict[str, Any]:
    """Columns `inside` and `why` from reasons that hold or not."""
    found = [name.replace("_", " ") for name, holds in reasons.items() if holds]
    return {"inside": not found, "why": ", ".join(found)}


def _tcp_chain(**settings: Any) -> dict[str, Any]:
    names = {field.name for field in fields(ChainVariant)}
    switches = {k: v for k, v in settings.items() if k in names and v is not None}
    chosen = chain_variant(settings["variant"], **switches)
    if settings["flow"] is not None:
        flow = FLOWS[settings["flow"]]
    else:
        flow = CbrFlow.of(settings["packet_bytes"], settings["interval_s"], settings["mss_bytes"])
    flow = flow.split(int(settings["pieces"])).over_connections(int(settings["connections"]))
    result = solve(
        flow,
        settings["rtt_s"],
        settings["loss"],
        chosen,
        timeout_s=settings["timeout_s"],
        least_backlog_s=settings["least_backlog_s"],
    )
    row = result.row()
    bulk = float("inf")
    if result.loss > 0:
        timeout = settings["timeout_s"] or 4 * result.rtt_s
        segments = padhye.throughput_approximate(result.loss, result.rtt_s, timeout)
        bulk = segments * flow.mss_bytes * 8
    kept = {
        key: value
        for key, value in row.items()
        if key not in ("rtt_s", "loss", "packet_bytes", "interval_s", "variant")
    }
    return {
        "computed_variant": row["variant"],
        **kept,
        "bulk_over_offered": bulk / flow.offered_bps,
        **_verdict(
            bulk_TCP_carries_less_than_twice_the_rate=bulk < 2 * flow.offered_bps,
            mean_delay_above_0_6_s=result.mean_s > 0.6,
            backlog_reaches_the_end_of_the_state_space=result.cut_share > 1e-3,
        ),
    }


def _switches() -> tuple[Input, ...]:
    hints = get_type_hints(ChainVariant)
    return tuple(
        Input(
            field.name,
            "switch of the variant; by default as the variant has it",
            choices=get_args(hints[field.name]) or (True, False),
            optional=True,
        )
        for field in fields(ChainVariant)
    )


TCP_CHAIN = Model(
    name="tcp-chain",
    title="delay of constant-bit-rate media over TCP (Markov chain)",
    source="seed 4: equations 1 to 7, Tables 2 and 6",
    validity=(
        "bulk TCP would carry at least twice the rate (the paper's error is then below 20 %), "
        "mean delay below 0.6 s, no more than 0.1 % cut off at the end of the state space; one "
        "flow, constant RTT, no delayed ACKs, T0 = 4 RTT unless given; the delays of several "
        "connections are those of one of them, without re-sequencing"
    ),
    inputs=(
        Input("loss", "loss probability of a segment", quantity=FRACTION),
        _RTT,
        Input(
            "flow",
            "a flow of the paper instead of packet_bytes and interval_s",
            choices=tuple(FLOWS),
            optional=True,
        ),
        Input("packet_bytes", "packet with RTP header and framing", 174, SIZE),
        Input("interval_s", "time between packets", 0.02, DURATION),
        Input("mss_bytes", "largest segment", MSS_BYTES, SIZE),
        Input("pieces", "pieces that each packet is split into", 1),
        Input("connections", "connections used in turn", 1),
        Input("timeout_s", "T0; 4 RTT if left out", quantity=DURATION, optional=True),
        Input("least_backlog_s", "room for backlog beyond the paper's", 0.0, DURATION),
        Input("variant", "named variant", "conserving", choices=tuple(VARIANTS)),
        *_switches(),
    ),
    outputs=(
        Output("computed_variant", "the variant with its switches"),
        Output("delay_mean_s", "mean TCP delay"),
        Output("delay_p50_s", "median"),
        Output("delay_p95_s", "95th percentile"),
        Output("delay_p99_s", "99th percentile"),
        Output("delay_highest_s", "delay that one packet in 300 s exceeds"),
        Output("delay_sd_s", "jitter: standard deviation of the delay"),
        Output("late_share", "packets later than L + RTT + 3/f"),
        Output("timeouts_per_loss", "loss events that end in a time-out"),
        Output("backlog_share", "sender's backlog in the delay beyond L"),
        Output("carried_rate", "packets per second"),
        Output("cut_share", "packets cut off at the end of the state space"),
        Output("window_over_load", "mean window over r while application-limited"),
        Output("time_al", "share of time application-limited"),
        Output("time_ca", "share of time in congestion avoidance"),
        Output("time_ss", "share of time in slow start"),
        Output("time_fr", "share of time in fast recovery"),
        Output("time_to", "share of time in time-out"),
        Output("states", "states of the chain"),
        Output("exact", "whether the backlog is exact in bytes"),
        Output("bulk_over_offered", "what bulk TCP would carry over the rate offered"),
        *_VALIDITY,
    ),
    evaluate=_tcp_chain,
)


def _holb(**settings: Any) -> dict[str, Any]:
    at = Signalling(**settings)
    delay = at.delay
    return {
        "psd_mean_s": delay.psd_mean_s,
        "psd_sd_s": delay.psd_sd_s,
        "psd_p50_s": delay.psd_quantile_s(0.5),
        "psd_p90_s": delay.psd_quantile_s(0.9),
        "psd_p95_s": delay.psd_quantile_s(0.95),
        "psd_p99_s": delay.psd_quantile_s(0.99),
        "clean_share": (1 - at.loss) ** 2,
        "message_delay_mean_s": at.rtt_s / 2 + delay.wait_mean_s,
        "network_mean_s": at.rtt_s / 2,
        "recovery_mean_s": delay.recovery_mean_s,
        "hol_blocking_mean_s": delay.blocking_mean_s,
        "hol_blocked_share": delay.blocked_share,
        "recovery_of_loss_s": at.recovery.mean_s,
        "timeouts_per_loss": at.recovery.timeout_share,
        "overlap": at.overlap,
        **_verdict(loss_above_5_percent=at.loss > 0.05, recoveries_overlap=at.overlap > 0.5),
    }


HOLB = Model(
    name="holb",
    title="head-of-line blocking of signalling: ordered, N streams, unordered, K connections",
    source=(
        "derived here to first order in the loss rate: unlimited servers with re-sequencing, "
        "Poisson arrivals, fast retransmission against the timer; threshold of seed 0, VI-A.3"
    ),
    validity=(
        "loss up to 5 %, at most 0.5 recoveries under way at a time; Poisson messages of one "
        "packet each, equal load and loss in both directions, a congestion window that does "
        "not limit the sender, a constant retransmission time-out"
    ),
    inputs=(
        Input("rate", "messages per second in each direction", quantity=EVENT_RATE),
        _LOSS,
        _RTT,
        Input(
            "delivery", "order of messages", "ordered", choices=("ordered", "streams", "unordered")
        ),
        Input("streams", "streams, for delivery streams", 1),
        Input("connections", "connections that messages take in turn", 1),
        Input(
            "resequenced",
            "whether one order is restored over all connections",
            False,
            choices=(True, False),
        ),
        Input(
            "assignment",
            "how messages find their stream",
            "round-robin",
            choices=("round-robin", "random"),
        ),
        Input("rto_s", "retransmission time-out", 1.0, DURATION),
        Input("reports", "missing reports or duplicate ACKs before a fast retransmit", 3),
        Input(
            "repeat",
            "whether a lost retransmission is found by reports again",
            False,
            choices=(True, False),
        ),
    ),
    outputs=(
        Output("psd_mean_s", "mean post-selection delay"),
        Output("psd_sd_s", "standard deviation of the post-selection delay"),
        Output("psd_p50_s", "median post-selection delay"),
        Output("psd_p90_s", "90th percentile of the post-selection delay"),
        Output("psd_p95_s", "95th percentile of the post-selection delay"),
        Output("psd_p99_s", "99th percentile of the post-selection delay"),
        Output("clean_share", "calls without a loss, (1-p)^2"),
        Output("message_delay_mean_s", "mean delay of a message"),
        Output("network_mean_s", "mean time in the network: half the RTT"),
        Output("recovery_mean_s", "mean wait for the message's own retransmission"),
        Output("hol_blocking_mean_s", "mean wait for other messages"),
        Output("hol_blocked_share", "messages that wait for others"),
        Output("recovery_of_loss_s", "mean recovery time of a lost message"),
        Output("timeouts_per_loss", "losses for which the timer comes first"),
        Output("overlap", "recoveries under way at a time"),
        *_VALIDITY,
    ),
    evaluate=_holb,
)


def _media(**settings: Any) -> dict[str, Any]:
    at = MediaRecovery(**settings)
    flight = at.rtt_s / (at.piece_interval_s * at.connections)
    return {
        "delay_mean_s": at.mean_s,
        "delay_p50_s": at.percentile_s(0.5),
        "delay_p95_s": at.percentile_s(0.95),
        "delay_p99_s": at.percentile_s(0.99),
        "late_share": at.late_fraction(1.5 * at.rtt_s + 3 * at.interval_s),
        "recovery_s": at.recovery_s,
        **_verdict(
            fewer_than_4_packets_in_flight_on_a_connection=flight < 4,
            recoveries_overlap=at.loss * (flight + 3) > 0.5,
        ),
    }


MEDIA = Model(
    name="media-recovery",
    title="loss recovery of media over TCP, the window left aside",
    source="derived here from seed 4, section 4.2: detection takes RTT + 3/f",
    validity=(
        "at least 4 packets in flight on each connection, at most 0.5 recoveries at a time; a "
        "lower bound: no backlog, no time-outs, no lost retransmissions, so best for small "
        "packets, which clear their backlog at once"
    ),
    inputs=(
        _LOSS,
        _RTT,
        Input("interval_s", "time between packets", 0.02, DURATION),
        Input("connections", "connections used in turn", 1),
        Input("pieces", "pieces that each packet is split into, evenly paced", 1),
        Input(
            "resequenced",
            "whether one order is restored over all connections",
            True,
            choices=(True, False),
        ),
    ),
    outputs=(
        Output("delay_mean_s", "mean delay"),
        Output("delay_p50_s", "median"),
        Output("delay_p95_s", "95th percentile"),
        Output("delay_p99_s", "99th percentile"),
        Output("late_share", "packets later than L + RTT + 3/f"),
        Output("recovery_s", "what a lost piece is late"),
        *_VALIDITY,
    ),
    evaluate=_media,
)


def _simco(**settings: Any) -> dict[str, Any]:
    p, streams = settings["loss"], int(settings["streams"])
    scenario = simco.SimcoScenario(
        pinhole_interval_s=settings["pinhole_interval_s"],
        lifetime_s=settings["lifetime_s"],
        refresh_s=settings["refresh_s"],
        rtt_s=settings["rtt_s"],
        processing_s=settings["processing_s"],
    )
    approximate = settings["interval"] == "approximate"
    interval = simco.message_interval_s(scenario, approximate=approximate)
    recovery = simco.recovery_s(p, interval, scenario.rtt_s)
    return {
        "message_interval_s": interval,
        "recovery_s": recovery,
        "blocked": simco.blocked_chunks(recovery, interval, streams),
        "wait_s": simco.resequencing_wait_s(p, interval, scenario.rtt_s, streams),
        "response_mean_s": simco.response_time_s(p, streams, scenario, interval_s=interval),
        "optimal_streams": simco.optimal_streams(p, scenario, interval_s=interval),
        "streams_by_equation_5": simco.streams_by_equation_5(scenario),
        **_verdict(loss_above_1_percent=p > 0.01),
    }


SIMCO = Model(
    name="simco",
    title="mean response time of SIMCO over SCTP with N streams",
    source="seed 2: equations 1 to 5",
    validity=(
        "loss up to 1 % (measurement lies above the model beyond); recoveries do not overlap, "
        "no retransmission is lost, every chunk draws a SACK, the window does not limit"
    ),
    inputs=(
        _LOSS,
        Input("streams", "N, streams of the association", 1),
        Input("rtt_s", "round-trip time", 0.02, DURATION),
        Input("pinhole_interval_s", "mean time between pinhole requests", 0.03, DURATION),
        Input("lifetime_s", "mean lifetime of a pinhole", 180.0, DURATION),
        Input("refresh_s", "lifetime extension", 120.0, DURATION),
        Input("processing_s", "processing in both end systems", 0.0005, DURATION),
        Input(
            "interval",
            "d by the paper's approximation or by the integral",
            "approximate",
            choices=("approximate", "exact"),
        ),
    ),
    outputs=(
        Output("message_interval_s", "d, mean time between messages of one direction"),
        Output("recovery_s", "D, detection and recovery time (equation 2)"),
        Output("blocked", "Q, chunks that wait for a lost one"),
        Output("wait_s", "W, mean wait in one direction (equation 3)"),
        Output("response_mean_s", "R, mean response time (equation 4)"),
        Output("optimal_streams", "M = ceil(D/d)"),
        Output("streams_by_equation_5", "M by equation 5"),
        *_VALIDITY,
    ),
    evaluate=_simco,
)


def _padhye(**settings: Any) -> dict[str, Any]:
    p, rtt, b = settings["loss"], settings["rtt_s"], settings["acked_per_ack"]
    timeout = settings["timeout_s"] or 4 * rtt
    most = settings["window_max"] or float("inf")
    bits = settings["mss_bytes"] * 8
    window = padhye.expected_window(p, b)
    return {
        "full_bps": padhye.throughput_full(p, rtt, timeout, b, most) * bits,
        "approximate_bps": padhye.throughput_approximate(p, rtt, timeout, b, most) * bits,
        "square_root_bps": padhye.square_root(p, rtt, b) * bits,
        "window_segments": min(window, most),
        "timeouts_per_loss": padhye.timeout_probability(p, min(window, most)),
        **_verdict(
            loss_above_10_percent=p > 0.1,
            window_below_4_segments=min(window, most) < 4,
        ),
    }


PADHYE = Model(
    name="padhye",
    title="throughput of a bulk TCP connection",
    source=(
        "Padhye, Firoiu, Towsley, Kurose (IEEE/ACM ToN 2000), full and approximate; "
        "square-root formula (Mathis et al. 1997)"
    ),
    validity=(
        "a sender that always has data, losses correlated within a round, loss up to 10 % and "
        "windows of at least 4 segments; the square-root formula below about 1 %"
    ),
    inputs=(
        Input("loss", "share of loss events among segments", quantity=FRACTION),
        _RTT,
        Input("timeout_s", "T0; 4 RTT if left out", quantity=DURATION, optional=True),
        Input("acked_per_ack", "b: 2 with delayed ACKs, 1 without", 1.0),
        Input("window_max", "receive window in segments", optional=True),
        Input("mss_bytes", "segment", MSS_BYTES, SIZE),
    ),
    outputs=(
        Output("full_bps", "full model"),
        Output("approximate_bps", "approximate model"),
        Output("square_root_bps", "square-root formula"),
        Output("window_segments", "mean window at a loss"),
        Output("timeouts_per_loss", "losses that end in a time-out"),
        *_VALIDITY,
    ),
    evaluate=_padhye,
)
