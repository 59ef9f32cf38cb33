"""`headway simulate` and `profiles`."""

from __future__ import annotations

import json
import sys
from io import BytesIO
from pathlib import Path

from headway import core
from headway.cli.console import console, table
from headway.errors import UserError
from headway.study.fields import quantity_of, spec_key
from headway.study.transport import SctpKnobs

__all__ = ["profiles", "simulate"]


def simulate(source: str) -> None:
    """Prints the metrics of one RunSpec as JSON."""
    text = _read(source)
    name = "standard input" if source == "-" else source
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{name}:{error.lineno}: is not JSON: {error.msg}") from error
    try:
        core.check(text)
    except ValueError as error:
        raise UserError(f"{name}: {error}") from error
    import polars as pl

    row = pl.read_ipc_stream(BytesIO(core.run([text])["runs"])).row(0, named=True)
    print(json.dumps(row, indent=2, allow_nan=False, default=str))


def profiles(as_json: bool) -> None:
    """Prints every stack profile."""
    known = core.profiles()
    if as_json:
        print(json.dumps(known, indent=2, ensure_ascii=False))
        return
    names = {spec_key(SctpKnobs, name): name for name in SctpKnobs.model_fields}
    for profile, knobs in known.items():
        listed = table("knob", "value>", "source", title=f"[bold]{profile}[/]")
        for knob in knobs:
            name = names.get(knob["name"])
            quantity = quantity_of(SctpKnobs, name) if name else None
            value = quantity.write(int(knob["value"])) if quantity else knob["value"]
            listed.add_row(name or knob["name"], value, knob["source"])
        console().print(listed)


def _read(source: str) -> str:
    if source == "-":
        return sys.stdin.read()
    try:
        return Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{source}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{source}: is not UTF-8 text") from error
