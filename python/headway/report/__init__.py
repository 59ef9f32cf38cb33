"""The report of a study: one HTML file that needs nothing else, and figures for a paper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from headway.report.answer import Answer, AnswerTable

__all__ = ["REPORT", "Answer", "AnswerTable", "answer", "figures", "write"]

REPORT = "report.html"


def write(folder: str | Path) -> Path:
    """Write report.html into the results folder and return its path.

    Raises UserError when the folder holds no finished results.
    """
    from headway.claims import load
    from headway.report.page import render

    results = load(folder)
    path = results.folder / REPORT
    writing = path.with_name(f"{REPORT}.writing")
    writing.write_text(render(results), encoding="utf-8")
    os.replace(writing, path)
    return path


def answer(folder: str | Path) -> Answer:
    """What the study found: a small table and a few sentences.

    Raises UserError when the folder holds no finished results.
    """
    from headway.claims import load
    from headway.report.answer import write_answer
    from headway.report.sources import question

    return write_answer(question(load(folder)))


def figures(folder: str | Path, format: Literal["svg", "pdf", "png"]) -> list[Path]:  # noqa: A002
    """Write the report's figures as files into `figures` in the results folder.

    Raises UserError when the folder holds no finished results, or when kaleido or Chromium,
    which draw them, are missing.
    """
    from headway.claims import load
    from headway.report.files import draw_files
    from headway.report.sources import drawn

    results = load(folder)
    return draw_files(drawn(results), results.folder / "figures", format)
