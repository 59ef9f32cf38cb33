"""Our stack under dcSCTP's settings and dcSCTP itself delay calls alike."""

from __future__ import annotations

import pytest
from differential import LEFT, TOLERANCE, Compared, compare, points, row

SHORT = (0, 2, 6, 19, 45)


def _check(seen: Compared) -> None:
    if seen.point.number in LEFT:
        # What docs/interop.md could not explain must not grow.
        assert seen.open_ratio is not None, row(seen)
        assert abs(seen.open_ratio - 1) < 2 * TOLERANCE, row(seen)
        return
    assert seen.agrees or seen.explained, row(seen)


@pytest.mark.parametrize("number", SHORT)
def test_p95_differs_by_less_than_a_tenth_at_some_points(number: int) -> None:
    _check(compare(points()[number], seconds=300, replications=2))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(50))
def test_p95_differs_by_less_than_a_tenth_or_the_mechanism_is_named(number: int) -> None:
    _check(compare(points()[number], seconds=300, replications=4))
