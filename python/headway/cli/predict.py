"""`headway predict`: what the analytical models say, as tables, files and figures."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from headway.cli.console import console, note, plural, table
from headway.cli.settings import MOST_POINTS, read_settings
from headway.errors import UserError
from headway.models import MODELS, Input, Model, get, predict
from headway.plots.columns import Scale
from headway.plots.predicted import Setting, arrange_settings, quantity_of, scale_for
from headway.units import nearest

__all__ = ["Request", "run", "show_list"]

MOST_ROWS = 60
"""Rows of a table on a terminal; the rest is in --csv."""
BAR_AFTER_S = 1.0
"""What takes longer than this gets a bar."""

MAIN = {
    "tcp-chain": (
        "delay_mean_s", "delay_p95_s", "delay_highest_s", "late_share", "backlog_share",
        "timeouts_per_loss",
    ),
    "holb": ("psd_mean_s", "psd_p95_s", "psd_p99_s", "hol_blocking_mean_s", "hol_blocked_share"),
    "media-recovery": ("delay_mean_s", "delay_p95_s", "delay_p99_s", "late_share"),
    "simco": ("response_mean_s", "wait_s", "recovery_s", "optimal_streams"),
    "padhye": ("full_bps", "approximate_bps", "square_root_bps", "timeouts_per_loss"),
}  # fmt: skip
"""What a table of several points shows of each model."""
DRAWN = {"tcp-chain": "delay_p95_s", "holb": "psd_p95_s", "media-recovery": "delay_p95_s"}
"""What a plot shows where it is not told; otherwise the first of MAIN."""


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    model: str | None
    settings: tuple[str, ...]
    study: str | None
    overrides: tuple[str, ...]
    only: tuple[str, ...]
    metrics: tuple[str, ...]
    limit: str | None
    plot: Path | None
    csv: Path | None


def run(request: Request) -> None:
    """Prints predictions, and writes them where the request says."""
    if request.plot is not None:
        from headway.cli.drawing import check_suffix

        check_suffix(request.plot)
    if request.study is not None:
        from headway.cli import predict_study

        predict_study.run(request)
        return
    if request.model is None:
        raise UserError(
            f"name a model ({', '.join(MODELS)}) or --study STUDY; `headway predict --list` "
            "tells what they take"
        )
    for option, given in (("--set", request.overrides), ("--only", request.only)):
        if given:
            raise UserError(f"{option} belongs to --study; settings of a model are KEY=VALUE")
    _model(request, get(request.model))


def _model(request: Request, model: Model) -> None:
    settings = read_settings(model, request.settings)
    outputs = chosen_outputs(model, request.metrics)
    points = 1
    for values in settings.values():
        points *= len(values)
    if points > MOST_POINTS:
        raise UserError(f"{points} points are too many (at most {MOST_POINTS})")
    varied = [
        Setting(name, values, scale_for(name, values, model.input(name).quantity))
        for name, values in settings.items()
        if len(values) > 1
    ]
    drawn = outputs if request.metrics else [DRAWN.get(model.name, outputs[0])]
    limit = read_limit(request.limit, drawn)
    if request.plot is not None:
        # Before anything is computed, which may take a while.
        arrange_settings(varied, drawn)
    with Bar("points") as bar:
        found = predict(model, progress=bar.show, **settings)
    console().print(f"[bold]{model.name}[/]: {model.title}")
    if found.height == 1:
        _one(model, found.row(0, named=True))
    else:
        _fixed(model, found, varied)
        _many(found, varied, outputs)
    _words(model, found)
    if request.csv is not None:
        write_csv(found, request.csv)
    if request.plot is not None:
        from headway.cli.drawing import draw
        from headway.plots.predicted import figure

        texts = {output.name: output.text for output in model.outputs}
        meanings = {name: texts[name] for name in drawn}
        title = meanings[drawn[0]][:1].upper() + meanings[drawn[0]][1:]
        made = figure(
            request.plot.stem,
            f"{title}, by {model.name}" if len(drawn) == 1 else f"Model {model.name}",
            found,
            varied,
            meanings,
            limit,
        )
        text = f"Pale, or crossed out, outside the region: {model.validity}."
        draw(made, request.plot, text)


def chosen_outputs(model: Model, named: Sequence[str]) -> list[str]:
    """The outputs to show. UserError, with the nearest name, for one that there is not."""
    known = tuple(output.name for output in model.outputs)
    for name in named:
        if name not in known:
            meant = nearest(name, known)
            hint = f'did you mean "{meant}"?' if meant else f"outputs: {', '.join(known)}"
            raise UserError(f'{model.name} has no output "{name}"; {hint}')
    return list(named) or [name for name in MAIN.get(model.name, known) if name in known]


def read_limit(written: str | None, outputs: Sequence[str]) -> float | None:
    """--limit in the base unit of what is drawn."""
    if written is None:
        return None
    quantity = quantity_of(outputs[0])
    try:
        return float(written)
    except ValueError:
        if quantity is None:
            raise UserError(f'--limit: "{written}" is not a number') from None
    try:
        value = quantity.column(quantity.read(written))
    except ValueError as error:
        raise UserError(f"--limit: {error}") from error
    return None if value is None else float(value)


def write_csv(found: pl.DataFrame, path: Path) -> None:
    """Writes a table, in base units."""
    try:
        found.write_csv(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from error
    print(f"table:   {path}")


def shown(value: Any, scale: Scale) -> str:
    """A value in its unit's digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return "" if value is None else str(value)
    number = value * scale.factor
    return f"{number:.0f}" if abs(number) >= 1e4 else f"{number:.4g}"


class Bar:
    """A bar on standard error for what takes longer than a moment."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._done, self._total = 0, 0
        self._lock = threading.Lock()
        self._bar: Any = None
        self._timer = threading.Timer(BAR_AFTER_S, self._begin)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()

    def show(self, done: int, total: int) -> None:
        """Tells how far it is."""
        with self._lock:
            self._done, self._total = done, total
            if self._bar is not None:
                self._bar.update(self._task, completed=done, total=total)

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Left

        with self._lock:
            self._bar = Progress(
                TextColumn(f"[bold]{self._what}[/]"),
                BarColumn(),
                MofNCompleteColumn(),
                Left(compact=True),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self._total or None, completed=self._done)
            self._bar.start()


def show_list(named: str | None) -> None:
    """Prints every model with its inputs, outputs, source and region of validity."""
    for model in [get(named)] if named else MODELS.values():
        console().print(f"[bold]{model.name}[/]: {model.title}")
        console().print(f"source: {model.source}", markup=False)
        console().print(f"region: {model.validity}", markup=False)
        inputs = table("setting", "value", "default", "meaning")
        for one in model.inputs:
            inputs.add_row(one.name, _kind(one), _default(one), one.text)
        console().print(inputs)
        outputs = table("output", "unit", "meaning")
        for output in model.outputs:
            outputs.add_row(output.name, _unit(output.name), output.text)
        console().print(outputs)


def _one(model: Model, row: dict[str, Any]) -> None:
    """A single point: every setting and every output on a line of its own."""
    listed = table("", "value>", "meaning")
    for one in model.inputs:
        if one.name in row:
            listed.add_row(one.name, _input(one, row[one.name]), one.text)
    listed.add_section()
    for output in model.outputs:
        value = row[output.name]
        scale = scale_for(output.name, [value])
        listed.add_row(output.name, _with_unit(value, scale), output.text)
    console().print(listed)


def _fixed(model: Model, found: pl.DataFrame, varied: Sequence[Setting]) -> None:
    """The settings that are the same in every row, in one line."""
    names = {setting.name for setting in varied}
    row = found.row(0, named=True)
    told = [
        f"{one.name} {_input(one, row[one.name])}"
        for one in model.inputs
        if one.name in row and one.name not in names
    ]
    if told:
        console().print(f"with {', '.join(told)}", markup=False)


def _many(found: pl.DataFrame, varied: Sequence[Setting], outputs: Sequence[str]) -> None:
    columns = [name for name in outputs if name not in ("inside", "why")]
    scales = {name: scale_for(name, found[name].to_list()) for name in columns}
    listed = table(
        *(f"{setting.title}{'>' if setting.numeric else ''}" for setting in varied),
        *(f"{scales[name].title(_bare(name))}>" for name in columns),
        "in its region",
    )
    for row in found.head(MOST_ROWS).iter_rows(named=True):
        listed.add_row(
            *(shown(row[setting.name], setting.scale) for setting in varied),
            *(shown(row[name], scales[name]) for name in columns),
            "yes" if row["inside"] else f"[yellow]no: {row['why']}[/]",
        )
    console().print(listed)
    if found.height > MOST_ROWS:
        note(f"{plural(found.height - MOST_ROWS, 'more row')}; --csv FILE writes all of them")


def _words(model: Model, found: pl.DataFrame) -> None:
    outside = found.filter(~pl.col("inside")).height
    console().print(f"source: {model.source}", markup=False)
    console().print(f"region: {model.validity}", markup=False)
    if outside:
        console().print(f"outside: {outside} of {plural(found.height, 'point')}", markup=False)


def _with_unit(value: Any, scale: Scale) -> str:
    text = shown(value, scale)
    return f"{text} {scale.unit}" if scale.unit and text else text


def _input(one: Input, value: Any) -> str:
    return _with_unit(value, scale_for(one.name, [value], one.quantity))


def _bare(name: str) -> str:
    for suffix in ("_s", "_bytes", "_bps", "_share"):
        if name.endswith(suffix) and suffix != "_share":
            return name.removesuffix(suffix)
    return name


def _kind(one: Input) -> str:
    if one.choices:
        return ", ".join(
            {True: "on", False: "off"}[c] if isinstance(c, bool) else str(c) for c in one.choices
        )
    if one.quantity is None:
        return "number"
    return f"{one.quantity.name.split(' ', 1)[1]}, in {one.quantity.column_unit or 'shares of 1'}"


def _default(one: Input) -> str:
    if one.required:
        return "required"
    if one.default is None:
        return ""
    if isinstance(one.default, bool):
        return "on" if one.default else "off"
    return _input(one, one.default)


def _unit(name: str) -> str:
    quantity = quantity_of(name)
    return quantity.column_unit if quantity else ""
