"""From a results folder to what answers and figures are made of."""

from __future__ import annotations

import polars as pl

from headway.claims.results import Results
from headway.plots import Figure, Source, catalogue, chosen, draw
from headway.plots.columns import columns_of
from headway.plots.models import Map, Models
from headway.report.answer import Question
from headway.report.mechanisms import reference, stack_factor


def source(results: Results, *, with_quantiles: bool = True, with_models: bool = True) -> Source:
    """The tables of a study as figures need them."""
    columns = columns_of(results.study, results.points)
    stack = stack_factor(results)
    quantiles = None
    distributions = results.distributions if with_quantiles else None
    if distributions is not None:
        factors = results.runs.select("run_id", *results.factors)
        quantiles = distributions.join(factors, on="run_id", how="inner").drop("run_id")
    return Source(
        results.points,
        columns,
        {name: metric for name, metric in results.study.metrics.items() if name in results.metrics},
        quantiles,
        {} if stack is None else {stack.columns[0]: reference(results, stack)},
        transactions=getattr(results.study.scenario.workload, "transactions", None),
        models=_models(results) if with_models else None,
        maps=_maps(results) if with_models else {},
    )


def _models(results: Results) -> Models | None:
    """What the models that the study names say at the points of the results."""
    names = results.study.report.models
    if not names:
        return None
    # Loading the models takes a while, and most studies name none.
    from headway import beside

    points = set(results.points["point_id"].to_list())
    return Models(beside.values(results.study, names, points), beside.regions(names))


def _maps(results: Results) -> dict[str, Map]:
    """The maps of the figures that need one, by the first model that the study names."""
    names = results.study.report.models
    known = catalogue()
    wanted = [
        known[name]
        for name in results.study.report.figures
        if name in known and known[name].kind == "region"
    ]
    if not names or not wanted:
        return {}
    from headway import beside

    found = {}
    for figure in wanted:
        room = 1.2 * figure.budgets[0] if figure.budgets else 0.0
        found[figure.name] = beside.fine_map(
            results.study, names[0], figure.y, figure.levels, least_backlog_s=room
        )
    return found


def question(results: Results) -> Question:
    """The study's question with its results."""
    # Delays of transactions are judged by their distributions, of which there are few.
    few = results.study.scenario.workload.kind == "sip-transactions"
    return Question(results, source(results, with_quantiles=few, with_models=False))


def drawn(results: Results, of: Source | None = None) -> list[Figure]:
    """The figures that the study's [report] section names, or those that suit it."""
    tables = of or source(results)
    varied = [column.key for column in tables.varied]
    return draw(chosen(results.study.report.figures, varied), tables)


def incomplete(results: Results) -> int:
    """How many runs were cut off before everything had arrived."""
    if "complete" not in results.runs.columns:
        return 0
    return results.runs.filter(~pl.col("complete")).height
