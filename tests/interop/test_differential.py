"""Our stack under dcSCTP's settings and dcSCTP itself delay calls alike."""

from __future__ import annotations

import pytest
from differential import (
    TOLERANCE,
    Compared,
    as_documented,
    one_message_a_packet,
    points,
    with_open_windows,
)

SHORT = (0, 2, 19, 27, 45)

FEWER = {"calls": 10_000, "replications": 2}
"""Enough for the short test: the points in it have narrow intervals."""


def _check(number: int, **sizes: int) -> None:
    """The stacks agree, or do so where what `docs/interop.md` names makes no difference."""
    point = points()[number]
    seen = as_documented(point, **sizes)
    if seen.agrees:
        return
    alike = one_message_a_packet(point, **sizes)
    assert alike.agrees, (point, seen.difference, alike.difference)


@pytest.mark.parametrize("number", SHORT)
def test_p95_differs_by_less_than_a_twentieth_at_some_points(number: int) -> None:
    _check(number, **FEWER)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(50))
def test_p95_differs_by_less_than_a_twentieth_or_by_what_is_named(number: int) -> None:
    _check(number)


def test_each_named_mechanism_has_its_part_in_the_largest_difference_of_an_ordered_flow() -> None:
    point = points()[17]
    seen, opened, alike = (
        compare(point, replications=2)
        for compare in (as_documented, with_open_windows, one_message_a_packet)
    )
    # What is left of the window cuts messages, and cut ones are lost more often.
    assert seen.theirs.pieces_a_message > 1.25 and seen.ours.pieces_a_message == 1
    assert opened.theirs.pieces_a_message < 1.01
    # T3-rtx expires more often where retransmissions do not start it anew.
    assert seen.theirs.timeouts > 2 * seen.ours.timeouts

    def below(compared: Compared) -> float:
        return -compared.difference

    # Messages that order has held back leave together: ours share packets.
    assert below(seen) > below(opened) + TOLERANCE > below(alike) + 2 * TOLERANCE
    assert alike.agrees
