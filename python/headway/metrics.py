"""The metrics of a run: what each column of `runs.parquet` means, and its unit."""

from __future__ import annotations

from dataclasses import dataclass

from headway.units import BIT_RATE, DURATION, FRACTION, SIZE, Quantity

__all__ = ["METRICS", "Metric"]


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
}

METRICS: dict[str, dict[str, Metric]] = {
    "sip": {name: _metric(name, text) for name, text in {**_SIP, **_TRANSPORT}.items()},
}
"""For each kind of workload its metrics by name, in the order of columns."""
