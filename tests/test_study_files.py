"""Studies: what a file becomes."""

from __future__ import annotations

import json

import pytest

from headway import core
from headway.study import load, locate, parse, shipped
from headway.study.fields import spec_key
from headway.study.transport import SctpKnobs
from study_files import SMALL, edited


def test_shipped_studies_have_the_names_of_their_folders() -> None:
    assert {"sip-random-loss", "sip-stack-profiles"} <= set(shipped())
    for name in shipped():
        assert load(name).name == name


def test_a_shipped_study_is_found_by_any_of_its_names() -> None:
    file = shipped()["sip-random-loss"]
    for named in ("sip-random-loss", "studies/sip-random-loss", str(file), str(file.parent)):
        assert locate(named).samefile(file)


def test_random_loss_is_table_1() -> None:
    study = load("sip-random-loss")
    assert {
        column: len(factor.levels) for factor in study.factors for column in factor.columns
    } == {
        "path.loss.rate": 7,
        "path.loss.correlation": 3,
        "path.queue": 2,
        "path.one_way_delay": 2,
        "workload.call_rate": 2,
        "transport.delivery": 2,
    }
    values = {factor.name: [row[0] for row in factor.values] for factor in study.factors}
    assert values["path.loss.rate"] == [0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08]
    assert values["path.loss.correlation"] == [0.0, 0.5, 0.8]
    assert values["path.queue"] == ["10-20", "50-60"]
    assert values["path.one_way_delay"] == [0.02, 0.06]
    assert values["workload.call_rate"] == [20.0, 40.0]
    assert values["transport.delivery"] == ["ordered", "unordered"]
    assert study.replications == 10
    spec = study.scenario.spec()
    assert spec["duration_ns"] == 60 * 10**9
    assert spec["workload"]["invite_bytes"] + spec["workload"]["ringing_bytes"] == 450
    assert spec["path"]["rate_bps"] is None


def test_stack_levels_differ_from_the_assumed_stack_in_one_knob_each() -> None:
    study = load("sip-stack-profiles")
    stack = next(factor for factor in study.factors if factor.columns == ("stack",))
    sets = {
        level.label: {item.key: item.value for item in level.assignments} for level in stack.levels
    }
    assumed = sets.pop("2.6.11, 3 reports")
    transport = load("sip-random-loss").scenario.transport.spec()
    assert assumed["transport.profile"] == transport["profile"]
    assert (
        assumed["transport.sctp.missing_report_threshold"]
        == (transport["sctp"]["missing_report_threshold"])
    )
    varied = {label: keys for label, keys in sets.items() if label.startswith("3 reports")}
    assert len(varied) == 5
    for keys in varied.values():
        assert len(set(keys.items()) - set(assumed.items())) == 1
        assert assumed.items() <= keys.items()
    plain = {next(iter(keys.values())) for label, keys in sets.items() if label not in varied}
    assert plain == {"rfc9260", "lksctp-2.6.11", "lksctp-2.6.18", "freebsd-6.1"}


def test_columns_show_base_units_labels_and_words() -> None:
    study = parse(SMALL)
    assert [factor.values for factor in study.factors] == [
        ((0.005,), (0.02,), (0.08,)),
        (("10-20",), ("none",)),
        (("ordered",), ("unordered",)),
    ]


def test_a_column_with_a_word_in_it_shows_words() -> None:
    levels = ('levels = ["0.5 %", 0.02, "8 %"]', 'levels = ["1 Mb/s", "unlimited"]')
    text = edited(
        ('rate = "unlimited"\n', ""), levels, ('key = "path.loss.rate"', 'key = "path.rate"')
    )
    text = text.replace('generator = "markov"', "rate = 0.01")
    text = text[: text.index("[[expect]]")]
    assert parse(text).factors[0].values == (("1 Mb/s",), ("unlimited",))


def test_a_label_turns_a_quantity_into_words() -> None:
    text = edited(
        ('levels = ["0.5 %", 0.02, "8 %"]', 'levels = [{ label = "low", value = 0.01 }, 0.02]')
    )
    text = text[: text.index("[[expect]]")]
    factor = parse(text).factors[0]
    assert factor.values == (("low",), ("0.02",))


def test_keys_varied_together_have_a_column_each() -> None:
    text = edited(
        (
            'key = "path.loss.rate"\nlevels = ["0.5 %", 0.02, "8 %"]',
            'keys = ["path.loss.rate", "path.one_way_delay"]\n'
            'levels = [[0.01, "20 ms"], ["2 %", { label = "far", value = "60 ms" }]]',
        )
    )
    text = text[: text.index("[[expect]]")]
    study = parse(text)
    assert study.factor_columns[:2] == ["path.loss.rate", "path.one_way_delay"]
    assert study.factors[0].values == ((0.01, "20 ms"), (0.02, "far"))


def test_a_named_factor_takes_quoted_and_plain_dots_alike() -> None:
    text = edited(
        (
            'key = "transport.delivery"\nlevels = ["ordered", "unordered"]',
            'name = "stack"\nlevels = [\n'
            '  { label = "a", set = {} },\n'
            '  { label = "b", set = { "transport.sctp.rto_min" = "500 ms" } },\n'
            '  { label = "c", set = { transport.sctp = { rto_min = "200 ms", nagle = true } } },\n'
            "]",
        )
    )
    text = text[: text.index("[[expect]]")]
    factor = parse(text).factors[-1]
    assert factor.columns == ("stack",)
    assert set(factor.keys) == {"transport.sctp.rto_min", "transport.sctp.nagle"}
    assert [level.label for level in factor.levels] == ["a", "b", "c"]


def test_expect_rules_are_in_base_units() -> None:
    rule = parse(SMALL).expects[0]
    assert (rule.metric, rule.max, rule.min, rule.statistic) == ("psd_p50_s", 0.5, None, "mean")
    found = [(item.column, item.operator, item.values) for item in rule.where]
    assert found == [
        ("path.loss.rate", "<=", (0.005,)),
        ("transport.delivery", "==", ("unordered",)),
    ]


def test_only_the_reverse_keys_that_are_written_reach_the_spec() -> None:
    text = edited(
        (
            "[scenario.path.loss]",
            '[scenario.path.reverse]\nrate = "unlimited"\none_way_delay = "5 ms"\n'
            "[scenario.path.loss]",
        )
    )
    spec = parse(text).scenario.spec()
    assert spec["path"]["reverse"] == {"rate_bps": None, "one_way_delay_ns": 5_000_000}
    assert "reverse" not in parse(SMALL).scenario.spec()["path"]


def test_set_changes_fixed_values_and_drops_factors() -> None:
    study = parse(
        SMALL,
        overrides=[
            "run.duration=1 s",
            "path.queue={ kind = 'drop-tail-packets', limit_pkts = 5 }",
            "path.rate=1 Mb/s",
            "transport.sctp.nagle=true",
            "study.seed=9",
        ],
    )
    assert study.factor_columns == ["path.loss.rate", "transport.delivery"]
    spec = study.scenario.spec()
    assert spec["duration_ns"] == 10**9
    assert spec["path"]["queue"] == {"kind": "drop-tail-packets", "limit_pkts": 5}
    assert spec["transport"]["sctp"] == {"nagle": True}
    assert study.seed == 9


def test_every_knob_of_the_engine_can_be_set_and_no_other() -> None:
    ours = {spec_key(SctpKnobs, name) for name in SctpKnobs.model_fields}
    named = core.profiles()["rfc9260"]
    engine = {knob["name"] for knob in named}
    # How many streams there are follows from `transport.delivery` and `transport.streams`.
    assert engine - ours == {"outbound_streams", "inbound_streams"}
    assert ours <= engine


def test_defaults_are_those_of_the_engine() -> None:
    """A spec with only what is required gives the same bytes as one with every default."""
    study = parse(edited(("call_rate = 40", 'call_rate = 40\nflow = "full"')))
    full = study.scenario.spec() | {
        "run": {"id": "a", "point": 0, "replication": 0},
        "seed": "0123456789abcdef",
        "collect": {"messages": True, "transactions": True, "distributions": True},
    }
    bare = dict(full)
    del bare["drain_ns"]
    bare["workload"] = {"kind": "sip", "call_rate": 40.0, "flow": "full"}
    bare["transport"] = {"kind": "sctp"}
    bare["path"] = {
        "one_way_delay_ns": 20_000_000,
        "loss": {"kind": "bernoulli", "rate": 0.005},
        "queue": {"kind": "drd", "min_pkts": 10, "max_pkts": 20},
    }
    assert core.run([json.dumps(full)]) == core.run([json.dumps(bare)])


@pytest.mark.parametrize("name", sorted(shipped()))
def test_shipped_studies_say_what_they_ask(name: str) -> None:
    study = load(name)
    assert study.question.strip().endswith("?")
    assert study.description.strip()
