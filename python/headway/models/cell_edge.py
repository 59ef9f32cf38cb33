"""What SIP's repetitions look like at the edge of an 802.11b cell (seed 1), in closed form.

A frame of 1 Mb/s at a given signal-to-noise ratio (SNR) is lost as the textbook has it for
DBPSK. Around its mean the SNR varies from try to try in one of a few ways, each with two
parameters: an offset between what the card reports and what the receiver has, and a spread.
`estimate` finds the two from the three numbers that the paper gives for its unloaded
campaign without link-layer retries; everything else follows from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, least_squares
from scipy.special import ndtri
from scipy.stats import ncx2

__all__ = ["FRAME_BYTES", "SPREADS", "TARGETS", "Channel", "Estimate", "Target", "estimate"]

Array = NDArray[np.float64]

FRAME_BYTES = 964
"""A SIP message of 900 B with UDP and IP headers (28 B) and those of the MAC (36 B)."""
MOST_OKS = 11
"""Transmissions of a 200 within 32 s."""

_LEVELS = (np.arange(4000) + 0.5) / 4000


def frame_error(snr_db: ArrayLike, frame_bytes: int = FRAME_BYTES) -> Array:
    """Probability that a frame at 1 Mb/s is lost, by the SNR at the receiver.

    DBPSK: a bit fails with exp(-Eb/N0) / 2, and Eb/N0 is 22 times the SNR in 22 MHz.
    """
    snr = 10 ** (np.asarray(snr_db, dtype=np.float64) / 10)
    return np.asarray(-np.expm1(8 * frame_bytes * np.log1p(-0.5 * np.exp(-22 * snr))))


def _gaussian(sigma_db: float) -> Array:
    return np.asarray(sigma_db * ndtri(_LEVELS))


def _rice(k_db: float) -> Array:
    """Powers of a constant ray and many weak ones, K times weaker together, mean 0 dB."""
    k = 10 ** (k_db / 10)
    power = ncx2.ppf(_LEVELS, 2, 2 * k) / (2 * (1 + k))
    return np.asarray(10 * np.log10(power))


def _fades(mean_db: float) -> Array:
    """Never above what the card reports; below it by an exponentially distributed depth."""
    return np.asarray(mean_db * np.log(_LEVELS))


SPREADS: Mapping[str, tuple[Callable[[float], Array], float]] = {
    "gaussian": (_gaussian, 1.7),
    "rice": (_rice, 8.0),
    "fades": (_fades, 2.0),
}
"""How the SNR deviates from its mean: deviations in dB at 4000 levels, by one parameter; and
where a search for it begins."""


@dataclass(frozen=True)
class Channel:
    """A way of varying, with its two parameters."""

    spread: str
    offset_db: float
    width_db: float
    """Standard deviation (gaussian), factor K (rice) or mean depth (fades)."""
    per: str = "try"
    """How long a draw lasts: "try", "message" or "transaction"."""

    def _errors(self, snr_db: float) -> Array:
        deviations = SPREADS[self.spread][0](self.width_db)
        return frame_error(snr_db - self.offset_db + deviations)

    def try_loss(self, snr_db: float) -> float:
        """Probability that one try of a frame is lost."""
        return float(self._errors(snr_db).mean())

    def shares(self, snr_db: float, retry_limit: int) -> Array:
        """F(t) of all transactions for t = 1 to 11; what is missing to 1 fails."""
        tries = retry_limit + 1
        t = np.arange(MOST_OKS)
        if self.per == "try":
            lost = np.array([self.try_loss(snr_db) ** tries])
        elif self.per == "message":
            lost = np.array([float((self._errors(snr_db) ** tries).mean())])
        else:
            lost = self._errors(snr_db) ** tries
        return np.asarray((lost[:, None] ** t * (1 - lost[:, None])).mean(axis=0))

    def first(self, snr_db: float, retry_limit: int, *, of_all: bool = False) -> float:
        """F(1): the share of the successes, or of all, that took one 200."""
        shares = self.shares(snr_db, retry_limit)
        # Where nothing succeeds every t is alike likely among what would.
        total = 1.0 if of_all else float(shares.sum())
        return float(shares[0]) / total if total > 0 else 1 / MOST_OKS

    def crossing(self, level: float, retry_limit: int, *, of_all: bool = False) -> float:
        """The SNR at which F(1) is at `level`; NaN where it never is."""

        def above(snr_db: float) -> float:
            return self.first(snr_db, retry_limit, of_all=of_all) - level

        low, high = -5.0, 40.0
        if above(low) >= 0 or above(high) <= 0:
            return float("nan")
        return float(brentq(above, low, high, xtol=1e-4))

    def fall_off(self, retry_limit: int, *, of_all: bool = False) -> tuple[float, float]:
        """The ends of the fall-off region: where F(1) is 90 % and 10 %."""
        high, low = (self.crossing(level, retry_limit, of_all=of_all) for level in (0.9, 0.1))
        return high, low


@dataclass(frozen=True)
class Target:
    """A number of the paper, with what it may be off by: the tolerance of its claim."""

    text: str
    value: float
    tolerance: float
    predicted: Callable[[Channel], float]


def _width(channel: Channel) -> float:
    high, low = channel.fall_off(0)
    # A region without a lower end is far wider than any.
    return high - low if np.isfinite(low) else 20.0


TARGETS = (
    Target("F(1) at 5 dB", 0.65, 0.05, lambda channel: channel.first(5.0, 0)),
    Target("F(1) at 7.4 dB", 0.90, 0.027, lambda channel: channel.first(7.4, 0)),
    Target("width in dB", 4.7, 0.8, _width),
)
"""What the paper says of its unloaded campaign without retries (sections 4.1, Fig. 6a)."""


@dataclass(frozen=True)
class Estimate:
    """A channel with what it makes of the three numbers."""

    channel: Channel
    predicted: tuple[float, ...]
    misfit: float
    """Sum of the squared deviations, each in tolerances."""


def estimate(spread: str, per: str = "try") -> Estimate:
    """The two parameters that come nearest to the three numbers, in tolerances."""

    def deviations(parameters: Array) -> Array:
        channel = Channel(spread, float(parameters[0]), float(parameters[1]), per)
        return np.array([(t.predicted(channel) - t.value) / t.tolerance for t in TARGETS])

    found = least_squares(
        deviations, [8.5, SPREADS[spread][1]], diff_step=1e-3, bounds=([0.0, 0.05], [30.0, 60.0])
    )
    offset, width = (round(float(x), 2) for x in found.x)
    channel = Channel(spread, offset, width, per)
    predicted = tuple(target.predicted(channel) for target in TARGETS)
    return Estimate(channel, predicted, float(2 * found.cost))
