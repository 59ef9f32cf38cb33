"""Recorded conversations: when each message was handed over, its size and its direction.

A recording is a CSV file or a packet capture beside the study file, or in a folder below it.
"""

from __future__ import annotations

import functools
import ipaddress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from headway.errors import UserError
from headway.study.capture import CAPTURES, read_capture
from headway.study.fields import Duration, Table
from headway.study.recording import Message, read_csv

__all__ = ["FOLDER", "TraceWorkload"]

FOLDER = "folder"
"""The key of pydantic's context that says where the study file lies."""


def _wrong(what: str) -> PydanticCustomError:
    return PydanticCustomError("quantity", "{what}", {"what": what})


class TraceWorkload(Table):
    """Messages of a recorded conversation, handed over again at their times."""

    settled: ClassVar[frozenset[str]] = frozenset({"protocol", "port", "forward_from", "file"})
    """What the recording takes the place of in a RunSpec."""

    kind: Literal["trace"]
    playout: Duration | None = Field(
        default=None,
        description="how long after its handing over a message is of use; left out: for ever",
    )
    protocol: Literal["udp", "tcp", "sctp"] = Field(
        default="udp",
        description="of a capture: what makes a message; a UDP datagram, the new data of a TCP "
        "segment, or a whole user message of SCTP",
    )
    port: Annotated[int, Field(ge=1, le=65_535)] | None = Field(
        default=None, description="of a capture: the port at either side; left out: any"
    )
    forward_from: str | None = Field(
        default=None,
        description="of a capture: the IP address whose messages go forward; left out: that of "
        "the first message",
    )
    # Last, so that the keys that say how to read it are known.
    file: str = Field(
        description="a CSV file with the columns time_s, size_bytes and direction (forward, "
        "reverse), or a capture (.pcap, .pcapng); in the study's folder or below it; times count "
        "from the first message, at each end from when its side of the transport is ready"
    )

    _messages: tuple[Message, ...] = PrivateAttr(default=())
    _source: Path = PrivateAttr(default=Path())

    @field_validator("forward_from")
    @classmethod
    def _is_address(cls, written: str | None) -> str | None:
        try:
            return None if written is None else str(ipaddress.ip_address(written))
        except ValueError as error:
            raise _wrong(f'"{written}" is not an IP address') from error

    @field_validator("file")
    @classmethod
    def _can_be_read(cls, written: str, info: ValidationInfo) -> str:
        name = PurePosixPath(written)
        if name.is_absolute() or ".." in name.parts or not name.name:
            raise _wrong(f'"{written}" must name a file in the study\'s folder or below it')
        if {"protocol", "port", "forward_from"} <= info.data.keys():
            _read(_place(written, info), written, info.data)
        return written

    def model_post_init(self, context: Any) -> None:
        """Keeps what was read."""
        folder = (context or {}).get(FOLDER) or Path()
        self._source = Path(folder) / self.file
        self._messages = _read(self._source, self.file, self.__dict__)

    @property
    def source(self) -> Path:
        """The file that was read."""
        return self._source

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages by time: nanoseconds from the first one, bytes, whether in reverse."""
        return self._messages

    def spec(self) -> dict[str, Any]:
        """The workload as the RunSpec has it: the messages themselves."""
        emitted = super().spec()
        for name in self.settled:
            del emitted[name]
        return emitted | {"messages": [list(message) for message in self._messages]}


def _place(written: str, info: ValidationInfo) -> Path:
    return Path((info.context or {}).get(FOLDER) or Path()) / written


def _read(path: Path, shown: str, keys: dict[str, Any]) -> tuple[Message, ...]:
    try:
        seen = path.stat()
    except OSError as error:
        raise _wrong(f'"{shown}" cannot be read ({error.strerror})') from error
    stamp = (seen.st_mtime_ns, seen.st_size)
    try:
        return _cached(path, stamp, shown, keys["protocol"], keys["port"], keys["forward_from"])
    except UserError as error:
        raise _wrong(str(error)) from error


@functools.lru_cache(maxsize=16)
def _cached(
    path: Path,
    _stamp: tuple[int, int],
    shown: str,
    protocol: str,
    port: int | None,
    forward_from: str | None,
) -> tuple[Message, ...]:
    """A scenario is checked once for each level; the file is read once."""
    if path.suffix.lower() in CAPTURES:
        return read_capture(path, shown, protocol, port, forward_from)
    return read_csv(path, shown)
