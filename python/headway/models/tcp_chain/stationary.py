"""The stationary distribution, one loss after another.

pi Q = pi is split by what a step means. Everything that happens without a further loss (the
window grows, the backlog drains, recovery ends, the sender resumes) leads forward in the
order of the states; only losses lead back. With Q = D + U + R (stays, forward, back),

    pi (I - D - U) = pi R,

and I - D - U is triangular: one sparse substitution follows all paths up to their next loss.
Repeating it is a block Gauss-Seidel iteration that settles after as many losses as the flow
remembers: tens of passes far from saturation, a few hundred beside it. A general sparse
factorisation of I - Q gives the same numbers but fills in (measured in docs/models.md); it takes
over where the iteration does not settle, at saturation in a widened state space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.models.tcp_chain.result import inner
from headway.models.tcp_chain.skeleton import Skeleton

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["stationary", "transition_matrix"]

Floats = NDArray[np.floating[Any]]

TOLERANCE = 1e-15
"""Sum of the absolute changes in one pass at which the iteration ends."""
FLOOR = 1e-13
"""Changes below this no longer shrink for rounding; the iteration ends when they stop to."""
MOST_PASSES = 10_000
"""Then a factorisation is faster."""
LEAP_EVERY = 20
"""Passes between two attempts to extrapolate."""


def stationary(
    skeleton: Skeleton, probability: Floats, start: Floats | None = None
) -> tuple[Floats, int]:
    """The stationary distribution and how many passes it took.

    `probability` is that of each event of the skeleton; `start` a guess, such as the
    solution at a neighbouring loss rate. Where the iteration does not settle, `MOST_PASSES`
    come back with what the factorisation says.
    """
    # Sparse matrices take a while to load, and other models do without.
    import scipy.sparse as sp
    from scipy.sparse.linalg import splu

    size = skeleton.states
    forward = skeleton.forward.values(probability)
    back = skeleton.back.values(probability)
    ahead = sp.csr_array((forward, skeleton.forward.indices, skeleton.forward.indptr), (size, size))
    behind = sp.csr_array((back, skeleton.back.indices, skeleton.back.indptr), (size, size))
    # The diagonal 1 - D is summed from the exits: no difference of nearly equal numbers.
    exits = ahead.sum(axis=1) + np.bincount(skeleton.back.indices, weights=back, minlength=size)
    triangle = (sp.diags_array(exits, format="csr") - ahead).T.tocsc()
    solver: Any = splu(
        triangle, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    current = np.full(size, 1.0 / size) if start is None else start / start.sum()
    step_before = np.zeros(size)
    best = np.inf
    stalled = 0
    for passes in range(1, MOST_PASSES + 1):
        following: Floats = solver.solve(behind @ current)
        following /= following.sum()
        step = following - current
        change = float(np.abs(step).sum())
        current = following
        if change <= TOLERANCE:
            return current, passes
        stalled = 0 if change < 0.9 * best else stalled + 1
        best = min(best, change)
        if best < FLOOR and stalled >= 5:
            return current, passes
        if passes % LEAP_EVERY == 0:
            current = _leap(current, step, step_before, change)
        step_before = step
    return _factorised(skeleton, probability, int(current.argmax())), MOST_PASSES


def _factorised(skeleton: Skeleton, probability: Floats, known: int) -> Floats:
    """The same by a sparse factorisation, with the weight of one state taken as known."""
    import scipy.sparse as sp
    from scipy.sparse.linalg import splu

    moves = transition_matrix(skeleton, probability)
    size = skeleton.states
    others = np.flatnonzero(np.arange(size) != known)
    system = (sp.eye_array(size, format="csr") - moves)[others][:, others].T.tocsc()
    from_known = moves[[known], :].toarray().ravel()[others]
    found = np.ones(size)
    found[others] = np.maximum(splu(system).solve(from_known), 0.0)
    return np.asarray(found / found.sum())


def _leap(current: Floats, step: Floats, before: Floats, change: float) -> Floats:
    """Where the iteration is heading, once its steps shrink by a steady factor (Aitken).

    Only the start of the next pass moves; what ends the iteration is still a pass that
    changes nothing.
    """
    norm = inner(before, before)
    factor = inner(step, before) / norm if norm > 0 else 0.0
    # A factor near -1 belongs to a flow whose losses end in two states by turns.
    if not 0.5 < abs(factor) < 1 or float(np.abs(step - factor * before).sum()) > 0.05 * change:
        return current
    ahead: Floats = np.maximum(current + step * (factor / (1 - factor)), 0.0)
    ahead /= ahead.sum()
    return ahead


def transition_matrix(skeleton: Skeleton, probability: Floats) -> sp.csr_array:
    """Q as a sparse matrix, rows and columns in the order of the skeleton's states."""
    import scipy.sparse as sp

    size = skeleton.states
    events = skeleton.events
    place = np.full(skeleton.lattice.codes, -1, dtype=np.int64)
    place[skeleton.lattice.encode(skeleton.w, skeleton.k, skeleton.stage)] = np.arange(size)
    high = np.flatnonzero(events.high >= 0)
    rows = np.concatenate([events.source, events.source[high]])
    columns = np.concatenate([place[events.low], place[events.high[high]]])
    values = np.concatenate(
        [probability * (1 - events.high_share), (probability * events.high_share)[high]]
    )
    return sp.csr_array((values, (rows, columns)), shape=(size, size))
