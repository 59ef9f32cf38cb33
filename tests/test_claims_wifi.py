"""Claims on SIP in a radio cell: where they must hold, where they must not, without their runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from headway.claims.check import judge
from headway.claims.facts import claims
from headway.claims.grid import View
from headway.claims.registry import registered
from headway.claims.verdict import Outcome, Verdict
from wifi_tables import FACTORS, independent_runs, loaded_runs, quiet_runs, settings

snr, limit = pl.col("path.snr"), pl.col("path.retry_limit")
RULES = ("s1-c01", "s1-c02", "s1-c03", "s1-c04")


def verdict(claim_id: str, runs: pl.DataFrame, loaded: bool, **more: object) -> Verdict:
    view = View(runs, FACTORS, settings(loaded=loaded) | more, resamples=60)
    return judge(claims()[claim_id], registered()[claim_id], view)


def changed(column: str, where: pl.Expr, value: pl.Expr) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda runs: runs.with_columns(
        pl.when(where).then(value).otherwise(pl.col(column)).alias(column)
    )


def first(where: pl.Expr, value: float) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Another F(1); the other F(t) share what is left."""

    def change(runs: pl.DataFrame) -> pl.DataFrame:
        rest = (1 - value) / (1 - pl.col("f1_share"))
        others = [f"f{t}_share" for t in range(2, 12)]
        spoiled = runs.with_columns(
            pl.when(where & (pl.col("f1_share") < 1))
            .then(pl.col(name) * rest)
            .otherwise(pl.col(name))
            .alias(name)
            for name in others
        )
        return changed("f1_share", where & (pl.col("succeeded") > 0), pl.lit(value))(spoiled)

    return change


def shifted(by: float, where: pl.Expr) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Curves moved along the SNR, at some retry limits."""

    def move(runs: pl.DataFrame) -> pl.DataFrame:
        names = [name for name in runs.columns if name not in ("run_id", "replication", *FACTORS)]
        steps = round(by)
        moved = runs.sort("path.retry_limit", "path.snr").with_columns(
            pl.when(where)
            .then(pl.col(name).shift(steps).over("path.retry_limit"))
            .otherwise(pl.col(name))
            .alias(name)
            for name in names
        )
        return moved.with_columns(pl.col(names).fill_null(strategy="backward"))

    return move


def test_every_claim_of_the_paper_has_a_check() -> None:
    ids = [f"s1-c{n:02}" for n in range(1, 37)]
    assert [name for name in claims() if name.startswith("s1-")] == ids
    assert [name for name in registered() if name.startswith("s1-")] == ids


QUIET_CASES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "s1-c05": changed("td_symmetric_s", snr == 5, pl.col("td_symmetric_s") + 0.01),
    "s1-c06": lambda runs: runs.filter(snr != 17),
    "s1-c07": first((limit == 0) & (snr == 5), 0.5),
    "s1-c08": shifted(2, limit == 0),
    "s1-c09": first((limit == 2) & (snr == 5), 0.8),
    "s1-c10": shifted(3, limit >= 2),
    "s1-c11": first((limit == 4) & (snr < 6), 0.5),
    "s1-c12": first((limit == 4) & (snr < 6), 0.5),
    "s1-c18": first((limit == 8) & (snr > 1) & (snr < 3.7), 0.85),
    "s1-c21": changed("td_mean_s", limit == 2, pl.col("td_mean_s") + 0.1),
    "s1-c22": changed("td_plain_mean_s", limit == 2, pl.col("td_plain_mean_s") + 0.02),
    "s1-c23": changed("td_mean_s", limit == 2, pl.col("td_mean_s") + 0.1),
    "s1-c27": changed("td_plain_mean_s", snr >= 12, pl.lit(0.04)),
    "s1-c28": changed("td_plain_mean_s", (snr < 11) & (limit == 2), pl.lit(0.04)),
    "s1-c29": changed("td_mean_s", limit == 2, pl.lit(0.1)),
    "s1-c31": changed("lost_acks", snr < 8, pl.lit(20)),
    "s1-c35": first((limit == 8) & (snr == 3.5), 0.01),
    "s1-c36": changed("td_mean_s", snr == 10, pl.lit(0.2)),
}


@pytest.fixture(scope="module")
def quiet() -> pl.DataFrame:
    return quiet_runs()


@pytest.fixture(scope="module")
def loaded() -> pl.DataFrame:
    return loaded_runs()


@pytest.mark.parametrize("claim_id", [*RULES, *QUIET_CASES, "s1-c33"])
def test_quiet_claim_holds_where_it_must(claim_id: str, quiet: pl.DataFrame) -> None:
    found = verdict(claim_id, quiet, loaded=False)
    assert found.verdict is Outcome.HOLDS, found
    assert found.measured


@pytest.mark.parametrize("claim_id", QUIET_CASES)
def test_quiet_claim_fails_where_it_must(claim_id: str, quiet: pl.DataFrame) -> None:
    found = verdict(claim_id, QUIET_CASES[claim_id](quiet), loaded=False)
    assert found.verdict is Outcome.FAILS, found


LOADED_CASES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "s1-c13": first((limit == 8) & (snr < 6), 0.5),
    "s1-c14": first((limit == 0) & (snr == 14), 0.93),
    "s1-c15": first((limit == 2) & (snr == 1.5), 0.05),
    "s1-c19": first((limit == 8) & (snr < 3.2), 0.3),
    "s1-c24": changed("td_mean_s", limit == 4, pl.col("td_mean_s") + 0.1),
    "s1-c25": changed("td_plain_mean_s", limit == 4, pl.col("td_plain_mean_s") + 0.1),
    "s1-c26": changed("td_mean_s", limit == 4, pl.col("td_mean_s") + 0.1),
    "s1-c27": changed("td_plain_mean_s", snr >= 12, pl.lit(0.08)),
    "s1-c29": changed("td_mean_s", limit == 4, pl.lit(0.2)),
}


@pytest.mark.parametrize("claim_id", LOADED_CASES)
def test_loaded_claim_holds_where_it_must(claim_id: str, loaded: pl.DataFrame) -> None:
    found = verdict(claim_id, loaded, loaded=True)
    assert found.verdict is Outcome.HOLDS, found


@pytest.mark.parametrize("claim_id", LOADED_CASES)
def test_loaded_claim_fails_where_it_must(claim_id: str, loaded: pl.DataFrame) -> None:
    found = verdict(claim_id, LOADED_CASES[claim_id](loaded), loaded=True)
    assert found.verdict is Outcome.FAILS, found


def test_independent_tries() -> None:
    runs = independent_runs()
    assert verdict("s1-c34", runs, loaded=False).verdict is Outcome.HOLDS
    spoiled = first((limit == 4) & (snr == 4), 0.5)(runs)
    assert verdict("s1-c34", spoiled, loaded=False).verdict is Outcome.FAILS


def test_five_transmissions(quiet: pl.DataFrame) -> None:
    # Among the few that succeed at the lowest SNRs every t is as likely: 1/11 each.
    assert verdict("s1-c17", quiet, loaded=False).verdict is Outcome.FAILS
    few = changed("f5_share", snr < 10, pl.lit(0.02))(quiet)
    right = changed("f5_share", (limit == 2) & (snr == 2.5), pl.lit(0.058))(few)
    assert verdict("s1-c17", right, loaded=False).verdict is Outcome.HOLDS
    elsewhere = changed("f5_share", (limit == 2) & (snr == 5), pl.lit(0.07))(right)
    assert verdict("s1-c17", elsewhere, loaded=False).verdict is Outcome.FAILS


def test_recommended_retries_follow_the_gain(quiet: pl.DataFrame) -> None:
    from headway.claims.sip_wifi import enough_retries

    means = [pl.Series([x]).to_numpy() for x in (0.3, 0.5, 0.52, 0.6, 0.61)]
    assert enough_retries(means, (0, 2, 4, 6, 8), 0.05).tolist() == [2]
    assert enough_retries(means, (0, 2, 4, 6, 8), 0.10).tolist() == [2]
    assert enough_retries(means[::-1], (0, 2, 4, 6, 8), 0.05).tolist() == [0]
    assert verdict("s1-c20", quiet, loaded=False).verdict is not Outcome.NOT_TESTABLE


def test_at_32_db_nothing_is_repeated(loaded: pl.DataFrame) -> None:
    good = loaded.filter((snr == 14) & (limit == 4)).with_columns(pl.lit(32.0).alias("path.snr"))
    both = pl.concat([loaded, good.with_columns(plain_transactions=pl.col("transactions"))])
    assert verdict("s1-c32", both, loaded=True).verdict is Outcome.HOLDS
    # What lies beyond the paper's curves is no part of them.
    assert verdict("s1-c13", both, loaded=True).verdict is Outcome.HOLDS
    spoiled = both.with_columns(plain_transactions=pl.lit(400))
    assert verdict("s1-c32", spoiled, loaded=True).verdict is Outcome.FAILS
    assert verdict("s1-c32", loaded, loaded=True).verdict is Outcome.NOT_TESTABLE


def test_delays_cluster(quiet: pl.DataFrame, tmp_path: Path) -> None:
    def with_counts(counts: list[int]) -> Verdict:
        runs = quiet.select("run_id").with_columns(
            metric=pl.lit("td_s"), counts=pl.lit(pl.Series([counts])).first()
        )
        runs.write_parquet(tmp_path / "distributions.parquet")
        view = View(quiet, FACTORS, settings(), resamples=60, folder=tmp_path)
        return judge(claims()["s1-c30"], registered()["s1-c30"], view)

    assert with_counts([450, 2, 40, 0, 0, 0, 8]).verdict is Outcome.HOLDS
    assert with_counts([350, 102, 40, 0, 0, 0, 8]).verdict is Outcome.FAILS
    assert verdict("s1-c30", quiet, loaded=False).verdict is Outcome.NOT_TESTABLE


def test_both_campaigns_beside_each_other(loaded: pl.DataFrame, tmp_path: Path) -> None:
    view = View(loaded, FACTORS, settings(loaded=True), resamples=60, folder=tmp_path / "loaded")
    found = judge(claims()["s1-c16"], registered()["s1-c16"], view)
    assert found.verdict is Outcome.NOT_TESTABLE
    assert "sip-wifi-unloaded" in found.detail


def test_rules_follow_the_study_s_timers(quiet: pl.DataFrame) -> None:
    slower = {"workload.t1": 1.0}
    for claim_id in RULES:
        assert verdict(claim_id, quiet, loaded=False, **slower).verdict is Outcome.FAILS, claim_id


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("path.symmetric", True),
        ("transport.kind", "sctp"),
        ("path.voice.interval", 0.02),
        ("workload.kind", "sip"),
    ],
)
def test_another_set_up_is_not_what_the_paper_speaks_of(
    quiet: pl.DataFrame, setting: str, value: object
) -> None:
    found = verdict("s1-c11", quiet, loaded=False, **{setting: value})
    assert found.verdict is Outcome.NOT_TESTABLE


@pytest.mark.parametrize("claim_id", ["s1-c10", "s1-c11", "s1-c21"])
def test_a_loaded_channel_says_nothing_of_the_quiet_one(
    claim_id: str, loaded: pl.DataFrame
) -> None:
    assert verdict(claim_id, loaded, loaded=True).verdict is Outcome.NOT_TESTABLE
