"""docs/studies.md: its tables are the models', and its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headway import core, plan
from headway.metrics import COMPETING, METRICS, RADIO
from headway.study import parse
from headway.study.reference import TABLES, renew
from headway.units import BIT_RATE, DURATION, SIZE
from study_files import SMALL

PAGE = Path(__file__).parents[1] / "docs" / "studies.md"
RUNSPEC = PAGE.with_name("runspec.md")


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def examples(page: str) -> list[str]:
    return re.findall(r"```toml\n(.*?)```", page, re.DOTALL)


def test_tables_are_those_of_the_models(page: str) -> None:
    assert page == renew(page), "run: python -m headway.study.reference docs/studies.md"
    assert set(re.findall(r"<!-- table: ([a-z.]+) -->", page)) == set(TABLES)


def test_the_example_study_runs(page: str) -> None:
    study = parse(examples(page)[0])
    made = plan.build(study, replications=1)
    assert len(made.points) == 4
    assert "runs" in core.run(list(made.specs()))


def test_every_form_of_a_factor_is_valid(page: str) -> None:
    start = SMALL[: SMALL.index("[[factor]]")].replace('generator = "markov"', "rate = 0.01")
    study = parse(start + examples(page)[1])
    assert study.factor_columns == [
        "path.one_way_delay",
        "path.queue",
        "workload.invite",
        "workload.ringing",
        "stack",
    ]


def test_every_unit_is_named(page: str) -> None:
    quantities = page[page.index("## Quantities") : page.index("## `[study]`")]
    for quantity in (DURATION, SIZE, BIT_RATE):
        for unit in quantity.units:
            assert f"`{unit}`" in quantities, unit


def test_every_metric_is_described() -> None:
    text = RUNSPEC.read_text(encoding="utf-8")
    for metrics in (*METRICS.values(), RADIO, COMPETING):
        for name in metrics:
            assert f"`{name}`" in text, name
