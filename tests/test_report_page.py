"""The page as a file: what it holds, how large it is and how quickly it is written."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from headway import claims, report
from headway.claims import Outcome
from real_results import results_folder
from sip_tables import sip_runs, with_every_metric, write_distributions, write_results


@pytest.fixture(scope="module")
def folder() -> Path:
    return results_folder()


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


class _Resources(HTMLParser):
    """Collects everything that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        for name, value in attrs:
            link = name == "href" and tag != "a"
            if (name in ("src", "srcset", "data", "poster") or link) and value != "data:,":
                self.found.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the base class hands it over
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside not in ("script", "style"):
            self.text.append(data)


@pytest.fixture(scope="module")
def parsed(page: str) -> _Resources:
    parser = _Resources()
    parser.feed(page)
    return parser


def test_nothing_is_fetched(parsed: _Resources, page: str) -> None:
    assert parsed.found == []
    styles = "".join(re.findall(r"<style>(.*?)</style>", page, re.S))
    assert "url(" not in styles and "@import" not in styles


def test_the_file_is_a_few_megabytes(folder: Path) -> None:
    assert (folder / "report.html").stat().st_size < 8_000_000


def test_plotly_is_embedded_once(page: str) -> None:
    assert page.count("* plotly.js v") == 1


def test_the_answer_comes_first(folder: Path, parsed: _Resources) -> None:
    text = re.sub(r"\s+", " ", " ".join(parsed.text)).replace("\xa0", " ")
    found = report.answer(folder)
    first = text.index(found.sentences[0])
    assert first < text.index("Figures", text.index("How to read") + 20)
    for sentence in found.sentences:
        assert sentence in text


def test_every_claim_stands_with_its_verdict(folder: Path, parsed: _Resources) -> None:
    text = re.sub(r"\s+", " ", " ".join(parsed.text))
    verdicts = json.loads((folder / "verdicts.json").read_text())["verdicts"]
    assert len(verdicts) == 17
    for verdict in verdicts:
        assert verdict["id"] in text
        assert verdict["statement"] in text
    # Fig. 4's points are here; the other queue and correlations are not.
    by_id = {verdict["id"]: verdict["verdict"] for verdict in verdicts}
    assert by_id["s0-c09"] == by_id["s0-c10"] == Outcome.NOT_TESTABLE
    assert by_id["s0-c08"] != Outcome.NOT_TESTABLE


def test_settings_name_their_sources(parsed: _Resources) -> None:
    text = re.sub(r"\s+", " ", " ".join(parsed.text))
    assert "lksctp constants.h" in text
    assert "set by the study" in text
    assert "path.loss.rate" in text


def test_downloads_hold_every_point(folder: Path, page: str) -> None:
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert data is not None
    embedded = json.loads(data.group(1))
    points = pl.read_csv(embedded["files"]["sip-random-loss-points.csv"].encode())
    original = pl.read_parquet(folder / "points.parquet")
    assert points.columns == original.columns
    assert points["psd_p95_s.mean"].to_list() == pytest.approx(
        original["psd_p95_s.mean"].to_list(), rel=1e-5
    )


def test_the_same_results_give_the_same_page(folder: Path, page: str) -> None:
    report.write(folder)
    assert (folder / "report.html").read_text(encoding="utf-8") == page


def test_verdicts_of_another_version_are_made_anew(folder: Path, page: str) -> None:
    file = folder / "verdicts.json"
    kept = file.read_text()
    record = json.loads(kept)
    record["verdicts"][0]["measured"] = "of another version"
    try:
        file.write_text(json.dumps(record))
        assert "of another version" in report.write(folder).read_text()
        file.write_text(json.dumps(record | {"version": "0.0.0"}))
        assert report.write(folder).read_text() == page
    finally:
        file.write_text(kept)


def test_a_claim_that_is_lost_is_told(folder: Path) -> None:
    file = folder / "verdicts.json"
    kept = file.read_text()
    record = json.loads(kept)
    failing = [v for v in record["verdicts"] if v["verdict"] == Outcome.FAILS]
    try:
        for verdict in failing:
            verdict["verdict"] = "holds"
        file.write_text(json.dumps(record))
        now = claims.check(folder)
        assert {v.id for v in claims.lost(now)} == {v["id"] for v in failing}
        # It stays told, however often the check is run again.
        assert {v.id for v in claims.lost(claims.check(folder))} == {v["id"] for v in failing}
    finally:
        file.write_text(kept)


def test_the_full_study_is_reported_on_a_page_of_a_few_megabytes(tmp_path: Path) -> None:
    """3360 runs whose claims have been checked."""
    runs = with_every_metric(sip_runs())
    write_results(tmp_path, runs)
    write_distributions(tmp_path, runs)
    claims.check(tmp_path)
    report.write(tmp_path)
    assert (tmp_path / "report.html").stat().st_size < 8_000_000
