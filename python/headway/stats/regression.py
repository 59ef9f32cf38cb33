"""Multiple linear regression over runs: the effect of a factor beside the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit


def correlation_terms(runs: pl.DataFrame, terms: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return the terms as numbers; a factor of words becomes one 0/1 term a level but the first."""
    coded: dict[str, NDArray[np.float64]] = {}
    for name in terms:
        column = runs[name]
        if column.dtype.is_numeric() or column.dtype == pl.Boolean:
            coded[name] = column.cast(pl.Float64).to_numpy()
            continue
        for level in column.unique().sort()[1:]:
            coded[f"{name} = {level}"] = (column == level).cast(pl.Float64).to_numpy()
    return coded


def least_squares(runs: pl.DataFrame, response: str, terms: Sequence[str]) -> pl.DataFrame:
    """Fit `response` on an intercept and `terms` by ordinary least squares.

    Returns one row a term: term, coefficient, standard_error, t, p_value, ci_low, ci_high
    (95 %), and p_value_robust, which uses standard errors that allow the spread to differ
    between points (HC3).
    """
    used = runs.filter(pl.col(response).is_not_null())
    coded = correlation_terms(used, terms)
    design = np.column_stack([np.ones(len(used)), *coded.values()])
    y = used[response].cast(pl.Float64).to_numpy()
    solve = np.linalg.pinv(design)
    beta = solve @ y
    residual = y - design @ beta
    degrees = len(y) - int(np.linalg.matrix_rank(design))
    error = np.sqrt(np.square(solve).sum(axis=1) * (residual @ residual / degrees))
    half = stdtrit(degrees, 0.975) * error
    # HC3 (MacKinnon and White 1985): each residual as if its run had been left out.
    leverage = np.einsum("rt,tr->r", design, solve)
    robust_error = np.sqrt(np.square(solve * (residual / (1 - leverage))).sum(axis=1))
    return pl.DataFrame(
        {
            "term": ["intercept", *coded],
            "coefficient": beta,
            "standard_error": error,
            "t": beta / error,
            "p_value": 2 * stdtr(degrees, -np.abs(beta / error)),
            "ci_low": beta - half,
            "ci_high": beta + half,
            "p_value_robust": 2 * stdtr(degrees, -np.abs(beta / robust_error)),
        }
    )


def resampled_p(
    runs: pl.DataFrame,
    response: str,
    terms: Sequence[str],
    term: str,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the p-value of `term` in each resample of replications.

    The sums of squares of each replication are formed once; a resample only adds them up.
    """
    used = runs.filter(pl.col(response).is_not_null())
    coded: Mapping[str, NDArray[np.float64]] = correlation_terms(used, terms)
    place = 1 + list(coded).index(term)
    design = np.column_stack([np.ones(len(used)), *coded.values()])
    y = used[response].cast(pl.Float64).to_numpy()
    numbers = runs["replication"].unique().sort().to_list()
    group = used["replication"].to_numpy()
    width = design.shape[1]
    squares = np.empty((len(numbers), width, width))
    products = np.empty((len(numbers), width))
    own = np.empty((len(numbers), 2))
    for r, number in enumerate(numbers):
        rows = group == number
        squares[r] = design[rows].T @ design[rows]
        products[r] = design[rows].T @ y[rows]
        own[r] = y[rows] @ y[rows], rows.sum()
    gram = np.tensordot(weights, squares, (1, 0))
    right = weights @ products
    total = weights @ own
    inverse = np.linalg.inv(gram)
    beta = np.einsum("wij,wj->wi", inverse, right)
    residual = total[:, 0] - np.einsum("wi,wi->w", beta, right)
    degrees = total[:, 1] - width
    error = np.sqrt(np.maximum(residual, 0.0) / degrees * inverse[:, place, place])
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.abs(beta[:, place]) / error
    return np.asarray(2 * stdtr(degrees, -t))
