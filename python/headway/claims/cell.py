"""A campaign of transactions in a radio cell as arrays, with resampled transactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from polars.dataframe.group_by import GroupBy

from headway.claims.grid import Array, View
from headway.claims.verdict import NotTestable
from headway.stats import edge
from headway.stats.resample import SEED

RETRY_LIMITS = (0, 2, 4, 6, 8)
SNR, LIMIT, LOAD = "path.snr", "path.retry_limit", "path.background.traffic"
MOST_OKS = 11
HIGHEST_SNR = 17.0
"""Where the paper's curves end; runs beyond it are no part of them."""


def _curve(rows: pl.DataFrame) -> GroupBy:
    return rows.filter(pl.col(SNR) <= HIGHEST_SNR).group_by(SNR)


@dataclass
class Campaign:
    """Runs over SNR (last axis) and retry limit, in order; resamples come first.

    A resample draws the transactions of every run anew. Delays, of which a run returns
    moments only, are resampled as normal means.
    """

    view: View
    snr: Array = field(init=False)

    def __post_init__(self) -> None:
        self.view.need("workload.kind", SNR, LIMIT, LOAD, "succeeded")
        if self.view.runs["workload.kind"][0] != "sip-transactions":
            raise NotTestable("these are no transactions one after another")
        self._demand_set_up()
        levels = self.view.runs[SNR].unique().sort().to_numpy().astype(np.float64)
        self.snr = levels[levels <= HIGHEST_SNR]

    def _demand_set_up(self) -> None:
        """The paper's: UDP, a weak downlink only, and no voice."""
        self.view.need("transport.kind", "path.symmetric")
        if self.view.runs["transport.kind"][0] != "udp":
            raise NotTestable("it speaks of SIP over UDP")
        if "path.symmetric" in self.view.factors or self.view.runs["path.symmetric"][0]:
            raise NotTestable("it speaks of a cell in which the downlink alone is weak")
        if self.view.settings.get("path.voice.interval") is not None:
            raise NotTestable("it speaks of a cell without voice")

    @property
    def loaded(self) -> bool:
        """Whether other stations send beside the signalling."""
        return bool(self.view.runs[LOAD][0] != "none")

    def demand(self, *, loaded: bool, limits: Sequence[int] = (), least: int = 10) -> None:
        """Make sure that this is the campaign that a claim speaks of.

        Raises NotTestable where the load is another, a retry limit was not run, or fewer
        than `least` SNRs were.
        """
        if self.loaded is not loaded:
            raise NotTestable(f"it speaks of a {'loaded' if loaded else 'quiet'} channel")
        if len(self.snr) < least:
            raise NotTestable(f"{len(self.snr)} SNRs make no curve")
        present = set(self.view.runs[LIMIT].to_list())
        for limit in limits:
            if limit not in present:
                raise NotTestable(f"no run has the retry limit {limit}")

    def metric(self, name: str, limit: int) -> Array:
        """A metric over the SNR, the mean of the replications; NaN where undefined."""
        self.view.need(name)
        rows = self.view.runs.filter(pl.col(LIMIT) == limit)
        means = _curve(rows).agg(pl.col(name).cast(pl.Float64).mean()).sort(SNR)
        found = np.full(len(self.snr), np.nan)
        place = np.searchsorted(self.snr, means[SNR].to_numpy())
        found[place] = means[name].fill_null(float("nan")).to_numpy()
        return found

    def total(self, name: str, limit: int | None = None) -> Array:
        """A count over the SNR, the sum of the replications; of all limits without one."""
        self.view.need(name)
        rows = self.view.runs if limit is None else self.view.runs.filter(pl.col(LIMIT) == limit)
        sums = _curve(rows).agg(pl.col(name).cast(pl.Float64).sum()).sort(SNR)
        found = np.zeros(len(self.snr))
        found[np.searchsorted(self.snr, sums[SNR].to_numpy())] = sums[name].to_numpy()
        return found

    @cached_property
    def counts(self) -> dict[int, Array]:
        """By retry limit: resamples, SNRs, and successes with t = 1..11, others, failures."""
        found = {}
        for limit in RETRY_LIMITS:
            rows = self.view.runs.filter(pl.col(LIMIT) == limit)
            if rows.is_empty():
                continue
            shares = [f"f{t}_share" for t in range(1, MOST_OKS + 1)]
            self.view.need("failed", *shares)
            succeeded = self.total("succeeded", limit)
            exact = rows.with_columns(
                (pl.col(name).fill_null(0.0) * pl.col("succeeded")).round().alias(name)
                for name in shares
            )
            sums = _curve(exact).agg(pl.col(shares).sum()).sort(SNR)
            by_t = np.zeros((len(self.snr), MOST_OKS))
            by_t[np.searchsorted(self.snr, sums[SNR].to_numpy())] = sums.select(shares).to_numpy()
            others = np.maximum(succeeded - by_t.sum(axis=1), 0.0)
            whole = np.column_stack([by_t, others, self.total("failed", limit)])
            found[limit] = edge.resampled(whole, self.view.resamples, SEED + limit)
        return found

    def shares(self, limit: int, t: int, *, of_all: bool = False) -> Array:
        """F(t) over the SNR, for each resample; NaN where nothing succeeded."""
        if limit not in self.counts:
            raise NotTestable(f"no run has the retry limit {limit}")
        counts = self.counts[limit]
        whole = counts.sum(axis=-1) if of_all else counts[..., :-1].sum(axis=-1)
        return np.asarray(
            np.divide(counts[..., t - 1], whole, out=np.full(whole.shape, np.nan), where=whole > 0)
        )

    def region(self, limit: int, *, of_all: bool = False) -> edge.Region:
        """The fall-off region, for each resample."""
        return edge.region(self.snr, self.shares(limit, 1, of_all=of_all))

    def mean_delay(self, limit: int, *, plain: bool = False) -> Array:
        """Mean delay of all transactions, or of those in which SIP repeated nothing."""
        name = "td_plain" if plain else "td"
        mean, sd = self.metric(f"{name}_mean_s", limit), self.metric(f"{name}_sd_s", limit)
        if plain:
            number = self.total("plain_transactions", limit)
        else:
            number = self.total("transactions", limit) - self.total("failed_no_answer", limit)
        error = np.divide(
            np.nan_to_num(sd), np.sqrt(number), out=np.zeros_like(mean), where=number > 1
        )
        drawn = np.random.default_rng(SEED + 100 + limit).standard_normal(
            (self.view.resamples, len(self.snr))
        )
        return np.vstack([mean[None], mean + error * drawn])

    def edge_delay(self, limit: int, *, plain: bool = False) -> tuple[Array, Array]:
        """Mean delay where the fall-off region begins, and that SNR, for each resample.

        Raises NotTestable where F(1) never reaches 90 %.
        """
        onset = self.region(limit).high
        if not np.isfinite(onset[0]):
            raise NotTestable(f"F(1) never reaches 90 % with {limit} retries")
        return edge.at(self.snr, self.mean_delay(limit, plain=plain), onset), onset

    @cached_property
    def bins(self) -> pl.DataFrame:
        """Counts of delays in bins of 0.25 s, with run, SNR and retry limit."""
        folder = self.view.folder
        if folder is None or not (folder / "distributions.parquet").is_file():
            raise NotTestable("the folder holds no distributions")
        found = pl.read_parquet(folder / "distributions.parquet").filter(metric="td_s")
        if "counts" not in found.columns:
            raise NotTestable("the distributions hold no counts")
        return found.join(self.view.runs.select("run_id", SNR, LIMIT), on="run_id")
