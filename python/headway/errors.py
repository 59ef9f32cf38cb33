"""What went wrong, told to the person at the keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Problem", "StudyError", "UserError"]


class UserError(Exception):
    """A mistake that the user can put right; one message, exit code 2."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a study file."""

    file: str
    line: int | None
    key: str
    what: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.key}: {self.what}" if self.key else f"{place}: {self.what}"


class StudyError(UserError):
    """A study file that cannot be run; carries every problem found, in the order of lines."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        ordered = sorted(dict.fromkeys(problems), key=lambda problem: problem.line or 0)
        self.problems: tuple[Problem, ...] = tuple(ordered)
        super().__init__("\n".join(str(problem) for problem in ordered))
