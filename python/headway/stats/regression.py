"""Multiple linear regression over runs: the effect of a factor beside the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtr


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
    # Taken here, not at the top: it costs more than a second, and only this test needs it.
    from statsmodels.regression.linear_model import OLS

    used = runs.filter(pl.col(response).is_not_null())
    coded = correlation_terms(used, terms)
    design = np.column_stack([np.ones(len(used)), *coded.values()])
    fit = OLS(used[response].cast(pl.Float64).to_numpy(), design).fit()
    robust = fit.get_robustcov_results(cov_type="HC3")
    ends = fit.conf_int(0.05)
    return pl.DataFrame(
        {
            "term": ["intercept", *coded],
            "coefficient": fit.params,
            "standard_error": fit.bse,
            "t": fit.tvalues,
            "p_value": fit.pvalues,
            "ci_low": ends[:, 0],
            "ci_high": ends[:, 1],
            "p_value_robust": robust.pvalues,
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
