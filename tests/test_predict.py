"""`headway predict`: settings, tables, files and figures of the models."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from headway.cli.app import app
from headway.cli.settings import read_settings
from headway.errors import UserError
from headway.models import MODELS, get, predict
from headway.plots.columns import Scale
from headway.plots.predicted import Setting, figure

HOLB = ("predict", "holb", "rate=40", "rtt_s=40 ms")


def headway(*arguments: str | Path) -> str:
    """The output of a command that must succeed."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def refused(*arguments: str | Path) -> str:
    """What a command that must be refused says."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(done.exception, UserError), (done.output, done.exception)
    return str(done.exception)


def numbers(line: str) -> list[float]:
    return [float(word) for word in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", line)]


def test_a_grid_shows_what_varies_and_the_main_outputs() -> None:
    output = headway(*HOLB, "loss=1 %,2 %", "delivery=ordered,unordered")
    rows = [line for line in output.splitlines() if line.strip().startswith(("ordered", "unord"))]
    assert len(rows) == 4
    found = predict("holb", rate=40, rtt_s=0.04, loss=0.02, delivery="ordered").row(0, named=True)
    loss, mean, p95, p99, blocking, blocked = numbers(rows[1])
    assert loss == 2
    assert p95 == pytest.approx(1000 * found["psd_p95_s"], rel=1e-3)
    assert mean == pytest.approx(1000 * found["psd_mean_s"], rel=1e-3)
    assert p99 == pytest.approx(1000 * found["psd_p99_s"], rel=1e-3)
    assert blocking == pytest.approx(1000 * found["hol_blocking_mean_s"], rel=1e-3)
    assert blocked == pytest.approx(100 * found["hol_blocked_share"], rel=1e-3)
    assert "rtt_s 40 ms" in output and get("holb").validity in output


def test_one_point_shows_everything_with_its_meaning() -> None:
    output = headway(*HOLB, "loss=0.01")
    for one in (*get("holb").inputs, *get("holb").outputs):
        assert one.name in output and one.text in output
    assert "40 ms" in output


def test_what_lies_outside_the_region_is_said() -> None:
    output = headway(*HOLB, "loss=1 %,6 %")
    inside, outside = [line for line in output.splitlines() if re.match(r"\s+[16]\s", line)]
    assert inside.rstrip().endswith("yes") and "no: loss above 5 percent" in outside
    assert "outside: 1 of 2 points" in output


def test_the_list_tells_inputs_units_validity_and_source() -> None:
    output = headway("predict", "--list")
    for model in MODELS.values():
        assert model.source in output and model.validity in output
        assert all(one.name in output for one in model.inputs)
    only = headway("predict", "padhye", "--list")
    assert "square_root_bps" in only and "psd_p95_s" not in only
    assert re.search(r"rtt_s\s+duration, in s\s+required", only)


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("loss=0.5 %, 1 %,2%", "loss", [0.005, 0.01, 0.02]),
        ("loss=[0.01, 0.02]", "loss", [0.01, 0.02]),
        ("rtt_s=20ms..100ms:5", "rtt_s", [0.02, 0.04, 0.06, 0.08, 0.1]),
        ("loss=0.1%..10%:3log", "loss", [0.001, 0.01, 0.1]),
        ("streams=1..4:4", "streams", [1, 2, 3, 4]),
        ("delivery=ordered,streams", "delivery", ["ordered", "streams"]),
        ("repeat=on,off", "repeat", [True, False]),
        ("rate=40,20..40:2", "rate", [40, 20.0]),
    ],
)
def test_settings_are_values_lists_and_ranges(text: str, key: str, expected: list[object]) -> None:
    found = read_settings(get("holb"), [text])[key]
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


def test_loss_varies_fastest_so_that_chains_are_prepared_once() -> None:
    assert list(read_settings(get("holb"), ["loss=0.01", "rate=40", "rtt_s=0.1"]))[-1] == "loss"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("predict",), "name a model"),
        (("predict", "hol"), 'did you mean "holb"'),
        ((*HOLB, "los=0.1"), 'did you mean "loss"'),
        ((*HOLB, "loss"), "is not KEY=VALUE"),
        ((*HOLB, "loss=0.1", "loss=0.2"), "set twice"),
        ((*HOLB, "loss=1 %,,2 %"), "empty value"),
        ((*HOLB, "loss=10%..1%:4"), "runs upwards"),
        ((*HOLB, "loss=0%..1%:4log"), "above zero"),
        ((*HOLB, "loss=1%..2%:1"), "2 to"),
        ((*HOLB, "delivery=a..b:3", "loss=0.1"), "words, not a range"),
        ((*HOLB, "delivery=random", "loss=0.1"), "ordered, streams, unordered"),
        ((*HOLB, "loss=5 ms"), "unknown unit"),
        ((*HOLB,), "needs loss"),
        ((*HOLB, "loss=0.01", "--metric", "psd_p95"), 'did you mean "psd_p95_s"'),
        ((*HOLB, "loss=0.01", "--only", "a=b"), "belongs to --study"),
        ((*HOLB, "loss=0.01,0.02", "--plot", "a.jpg"), ".svg, .png, .pdf, .html"),
        ((*HOLB, "loss=0.01,0.02", "--plot", "no/such/folder/a.svg"), "there is no folder"),
        ((*HOLB, "loss=0..1:1000", "streams=1..1000:1000"), "too many"),
    ],
)
def test_mistakes_are_told_with_what_was_meant(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(*arguments)


def test_the_file_holds_everything_in_base_units(tmp_path: Path) -> None:
    file = tmp_path / "holb.csv"
    headway(*HOLB, "loss=0.5%..5%:10", "--csv", file)
    found = pl.read_csv(file)
    assert found["loss"].to_list() == pytest.approx([0.005 * i for i in range(1, 11)])
    expected = predict("holb", rate=40, rtt_s=0.04, loss=found["loss"].to_list())
    assert found["psd_p99_s"].to_list() == pytest.approx(expected["psd_p99_s"].to_list())
    assert {one.name for one in get("holb").outputs} <= set(found.columns)
    assert "cannot be written" in refused(*HOLB, "loss=0.01", "--csv", tmp_path)


def drawing(page: Path) -> dict:
    text = page.read_text()
    assert "Plotly.newPlot" in text and "plotly.js v" in text
    return json.loads(re.search(r"const figure=(\{.*\});", text)[1])


def test_a_plot_has_a_line_for_each_series_and_pales_outside_the_region(tmp_path: Path) -> None:
    page = tmp_path / "holb.html"
    output = headway(
        *HOLB, "loss=1%,3%,5%,7%", "delivery=ordered,unordered", "--limit", "200 ms",
        "--plot", page,
    )  # fmt: skip
    assert str(page) in output
    made = drawing(page)
    lines = [trace for trace in made["data"] if trace.get("text")]
    assert [trace["name"] for trace in lines] == ["ordered", "ordered", "unordered", "unordered"]
    inside, outside = lines[0], lines[1]
    assert inside["opacity"] == 1 > outside["opacity"]
    table = predict("holb", rate=40, rtt_s=0.04, loss=[0.01, 0.03, 0.05, 0.07])
    shown = [1000 * value for value in table["psd_p95_s"].to_list()]
    assert table["inside"].to_list() == [True, True, True, False]
    assert inside["y"][:3] == pytest.approx(shown[:3]) and inside["y"][3] is None
    # The step out of the region begins at its last point.
    assert outside["y"][:2] == [None, None] and outside["y"][2:] == pytest.approx(shown[2:])
    limit = made["layout"]["shapes"][0]
    assert limit["y0"] == 200 and limit["xref"] == "x domain"


def test_two_long_settings_make_a_map() -> None:
    losses = [0.001 * 1.5**i for i in range(10)]
    rtts = [0.02 * i for i in range(1, 9)]
    table = predict("padhye", rtt_s=rtts, loss=losses)
    varied = [
        Setting("rtt_s", rtts, Scale(1000, "ms")),
        Setting("loss", losses, Scale(100, "%")),
    ]
    made = figure("map", "Bulk TCP", table, varied, {"full_bps": "full model"}, 1e6)
    (panel,) = made.panels
    colours, edge = panel.data[0], panel.data[1]
    # The loss rates are more, so they run across; rows of z are round-trip times.
    assert len(colours["z"]) == 8 and len(colours["z"][0]) == 10
    expected = predict("padhye", rtt_s=rtts[2], loss=losses[4])["full_bps"][0]
    assert colours["z"][2][4] == pytest.approx(expected * 1e-6)
    assert edge["contours"]["start"] == pytest.approx(1.0)
    crosses = [trace for trace in panel.data if trace["type"] == "scatter"]
    outside = table.filter(~pl.col("inside"))
    assert sum(len(trace["x"]) for trace in crosses) == outside.height
    assert panel.layout["xaxis"]["type"] == "log"


def test_a_plot_needs_something_that_varies() -> None:
    assert "a setting of numbers that varies" in refused(
        *HOLB, "loss=0.01", "delivery=ordered,unordered", "--plot", "x.svg"
    )


def test_several_settings_become_panels_and_too_many_are_refused(tmp_path: Path) -> None:
    page = tmp_path / "many.html"
    headway(
        *HOLB, "loss=1%,2%,3%", "delivery=ordered,unordered", "reports=3,4", "-m", "psd_p95_s",
        "-m", "psd_p99_s", "--plot", page,
    )  # fmt: skip
    titles = [note["text"] for note in drawing(page)["layout"]["annotations"]]
    assert len(titles) == 4 and titles[0] == "<b>(a) reports 3</b>"
    assert "too many" in refused(
        *HOLB, "loss=1%..3%:20", "streams=1..20:20", "reports=3,4", "connections=1..9:9",
        "delivery=ordered,unordered", "--plot", page,
    )  # fmt: skip


@pytest.mark.parametrize(("suffix", "signature"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_figures_for_paper(tmp_path: Path, suffix: str, signature: bytes) -> None:
    if shutil.which("chromium") is None:
        pytest.fail("this test needs Chromium: apt install chromium")
    file = tmp_path / f"holb.{suffix}"
    headway(*HOLB, "loss=1%,2%,3%", "--plot", file)
    assert file.read_bytes().startswith(signature)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    if suffix == "svg":
        words = " ".join(ET.parse(file).getroot().itertext())
        assert "psd p95 (ms)" in words and "loss (%)" in words
