"""The tables of docs/studies.md, made from the models so that they cannot go stale.

`python -m headway.study.reference docs/studies.md` renews them; a test holds them against
the models.
"""

from __future__ import annotations

import re
import sys
import typing
from pathlib import Path as File
from types import UnionType
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from headway.study import competing, media, radio, tcp, trace
from headway.study import path as paths
from headway.study.fields import kind_of, models_of, quantity_of
from headway.study.scenario import Run
from headway.study.schema import ExpectTable, FactorTable, Header, ReportTable
from headway.study.transport import (
    DcsctpOptions,
    DcsctpTransport,
    SctpKnobs,
    SctpTransport,
    UdpTransport,
)
from headway.study.workload import SipTransactions, SipWorkload

__all__ = ["TABLES", "renew", "table"]

TABLES: dict[str, list[type[BaseModel]]] = {
    "study": [Header],
    "factor": [FactorTable],
    "expect": [ExpectTable],
    "report": [ReportTable],
    "run": [Run],
    "workload": [SipWorkload],
    "workload.transactions": [SipTransactions],
    "workload.media": [media.MediaWorkload],
    "workload.media.silence": [media.Silence],
    "workload.trace": [trace.TraceWorkload],
    "transport": [SctpTransport],
    "transport.udp": [UdpTransport],
    "transport.sctp": [SctpKnobs],
    "transport.over.dcsctp": [DcsctpTransport],
    "transport.dcsctp": [DcsctpOptions],
    "transport.over.tcp": [tcp.TcpTransport, tcp.TcpParallel, tcp.TcpSplit],
    "transport.tcp": [tcp.TcpKnobs],
    "competing": [competing.Competing],
    "competing.bulk": [competing.BulkTransfers],
    "competing.web": [competing.WebTraffic],
    "competing.web.users": [competing.WebUsers],
    "competing.messages": [competing.ShortMessages],
    "competing.stack": [competing.Stack],
    "path": [paths.Path],
    "path.loss": models_of(paths.Path, "loss"),
    "path.queue": models_of(paths.Path, "queue"),
    "path.reorder": [paths.Reorder],
    "path.duplicate": [paths.Duplicate],
    "path.cell": [radio.Dot11Path],
    "path.cell.errors": models_of(radio.Dot11Path, "errors"),
    "path.cell.jitter": [radio.Jitter],
    "path.cell.background": [radio.Background],
    "path.cell.voice": [radio.Voice],
}
"""The models behind each marked table of the page."""

_MARKED = re.compile(r"(<!-- table: (?P<name>[a-z.]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def renew(page: str) -> str:
    """The page with every marked table made anew."""
    return _MARKED.sub(lambda match: f"{match[1]}\n{table(match['name'])}\n{match[3]}", page)


def table(name: str) -> str:
    """One table in Markdown."""
    models = TABLES[name]
    several = len(models) > 1
    head = ["kind", "key", "value", "default", "meaning"]
    rows = [
        [f"`{kind_of(model)}`", *cells]
        for model in models
        for cells in (_rows(model) or [["", "", "", (model.__doc__ or "").strip()]])
    ]
    if not several:
        head, rows = head[1:], [row[1:] for row in rows]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _rows(model: type[BaseModel]) -> list[list[str]]:
    # Where a table may be of several kinds, the kind has a column of its own.
    several = any(model in models and len(models) > 1 for models in TABLES.values())
    return [
        [f"`{name}`", _value(model, name, info), _default(model, name, info), _meaning(model, name)]
        for name, info in model.model_fields.items()
        if not (name == "kind" and several)
    ]


def _meaning(model: type[BaseModel], name: str) -> str:
    if name == "kind":
        return (model.__doc__ or "").strip()
    return model.model_fields[name].description or ""


def _value(model: type[BaseModel], name: str, info: FieldInfo) -> str:
    quantity = quantity_of(model, name)
    if quantity is not None:
        words = "".join(f', or "{word}"' for word in quantity.words)
        several = typing.get_origin(info.annotation) is list
        return f"{'list of ' if several else ''}{_noun(quantity.name, several)}{words}"
    if models_of(model, name):
        return "table"
    words_ = _words(info.annotation)
    if words_:
        return ", ".join(f'`"{word}"`' for word in words_)
    return _type(info.annotation)


def _noun(name: str, several: bool) -> str:
    """The name of a quantity without its article."""
    noun = name.split(" ", 1)[1]
    return f"{noun}s" if several else noun


def _default(model: type[BaseModel], name: str, info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    quantity = quantity_of(model, name)
    value = info.default
    if value is None and not (quantity and quantity.words):
        return ""
    if quantity is not None:
        if isinstance(value, list):
            return f"`{[quantity.write(item) for item in value]}`".replace("'", '"')
        written = quantity.write(value)
        return f"`{written}`" if quantity.plain else f'`"{written}"`'
    if isinstance(value, BaseModel):
        kind = getattr(value, "kind", None)
        return f'`{{ kind = "{kind}" }}`' if kind else ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`' if value else ""
    return "" if value in ([], {}) else f"`{value}`"


def _words(annotation: Any) -> list[str]:
    if typing.get_origin(annotation) is typing.Literal:
        return [str(word) for word in typing.get_args(annotation)]
    return [word for part in typing.get_args(annotation) for word in _words(part)]


def _type(annotation: Any) -> str:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, UnionType):
        parts = [part for part in typing.get_args(annotation) if part is not type(None)]
        return _type(parts[0])
    if origin is typing.Annotated:
        return _type(typing.get_args(annotation)[0])
    names = {int: "whole number", float: "number", bool: "true or false", str: "string"}
    names |= {list: "list", dict: "table", Any: "number or quantity"}
    return names.get(origin or annotation, "any")


def main() -> None:
    """Renews the page named on the command line."""
    page = File(sys.argv[1])
    page.write_text(renew(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
