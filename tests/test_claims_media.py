"""Claims on media over TCP: their facts, and what the chain decides of them."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from headway.claims.by_model import Evidence, by_model, decided, evidence, model_checks
from headway.claims.facts import claims
from headway.claims.verdict import Outcome, Verdict
from headway.models.tcp_chain import (
    CONSERVING,
    PRINTED,
    CbrFlow,
    ChainVariant,
    TcpChain,
    solve,
    trace,
)
from headway.models.tcp_chain.transitions import Kind
from test_predict import headway, refused

DECIDED = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 33, 34, 35, 36, 40, 45, 46, 47)


@pytest.fixture(scope="module")
def verdicts() -> dict[str, tuple[str, Verdict]]:
    return {verdict.id: (by, verdict) for by, verdict in decided([CONSERVING])}


def test_every_claim_of_the_paper_has_its_facts() -> None:
    ours = [claim for claim in claims() if claim.startswith("s4-")]
    assert ours == [f"s4-c{number:02}" for number in range(1, 49)]
    for name in ours:
        claim = claims()[name]
        assert claim.statement and claim.expected and claim.tolerance and claim.conditions


def test_the_chain_decides_these(verdicts: dict[str, tuple[str, Verdict]]) -> None:
    assert list(verdicts) == [f"s4-c{number:02}" for number in DECIDED]
    failing = [name for name, (_, verdict) in verdicts.items() if verdict.verdict != Outcome.HOLDS]
    assert failing == ["s4-c10"]
    assert verdicts["s4-c10"][1].verdict is Outcome.FAILS


def test_each_verdict_names_what_decided_it(verdicts: dict[str, tuple[str, Verdict]]) -> None:
    for name, (by, verdict) in verdicts.items():
        assert by == ("arithmetic" if name == "s4-c01" else "tcp-chain, conserving")
        assert verdict.conditions.endswith(f"here: {by}")
        # There are no replications to resample.
        assert verdict.measured and verdict.stable is None


def test_measured_values_are_those_of_the_chain(verdicts: dict[str, tuple[str, Verdict]]) -> None:
    flow = CbrFlow(174, Fraction(1, 50))
    p95 = [round(1000 * solve(flow, 0.1, loss).percentile(0.95)) for loss in (0.02, 0.03, 0.05)]
    assert verdicts["s4-c02"][1].measured == (
        f"{p95[0]} ms at 2 %, {p95[1]} ms at 3 %, {p95[2]} ms at 5 %"
    )
    assert "No independent test" in verdicts["s4-c02"][1].detail
    assert "573.6" in verdicts["s4-c01"][1].measured


def test_a_reading_that_loses_packets_fails_where_it_should() -> None:
    known = by_model()
    assert not known["s4-c46"].function(PRINTED).outcomes
    assert not known["s4-c02"].function(PRINTED).outcomes
    assert known["s4-c46"].function(CONSERVING).outcomes


def test_evidence_is_kept_apart() -> None:
    kinds = evidence()
    assert kinds["s4-c46"] == (Evidence.MODEL,)
    assert kinds["s0-c04"] == (Evidence.SIMULATION,)
    with pytest.raises(ValueError, match="a check against a model already"):
        model_checks("s4-c46")(lambda variant: by_model()["s4-c46"].function(variant))
    with pytest.raises(ValueError, match="no claim s4-c99"):
        model_checks("s4-c99")(lambda variant: by_model()["s4-c46"].function(variant))


def test_the_command_prints_verdicts_and_json(
    verdicts: dict[str, tuple[str, Verdict]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def known(variants: list[ChainVariant], progress: object) -> list[tuple[str, Verdict]]:
        # The verdicts of this very version, which take ten seconds to find again.
        assert callable(progress)
        asked.append([variant.label for variant in variants])
        return list(verdicts.values())

    monkeypatch.setattr("headway.cli.claims.decided", known)
    output = headway("check", "--models")
    assert "tcp-chain, conserving: 17 holds, 1 does not hold" in output
    record = json.loads(
        headway("check", "--models", "--json", "--variant", "printed", "--variant", "conserving")
    )
    assert asked == [["conserving"], ["printed", "conserving"]]
    assert [entry["id"] for entry in record["verdicts"]] == [f"s4-c{n:02}" for n in DECIDED]
    by = {entry["id"]: entry["by"] for entry in record["verdicts"]}
    assert by["s4-c01"] == "arithmetic" and by["s4-c02"] == "tcp-chain, conserving"
    assert {entry["evidence"] for entry in record["verdicts"]} == {"model"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "or --models"),
        (("--models", "somewhere"), "needs no folder"),
        (("--models", "--variant", "conserv"), 'did you mean "conserving"'),
        (("somewhere", "--json"), "belong to --models"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused("check", *arguments)


def test_a_path_follows_table_6() -> None:
    # 100 full packets a second, RTT 200 ms: r = 20. By hand: after the loss the window is
    # floor(23 / 2) = 11, so 9 packets stay behind in the round that ends the recovery.
    chain = TcpChain(CbrFlow(1448, Fraction(1, 100)), 0.2)
    path = trace(chain, {0})
    assert [step.kind for step in path[:3]] == [Kind.AL_RECOVERY, Kind.RECOVERED, Kind.NL_SENT]
    assert path[0].duration_s == pytest.approx(0.23) and path[0].longest_s == pytest.approx(0.33)
    assert [step.window for step in path[1:5]] == [11, 11, 12, 13]
    assert [step.waited_s for step in path[1:5]] == pytest.approx([0, 0.09, 0.18, 0.26])
    assert path[-1].kind is Kind.AL_SENT and path[-1].waited_s == 0 and path[-1].window == 31
    starts = [step.starts_s for step in path]
    assert starts[1:] == pytest.approx([step.starts_s + step.duration_s for step in path[:-1]])


def test_a_second_loss_makes_the_peak_higher() -> None:
    chain = TcpChain(CbrFlow(1448, Fraction(1, 100)), 0.2)
    one, two = (max(step.longest_s for step in trace(chain, losses)) for losses in ({0}, {0, 3}))
    assert two > one


@pytest.mark.parametrize(("losses", "said"), [({1}, "step 0"), ({0, 1}, "cannot meet one")])
def test_a_path_that_cannot_be(losses: set[int], said: str) -> None:
    chain = TcpChain(CbrFlow(1448, Fraction(1, 100)), 0.2)
    with pytest.raises(ValueError, match=said):
        trace(chain, losses)
    shared = TcpChain(CbrFlow(174, Fraction(1, 50)), 0.1, points_per_packet=4)
    with pytest.raises(ValueError, match="exact"):
        trace(shared, {0})
