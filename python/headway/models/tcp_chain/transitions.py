"""Table 6: what can happen in each state, how long it takes and what it sends.

Nothing here depends on the loss rate: an event names the column of the loss table that
holds its probability. Amounts are in lattice units, times in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.models.tcp_chain.flow import exact
from headway.models.tcp_chain.lattice import STAGES, Lattice, Timing
from headway.models.tcp_chain.losses import LossTable
from headway.models.tcp_chain.variant import ChainVariant

__all__ = ["Events", "Kind", "events_of", "probabilities"]

Ints = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


class Kind(IntEnum):
    """Rows of Table 6. AL: application-limited; NL: network-limited."""

    AL_SENT = 0
    AL_RECOVERY = 1
    AL_TIMEOUT = 2
    NL_SENT = 3
    NL_RECOVERY = 4
    NL_TIMEOUT = 5
    RECOVERED = 6
    """Fast recovery ends after one round."""
    RESUMED = 7
    """The retransmission after a time-out arrives."""
    TIMED_OUT_AGAIN = 8


@dataclass(frozen=True, slots=True)
class Events:
    """One row for each event of each state given."""

    source: Ints
    """Index of the state among those given."""
    kind: Ints
    w: Ints
    """Window of the source."""
    k: Ints
    """Backlog of the source, in units."""
    low: Ints
    """Code of the target."""
    high: Ints
    """Code of the target one unit of backlog above it; -1 where the target is exact."""
    high_share: Floats
    """Share of the probability that goes to `high`."""
    arrived: Floats
    """Units that the source makes meanwhile."""
    sent: Floats
    """Units that leave for good."""
    cut: Floats
    """Units that do not fit under b_max."""
    counted: Floats
    """Units in packets that the delay distribution counts (A3)."""
    duration_s: Floats

    def __len__(self) -> int:
        return int(self.source.size)


@dataclass(frozen=True, slots=True)
class _Part:
    """Events of one kind before their targets are coded."""

    kind: Kind
    source: Ints
    target_w: Ints
    target_stage: Ints
    backlog: Floats
    """Of the target, before it is cut at b_max."""
    arrived: Floats
    sent: Floats
    counted: Floats
    duration_s: Floats


def events_of(
    w: Ints, k: Ints, stage: Ints, lattice: Lattice, timing: Timing, variant: ChainVariant
) -> Events:
    """Every event of the given states, in the order of kinds."""
    maker = _Maker(w, k, stage, lattice, timing, variant)
    parts = [*maker.application_limited(), *maker.network_limited(), *maker.after_loss()]
    return _assemble(parts, w, k, lattice)


class _Maker:
    def __init__(
        self,
        w: Ints,
        k: Ints,
        stage: Ints,
        lattice: Lattice,
        timing: Timing,
        variant: ChainVariant,
    ) -> None:
        self.w, self.k, self.stage = w, k, stage
        self.variant = variant
        self.w_max = lattice.w_max
        self.rtt = float(timing.rtt_s)
        self.interval = float(timing.flow.interval_s)
        self.t0 = float(timing.timeout_s)
        self.unit_bytes = float(lattice.unit)
        self.r = timing.r
        # On an exact lattice these are whole numbers.
        self.round = float(timing.round_bytes / lattice.unit)
        self.timeout = float(timing.timeout_bytes / lattice.unit)
        self.mss = float(timing.flow.mss_bytes / lattice.unit)
        self.packet = float(exact(timing.flow.packet_bytes) / lattice.unit)
        enough = w >= float(self.r) if variant.al_boundary == "r<=w" else w > float(self.r)
        open_window = (w > 0) & (stage == 0)
        self.al = np.flatnonzero(open_window & (k == 0) & enough)
        self.nl = np.flatnonzero(open_window & ~((k == 0) & enough))
        self.recovering = np.flatnonzero((w > 0) & (stage == 1))
        self.timed_out = np.flatnonzero(w == 0)

    def application_limited(self) -> list[_Part]:
        """First block of Table 6."""
        at = self.al
        ones = np.ones(at.size)
        zero = np.zeros(at.size)
        none = np.zeros(at.size, dtype=np.int64)
        # r + 3 packets are sent while the loss is found out; all of them leave in recovery.
        flight = (self.round + 3 * self.packet) * ones
        if self.variant.al_delays == "physical":
            counted = self._counted(flight)
        else:
            counted = (self.w[at] + 3.0) * self.packet
        after = {
            "zero": 0.0,
            "three-bytes": 3.0 / self.unit_bytes,
            "three-packets": 3 * self.packet,
        }[self.variant.al_backlog]
        window = min(max(int((self.r + 3) // 2), 1), self.w_max)
        return [
            _Part(
                Kind.AL_SENT, at, self.w[at], none, zero,
                self.packet * ones, self.packet * ones, self.packet * ones, self.interval * ones,
            ),
            _Part(
                Kind.AL_RECOVERY, at, np.full(at.size, window), none + 1, after * ones,
                flight, flight, counted, (self.rtt + 3 * self.interval) * ones,
            ),
            _Part(
                Kind.AL_TIMEOUT, at, none, none + 1, self.timeout * ones,
                self.timeout * ones, zero, zero, self.t0 * ones,
            ),
        ]  # fmt: skip

    def network_limited(self) -> list[_Part]:
        """Second block of Table 6."""
        at = self.nl
        w, k = self.w[at], self.k[at].astype(np.float64)
        ones = np.ones(at.size)
        none = np.zeros(at.size, dtype=np.int64)
        grown = np.minimum(np.where(w > float(self.r) / 2, w + 1, 2 * w), self.w_max)
        left = np.maximum(k + self.round - w * self.mss, 0.0)
        if self.variant.growth == "backlogged":
            grown = np.where(left > 0, grown, w)
        kept = np.maximum(k + self.round - (w + 3) * self.mss, 0.0)
        halved = np.minimum((w + 3) // 2, self.w_max)
        return [
            self._round(Kind.NL_SENT, at, grown, none, left, w * self.mss),
            self._round(Kind.NL_RECOVERY, at, halved, none + 1, kept, (w + 3) * self.mss),
            _Part(
                Kind.NL_TIMEOUT, at, none, none + 1, k + self.timeout,
                self.timeout * ones, 0 * ones, 0 * ones, self.t0 * ones,
            ),
        ]  # fmt: skip

    def after_loss(self) -> list[_Part]:
        """Third and fourth block of Table 6."""
        at = self.recovering
        w, k = self.w[at], self.k[at].astype(np.float64)
        left = np.maximum(k + self.round - w * self.mss, 0.0)
        none = np.zeros(at.size, dtype=np.int64)
        recovered = self._round(Kind.RECOVERED, at, w, none, left, w * self.mss)

        at = self.timed_out
        k, stage = self.k[at].astype(np.float64), self.stage[at]
        none = np.zeros(at.size, dtype=np.int64)
        left = np.maximum(k + self.round - self.mss, 0.0)
        resumed = self._round(Kind.RESUMED, at, none + 1, none, left, self.mss + 0 * k)
        # Stage l waited 2^(l-1) T0; the next wait is twice that. Equation 5 names the wait
        # by the stage that it leads to, which no longer grows at the last one.
        if self.variant.timeout_cap == "table6":
            doubling = 2.0**stage
        else:
            doubling = 2.0 ** (np.minimum(stage + 1, STAGES) - 1)
        if self.variant.repeated_timeout == "window-zero":
            next_w, next_stage = none, np.minimum(stage + 1, STAGES)
        else:
            next_w, next_stage = none + 1, none
        waited = doubling * self.timeout
        again = _Part(
            Kind.TIMED_OUT_AGAIN, at, next_w, next_stage, k + waited,
            waited, 0 * k, 0 * k, doubling * self.t0,
        )  # fmt: skip
        return [recovered, resumed, again]

    def _round(
        self, kind: Kind, at: Ints, w: Ints, stage: Ints, left: Floats, capacity: Floats
    ) -> _Part:
        """One RTT in which at most `capacity` leaves."""
        k = self.k[at].astype(np.float64)
        waiting = k if self.variant.packet_count == "eq2" else k + self.round
        return _Part(
            kind, at, w, stage, left,
            np.full(at.size, self.round),
            k + self.round - left,
            self._counted(np.minimum(waiting, capacity)),
            np.full(at.size, self.rtt),
        )  # fmt: skip

    def _counted(self, units: Floats) -> Floats:
        if self.variant.packet_count == "bytes":
            return units
        # The tolerance keeps a whole number of packets whole in binary fractions.
        whole: Floats = np.floor(units / self.packet + 1e-9) * self.packet
        return whole


def _assemble(parts: list[_Part], w: Ints, k: Ints, lattice: Lattice) -> Events:
    source = np.concatenate([part.source for part in parts])
    backlog = np.concatenate([part.backlog for part in parts])
    kept = np.minimum(backlog, float(lattice.k_max))
    below = np.floor(kept + 1e-9)
    share = kept - below
    # Rounding of binary fractions is no backlog.
    share = np.where(share < 1e-9, 0.0, share)
    if lattice.exact:
        share = np.zeros_like(share)
    target_w = np.concatenate([part.target_w for part in parts])
    stage = np.concatenate([part.target_stage for part in parts])
    low = lattice.encode(target_w, below.astype(np.int64), stage)
    return Events(
        source=source,
        kind=np.concatenate([np.full(part.source.size, part.kind) for part in parts]),
        w=w[source],
        k=k[source],
        low=low,
        high=np.where(share > 0, low + 1, -1),
        high_share=share,
        arrived=np.concatenate([part.arrived for part in parts]),
        sent=np.concatenate([part.sent for part in parts]),
        cut=backlog - kept,
        counted=np.concatenate([part.counted for part in parts]),
        duration_s=np.concatenate([part.duration_s for part in parts]),
    )


def probabilities(table: LossTable, kind: Ints, w: Ints) -> Floats:
    """The probability of each event, from its kind and the window of its source."""
    ones = np.ones(table.nl_success.size)
    lost = table.retransmission_lost
    columns = np.empty((len(Kind), ones.size))
    columns[Kind.AL_SENT] = table.al_success
    columns[Kind.AL_RECOVERY] = table.al_recovery
    columns[Kind.AL_TIMEOUT] = table.al_timeout
    columns[Kind.NL_SENT] = table.nl_success
    columns[Kind.NL_RECOVERY] = table.nl_recovery
    columns[Kind.NL_TIMEOUT] = table.nl_timeout
    columns[Kind.RECOVERED] = ones
    columns[Kind.RESUMED] = (1 - lost) * ones
    columns[Kind.TIMED_OUT_AGAIN] = lost * ones
    found: Floats = columns[kind, w]
    return found
