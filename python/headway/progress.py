"""How far a run is, told live: a bar for people, JSON lines for machines, or nothing."""

from __future__ import annotations

import json
import sys
import time
from types import TracebackType
from typing import Any, Literal, Self, TextIO

__all__ = ["Json", "Lines", "Progress", "bar_or_lines", "make"]

Kind = Literal["auto", "json", "none"]


class Progress:
    """Counts runs and keeps silent; the others show what it counts."""

    def __init__(self, total: int, done: int = 0) -> None:
        self.total = total
        self.done = done
        self.resumed = done
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        self.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def advance(self, runs: int) -> None:
        """Counts runs that are done."""
        self.done += runs
        self.show()

    @property
    def elapsed_s(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._started

    @property
    def rate(self) -> float:
        """Runs per second since the start; 0 as long as none is done."""
        elapsed = self.elapsed_s
        return (self.done - self.resumed) / elapsed if elapsed > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Expected time until all are done."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    def begin(self) -> None:
        """Shows that it starts."""

    def show(self) -> None:
        """Shows a step."""

    def end(self) -> None:
        """Shows that it is over."""


class Json(Progress):
    """One JSON object a line: at the start, then at most five a second, and at the end."""

    EVERY_S = 0.2

    def __init__(self, total: int, done: int = 0, stream: TextIO | None = None) -> None:
        super().__init__(total, done)
        self._stream = stream or sys.stderr
        self._shown = float("-inf")

    def begin(self) -> None:
        """Tells what is to be done."""
        self._tell("start")

    def show(self) -> None:
        """Tells how far it is, unless it has just done so."""
        now = time.monotonic()
        if now - self._shown >= self.EVERY_S:
            self._shown = now
            self._tell("progress")

    def end(self) -> None:
        """Tells how far it came."""
        self._tell("end")

    def _tell(self, event: str) -> None:
        left = self.left_s
        line: dict[str, Any] = {
            "event": event,
            "done": self.done,
            "total": self.total,
            "elapsed_s": round(self.elapsed_s, 3),
            "runs_per_second": round(self.rate, 1),
            "left_s": None if left is None else round(left, 1),
        }
        print(json.dumps(line), file=self._stream, flush=True)


class Lines(Progress):
    """A line now and then, for logs that cannot redraw."""

    EVERY_S = 5.0

    def __init__(self, total: int, done: int = 0, stream: TextIO | None = None) -> None:
        super().__init__(total, done)
        self._stream = stream or sys.stderr
        self._shown = 0.0

    def show(self) -> None:
        """Tells how far it is, every few seconds."""
        now = self.elapsed_s
        if now - self._shown >= self.EVERY_S:
            self._shown = now
            left = self.left_s
            rest = "" if left is None else f", {duration(left)} left"
            print(
                f"{self.done} of {self.total} runs, {self.rate:.0f} runs/s{rest}",
                file=self._stream,
                flush=True,
            )


class Bar(Progress):
    """A live bar on a terminal."""

    def begin(self) -> None:
        """Draws the bar."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("[bold]runs[/]"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("runs", total=self.total, completed=self.done, speed="")

    def show(self) -> None:
        """Moves the bar."""
        left = self.left_s
        rest = "" if left is None else f", {duration(left)} left"
        self._bar.update(self._task, completed=self.done, speed=f"{self.rate:.0f} runs/s{rest}")

    def end(self) -> None:
        """Takes the bar away."""
        self._bar.stop()


def make(kind: Kind, total: int, done: int = 0) -> Progress:
    """The progress that the user asked for."""
    if kind == "none":
        return Progress(total, done)
    if kind == "json":
        return Json(total, done)
    return bar_or_lines(total, done)


def bar_or_lines(total: int, done: int = 0) -> Progress:
    """A bar on a terminal, lines elsewhere."""
    return Bar(total, done) if sys.stderr.isatty() else Lines(total, done)


def duration(seconds: float) -> str:
    """A duration for people: "0.4 s", "12 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
