"""A figure in a file of the user's choice: SVG, PNG, PDF, or a page that opens anywhere."""

from __future__ import annotations

import json
import tempfile
from html import escape
from pathlib import Path
from typing import Literal, cast

from headway.errors import UserError
from headway.plots import Figure

__all__ = ["check_suffix", "draw"]

SUFFIXES = (".svg", ".png", ".pdf", ".html")

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body{{font:16px/1.5 system-ui,sans-serif;max-width:{width}px;margin:2rem auto;padding:0 1rem}}
h1{{font-size:1.2rem}}p{{color:#5b6775}}</style>
<script>{script}</script></head>
<body><h1>{title}</h1><div id="figure"></div><p>{text}</p>
<script>const figure={figure};
Plotly.newPlot("figure",figure.data,figure.layout,{{responsive:true,displaylogo:false}});</script>
</body></html>
"""


def check_suffix(path: Path) -> None:
    """UserError where the name's end tells no kind of file, or the folder is not there."""
    if path.suffix not in SUFFIXES:
        raise UserError(f"--plot {path}: a file that ends in {', '.join(SUFFIXES)}")
    if not path.absolute().parent.is_dir():
        raise UserError(f"--plot {path}: there is no folder {path.parent}")


def draw(figure: Figure, path: Path, text: str, width: int = 900) -> None:
    """Writes the figure, and `text` under it where the kind of file has room for it.

    Raises UserError when what draws files is missing.
    """
    if path.suffix == ".html":
        path.write_text(_page(figure, text, width), encoding="utf-8")
    else:
        from headway.report.files import draw_files

        kind = cast(Literal["svg", "pdf", "png"], path.suffix[1:])
        # Beside its place, so that the last step is a rename.
        with tempfile.TemporaryDirectory(dir=path.absolute().parent) as folder:
            (drawn,) = draw_files([figure], Path(folder), kind, width)
            drawn.replace(path)
    print(f"figure:  {path}")


def _page(figure: Figure, text: str, width: int) -> str:
    from headway.report.page import plotly_script

    drawing = json.dumps(figure.for_paper(width), allow_nan=False, separators=(",", ":"))
    return PAGE.format(
        title=escape(figure.title),
        text=escape(text),
        width=width,
        script=plotly_script(),
        figure=drawing.replace("<", "\\u003c"),
    )
