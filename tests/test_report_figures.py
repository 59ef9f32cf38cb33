"""Figures: what is drawn where, from tables alone; and as files, with Chromium."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from headway import report
from headway.claims import load
from headway.errors import UserError
from headway.plots import Figure, catalogue, chosen
from headway.plots.definition import definition
from headway.plots.theme import DARK, LIGHT, painted
from headway.report import files
from headway.report.sources import drawn, source
from real_results import results_folder


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return {figure.name: figure for figure in drawn(load(results_folder()))}


@pytest.fixture(scope="module")
def points() -> pl.DataFrame:
    return load(results_folder()).points


def test_the_study_gets_the_figures_that_suit_it(figures: dict[str, Figure]) -> None:
    assert list(figures) == ["fig4", "delay-parts", "distributions"]


def test_fig4_is_the_papers(figures: dict[str, Figure], points: pl.DataFrame) -> None:
    fig4 = figures["fig4"]
    assert [panel.title for panel in fig4.panels] == [
        "(a) 20 ms, 40 calls/s",
        "(b) 20 ms, 20 calls/s",
        "(c) 60 ms, 40 calls/s",
        "(d) 60 ms, 20 calls/s",
    ]
    for panel in fig4.panels:
        assert [trace["name"] for trace in panel.data] == ["HOLB (in order)", "no HOLB (no order)"]
        for trace in panel.data:
            assert trace["x"] == [0.5, 1, 2, 3, 4, 6, 8]
    row = points.filter(
        (pl.col("path.one_way_delay") == 0.06)
        & (pl.col("workload.call_rate") == 20)
        & (pl.col("path.loss.rate") == 0.04)
        & (pl.col("transport.delivery") == "unordered")
    ).row(0, named=True)
    trace = fig4.panels[3].data[1]
    assert trace["y"][4] == pytest.approx(1000 * row["psd_p95_s.mean"], rel=1e-4)
    high = 1000 * (row["psd_p95_s.ci_high"] - row["psd_p95_s.mean"])
    assert trace["error_y"]["array"][4] == pytest.approx(high, rel=1e-3, abs=1e-3)


def test_series_differ_by_more_than_colour(figures: dict[str, Figure]) -> None:
    legend = figures["fig4"].legend
    assert len({entry.colour for entry in legend}) == len(legend)
    assert len({entry.dash for entry in legend}) == len(legend)
    assert len({entry.symbol for entry in legend}) == len(legend)
    bars = figures["delay-parts"].legend
    assert len({entry.pattern for entry in bars}) == len(bars) == 4


def test_parts_are_stacked_to_the_whole_delay(
    figures: dict[str, Figure], points: pl.DataFrame
) -> None:
    figure = figures["delay-parts"]
    assert [panel.title for panel in figure.panels] == [
        "(a) HOLB (in order)",
        "(b) no HOLB (no order)",
    ]
    row = points.filter(
        (pl.col("path.one_way_delay") == 0.02)
        & (pl.col("workload.call_rate") == 40)
        & (pl.col("path.loss.rate") == 0.08)
        & (pl.col("transport.delivery") == "ordered")
    ).row(0, named=True)
    panel = figure.panels[0]
    assert panel.layout["barmode"] == "stack"
    assert panel.data[0]["x"][-1] == "8 %"
    total = sum(trace["y"][-1] for trace in panel.data)
    assert total == pytest.approx(1000 * row["message_delay_mean_s.mean"], rel=1e-3)
    assert figure.panels[0].layout["yaxis"]["range"] == figure.panels[1].layout["yaxis"]["range"]


def test_distributions_fall_and_cross_five_percent_at_the_percentile(
    figures: dict[str, Figure],
) -> None:
    figure = figures["distributions"]
    assert [p.title for p in figure.panels] == ["(a) 0.5 %", "(b) 2 %", "(c) 4 %", "(d) 8 %"]
    trace = figure.panels[1].data[0]
    assert trace["x"] == sorted(trace["x"])
    assert trace["y"] == sorted(trace["y"], reverse=True)
    assert trace["y"][-1] == pytest.approx(0.5)
    runs = load(results_folder()).runs.filter(
        (pl.col("path.one_way_delay") == 0.02)
        & (pl.col("workload.call_rate") == 40)
        & (pl.col("path.loss.rate") == 0.02)
        & (pl.col("transport.delivery") == "ordered")
    )["psd_p95_s"]
    longer_than_five_percent = min(x for x, y in zip(trace["x"], trace["y"], strict=True) if y < 5)
    assert 1000 * runs.min() <= longer_than_five_percent <= 1.1 * 1000 * runs.max()
    at_most = figure.frames[(*figure.default[:-1], 1)][1].data[0]
    assert at_most["y"] == sorted(at_most["y"])


def test_choices_change_what_is_drawn(figures: dict[str, Figure]) -> None:
    figure = figures["delay-parts"]
    assert [choice.name for choice in figure.choices] == ["one-way delay", "call rate"]
    assert figure.choices[0].labels == ("20 ms", "60 ms")
    network = {picked: panels[0].data[0]["y"][0] for picked, panels in figure.frames.items()}
    assert network[0, 0] == pytest.approx(20, rel=0.1)
    assert network[1, 0] == pytest.approx(60, rel=0.1)


def test_a_figure_for_paper_has_every_panel_and_no_colour_names(figures: dict[str, Figure]) -> None:
    drawing = figures["fig4"].for_paper()
    layout = drawing["layout"]
    assert {"xaxis", "xaxis2", "xaxis3", "xaxis4"} <= set(layout)
    assert len([t for t in drawing["data"] if t["showlegend"]]) == 2
    assert '"@' not in str(drawing).replace("'", '"')
    domains = [layout[f"yaxis{i}"]["domain"] for i in ("", "2", "3", "4")]
    assert domains[0] == domains[1] and domains[2] == domains[3]
    assert domains[2][1] < domains[0][0]


def test_every_colour_has_a_value_in_both_themes() -> None:
    assert set(LIGHT) == set(DARK)
    assert painted({"a": ["@blue", {"b": "@ink"}]}, LIGHT) == {
        "a": [LIGHT["@blue"], {"b": LIGHT["@ink"]}]
    }


def test_figures_are_chosen_by_name_or_by_what_varies() -> None:
    assert [d.name for d in chosen(["distributions", "fig4"], [])] == ["distributions", "fig4"]
    assert [d.name for d in chosen([], ["stack", "path.loss.rate"])] == [
        "stacks",
        "stack-levels",
        "delay-parts",
        "distributions",
    ]
    assert chosen([], ["path.rate"])[0].name == "curves"
    with pytest.raises(UserError, match='did you mean "fig4"'):
        chosen(["fig44"], [])


def test_a_definition_is_checked() -> None:
    with pytest.raises(UserError, match='unknown key serie; did you mean "series"'):
        definition("x", {"kind": "curves", "title": "t", "serie": ["a"]})
    assert all(entry.title for entry in catalogue().values())


def test_generic_curves_place_what_varies() -> None:
    results = load(results_folder())
    from headway.plots.curves import curves

    figure = curves(catalogue()["curves"], source(results))
    assert figure is not None
    assert figure.title == "Post-selection delay, 95th percentile against loss rate"
    assert len(figure.panels) == 4 and len(figure.legend) == 2


@pytest.mark.parametrize(
    ("format", "signature"), [("svg", b"<svg"), ("pdf", b"%PDF-"), ("png", b"\x89PNG")]
)
def test_figures_as_files(format: str, signature: bytes) -> None:  # noqa: A002
    if shutil.which("chromium") is None:
        pytest.fail("this test needs Chromium: apt install chromium")
    paths = report.figures(results_folder(), format)  # type: ignore[arg-type]
    assert [path.name for path in paths] == [
        f"{name}.{format}" for name in ("fig4", "delay-parts", "distributions")
    ]
    for path in paths:
        content = path.read_bytes()
        assert content.startswith(signature)
        assert len(content) > 5000
    if format == "svg":
        text = paths[0].read_text()
        assert "(d) 60 ms, 20 calls/s" in text and "no HOLB" in text


def test_without_a_browser_the_message_names_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, figures: dict[str, Figure]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="apt install chromium"):
        files.draw_files(list(figures.values()), tmp_path, "svg")
