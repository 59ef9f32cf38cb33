"""The scenario: everything that one run needs besides its seed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from headway.study.competing import Competing
from headway.study.fields import Duration, PositiveDuration, Table
from headway.study.path import Path
from headway.study.radio import Dot11Path
from headway.study.transport import Transport
from headway.study.workload import Workload

__all__ = ["Run", "Scenario"]

SPEC_VERSION = 1


class Run(Table):
    """How long a run lasts, in virtual time."""

    duration: PositiveDuration = Field(
        default=60 * 10**9, description="how long the source starts new transactions"
    )
    drain: Duration = Field(
        default=600 * 10**9,
        description="how long after that what is under way may still arrive; a run that needs "
        "longer is marked incomplete",
    )


def _path_kind(table: Any) -> Any:
    kind = table.get("kind", "links") if isinstance(table, dict) else getattr(table, "kind", None)
    # What is no word is no kind either, and is told like an unknown one.
    return kind if isinstance(kind, str) else str(kind)


AnyPath = Annotated[
    Annotated[Path, Tag("links")] | Annotated[Dot11Path, Tag("dot11")],
    Discriminator(_path_kind),
]


class Scenario(Table):
    """One scenario, complete."""

    run: Run = Field(default=Run(), description="length of a run")
    workload: Workload = Field(description="what the applications do")
    transport: Transport = Field(description="what carries the messages")
    path: AnyPath = Field(description="what lies between the ends")
    competing: Competing | None = Field(
        default=None, description="who else uses the path; left out: nobody"
    )

    def spec(self) -> dict[str, Any]:
        """What every run of this scenario shares in its RunSpec."""
        run = self.run.spec()
        competing = {} if self.competing is None else {"competing": self.competing.spec()}
        return {
            "version": SPEC_VERSION,
            **run,
            "workload": self.workload.spec(),
            "transport": self.transport.spec(),
            "path": self.path.spec(),
            **competing,
        }
