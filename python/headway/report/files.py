"""Figures as files, drawn by kaleido with the Chromium of this machine."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from headway.errors import UserError
from headway.plots import Figure

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def browser() -> str:
    """The Chromium on the search path.

    Raises UserError that names the package when there is none.
    """
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    raise UserError(
        "figures as files are drawn by Chromium, which is not on the search path; "
        "install it (Debian, Ubuntu: apt install chromium)"
    )


def draw_files(
    figures: Sequence[Figure],
    folder: Path,
    format: Literal["svg", "pdf", "png"],  # noqa: A002
    width: int = 900,
) -> list[Path]:
    """Write each figure to `folder`, named after itself.

    Raises UserError when kaleido or Chromium is missing.
    """
    try:
        import kaleido
    except ImportError as error:
        raise UserError(
            "figures as files need kaleido; install it with `pip install 'headway[figures]'`"
        ) from error
    chromium = browser()
    folder.mkdir(parents=True, exist_ok=True)
    wanted: list[dict[str, Any]] = []
    paths = []
    for figure in figures:
        drawing = figure.for_paper(width)
        size = {"width": drawing["layout"]["width"], "height": drawing["layout"]["height"]}
        paths.append(folder / f"{figure.name}.{format}")
        wanted.append(
            {
                "fig": drawing,
                "path": paths[-1],
                # Twice the pixels, for print.
                "opts": {"format": format, "scale": 2 if format == "png" else 1, **size},
            }
        )
    # MathJax would be fetched from the network, and no figure has a formula.
    kaleido.write_fig_from_object_sync(wanted, kopts={"path": chromium, "mathjax": False})
    return paths
