"""The report in a real browser: drawn, quiet, sortable, at every width and in the dark."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from real_results import results_folder

SETTINGS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "has_touch": True,
        "device_scale_factor": 2,
    },
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
}
PANELS = 4 + 2 + 4
"""Of fig4, delay-parts and distributions."""


@dataclass
class Opened:
    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("this test needs Chromium: apt install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


def show(browser: Browser, folder: Path, **settings: Any) -> Opened:
    context = browser.new_context(accept_downloads=True, **settings)
    opened = Opened(context.new_page())
    opened.page.on("console", lambda message: opened.console.append(message.text))
    opened.page.on("pageerror", lambda error: opened.console.append(str(error)))
    opened.page.on("request", lambda request: opened.requests.append(request.url))
    opened.page.goto((folder / "report.html").resolve().as_uri())
    opened.page.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    return opened


@pytest.fixture(scope="module", params=list(SETTINGS))
def opened(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Opened]:
    shown = show(browser, results_folder(), **SETTINGS[request.param])
    yield shown
    shown.page.context.close()


@pytest.fixture
def desktop(browser: Browser) -> Iterator[Page]:
    shown = show(browser, results_folder(), **SETTINGS["desktop"])
    yield shown.page
    shown.page.context.close()


def test_every_figure_is_drawn(opened: Opened) -> None:
    page = opened.page
    assert page.locator(".plot .main-svg .cartesianlayer").count() == PANELS
    assert page.locator("#figure-fig4 .scatterlayer .trace").count() == 4 * 2
    assert page.locator("#figure-fig4 .scatterlayer .trace path.point").count() == 4 * 2 * 7
    assert page.locator("#figure-fig4 .errorbars .errorbar").count() == 4 * 2 * 7
    assert page.locator("#figure-delay-parts .barlayer .trace").count() == 2 * 4
    assert page.locator("#figure-delay-parts .barlayer .point path").count() == 2 * 4 * 7
    assert page.locator("#figure-distributions .scatterlayer .trace").count() == 4 * 2


def test_nothing_is_complained_of_and_nothing_fetched(opened: Opened) -> None:
    assert opened.console == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert sum(url.startswith("file:") for url in opened.requests) == 1


def test_the_page_is_no_wider_than_its_window(opened: Opened) -> None:
    page = opened.page
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"]  # type: ignore[index]


def test_panels_stack_where_the_window_is_narrow(opened: Opened) -> None:
    boxes = [opened.page.locator("#figure-fig4 .panel").nth(i).bounding_box() for i in range(2)]
    assert boxes[0] is not None and boxes[1] is not None
    narrow = opened.page.viewport_size["width"] < 500  # type: ignore[index]
    assert (boxes[1]["y"] > boxes[0]["y"] + 100) == narrow


def test_text_stands_out_from_its_ground(opened: Opened) -> None:
    """Contrast of at least 4.5 to 1, as WCAG 2 asks, in either theme."""
    ratio = opened.page.evaluate(
        """() => {
        const light = (colour) => {
          const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map((v) => {
            const x = v / 255;
            return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = light(getComputedStyle(document.querySelector(".drawing")).backgroundColor);
        return ["#answer p", "figcaption", ".drawing h3", ".xtick text"].map((selector) => {
          const style = getComputedStyle(document.querySelector(selector));
          const text = light(selector === ".xtick text" ? style.fill : style.color);
          return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
        });
        }"""
    )
    assert min(ratio) >= 4.5


def test_the_dark_theme_reaches_the_figures(browser: Browser) -> None:
    fills = {}
    for name in ("desktop", "dark"):
        shown = show(browser, results_folder(), **SETTINGS[name])
        fills[name] = shown.page.locator(".xtick text").first.evaluate(
            "node => getComputedStyle(node).fill"
        )
        if name == "dark":
            shown.page.emulate_media(color_scheme="light")
            shown.page.wait_for_function(
                "fill => getComputedStyle(document.querySelector('.xtick text')).fill === fill",
                arg=fills["desktop"],
            )
        shown.page.context.close()
    assert fills["desktop"] != fills["dark"]


def column(page: Page, table: str, index: int) -> list[str]:
    texts: list[str] = page.locator(f"#{table} tbody tr").evaluate_all(
        "(rows, i) => rows.filter((r) => !r.hidden).map((r) => r.cells[i].textContent.trim())",
        index,
    )
    return texts


def test_tables_sort_up_and_down(desktop: Page) -> None:
    heads = desktop.locator("#table-points thead th button").all_inner_texts()
    at = next(i for i, head in enumerate(heads) if head.startswith("P95"))
    button = desktop.locator("#table-points thead th button").nth(at)
    before = column(desktop, "table-points", at)
    button.click()
    rising = [float(text) for text in column(desktop, "table-points", at)]
    assert rising == sorted(rising) and len(rising) == 56
    button.click()
    falling = [float(text) for text in column(desktop, "table-points", at)]
    assert falling == sorted(falling, reverse=True)
    assert sorted(before) == sorted(column(desktop, "table-points", at))
    head = desktop.locator("#table-points thead th").nth(at)
    assert head.get_attribute("aria-sort") == "descending"


def test_tables_filter(desktop: Page) -> None:
    desktop.fill("[data-filter=table-points]", "60 ms, 20 calls/s")
    assert desktop.locator("[data-count=table-points]").inner_text() == "14 rows"
    assert len(column(desktop, "table-points", 0)) == 14


def test_a_table_is_downloaded_whole(desktop: Page, tmp_path: Path) -> None:
    with desktop.expect_download() as download:
        desktop.click("a[data-file='sip-random-loss-points.csv']")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "sip-random-loss-points.csv"
    rows = list(csv.DictReader(file.open()))
    assert len(rows) == 56 and float(rows[0]["psd_p95_s.mean"]) > 0


def test_legend_hides_a_series_in_every_panel(desktop: Page) -> None:
    button = desktop.locator("#figure-fig4 .legend button").first
    button.click()
    desktop.wait_for_function(
        "document.querySelectorAll('#figure-fig4 .scatterlayer .trace').length === 4"
    )
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    desktop.wait_for_function(
        "document.querySelectorAll('#figure-fig4 .scatterlayer .trace').length === 8"
    )


def test_a_choice_redraws_its_figure(desktop: Page) -> None:
    figure = desktop.locator("#figure-delay-parts")
    top = "document.querySelector('#figure-delay-parts .plot').layout.yaxis.range[1]"
    before = desktop.evaluate(top)
    figure.locator("select").first.select_option(label="60 ms")
    desktop.wait_for_function(f"{top} !== {before}")


def test_print_is_light_and_whole(browser: Browser) -> None:
    shown = show(browser, results_folder(), **SETTINGS["dark"])
    page = shown.page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    light = "rgb(91, 103, 117)"
    page.wait_for_function(
        "fill => getComputedStyle(document.querySelector('.xtick text')).fill === fill", arg=light
    )
    assert page.locator("nav").is_hidden()
    assert page.locator("#answer .lead").is_visible()
    assert len(page.pdf(format="A4")) > 50_000
    page.context.close()
