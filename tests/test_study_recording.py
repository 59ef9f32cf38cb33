"""Recordings of any content: they are read, or refused with words for the user."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headway.errors import UserError
from headway.study.capture import read_capture
from headway.study.recording import LARGEST, LONGEST, NANOS, Message, read_csv

RECORDINGS = Path(__file__).parent / "recordings"
CSV = (RECORDINGS / "talk.csv").read_bytes()
CAPTURES = {name: (RECORDINGS / name).read_bytes() for name in ("talk.pcap", "talk.pcapng")}

same_each_time = settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def taken_or_refused(read: Callable[[], tuple[Message, ...]], shown: str) -> None:
    """What every recording that is taken fulfils; a refusal names the file."""
    messages: tuple[Message, ...] = ()
    refusal = ""
    try:
        messages = read()
    except UserError as error:
        refusal = str(error)
    if not messages:
        assert refusal.startswith(f"{shown}: ")
        return
    times = [at for at, _, _ in messages]
    assert times[0] == 0
    assert times == sorted(times)
    assert times[-1] <= LONGEST * NANOS
    assert all(1 <= size <= LARGEST for _, size, _ in messages)


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A few bytes changed, taken out, put in or doubled; or the end is missing."""
    found = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(found)))
        length = draw(st.integers(0, 8))
        piece = draw(
            st.binary(max_size=8)
            | st.sampled_from([b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff", b"\x80\x00"])
            | st.just(bytes(found[at : at + length]) * 2)
        )
        found[at : at + length] = piece
    return bytes(found[: draw(st.integers(0, len(found)))] if draw(st.booleans()) else found)


def csv_case(text: str) -> bytes:
    return ("time_s,size_bytes,direction\n" + text).encode()


@same_each_time
@given(damaged(CSV) | st.binary(max_size=60).map(lambda rows: csv_case("") + rows))
@example(b"")
@example(b"\xff\xfe")
@example(csv_case('0,1,"forward'))
@example(csv_case("NaN,1,forward\n"))
@example(csv_case("sNaN,1,forward\n"))
@example(csv_case("1e99999999999999999999,1,forward\n"))
@example(csv_case("1e-99999999999999999999,1,forward\n"))
@example(csv_case("-0,1,forward\n1e9,65507,reverse\n"))
@example(csv_case("0," + "9" * 5000 + ",forward\n"))
@example(csv_case("0,1,forward\x00\n"))
@example(csv_case("9" * 200_000 + ",1,forward\n"))
@example(b"time_s,size_bytes,direction,x,x\n0,1,forward,2,3\n")
def test_a_csv_file_is_read_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.csv"
    path.write_bytes(content)
    taken_or_refused(lambda: read_csv(path, "any.csv"), "any.csv")


times = st.decimals(min_value=0, max_value=10, places=9)


@same_each_time
@given(st.lists(st.tuples(times, st.integers(1, LARGEST), st.booleans()), min_size=1))
def test_what_is_written_as_a_table_is_read_as_it_was(
    tmp_path: Path, rows: list[tuple[Decimal, int, bool]]
) -> None:
    rows.sort(key=lambda row: row[0])
    path = tmp_path / "rows.csv"
    words = ["forward", "reverse"]
    path.write_bytes(csv_case("\n".join(f"{at},{size},{words[back]}" for at, size, back in rows)))
    nanos = [int(at * NANOS) for at, _, _ in rows]
    expected = [(at - nanos[0], *row[1:]) for at, row in zip(nanos, rows, strict=True)]
    assert list(read_csv(path, "rows.csv")) == expected


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_is_read_or_refused(tmp_path: Path, name: str) -> None:
    path, whole = tmp_path / name, CAPTURES[name]

    @same_each_time
    @given(
        damaged(whole) | st.binary(max_size=200).map(lambda end: whole[:40] + end),
        st.sampled_from(["udp", "tcp", "sctp"]),
        st.sampled_from([None, 5004]),
        st.sampled_from([None, "10.0.0.2", "::1"]),
    )
    def holds(content: bytes, protocol: str, port: int | None, origin: str | None) -> None:
        path.write_bytes(content)
        taken_or_refused(lambda: read_capture(path, name, protocol, port, origin), name)

    holds()
