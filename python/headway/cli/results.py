"""`headway report` and `check`, and what `run` shows at its end."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from headway.cli.console import console, note, plural, table
from headway.errors import UserError
from headway.store import write_json

if TYPE_CHECKING:
    from headway.claims import Verdict
    from headway.expect import ExpectResult

__all__ = [
    "Judged",
    "check",
    "judge",
    "report",
    "show_answer",
    "show_counts",
    "show_rules",
    "styled",
]


@dataclass(frozen=True)
class Judged:
    """What a study's claims and rules came to."""

    verdicts: list[Verdict]
    rules: list[ExpectResult]

    @property
    def lost(self) -> list[Verdict]:
        """Claims that held before and no longer do."""
        return [verdict for verdict in self.verdicts if verdict.lost]

    @property
    def passed(self) -> bool:
        """Whether no rule fails."""
        return all(rule.passed for rule in self.rules)


def judge(folder: Path) -> Judged:
    """Checks claims and rules and keeps what came out in verdicts.json."""
    from headway import claims, expect

    results = claims.load(folder)
    verdicts = claims.check(folder)
    rules = expect.evaluate(results.study, results.points)
    file = folder / "verdicts.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    write_json(file, {**record, "rules": [rule.record() for rule in rules]})
    return Judged(verdicts, rules)


def write_report(folder: Path) -> Path:
    """Writes report.html."""
    from headway import report as reports

    return reports.write(folder)


def report(folder: Path, figures: Literal["svg", "pdf", "png"] | None, open_: bool) -> None:
    """Writes the report again, and figures for a paper if asked."""
    from headway import claims

    claims.load(folder)
    if not (folder / "verdicts.json").is_file():
        judge(folder)
    path = write_report(folder)
    print(f"report:  {path}")
    if figures is not None:
        from headway import report as reports

        for figure in reports.figures(folder, figures):
            print(f"figure:  {figure}")
    if open_:
        import webbrowser

        if not webbrowser.open(path.resolve().as_uri()):
            note("no browser was found; open the report yourself")


def check(folder: Path) -> None:
    """Prints a verdict for every claim and rule; exit code 1 when one was lost or fails."""
    judged = judge(folder)
    if judged.verdicts:
        listed = table("claim", "verdict", "measured", "expected", "what it says")
        for verdict in judged.verdicts:
            listed.add_row(
                verdict.id,
                styled(str(verdict.verdict), verdict.lost),
                verdict.measured or verdict.detail,
                verdict.expected,
                verdict.statement,
            )
        console().print(listed)
    show_rules(judged.rules)
    show_counts(judged)
    if judged.lost or not judged.passed:
        sys.exit(1)


def show_answer(folder: Path) -> None:
    """Prints the study's answer: a small table and a few sentences."""
    from headway import report as reports

    answer = reports.answer(folder)
    if answer.table is not None:
        console().print(answer.table)
    for sentence in answer.sentences:
        console().print(sentence, markup=False)
    print()


def show_rules(rules: list[ExpectResult]) -> None:
    """Prints the study's rules with what was found, if it has any."""
    if not rules:
        return
    listed = table("rule", "result", "worst>", "limit>", "where")
    for rule in rules:
        listed.add_row(
            rule.name,
            styled(str(rule.status), not rule.passed),
            _number(rule.worst),
            _number(rule.limit),
            ", ".join(f"{key} {value}" for key, value in rule.worst_at.items()),
        )
    console().print(listed)


def show_counts(judged: Judged) -> None:
    """Prints how many claims hold, in one line, and the names of those that were lost."""
    counts: dict[str, int] = {}
    for verdict in judged.verdicts:
        counts[str(verdict.verdict)] = counts.get(str(verdict.verdict), 0) + 1
    if counts:
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        print(f"{plural(len(judged.verdicts), 'claim')}: {told}")
    if judged.lost:
        note(f"held before and no longer: {', '.join(v.id for v in judged.lost)}")
    failing = [rule.name for rule in judged.rules if not rule.passed]
    if failing:
        note(f"rules that fail: {', '.join(failing)}")


def styled(word: str, bad: bool) -> str:
    """A verdict in its colour; red where it is `bad`."""
    if bad:
        return f"[bold red]{word}[/]"
    colours = {"holds": "green", "passes": "green", "does not hold": "yellow"}
    colour = colours.get(word)
    return f"[{colour}]{word}[/]" if colour else f"[dim]{word}[/]"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def folder_or_error(folder: Path) -> Path:
    """The folder, where it is one."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    return folder
