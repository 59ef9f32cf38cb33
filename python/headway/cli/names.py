"""The names in a study's [report] section, checked before anything runs."""

from __future__ import annotations

from headway.errors import Problem, StudyError
from headway.study import Study
from headway.units import nearest

__all__ = ["check_names"]


def check_names(study: Study) -> None:
    """Raises StudyError where the study names a claim, a figure or a model that there is not."""
    from headway.claims.registry import registered
    from headway.plots.definition import catalogue

    named = [
        ("claims", study.report.claims, list(registered())),
        ("figures", study.report.figures, list(catalogue())),
    ]
    if study.report.models:
        # Loading the models takes longer than all the rest.
        from headway.models.curves import laid_beside

        named.append(("models", study.report.models, list(laid_beside())))
    problems = [
        _unknown(study, table, index, name, known)
        for table, names, known in named
        for index, name in enumerate(names)
        if name not in known
    ]
    if problems:
        raise StudyError(problems)


def _unknown(study: Study, table: str, index: int, name: str, known: list[str]) -> Problem:
    meant = nearest(name, known)
    hint = f'did you mean "{meant}"?' if meant else f"{table}: {', '.join(known)}"
    line = study.base.positions.nearest(("report", table, index))
    return Problem(study.file, line, f"report.{table}", f'no such name "{name}"; {hint}')
