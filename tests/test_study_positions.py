"""Lines of keys in a TOML text."""

from __future__ import annotations

import tomllib

from headway.study.positions import KeyPath, Positions

TEXT = '''\
# a comment = with [brackets] and "quotes"
[a]
x = 1 # trailing = comment
"quoted.key" = "a # no comment"
long = """
[not.a.table]
key = 1
"""
raw = \'\'\'ends with quotes\'\'\'\'\'
dotted.inner.deep = { p = 1, q = [1, 2] }

[[list]]
name = "first"
levels = [
    "one", # comment, with comma ]
    { label = "two", value = { kind = "x" } },
    [3, 4],
]
[list.sub]
y = 1
[[list]]
name = "second"
[[list.inner]]
z = 2
[[list.inner]]
z = 3
[a.b."c d"]
v = \'literal \\\'
escaped = "a \\" ] quote"
last = 2026-11-21
'''


def test_every_key_has_its_line() -> None:
    tomllib.loads(TEXT)
    positions = Positions(TEXT)
    lines = TEXT.splitlines()

    def line(*path: str | int) -> str:
        found = positions.line(path)
        assert found is not None, path
        return lines[found - 1].strip()

    assert line("a") == "[a]"
    assert line("a", "x").startswith("x = 1")
    assert line("a", "quoted.key").startswith('"quoted.key"')
    assert line("a", "raw").startswith("raw")
    assert line("a", "dotted", "inner", "deep", "q", 1).startswith("dotted")
    assert line("list", 0, "name") == 'name = "first"'
    assert line("list", 0, "levels", 0).startswith('"one"')
    assert line("list", 0, "levels", 1, "value", "kind").startswith("{ label")
    assert line("list", 0, "levels", 2, 1) == "[3, 4],"
    assert line("list", 0, "sub", "y") == "y = 1"
    assert line("list", 1, "name") == 'name = "second"'
    assert line("list", 1, "inner", 1, "z") == "z = 3"
    assert line("a", "b", "c d", "escaped").startswith("escaped")
    assert line("a", "b", "c d", "last").startswith("last")


def test_covers_every_key_that_the_parser_finds() -> None:
    positions = Positions(TEXT)

    def walk(value: object, path: KeyPath) -> None:
        if path:
            assert positions.line(path) is not None, path
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, (*path, key))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                walk(inner, (*path, index))

    document = tomllib.loads(TEXT)
    # Tables that only exist as a prefix of a header, such as [a.b."c d"], have no line.
    document["a"].update(document["a"].pop("b")["c d"] and {})
    walk(document, ())


def test_the_nearest_table_stands_in_for_a_missing_key() -> None:
    positions = Positions(TEXT)
    assert positions.line(("a", "missing")) is None
    assert positions.nearest(("a", "missing", "key")) == 2
    assert positions.nearest(("nothing",)) is None
