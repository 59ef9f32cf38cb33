"""The metrics of a run: what each column of `runs.parquet` means, and its unit."""

from __future__ import annotations

from dataclasses import dataclass

from headway.units import BIT_RATE, DECIBEL, DURATION, FRACTION, SIZE, Quantity

__all__ = ["METRICS", "RADIO", "Metric", "metrics_of"]


@dataclass(frozen=True)
class Metric:
    """One metric column."""

    name: str
    text: str
    """What it is, in a few words, for tables and axes."""
    quantity: Quantity | None
    """How limits on it are written; None for plain numbers."""

    @property
    def unit(self) -> str:
        """The base unit of the column; empty for counts and shares."""
        return self.quantity.column_unit if self.quantity else ""


def _metric(name: str, text: str) -> Metric:
    """A metric whose unit is in its name, as the glossary asks."""
    if name.endswith("_s"):
        return Metric(name, text, DURATION)
    if "_bytes" in name:
        return Metric(name, text, SIZE)
    if name.endswith("_bps"):
        return Metric(name, text, BIT_RATE)
    if name.endswith("_db"):
        return Metric(name, text, DECIBEL)
    if name.endswith("_share") or name == "effective_loss":
        return Metric(name, text, FRACTION)
    return Metric(name, text, None)


_TRANSPORT = {
    "message_delay_mean_s": "mean delay of a message",
    "sender_wait_mean_s": "mean wait at the sender",
    "network_mean_s": "mean time in the network",
    "recovery_mean_s": "mean wait for retransmission",
    "hol_blocking_mean_s": "mean wait for other messages (HOLB)",
    "sender_wait_share": "share of the delay at the sender",
    "network_share": "share of the delay in the network",
    "recovery_share": "share of the delay for retransmission",
    "hol_blocking_share": "share of the delay for other messages (HOLB)",
    "messages": "messages delivered",
    "hol_blocked_messages": "messages that waited for others",
    "data_chunks": "DATA chunks sent, every transmission",
    "retransmissions": "chunks sent again",
    "fast_retransmissions": "chunks sent again after missing reports",
    "timed_retransmissions": "chunks sent again after a timeout",
    "needless_retransmissions": "chunks sent again that had arrived",
    "duplicates": "chunks that arrived more than once",
    "timeouts": "retransmission timeouts",
    "lost_chunks": "chunks lost on the way",
    "effective_loss": "(retransmissions - duplicates) / first transmissions",
    "offered_bps": "bits of messages handed over per second",
    "packets": "packets sent",
    "packets_lost_wire": "packets lost on the wire",
    "packets_lost_queue": "packets dropped by a queue",
    "bytes_on_wire": "bytes sent, headers included",
    "cwnd_mean_bytes": "congestion window, mean over time",
    "cwnd_max_bytes": "congestion window, largest",
    "hol_held_bytes_mean": "bytes held back by HOLB, mean over time",
    "hol_held_bytes_max": "bytes held back by HOLB, most at once",
    "associations_lost": "1 where an end gave the connection up",
    "virtual_s": "length of the run in virtual time",
    "events": "simulator events",
}

_SIP = {
    "calls": "INVITEs handed over",
    "answered": "180s that came back",
    "psd_mean_s": "post-selection delay, mean",
    "psd_sd_s": "post-selection delay, standard deviation",
    "psd_p50_s": "post-selection delay, median",
    "psd_p90_s": "post-selection delay, 90th percentile",
    "psd_p95_s": "post-selection delay, 95th percentile",
    "psd_p99_s": "post-selection delay, 99th percentile",
    "psd_max_s": "post-selection delay, largest",
    "asd_mean_s": "answer signal delay, mean",
    "asd_p95_s": "answer signal delay, 95th percentile",
    "clean_calls": "calls that lost nothing",
    "psd_clean_mean_s": "post-selection delay of calls that lost nothing, mean",
    "psd_clean_sd_s": "post-selection delay of calls that lost nothing, standard deviation",
    "failed_calls": "calls that the caller gave up",
    "invites": "INVITEs sent, every transmission",
    "oks": "200s to INVITEs sent, every transmission",
}

_TRANSACTIONS = {
    "transactions": "transactions begun",
    "succeeded": "transactions with 200 and ACK in time",
    "failed": "transactions that failed",
    "failed_no_answer": "transactions without a 200 in time",
    "failed_no_ack": "transactions whose ACK did not come in time",
    "td_mean_s": "transaction delay, mean",
    "td_sd_s": "transaction delay, standard deviation",
    "td_p50_s": "transaction delay, median",
    "td_p90_s": "transaction delay, 90th percentile",
    "td_p95_s": "transaction delay, 95th percentile",
    "td_p99_s": "transaction delay, 99th percentile",
    "td_max_s": "transaction delay, largest",
    "plain_transactions": "transactions in which SIP repeated nothing",
    "td_plain_mean_s": "transaction delay where SIP repeated nothing, mean",
    "td_plain_sd_s": "transaction delay where SIP repeated nothing, standard deviation",
    "td_symmetric_s": "transaction delay of a symmetric link, by equation 1",
    "invites": "INVITEs sent, every transmission",
    "oks": "200s sent, every transmission",
    **{
        name: text
        for t in range(1, 12)
        for name, text in (
            (f"f{t}_share", f"F({t}), share of the successes"),
            (f"f{t}_of_all_share", f"F({t}), share of all transactions"),
        )
    },
    "lost_invites": "INVITEs lost",
    "lost_tryings": "100s lost",
    "lost_oks": "200s lost",
    "lost_acks": "ACKs lost",
}

_RADIO = {
    "uplink_tries": "frames sent by the client, every try",
    "uplink_retries": "frames sent again by the client",
    "uplink_collisions": "tries of the client lost to another station's frame",
    "uplink_channel_errors": "tries of the client lost by the channel",
    "uplink_dropped_pkts": "packets of the client that its station gave up or refused",
    "downlink_tries": "frames sent by the access point, every try",
    "downlink_retries": "frames sent again by the access point",
    "downlink_collisions": "tries of the access point lost to another station's frame",
    "downlink_channel_errors": "tries of the access point lost by the channel",
    "downlink_dropped_pkts": "packets of the access point that it gave up or refused",
    "client_air_s": "time on the air, client",
    "server_air_s": "time on the air, access point",
    "background_air_s": "time on the air, background stations",
    "background_pkts": "background packets offered",
    "background_delivered_pkts": "background packets delivered",
    "background_dropped_queue_pkts": "background packets refused by a full queue",
    "background_dropped_retry_pkts": "background packets given up",
    "busy_share": "share of the time in which the channel was busy",
    "reported_snr_mean_db": "SNR of the frames that the client received, mean",
    "voice_pkts": "voice packets, arrived or lost",
    "voice_lost_share": "share of the voice packets lost",
    "voice_delay_mean_s": "delay of voice packets, mean",
    "voice_delay_p50_s": "delay of voice packets, median",
    "voice_delay_p95_s": "delay of voice packets, 95th percentile",
    "voice_delay_p99_s": "delay of voice packets, 99th percentile",
    "voice_queue_wait_mean_s": "wait of voice packets for those before them, mean",
}


_MEDIA = {
    "media_packets": "packets handed over, fillers left out",
    "media_received": "packets delivered, fillers left out",
    "delay_mean_s": "delay of packets, mean",
    "delay_sd_s": "delay of packets, standard deviation (jitter)",
    "delay_p50_s": "delay of packets, median",
    "delay_p90_s": "delay of packets, 90th percentile",
    "delay_p95_s": "delay of packets, 95th percentile",
    "delay_p99_s": "delay of packets, 99th percentile",
    "delay_max_s": "delay of packets, largest",
    "playout_s": "playout delay",
    "late_share": "share of the packets that came after their playout",
    "missing_share": "share of the packets that never came",
    "out_of_order_messages": "packets that came after a later one",
    "rating_r": "transmission rating R of the E-model",
    "mos": "mean opinion score that R stands for",
}

_STREAMS = {
    "fast_recoveries": "fast recoveries",
    "timeout_share": "timeouts, of timeouts and fast recoveries",
    "refused_messages": "messages that the send buffer had no room for",
    "dropped_messages": "messages that the sender dropped",
    "cwnd_mean_segments": "congestion window in full segments, mean over time",
}

_FLOW = {
    "flow_loss_share": "packets of what is studied that the path lost",
    "flow_rtt_mean_s": "round-trip time on the path of what is studied, mean",
}

_COMPETING = {
    "bulk_goodput_bps": "goodput of all bulk transfers",
    "bulk_jain": "Jain's fairness index of the bulk transfers",
    "background_loss_share": "packets of competing data that the path lost",
    "background_rtt_mean_s": "round-trip time on the path of competing traffic, mean",
    "web_sessions": "web sessions begun",
    "web_pages": "web pages that came whole",
    "web_page_mean_s": "time of a web page, mean",
}


def _metrics(*parts: dict[str, str]) -> dict[str, Metric]:
    return {name: _metric(name, text) for part in parts for name, text in part.items()}


def _media_transport() -> dict[str, str]:
    """The transport's metrics as a media run has them: those of streams before the path's."""
    names = list(_TRANSPORT)
    at = names.index("packets")
    before, after = names[:at], names[at:]
    ordered = {name: _TRANSPORT[name] for name in before} | _STREAMS
    return ordered | {name: _TRANSPORT[name] for name in after}


_RECORDED = ("rating_r", "mos", "out_of_order_messages")
"""Metrics of media that a recorded conversation does not have."""

METRICS: dict[str, dict[str, Metric]] = {
    "sip": _metrics(_SIP, _TRANSPORT),
    "sip-transactions": _metrics(_TRANSACTIONS, _TRANSPORT),
    "media": _metrics(_MEDIA, _media_transport(), _FLOW),
    "trace": _metrics(
        {name: text for name, text in _MEDIA.items() if name not in _RECORDED},
        _media_transport(),
        _FLOW,
    ),
}
"""For each kind of workload its metrics by name, in the order of columns."""

RADIO: dict[str, Metric] = _metrics(_RADIO)
"""What a path of kind `dot11` adds, behind the others."""


COMPETING: dict[str, Metric] = _metrics(_FLOW, _COMPETING)
"""What competing traffic adds, behind the others."""


def metrics_of(workload: str, path: str, competing: bool = False) -> dict[str, Metric]:
    """The metrics of runs with these kinds of workload and path."""
    radio = RADIO if path == "dot11" else {}
    return METRICS[workload] | radio | (COMPETING if competing else {})
