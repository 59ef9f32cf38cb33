"""Made-up results of both campaigns in a radio cell in which every claim holds.

Curves and delays are what the paper reads from its figures, as far as it tells. What the
simulator finds is tested on real runs elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

FACTORS = ["path.retry_limit", "path.snr"]
RETRY_LIMITS = (0, 2, 4, 6, 8)
QUIET = [
    *(0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.33, 4.58, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9),
    *(9.5, 10, 11, 12, 13, 14, 15, 16, 17),
]
LOADED = [
    *(0, 0.5, 1, 1.5, 2, 2.5, 2.75, 3, 3.25, 3.5, 3.85, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8),
    *(8.5, 9, 9.5, 10, 11, 12, 13, 14),
]
# Curves F(1): the paper's ends of each region, and what lies between. Below the last point
# nothing succeeds.
_QUIET_CURVES = {
    0: ((2.2, 0.092), (2.7, 0.1), (5.0, 0.65), (7.4, 0.9), (9.0, 1.0)),
    2: ((1.7, 0.092), (2.2, 0.1), (3.3, 0.42), (4.4, 0.9), (5.4, 1.0)),
    4: ((1.3, 0.092), (1.8, 0.1), (2.6, 0.55), (3.5, 0.9), (4.5, 1.0)),
    6: ((0.9, 0.092), (1.4, 0.1), (3.5, 0.9), (4.5, 1.0)),
    8: ((0.5, 0.092), (1.0, 0.1), (3.5, 0.9), (4.5, 1.0)),
}
_LOADED_CURVES = {
    0: ((2.4, 0.092), (2.9, 0.1), (14.0, 0.88)),
    2: ((1.2, 0.13), (2.7, 0.38), (4.2, 0.9), (5.2, 1.0)),
    4: ((0.9, 0.092), (1.4, 0.1), (2.4, 0.5), (3.4, 0.9), (4.4, 1.0)),
    6: ((0.7, 0.092), (1.2, 0.1), (2.3, 0.6), (3.5, 0.9), (4.5, 1.0)),
    8: ((1.0, 0.092), (1.5, 0.1), (2.0, 0.68), (3.3, 0.9), (4.3, 1.0)),
}
_TRY_LOSS = ((0.0, 0.9995), (2.2, 0.99), (2.7, 0.95), (5.0, 0.35), (7.4, 0.1), (10.0, 0.0))


def settings(*, loaded: bool = False) -> dict[str, Any]:
    """What does not vary."""
    sizes = {f"workload.{name}": 900 for name in ("invite", "trying", "ok", "ack")}
    timers = {"workload.t1": 0.5, "workload.t2": 4.0, "workload.t4": 5.0}
    return {
        "workload.kind": "sip-transactions",
        "transport.kind": "udp",
        "path.symmetric": False,
        "path.background.traffic": "cbr" if loaded else "none",
        **sizes,
        **timers,
    }


def quiet_runs() -> pl.DataFrame:
    """The 145 runs of the quiet channel."""
    rows = []
    for limit, curve in _QUIET_CURVES.items():
        for snr in QUIET:
            plain = 0.0245 + 0.053 * max(0.0, (8.0 - snr) / 8.0)
            rows.append(_run(limit, snr, _shares(curve, snr), plain))
    return pl.DataFrame(rows)


def loaded_runs() -> pl.DataFrame:
    """The 140 runs of the loaded channel."""
    rows = []
    for limit, curve in _LOADED_CURVES.items():
        for snr in LOADED:
            plain = 0.050 + 0.18 * max(0.0, (6.9 - snr) / 6.9)
            rows.append(_run(limit, snr, _shares(curve, snr), plain))
    return pl.DataFrame(rows)


def independent_runs() -> pl.DataFrame:
    """Runs of the quiet channel whose retries follow from one curve of tries."""
    rows = []
    for limit in RETRY_LIMITS:
        for snr in QUIET:
            loss = float(np.interp(snr, *zip(*_TRY_LOSS, strict=True))) ** (limit + 1)
            rows.append(_run(limit, snr, loss ** np.arange(11) * (1 - loss), 0.025))
    return pl.DataFrame(rows)


def _shares(curve: Sequence[tuple[float, float]], snr: float) -> Any:
    """F(t) of all: what fails is what the eleventh 200 leaves."""
    if snr < curve[0][0]:
        return np.zeros(11)
    first = float(np.interp(snr, *zip(*curve, strict=True)))
    loss = _loss_of(first)
    return loss ** np.arange(11) * (1 - loss)


def _loss_of(first: float) -> float:
    """The loss of a message at which so many of the successes take one 200."""
    losses = np.linspace(0, 0.9999, 4000)
    shares = (1 - losses) / (1 - losses**11)
    return float(np.interp(-first, -shares, losses))


def _run(limit: int, snr: float, shares: Any, plain: float) -> dict[str, Any]:
    number = 500
    # Rounded in sum, so that there are never more than there were transactions.
    counts = np.diff(np.round(number * np.cumsum(shares)), prepend=0).astype(int)
    succeeded = int(counts.sum())
    steps = np.array([0, 0.5, 1.5, 3.5, 7.5, 11.5, 15.5, 19.5, 23.5, 27.5, 31.5])
    delays = np.repeat(plain + steps, counts)
    mean = float(delays.mean()) if succeeded else None
    first = int(counts[0])
    return {
        "run_id": f"r{limit}s{snr}",
        "replication": 0,
        "path.retry_limit": limit,
        "path.snr": float(snr),
        "transactions": number,
        "succeeded": succeeded,
        "failed": number - succeeded,
        "failed_no_answer": number - succeeded,
        "plain_transactions": first,
        "td_mean_s": mean,
        "td_sd_s": float(delays.std(ddof=1)) if succeeded > 1 else None,
        "td_plain_mean_s": plain if first else None,
        "td_plain_sd_s": 0.005 if first > 1 else None,
        "td_symmetric_s": 2 * (mean - plain / 2) if mean is not None and first else None,
        "invites": number,
        "oks": int(counts @ np.arange(1, 12)) + 11 * (number - succeeded),
        "lost_invites": 0,
        "lost_acks": 0,
        "lost_oks": int(counts @ np.arange(0, 11)) + 11 * (number - succeeded),
        **{f"f{t}_share": counts[t - 1] / succeeded if succeeded else None for t in range(1, 12)},
    }
