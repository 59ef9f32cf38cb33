"""Probabilities of fast recovery and time-out for each window: Table 6, equations 6 and 7.

All tables are indexed by the window w = 0..w_max in segments; entry 0 is unused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.models.tcp_chain.variant import ChainVariant

__all__ = ["LossTable", "loss_table", "timeout_share_of_window"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LossTable:
    """Transition probabilities at one loss rate."""

    al_success: Floats
    """Application-limited: the next packet is not lost."""
    al_recovery: Floats
    al_timeout: Floats
    nl_success: Floats
    """Network-limited: the whole window arrives."""
    nl_recovery: Floats
    nl_timeout: Floats
    retransmission_lost: float
    """A retransmission after a time-out is lost."""


def loss_table(variant: ChainVariant, p: float, w_max: int, mss_per_packet: float) -> LossTable:
    """Probabilities for the loss rate `p` of a segment of one packet.

    `mss_per_packet` is MSS/a, which matters at byte-limited queues only (A9). ValueError
    where p, or p scaled to a full segment, is not below 1.
    """
    if not 0 < p < 1:
        raise ValueError(f"a loss rate must lie between 0 and 1, not {p}")
    full = p
    if variant.queue == "bytes":
        full = p * mss_per_packet if variant.byte_scaling == "Ms/a" else p / mss_per_packet
        if not full < 1:
            raise ValueError(
                f"a full segment would be lost with probability {full:.3g} at a byte-limited queue"
            )
    recovery = _random_recovery if variant.loss_model == "random" else _correlated_recovery
    w = np.arange(w_max + 1, dtype=np.float64)
    nl_loss = -np.expm1(w * np.log1p(-full))
    al_recovery = np.clip(recovery(variant, p, w, True), 0.0, p)
    nl_recovery = np.clip(recovery(variant, full, w, False), 0.0, nl_loss)
    return LossTable(
        al_success=np.full(w.size, 1 - p),
        al_recovery=al_recovery,
        al_timeout=p - al_recovery,
        nl_success=np.exp(w * np.log1p(-full)),
        nl_recovery=nl_recovery,
        nl_timeout=nl_loss - nl_recovery,
        retransmission_lost=full,
    )


def timeout_share_of_window(
    variant: ChainVariant, p: float, window: int, *, first_lost: bool = True
) -> float:
    """Probability that a loss in a window leads to a time-out (seed 4, Fig. 20).

    `first_lost`: the window begins with the lost segment, as in application-limited states;
    otherwise the loss may be anywhere in it.
    """
    table = loss_table(variant, p, max(window, 4), 1.0)
    if first_lost:
        return float(table.al_timeout[window] / p)
    return float(table.nl_timeout[window] / (1 - table.nl_success[window]))


def _pairs(n: Floats) -> Floats:
    return n * (n - 1) / 2


def _random_recovery(variant: ChainVariant, p: float, w: Floats, first_lost: bool) -> Floats:
    """Independent losses: F of Table 6, with equation 6 over it."""
    q = 1 - p
    base = _random_plain(variant, p, w, first_lost)
    if not variant.limited_transmit:
        return base
    # One of w arrives: the two segments that limited transmit adds must arrive as well. Two
    # arrive: one of the two added ones must. The rest of the factors are retransmissions.
    one = _losses(p, w, w - 1, first_lost) * q ** np.maximum(w - 1, 0) * q**2
    two = _losses(p, w, w - 2, first_lost) * q ** np.maximum(w - 2, 0) * (1 - p * p)
    return np.where(w > 1, one, 0.0) + np.where(w > 2, two, 0.0) + np.where(w > 3, base, 0.0)


def _losses(p: float, w: Floats, lost: Floats, first_lost: bool) -> Floats:
    """P(`lost` of w segments are lost), the first one among them if `first_lost`.

    `lost` is w-1 or w-2, so the binomial coefficients are short products.
    """
    kept = w - lost
    places = w - 1 if first_lost else w
    ways = np.where(kept == 1, places, _pairs(places))
    return np.where(lost >= 1, ways * p ** np.maximum(lost, 0) * (1 - p) ** kept, 0.0)


def _random_plain(variant: ChainVariant, p: float, w: Floats, first_lost: bool) -> Floats:
    """The sums of Table 6 over i = 1..w-3 lost segments, in closed form.

    A full binomial sum less its last three terms: with i > w-3 fewer than three segments
    arrive, too few for three duplicate ACKs.
    """
    q = 1 - p
    v = np.maximum(w, 4)
    n = v - 1 if first_lost else v
    # i lost of w: p^i x^(w-i), with x = 1 where all w factors (1-p) stand apart ("w").
    x = 1.0 if variant.recovery_exponent == "w" else q
    head = p if first_lost else 1.0
    # With the first one lost, i-1 of the other w-1 are: the same sum with n = w-1 from 0.
    tail = _pairs(n) * p ** (n - 2) * x**2 + n * p ** (n - 1) * x + p**n
    whole = (p + x) ** n if first_lost else (p + x) ** n - x**n
    total: Floats = head * (whole - tail)
    if variant.recovery_exponent == "w":
        total = total * q**v
    return np.where(w > 3, total, 0.0)


def _correlated_recovery(variant: ChainVariant, p: float, w: Floats, first_lost: bool) -> Floats:
    """Correlated losses: after a lost segment the rest of its round is lost too.

    k segments get through before the loss, A(w,k) = q^k p / (1-q^w); k new segments follow
    in the last round, of which m in sequence arrive. Fewer than three give a time-out
    (the time-out probability of Padhye et al.). From an application-limited state the first
    segment is the lost one: p A(w-1,k-1).
    """
    q = 1 - p
    v = np.maximum(w, 1)
    n = np.maximum(v - 1, 1) if first_lost else v
    any_loss = -np.expm1(n * np.log1p(-p))
    # Weight of k = 1, given a loss; k = 0 happens only where the loss may come first.
    share = p / any_loss
    one = share if first_lost else share * q
    two = one * q
    nothing = np.where(v == 1, 1.0, 0.0) if first_lost else share
    # k >= 3: all the rest, and a time-out if fewer than three of the last round arrive.
    few = 1 - q**3
    low = np.where(v > 1, one, 0.0) + np.where(v > 2, two, 0.0) + nothing
    rest = np.clip(1 - low, 0.0, 1.0)
    plain = np.where(w > 3, low + rest * few, 1.0)
    mass: Floats = np.full(w.size, p) if first_lost else -np.expm1(w * np.log1p(-p))
    if not variant.limited_transmit:
        without: Floats = mass * (1 - plain)
        return without
    # Limited transmit adds segments; each of the k in the last round must arrive for them.
    timeout = np.where(v > 1, one * p, 0.0) + np.where(v > 2, two * (p + q * p), 0.0)
    if variant.correlated_timeouts == "printed":
        timeout = timeout + np.where(w > 3, plain, 0.0)
    else:
        timeout = timeout + nothing + np.where(w > 3, rest * few, 0.0)
    found: Floats = mass * (1 - np.clip(timeout, 0.0, 1.0))
    return found
