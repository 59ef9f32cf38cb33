"""Where each key of a TOML text stands.

The standard library reads TOML but forgets the lines. This scanner walks a text that
already parsed, so it only has to find where things start, not whether they are right.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator

__all__ = ["KeyPath", "Positions"]

KeyPath = tuple[str | int, ...]
"""Keys and list indices from the top of the document."""

_SPACE = " \t\r\n"
_BARE_END = ",]}#\r\n"


class Positions:
    """The line (from 1) of every table, key and list element of a TOML text."""

    def __init__(self, text: str) -> None:
        self._lines: dict[KeyPath, int] = {}
        for path, line in _Scanner(text).places():
            self._lines.setdefault(path, line)

    def line(self, path: KeyPath) -> int | None:
        """The line of `path` itself, None where the text has no such key."""
        return self._lines.get(path)

    def nearest(self, path: KeyPath) -> int | None:
        """The line of `path` or of the closest table around it that the text has."""
        for length in range(len(path), 0, -1):
            line = self._lines.get(path[:length])
            if line is not None:
                return line
        return None


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._newlines = [i for i, char in enumerate(text) if char == "\n"]
        self._elements: dict[KeyPath, int] = {}
        """How many elements each array of tables has so far."""

    def places(self) -> Iterator[tuple[KeyPath, int]]:
        table: KeyPath = ()
        while self._skip():
            line = self._line()
            if self._text.startswith("[[", self._at):
                self._at += 2
                table = self._element(self._key())
                self._at = self._text.index("]]", self._at) + 2
                yield table[:-1], line
                yield table, line
            elif self._text[self._at] == "[":
                self._at += 1
                table = self._resolve(self._key())
                self._at = self._text.index("]", self._at) + 1
                yield table, line
            else:
                yield from self._pair(table)

    def _pair(self, table: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        line = self._line()
        path = (*table, *self._key())
        for length in range(len(table) + 1, len(path) + 1):
            yield path[:length], line
        self._at = self._text.index("=", self._at) + 1
        self._skip()
        yield from self._value(path)

    def _value(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        opening = self._text[self._at]
        if opening in "\"'":
            self._string()
        elif opening == "[":
            self._at += 1
            index = 0
            while self._until("]"):
                yield (*path, index), self._line()
                yield from self._value((*path, index))
                index += 1
        elif opening == "{":
            self._at += 1
            while self._until("}"):
                yield from self._pair(path)
        else:
            while self._at < len(self._text) and self._text[self._at] not in _BARE_END:
                self._at += 1

    def _until(self, closing: str) -> bool:
        """Moves to the next element, or past `closing`; tells which."""
        self._skip(and_commas=True)
        if self._text[self._at] != closing:
            return True
        self._at += 1
        return False

    def _key(self) -> KeyPath:
        parts: list[str | int] = []
        while True:
            self._skip()
            if self._text[self._at] in "\"'":
                parts.append(self._string())
            else:
                start = self._at
                while self._text[self._at] not in " \t.=]":
                    self._at += 1
                parts.append(self._text[start : self._at])
            self._skip()
            if self._text[self._at] != ".":
                return tuple(parts)
            self._at += 1

    def _string(self) -> str:
        """Moves past a string; its raw content, which is exact for keys without escapes."""
        quote = self._text[self._at]
        fence = quote * 3 if self._text.startswith(quote * 3, self._at) else quote
        start = self._at + len(fence)
        at = start
        while not self._text.startswith(fence, at):
            at += 2 if quote == '"' and self._text[at] == "\\" else 1
        if len(fence) == 3:
            # Up to two quotes may stand right before the closing three.
            while self._text.startswith(quote, at + 3):
                at += 1
        self._at = at + len(fence)
        return self._text[start:at]

    def _element(self, path: KeyPath) -> KeyPath:
        array = (*self._resolve(path[:-1]), path[-1])
        index = self._elements.get(array, 0)
        self._elements[array] = index + 1
        return (*array, index)

    def _resolve(self, path: KeyPath) -> KeyPath:
        """`path` with the index of the last element after each array of tables."""
        resolved: KeyPath = ()
        for part in path:
            resolved = (*resolved, part)
            if resolved in self._elements:
                resolved = (*resolved, self._elements[resolved] - 1)
        return resolved

    def _skip(self, *, and_commas: bool = False) -> bool:
        """Moves over white space and comments; False at the end of the text."""
        passed = _SPACE + "," if and_commas else _SPACE
        while self._at < len(self._text):
            if self._text[self._at] in passed:
                self._at += 1
            elif self._text[self._at] == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return True
        return False

    def _line(self) -> int:
        return bisect.bisect_left(self._newlines, self._at) + 1
