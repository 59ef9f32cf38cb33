"""The figure of a working region: a model's map with what was simulated on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway import beside, plan
from headway.claims.results import load
from headway.execute import execute
from headway.models.base import ModelError
from headway.models.tcp_chain import CbrFlow, solve
from headway.plots import catalogue
from headway.plots.region import region
from headway.report.sources import drawn, source
from headway.study import load as load_study

VOIP = {"workload.payload": [160], "workload.interval": [0.02]}


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headway.beside.FINE", 4)


def test_a_map_spans_the_study_and_is_the_models() -> None:
    study = load_study("media-working-region")
    found = beside.fine_map(study, "tcp-chain", "delay_p95_s", VOIP)
    table = found.table
    assert found.output == "delay_p95_s" and table.height == 16
    assert sorted(set(table["loss"])) == pytest.approx([0.001, 0.00464159, 0.0215443, 0.1])
    assert sorted(set(table["rtt_s"])) == pytest.approx([0.02, 0.113333, 0.206667, 0.3])
    row = table.row(9, named=True)
    chain = solve(CbrFlow.of(174, 0.02), row["rtt_s"], row["loss"])
    assert row["delay_p95_s"] == pytest.approx(chain.percentile(0.95))


def test_a_map_of_what_the_model_does_not_say() -> None:
    study = load_study("media-working-region")
    with pytest.raises(ModelError, match="says nothing of mos"):
        beside.fine_map(study, "tcp-chain", "mos", VOIP)
    with pytest.raises(ModelError, match="says nothing"):
        beside.fine_map(study, "tcp-chain", "delay_p95_s", {"workload.payload": [161]})


def test_the_figure_shows_model_limit_and_runs(tmp_path: Path) -> None:
    study = load_study("media-working-region")
    only = ["workload.payload=160 B", "path.loss.rate=1 %", "path.loss.rate=3 %"]
    execute(plan.build(study, only=only, replications=1), tmp_path / "out")
    results = load(tmp_path / "out")
    assert next(figure.name for figure in drawn(results)) == "voip-region"
    figure = region(catalogue()["voip-region"], source(results))
    assert figure is not None and "region of validity" in figure.caption
    heat, line, crosses, runs = figure.panels[0].data
    assert len(heat["z"]) == 4 and heat["x"][0] == 20 and heat["y"][-1] == 10
    assert line["contours"]["start"] == 200
    assert len(crosses["x"]) < 16
    # Voice every 20 ms only: three round-trip times, two loss rates.
    assert runs["x"] == [20, 20, 100, 100, 300, 300] and runs["y"] == [1, 3] * 3
    within = [symbol == "circle" for symbol in runs["marker"]["symbol"]]
    assert within == [mean <= 200 for mean in runs["marker"]["color"]]
    assert within[0] and not within[-1]


def test_without_models_there_is_no_map(tmp_path: Path) -> None:
    study = load_study("media-working-region")
    only = ["workload.payload=160 B", "path.loss.rate=1 %", "path.one_way_delay=50 ms"]
    execute(plan.build(study, only=only, replications=1), tmp_path / "out")
    results = load(tmp_path / "out")
    assert region(catalogue()["voip-region"], source(results, with_models=False)) is None
