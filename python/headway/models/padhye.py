"""How much a bulk TCP connection carries: Padhye et al. and the square-root formula.

Source: Padhye, Firoiu, Towsley, Kurose, "Modeling TCP Reno performance" (IEEE/ACM ToN 2000,
the reference that seed 4 takes its throughput and its time-out probability from); Mathis et
al. (1997) for the square-root formula. Losses of one round are correlated, the sender always
has data. Rates are in segments per second, times in seconds.

Valid for a connection limited by the network, with enough time for many losses; the
square-root formula for p below about 1 %, where time-outs are rare.
"""

from __future__ import annotations

import math

__all__ = [
    "expected_window",
    "square_root",
    "throughput_approximate",
    "throughput_full",
    "timeout_probability",
]


def _backoff(p: float) -> float:
    """f(p): mean length of a series of time-outs in T0, times 1-p (capped at 64 T0)."""
    return 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6


def expected_window(p: float, acked_per_ack: float = 1.0) -> float:
    """Mean window at a loss, in segments, where the receiver does not limit it.

    `acked_per_ack` is b: 2 with delayed ACKs, 1 without.
    """
    _check(p)
    b = acked_per_ack
    first = (2 + b) / (3 * b)
    return first + math.sqrt(8 * (1 - p) / (3 * b * p) + first**2)


def timeout_probability(p: float, window: float) -> float:
    """Share of losses in a window that end in a time-out (their Q hat)."""
    _check(p)
    if window <= 3:
        return 1.0
    q = 1 - p
    few = 1 - q**3
    given_loss: float = few * (1 + q**3 * (1 - q ** (window - 3))) / (1 - q**window)
    return min(1.0, given_loss)


def throughput_full(
    p: float,
    rtt_s: float,
    timeout_s: float,
    acked_per_ack: float = 1.0,
    window_max: float = math.inf,
) -> float:
    """The full model: segments sent per second.

    One cycle is the segments from one loss to the next and, with probability Q, a series of
    time-outs; the rate is what is sent in it over its length. `window_max` is the receive
    window in segments.
    """
    _times(rtt_s, timeout_s)
    window = expected_window(p, acked_per_ack)
    if window < window_max:
        rounds = acked_per_ack / 2 * window + 1
    else:
        window = window_max
        rounds = acked_per_ack / 8 * window + (1 - p) / (p * window) + 2
    timed_out = timeout_probability(p, window)
    sent = (1 - p) / p + window + timed_out / (1 - p)
    length = rtt_s * rounds + timed_out * timeout_s * _backoff(p) / (1 - p)
    return sent / length


def throughput_approximate(
    p: float,
    rtt_s: float,
    timeout_s: float,
    acked_per_ack: float = 1.0,
    window_max: float = math.inf,
) -> float:
    """The approximate model, as TFRC uses it: segments sent per second."""
    _check(p)
    _times(rtt_s, timeout_s)
    b = acked_per_ack
    growth = rtt_s * math.sqrt(2 * b * p / 3)
    waits = timeout_s * min(1.0, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    return min(window_max / rtt_s, 1 / (growth + waits))


def square_root(p: float, rtt_s: float, acked_per_ack: float = 1.0) -> float:
    """sqrt(3 / (2 b p)) / RTT: segments per second without time-outs (1.22 for b = 1)."""
    _check(p)
    _times(rtt_s, 1.0)
    return math.sqrt(1.5 / (acked_per_ack * p)) / rtt_s


def _check(p: float) -> None:
    if not 0 < p < 1:
        raise ValueError(f"a loss rate must lie between 0 and 1, not {p}")


def _times(rtt_s: float, timeout_s: float) -> None:
    if rtt_s <= 0 or timeout_s <= 0:
        raise ValueError("RTT and time-out must be above zero")
