"""The page: everything it shows, put into its template."""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from headway import core
from headway.claims.check import VERDICTS, evaluate
from headway.claims.results import Results
from headway.claims.settings import KNOBS, profile_knobs, settings, shown, unit_of
from headway.claims.verdict import Outcome, Verdict
from headway.expect import evaluate as evaluate_rules
from headway.plots import Source
from headway.plots.theme import DARK, LIGHT
from headway.report.answer import Answer, Question, write_answer
from headway.report.models import models_tables
from headway.report.sources import drawn, incomplete, source
from headway.report.tables import PageTable, comparison_table, points_table
from headway.report.words import NOTHING, counted, listed, quantity


def render(results: Results) -> str:
    """The report as one HTML document."""
    tables = source(results)
    asked = Question(results, tables)
    answer = write_answer(asked)
    figures = drawn(results, tables)
    verdicts = _verdicts(results)
    rules = evaluate_rules(results.study, results.points)
    page_tables = _tables(asked, answer)
    embedded = {
        "figures": [figure.for_page() for figure in figures],
        "themes": {"light": LIGHT, "dark": DARK},
        "files": {f"{results.study.name}-{table.name}.csv": table.csv for table in page_tables},
    }
    page: str = _template().render(
        study=results.study,
        facts=_facts(results),
        answer=answer,
        figures=figures,
        verdicts=verdicts,
        verdict_counts=_counts(verdicts),
        rules=rules,
        tables=page_tables,
        factors=list(tables.columns.values()),
        settings=_settings(results),
        profiles=_profiles(results),
        provenance=_provenance(results),
        incomplete=incomplete(results),
        themes={"light": LIGHT, "dark": DARK},
        nothing=NOTHING,
        counted=counted,
        rule_value=lambda metric, value: quantity(value, tables.scale(metric)),
        place=lambda at: _place(tables, at),
        embedded=Markup(_script_json(embedded)),
        plotly=Markup(plotly_script()),
        style=Markup(_asset("report.css")),
        script=Markup(_asset("report.js")),
    )
    return page


@cache
def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("headway.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["options"] = _options
    return environment.get_template("report.html.j2")


def _options(text: str) -> Markup:
    """A sentence with options of commands marked as such, and units kept beside their numbers."""
    marked = re.sub(r"(--[a-z]+(?: [0-9]+)?)", r"<code>\1</code>", str(escape(text)))
    return Markup(re.sub(r"([0-9]) (%|ms\b|s\b)", r"\1&nbsp;\2", marked))


@cache
def plotly_script() -> str:
    """The plotly library's own script, found without importing the package."""
    found = importlib.util.find_spec("plotly")
    if found is None or found.origin is None:
        raise ImportError("plotly is not installed")
    script = Path(found.origin).parent / "package_data" / "plotly.min.js"
    return script.read_text(encoding="utf-8")


@cache
def _asset(name: str) -> str:
    return (files("headway.report") / "templates" / name).read_text(encoding="utf-8")


def _script_json(value: Any) -> str:
    """JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _verdicts(results: Results) -> list[Verdict]:
    """The verdicts that `headway check` left, if this version wrote them; else made anew."""
    file = results.folder / VERDICTS
    if file.is_file() and file.stat().st_mtime_ns >= (
        (results.folder / "runs.parquet").stat().st_mtime_ns
    ):
        record = json.loads(file.read_text(encoding="utf-8"))
        if record.get("version") == core.version():
            return [Verdict.from_record(entry) for entry in record["verdicts"]]
    return evaluate(results)


def _counts(verdicts: list[Verdict]) -> str:
    words = {
        Outcome.HOLDS: ("holds", "hold"),
        Outcome.FAILS: ("does not hold", "do not hold"),
        Outcome.NOT_TESTABLE: ("cannot be tested here", "cannot be tested here"),
    }
    told = []
    for outcome, (one, many) in words.items():
        number = sum(verdict.verdict is outcome for verdict in verdicts)
        if number:
            told.append(f"{number} {one if number == 1 else many}")
    return listed(told)


def _facts(results: Results) -> list[str]:
    """The line under the title."""
    found = [
        counted(results.points.height, "point"),
        counted(results.runs.height, "run"),
        f"{counted(results.replications, 'replication')} of each point",
    ]
    number = getattr(results.study.scenario.workload, "transactions", None)
    duration = results.study.scenario.run.duration / 1e9
    found.append(
        f"{duration:g} s of virtual time each" if number is None else f"{number} transactions each"
    )
    version = results.provenance.get("version")
    if version:
        found.append(f"Headway {version}")
    return found


def _tables(asked: Question, answer: Answer) -> list[PageTable]:
    tables = asked.source
    what = asked.metric_text
    found = []
    if answer.comparison is not None and answer.compared is not None:
        factor, a, b = answer.compared
        column = tables.columns[factor]
        labels = (column.label(a), column.label(b))
        found.append(comparison_table(tables, answer.comparison, labels, what))
    if tables.models is not None:
        found += models_tables(tables, tables.models)
    found.append(points_table(tables))
    return found


def _place(tables: Source, at: dict[str, Any]) -> str:
    """A point in words: the levels of the factors that vary."""
    return ", ".join(
        f"{column.name} {column.label(at[column.key])}"
        for column in tables.varied
        if column.key in at
    )


def _settings(results: Results) -> list[tuple[str, str]]:
    """What every run shares."""
    varied = [key for factor in results.study.factors for key in factor.keys]
    found = []
    for key, value in settings(results.study.scenario).items():
        if value is None or any(key == v or key.startswith(f"{v}.") for v in varied):
            continue
        if key.startswith(KNOBS):
            continue
        found.append((key, f"{shown(value)} {unit_of(key)}".strip()))
    return found


def _profiles(results: Results) -> list[dict[str, Any]]:
    """The stack profiles in use: each knob, its value and source, and what the study sets."""
    study = results.study
    used = [
        str(item.value)
        for factor in study.factors
        for level in factor.levels
        for item in level.assignments
        if item.key == "transport.profile"
    ] or [getattr(study.scenario.transport, "profile", "")]
    varied = {key for factor in study.factors for key in factor.keys}
    knobs = getattr(study.scenario.transport, "sctp", None)
    written: set[str] = getattr(knobs, "model_fields_set", set())
    held = settings(study.scenario)
    return [
        {
            "name": name,
            "knobs": [
                (
                    knob,
                    shown(held[f"{KNOBS}{knob.name}"])
                    if knob.name in written and f"{KNOBS}{knob.name}" not in varied
                    else "",
                )
                for knob in profile_knobs(name)
            ],
        }
        for name in dict.fromkeys(used)
        if name
    ]


def _provenance(results: Results) -> list[tuple[str, str]]:
    held = results.provenance
    study = held.get("study", {})
    machine = held.get("machine", {})
    cpu = machine.get("processor") or machine.get("architecture") or ""
    rows = [
        ("study", results.study.name),
        ("study file, SHA-256", study.get("sha256", "")),
        ("seed", str(held.get("seed", results.study.seed))),
        ("changed with --set", ", ".join(held.get("overrides", [])) or "nothing"),
        ("restricted with --only", ", ".join(held.get("only", [])) or "nothing"),
        ("Headway", str(held.get("version", ""))),
        ("started", str(held.get("started") or "")),
        ("wall time", f"{held['wall_s']:g} s" if held.get("wall_s") is not None else ""),
        ("runs per second", f"{held['runs_per_second']:g}" if held.get("runs_per_second") else ""),
        (
            "machine",
            ", ".join(
                filter(
                    None,
                    [
                        f"{machine.get('system', '')} {machine.get('release', '')}".strip(),
                        cpu,
                        counted(machine["cpus"], "CPU") if machine.get("cpus") else "",
                        f"Python {machine['python']}" if machine.get("python") else "",
                    ],
                )
            ),
        ),
    ]
    return [(name, value) for name, value in rows if value]
