"""Statistics as pure functions on tables: nothing here reads or writes a file.

Rules and tests are described in docs/statistics.md; each module holds one of them.
"""

from headway.stats.compare import compare, select_levels
from headway.stats.effects import cliffs_delta, interval
from headway.stats.equivalence import Equivalence, Judgement, equivalence, ratio_equivalence
from headway.stats.intervals import mean_interval, points, t_factor
from headway.stats.ks import KsTest, critical_distance, exact_p, ks_distance, ks_test
from headway.stats.matrix import Cells, cells
from headway.stats.quantiles import LEVELS, pooled_cdf, pooled_quantiles, quantile
from headway.stats.regression import correlation_terms, least_squares, resampled_p
from headway.stats.resample import resample_weights, share_same, weighted_means

__all__ = [
    "LEVELS",
    "Cells",
    "Equivalence",
    "Judgement",
    "KsTest",
    "cells",
    "cliffs_delta",
    "compare",
    "correlation_terms",
    "critical_distance",
    "equivalence",
    "exact_p",
    "interval",
    "ks_distance",
    "ks_test",
    "least_squares",
    "mean_interval",
    "points",
    "pooled_cdf",
    "pooled_quantiles",
    "quantile",
    "ratio_equivalence",
    "resample_weights",
    "resampled_p",
    "select_levels",
    "share_same",
    "t_factor",
    "weighted_means",
]
