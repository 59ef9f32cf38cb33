"""Models along a study: their values at its points, beside its results, in its report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from headway import beside, plan
from headway.claims import load as load_results
from headway.cli.names import check_names
from headway.errors import StudyError
from headway.execute import execute
from headway.models import ModelError, predict
from headway.report import write
from headway.report.models import models_tables
from headway.report.sources import drawn, source
from headway.study import load, parse
from study_files import edited
from test_predict import headway, refused

ONLY = ("path.loss.correlation=0", "path.queue=10-20")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Points without correlation of the shipped study, really run."""
    made = tmp_path_factory.mktemp("beside") / "sip"
    execute(plan.build(load("sip-random-loss"), only=ONLY, replications=4), made)
    write(made)
    return made


def test_values_are_those_of_the_model_at_the_settings_of_the_point() -> None:
    study = load("sip-random-loss")
    found = beside.values(study)
    at = (
        (pl.col("path.loss.rate") == 0.02)
        & (pl.col("path.one_way_delay") == 0.06)
        & (pl.col("workload.call_rate") == 20)
        & (pl.col("transport.delivery") == "ordered")
        & (pl.col("path.queue") == "50-60")
        & (pl.col("metric") == "psd_p95_s")
    )
    (row,) = found.filter(at).to_dicts()
    expected = predict("holb", rate=20, rtt_s=0.12, loss=0.02, reports=3, repeat=True)
    assert row["value"] == pytest.approx(expected["psd_p95_s"][0], rel=1e-12)
    assert row["inside"] and row["why"] == "" and row["path.loss.correlation"] == 0
    numbers = {point.index: point.values for point in plan.build(study, only=ONLY).points}
    for point, *factors in found.select("point_id", *study.factor_columns).unique().iter_rows():
        if point in numbers:
            assert tuple(factors) == numbers[point]


def test_correlated_points_have_no_value_and_say_why() -> None:
    found = beside.values(load("sip-random-loss"))
    silent = found.filter(pl.col("metric").is_null())
    assert set(silent["path.loss.correlation"]) == {0.5, 0.8} and silent.height == 224
    assert set(silent["why"]) == {"the model leaves correlated losses aside"}
    assert set(found.filter(pl.col("metric").is_not_null())["path.loss.correlation"]) == {0.0}


def test_agreement_counts_intervals_and_errors() -> None:
    found = pl.DataFrame(
        {
            "point_id": [0, 1, 2, 3],
            "model": ["holb"] * 4,
            "metric": ["psd_p95_s"] * 4,
            "value": [0.10, 0.12, 0.30, 0.5],
            "inside": [True, True, True, False],
            "why": ["", "", "", "loss above 5 percent"],
        }
    )
    points = pl.DataFrame(
        {
            "point_id": [0, 1, 2, 3],
            "psd_p95_s.mean": [0.10, 0.10, 0.25, 0.25],
            "psd_p95_s.ci_low": [0.10, 0.09, 0.22, 0.24],
            "psd_p95_s.ci_high": [0.10, 0.11, 0.31, 0.26],
            "psd_p95_s.n": [10, 10, 10, 10],
        }
    )
    compared = beside.against(found, points)
    assert compared["within"].to_list() == [True, False, True, False]
    assert compared["error"].to_list() == pytest.approx([0, 0.2, 0.2, 1.0])
    (one,) = beside.agreement(compared)
    assert (one.points, one.within, one.outside) == (3, 2, 1)
    assert one.mean_error == pytest.approx(0.4 / 3) and one.largest_error == pytest.approx(0.2)
    # A metric that the runs do not have, and one without a mean, say nothing.
    assert beside.against(found.with_columns(metric=pl.lit("asd_p95_s")), points).is_empty()


def test_the_report_lays_the_model_beside_the_simulation(folder: Path) -> None:
    results = load_results(folder)
    tables = source(results)
    assert tables.models is not None
    (table,) = models_tables(tables, tables.models)
    rows = pl.read_csv(table.csv.encode())
    assert set(rows["metric"]) >= {"psd_mean_s", "psd_p95_s", "hol_blocking_mean_s"}
    assert len(table.rows) == 2 * 56  # the mean and the percentile at 7 x 2 x 2 x 2 points
    inside = rows.filter((pl.col("metric") == "psd_mean_s") & pl.col("inside"))
    within = int(inside["within"].sum())
    assert f"at {within} of {inside.height} points" in table.caption
    error = 100 * float(inside["error"].abs().mean())
    assert f"mean relative error {error:.1f} %" in table.caption
    # The model is a good one: its mean is near the simulated one everywhere in its region.
    assert inside["error"].abs().max() < 0.1
    assert table.title in (folder / "report.html").read_text(encoding="utf-8")


def test_figures_draw_the_model_thin_and_dashed_outside(folder: Path) -> None:
    results = load_results(folder)
    (fig4,) = [figure for figure in drawn(results) if figure.name == "fig4"]
    assert [entry.key for entry in fig4.legend] == ["s0", "s1", "model-holb"]
    thin = [t for t in fig4.panels[0].data if t["legendgroup"] == "model-holb"]
    assert [t["line"]["dash"] for t in thin] == ["solid", "dash"] * 2
    inside, outside = thin[0], thin[1]
    assert all(t["mode"] == "lines" and t["line"]["width"] < 2 for t in thin)
    known = [x for x, y in zip(inside["x"], inside["y"], strict=True) if y is not None]
    assert known == [0.5, 1, 2, 3, 4]
    beyond = [x for x, y in zip(outside["x"], outside["y"], strict=True) if y is not None]
    assert beyond == [4, 6, 8]
    assert "dashed outside its region" in fig4.caption
    assert "loss up to 5 %" in fig4.caption
    paper = fig4.for_paper()
    assert "model holb" in [t["name"] for t in paper["data"] if t["showlegend"]]


def test_where_the_model_is_silent_the_figures_are_as_without_it(tmp_path: Path) -> None:
    study = load("sip-random-loss")
    only = ("path.loss.correlation=0.8", "path.queue=10-20")
    execute(plan.build(study, only=only, replications=1), tmp_path / "sip")
    results = load_results(tmp_path / "sip")

    tables = source(results)
    plain = source(results, with_models=False)
    assert tables.models is not None and plain.models is None
    with_models, without = drawn(results, tables), drawn(results, plain)
    assert [f.for_page() for f in with_models] == [f.for_page() for f in without]
    assert [f.legend for f in with_models] == [f.legend for f in without]
    assert models_tables(tables, tables.models) == []


def test_a_study_that_names_no_model_is_as_before(folder: Path) -> None:
    text = (folder / "study.toml").read_text().replace('models = ["holb"]', "")
    study = parse(text)
    assert study.report.models == []
    results = load_results(folder)
    assert source(results, with_models=False).models is None


def test_a_model_is_checked_by_name_with_its_line() -> None:
    text = edited(("[report]", '[report]\nmodels = ["hobl"]'))
    with pytest.raises(StudyError) as caught:
        check_names(parse(text))
    (problem,) = caught.value.problems
    assert 'did you mean "holb"' in problem.what
    assert text.splitlines()[(problem.line or 0) - 1] == 'models = ["hobl"]'


def test_predict_along_a_study(tmp_path: Path) -> None:
    file = tmp_path / "holb.csv"
    output = headway(
        "predict", "--study", "sip-random-loss", "--only", "path.queue=10-20",
        "--only", "path.one_way_delay=20 ms", "--csv", file, "-m", "psd_p99_s",
    )  # fmt: skip
    found = pl.read_csv(file)
    assert found.filter(pl.col("metric").is_not_null())["point_id"].n_unique() == 28
    assert "no value at 56 points: the model leaves correlated losses aside" in output
    assert "psd_p99 (ms)" in output and "psd_p95" not in output
    assert "loss above 5 percent" in output
    lines = [line for line in output.splitlines() if "20 calls/s" in line and "HOLB (in" in line]
    expected = predict("holb", rate=20, rtt_s=0.04, loss=0.005, reports=3, repeat=True)
    assert f"{1000 * expected['psd_p99_s'][0]:.4g}" in lines[0]


def test_predict_along_a_study_draws_its_figure(tmp_path: Path) -> None:
    page = tmp_path / "holb.html"
    headway("predict", "--study", "sip-random-loss", "--only", "path.queue=10-20", "--plot", page)
    text = page.read_text()
    assert "model holb" in text and "dashed outside its region" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("loss=0.1",), "no such model"),
        (("holb", "loss=0.1"), "change it with --set"),
        (("padhye",), "has nothing to say of the workload"),
        (("-m", "psd_p95"), 'did you mean "psd_p95_s"'),
        (("--only", "path.loss.correlation=0.8"), "nothing to say of sip-random-loss"),
        (("--limit", "3 ms"), "belongs to the plot of a model"),
    ],
)
def test_mistakes_along_a_study(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused("predict", *arguments, "--study", "sip-random-loss")


def test_no_model_for_a_workload_is_an_error() -> None:
    study = load("sip-random-loss")
    with pytest.raises(ModelError, match="nothing to say"):
        beside.match_for(study.scenario.spec(), model="simco")
