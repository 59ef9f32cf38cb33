"""Answers are written from numbers: made-up tables whose answer is known, and a real run."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from headway import report
from headway.claims import load
from headway.errors import UserError
from headway.plots.columns import Scale
from headway.report.words import change, listed, number, quantity
from headway.study import locate
from real_results import results_folder
from sip_tables import FACTORS, sip_runs, write_results


def test_holb_that_matters_everywhere(tmp_path: Path) -> None:
    found = report.answer(write_results(tmp_path, sip_runs()))
    first, cost, shift = found.sentences
    assert first == (
        "HOLB matters from the lowest loss rate studied: already at 0.5 % the 95th percentile of "
        "the post-selection delay is significantly longer in order, in all 24 scenarios."
    )
    # 0.100 s times 1, 1.5, 1.8 and 2.3, against one RTT of 40 and 120 ms: 59, 109, 58, 108 more.
    assert cost.startswith("At 0.5 % it costs ")
    assert "ms" in cost and "over the scenarios" in cost
    assert shift.startswith("Unordered delivery stands ")
    table = found.table
    assert [row[0] for row in table.rows] == ["0.5 %", "1 %", "2 %", "3 %", "4 %", "6 %", "8 %"]
    assert all(row[-1] == "24/24" for row in table.rows)
    assert found.comparison is not None and found.comparison.height == 168


def test_equal_delay_is_told_in_loss(tmp_path: Path) -> None:
    # Without noise: 190 ms with HOLB at 2 % and 190 ms without at 4 %, in every scenario.
    found = report.answer(write_results(tmp_path, sip_runs()))
    text = " ".join([*found.sentences, *found.notes])
    assert "ordered delivery at 2 %" in text or "ordered delivery at 1 %" in text


def test_holb_that_matters_from_some_loss_on(tmp_path: Path) -> None:
    runs = sip_runs()
    same = pl.col("path.loss.rate") < 0.015
    delay = pl.col("path.one_way_delay") * (1 + 0.001 * pl.col("replication"))
    runs = runs.with_columns(
        pl.when(same).then(2 * delay).otherwise(pl.col("psd_p95_s")).alias("psd_p95_s")
    )
    found = report.answer(write_results(tmp_path, runs))
    assert "starts to make" in found.sentences[0]
    assert "at a loss rate of 2 % in 24 of 24 scenarios" in found.sentences[0]
    assert found.sentences[1].startswith("At 2 % it costs ")


def test_holb_that_never_matters(tmp_path: Path) -> None:
    runs = sip_runs()
    flat = 0.1 + 0.001 * pl.col("replication")
    found = report.answer(write_results(tmp_path, runs.with_columns(flat.alias("psd_p95_s"))))
    assert "no lasting significant difference" in found.sentences[0]
    assert all(row[-1] == "0/24" for row in found.table.rows)


def test_one_replication_says_so(tmp_path: Path) -> None:
    runs = sip_runs().filter(pl.col("replication") == 0)
    found = report.answer(write_results(tmp_path, runs))
    assert any("One replication" in text for text in (*found.sentences, *found.notes))


def test_a_study_without_delivery_tells_what_moves_its_metric(tmp_path: Path) -> None:
    text = locate("sip-random-loss").read_text()
    start = text.index('[[factor]]\nkey = "transport.delivery"')
    end = text.index("[report]")
    runs = sip_runs().filter(pl.col("transport.delivery") == "ordered").drop("transport.delivery")
    found = report.answer(write_results(tmp_path, runs, text[:start] + text[end:]))
    assert found.sentences[1].startswith("Loss rate moves it most: from ")
    assert "at 0.5 % to" in found.sentences[1] and "at 8 %" in found.sentences[1]
    assert found.table.rows[0][0] == "loss rate"


def test_a_study_of_one_point_gives_its_numbers(tmp_path: Path) -> None:
    text = locate("sip-random-loss").read_text()
    head = text.partition("[[factor]]")[0]
    scenario = (
        head.replace('rate = "unlimited"', 'rate = "unlimited"\none_way_delay = "20 ms"')
        .replace('kind = "bernoulli"', 'kind = "bernoulli"\nrate = "2 %"')
        .replace('kind = "sip"', 'kind = "sip"\ncall_rate = 40')
    )
    runs = sip_runs().filter(pl.col("point_id") == 0).drop(FACTORS)
    found = report.answer(write_results(tmp_path, runs, scenario))
    assert found.sentences[0].startswith("The 95th percentile of the post-selection delay is ")
    assert "10 runs" in found.sentences[0]


def test_results_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no study\.toml"):
        report.answer(tmp_path)


def test_a_real_run_has_three_sentences_with_numbers_of_its_table() -> None:
    folder = results_folder()
    found = report.answer(folder)
    assert len(found.sentences) == 3
    assert "scenarios" in found.sentences[0]
    results = load(folder)
    table = results.points
    rows = table.filter(
        (pl.col("path.loss.rate") == 0.04) & (pl.col("transport.delivery") == "ordered")
    )
    median = rows["psd_p95_s.mean"].median()
    assert isinstance(median, float)
    assert found.table.rows[4][1] == number(1000 * median)


def test_a_real_run_of_stacks_names_a_mechanism() -> None:
    only = ("path.loss.rate=2 %", "transport.delivery=ordered")
    found = report.answer(results_folder("sip-stack-profiles", only))
    assert '"2.6.11, 3 reports"' in found.sentences[0]
    changes = {row[0]: row[1] for row in found.table.rows}
    assert changes["lksctp-2.6.11"] == "missing_report_threshold 3 → 4"
    assert changes["3 reports, once"] == "repeat_fast_retransmit unqualified → off"
    assert changes["3 reports, SACK at once"] == "sack_every 2 → 1"


def test_words() -> None:
    assert [number(x) for x in (0.0, 0.01234, 1.234, 12.34, 123.4, 12345.6)] == [
        "0.00",
        "0.0123",
        "1.23",
        "12.3",
        "123",
        "12346",
    ]
    assert quantity(0.0412, Scale(1000, "ms")) == "41.2 ms"
    assert quantity(2.5, Scale(1000, "ms")) == "2.50 s"
    assert quantity(None, Scale()) == "\N{EN DASH}"
    assert change(1.5) == "+50 %" and change(0.5) == "-50 %"
    assert listed(["a", "b", "c"]) == "a, b and c"
