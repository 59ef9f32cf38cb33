"""What the commands share in writing to the terminal."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["console", "note", "plural", "table"]


@functools.cache
def console() -> Console:
    """Standard output, as wide as the terminal; a file or pipe is never wrapped."""
    from rich.console import Console

    plain = not sys.stdout.isatty()
    return Console(highlight=False, soft_wrap=plain, width=200 if plain else None)


def note(text: str) -> None:
    """A remark on standard error, which stays out of what others read."""
    print(text, file=sys.stderr, flush=True)


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table in the style of every command."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        right = column.endswith(">")
        made.add_column(
            column.removesuffix(">"), justify="right" if right else "left", overflow="fold"
        )
    return made


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 run", "2 runs", "no runs"."""
    noun = one if count == 1 else many or f"{one}s"
    return f"{count or 'no'} {noun}"
