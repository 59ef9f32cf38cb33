"""`headway check --models`: the claims that an analytical model decides."""

from __future__ import annotations

import json
from collections.abc import Sequence

from headway import core
from headway.claims import Verdict
from headway.claims.by_model import Evidence, decided, evidence
from headway.cli.console import console, table
from headway.cli.predict import Bar
from headway.cli.results import styled
from headway.errors import UserError
from headway.models.tcp_chain import CONSERVING, VARIANTS, ChainVariant
from headway.units import nearest

__all__ = ["show_models"]


def show_models(named: Sequence[str], as_json: bool) -> None:
    """Prints a verdict for every claim that a model decides, with the variant of the model."""
    variants = [_variant(name) for name in dict.fromkeys(named)] or [CONSERVING]
    with Bar("claims") as bar:
        found = decided(variants, bar.show)
    also = evidence()
    if as_json:
        record = {
            "version": core.version(),
            "verdicts": [
                {
                    "by": by,
                    "evidence": str(Evidence.MODEL),
                    "also_by_simulation": Evidence.SIMULATION in also[verdict.id],
                    **verdict.record(),
                }
                for by, verdict in found
            ],
        }
        print(json.dumps(record, indent=2, ensure_ascii=False))
        return
    listed = table("claim", "verdict", "by", "measured", "expected", "what it says")
    for by, verdict in found:
        listed.add_row(
            verdict.id,
            styled(str(verdict.verdict), bad=False),
            by,
            verdict.measured or verdict.detail,
            verdict.expected,
            verdict.statement,
        )
    console().print(listed)
    for by in dict.fromkeys(by for by, _ in found):
        print(f"{by}: {_counts([verdict for other, verdict in found if other == by])}")


def _variant(name: str) -> ChainVariant:
    if name in VARIANTS:
        return VARIANTS[name]
    meant = nearest(name, tuple(VARIANTS))
    hint = f'did you mean "{meant}"?' if meant else f"variants: {', '.join(VARIANTS)}"
    raise UserError(f'no such variant "{name}"; {hint}')


def _counts(verdicts: Sequence[Verdict]) -> str:
    counts: dict[str, int] = {}
    for verdict in verdicts:
        counts[str(verdict.verdict)] = counts.get(str(verdict.verdict), 0) + 1
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
