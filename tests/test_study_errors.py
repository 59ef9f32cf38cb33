"""A wrong study file: one clear message with file, line, key and what would be right."""

from __future__ import annotations

import pytest

from headway import plan
from headway.errors import StudyError, UserError
from headway.study import load, parse
from study_files import SMALL, edited, line_of

LEVELS = 'levels = ["0.5 %", 0.02, "8 %"]'
QUEUE = "min_pkts = 10, max_pkts = 20"
DELIVERY = 'levels = ["ordered", "unordered"]'


def messages(text: str, *overrides: str) -> list[str]:
    with pytest.raises(StudyError) as caught:
        plan.build(parse(text, "my/study.toml", overrides))
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("old", "new", "at", "key", "told"),
    [
        # Unknown keys, everywhere.
        ("seed = 7", "sed = 7", "sed", "study.sed", 'did you mean "seed"?'),
        ("[study]", "[stdy]", "[stdy]", "stdy", 'did you mean "study"?'),
        ("call_rate", "cal_rate", "cal_rate", "scenario.workload.cal_rate", '"call_rate"?'),
        (
            "[scenario.path.loss]",
            "[scenario.path.los]",
            "[scenario.path.los]",
            "scenario.path.los",
            'did you mean "loss"?',
        ),
        (
            "min_pkts",
            "min_pkt",
            '{ label = "10-20"',
            "factor path.queue, level 10-20",
            'min_pkt: no such key of kind "drd"; did you mean "min_pkts"?',
        ),
        ("metric =", "metrik =", "metrik", "expect[1].metrik", 'did you mean "metric"?'),
        ("claims =", "claim =", "claim =", "report.claim", 'did you mean "claims"?'),
        # Units and ranges.
        ('"2 s"', '"2 sec"', "duration", "scenario.run.duration", 'did you mean "s"?'),
        ('"2 s"', "2", "duration", "scenario.run.duration", "2 lacks a unit; units: ns"),
        ('"2 s"', '"0 s"', "duration", "scenario.run.duration", "must be above zero"),
        ('"20 ms"', '"-20 ms"', "one_way_delay", "scenario.path.one_way_delay", "is negative"),
        ('"unlimited"', '"1 Mbps"', 'rate = "1', "scenario.path.rate", 'did you mean "Mb/s"?'),
        ('"8 %"', "1.7", LEVELS[:9], "factor path.loss.rate, level 1.7", "1.7 is above 1"),
        ("replications = 2", "replications = 0", "replications", "study.replications", "below 1"),
        # Kinds and words.
        ('kind = "sip"', 'kind = "spi"', 'kind = "spi"', "scenario.workload.kind", '"sip"?'),
        (
            'kind = "sip"\n',
            "",
            "[scenario.workload]",
            "scenario.workload",
            "lacks its kind; one of: sip, sip-transactions",
        ),
        (
            'kind = "bernoulli"',
            'kind = "bernouli"',
            'kind = "bernouli"',
            "scenario.path.loss.kind",
            'did you mean "bernoulli"? One of: none, bernoulli',
        ),
        (
            'kind = "sctp"',
            'kind = "sctp"\nprofile = "lksctp-2.6.12"',
            "profile",
            "scenario.transport.profile",
            'unknown profile "lksctp-2.6.12"; did you mean "lksctp',
        ),
        (
            'kind = "sctp"',
            'kind = "sctp"\nsctp = 4',
            "sctp = 4",
            "scenario.transport.sctp",
            "4 is not a table",
        ),
        # Types.
        ("seed = 7", 'seed = "7"', "seed", "study.seed", '"7" is not a whole number'),
        ("seed = 7", "seed = -7", "seed", "study.seed", "-7 is below 0"),
        (
            QUEUE,
            'min_pkts = "10", max_pkts = 20',
            '{ label = "10-20"',
            "factor path.queue, level 10-20",
            'min_pkts: "10" is not a whole number',
        ),
        (
            DELIVERY,
            'levels = ["ordered", 3]',
            'levels = ["ordered", 3]',
            "factor transport.delivery, level 3",
            "3 is unknown; one of: ordered, streams",
        ),
        (LEVELS, "levels = 0.02", "levels = 0.02", "factor[1].levels", "0.02 is not a list"),
        # Factors.
        (
            '"path.loss.rate"',
            '"path.loss.rte"',
            'key = "path.loss.rte"',
            "factor path.loss.rte",
            'names no key of the scenario; did you mean "path.loss.rate"?',
        ),
        (
            '"path.loss.rate"',
            '"loss.rate"',
            'key = "loss.rate"',
            "factor loss.rate",
            'did you mean "path.loss.rate"?',
        ),
        (LEVELS, "levels = []", "levels = []", "factor path.loss.rate", "levels is empty"),
        (
            LEVELS,
            "levels = [0.01, 0.02, 0.01]",
            "levels = [0.01",
            "factor path.loss.rate",
            "levels 1 and 3 are the same",
        ),
        (
            LEVELS,
            'levels = [0.02, "2 %"]',
            "levels = [0.02",
            "factor path.loss.rate",
            "levels 1 and 2 are the same",
        ),
        (
            '"path.queue"',
            '"path.loss.rate"',
            'key = "path.loss.rate"\nlevels = [\n',
            "factor path.loss.rate",
            "varied by another factor too (line",
        ),
        (
            'key = "path.queue"',
            'key = "path.queue"\nname = "queue"',
            'key = "path.queue"',
            "factor path.queue, queue",
            "exactly one of key, keys and name",
        ),
        (
            'key = "path.queue"',
            'name = "messages"',
            'name = "messages"',
            "factor messages",
            "results have a column messages already",
        ),
        (
            '{ label = "none", value = ',
            "{ value = ",
            "{ value",
            "factor path.queue",
            "must have a label and a value",
        ),
        (LEVELS, "levels = [[1, 2]]", "levels = [[", "factor path.loss.rate", "needs a label"),
        # Rules.
        ("psd_p50_s", "psd_p50", "metric", "expect 1, metric", 'did you mean "psd_p50_s"?'),
        ('"500 ms"', '"500 m"', 'max = "5', "expect 1, max", 'did you mean "ms"?'),
        ('max = "500 ms"', "", "[[expect]]", "expect 1, max", "needs max or min"),
        (
            '"path.loss.rate" = "<=',
            '"path.loss.rat" = "<=',
            "where",
            "expect 1, where.path.loss.rat",
            'did you mean "path.loss.rate"?',
        ),
        (
            '"<= 0.5 %"',
            '"1 %"',
            "where",
            "expect 1, where.path.loss.rate",
            "1 % is not a level; levels: 0.5 %, 0.02, 8 %",
        ),
        # What only the engine knows.
        (
            QUEUE,
            "min_pkts = 30, max_pkts = 20",
            '{ label = "10-20"',
            "factor path.queue, level 10-20",
            "_pkts: ",
        ),
    ],
)
def test_one_message(old: str, new: str, at: str, key: str, told: str) -> None:
    text = edited((old, new))
    found = messages(text)
    assert len(found) == 1, found
    assert found[0].startswith(f"my/study.toml:{line_of(text, at)}: {key}: "), found
    assert told in found[0]


def test_several_mistakes_are_told_at_once_by_line() -> None:
    found = messages(edited(('"2 s"', '"2 sec"'), ('"20 ms"', '"-20 ms"'), ('"8 %"', "1.7")))
    assert len(found) == 3
    lines = [int(message.split(":")[1]) for message in found]
    assert lines == sorted(lines)


def test_what_is_wrong_with_every_level_is_told_once() -> None:
    text = edited(('kind = "bernoulli"\ngenerator = "markov"', 'kind = "none"'))
    found = messages(text)
    line = line_of(text, 'key = "path.loss.rate"')
    assert found == [
        f'my/study.toml:{line}: factor path.loss.rate: no such key of kind "none"; keys here: kind'
    ]


def test_text_that_is_not_toml() -> None:
    for text, line in (
        ("[study\n", 1),
        ('[study]\nname = "x\n', 2),
        ("[study]\na = 1\na = 2\n", 3),
    ):
        found = messages(text)
        assert len(found) == 1
        assert found[0].startswith(f"my/study.toml:{line}: is not TOML: "), found


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("path.loss.rate=1.7", "1.7 is above 1"),
        ("run.duration=5 sec", 'did you mean "s"?'),
        ("transport.profile=lksctp", "unknown profile"),
    ],
)
def test_set_to_a_wrong_value_names_the_option(override: str, told: str) -> None:
    found = messages(SMALL, override)
    assert len(found) == 1
    assert found[0].startswith(f"--set {override}: ")
    assert told in found[0]


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("path.loss.rte=0.1", 'no such key; did you mean "path.loss.rate"?'),
        ("path.loss.rate", "write KEY=VALUE"),
        ("path.queue.min_pkts=5", "the factor path.queue sets path.queue"),
        ("study.seed=x", "a whole number"),
    ],
)
def test_set_with_a_wrong_key(override: str, told: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(SMALL, overrides=[override])
    assert f"--set {override}: " in str(caught.value)
    assert told in str(caught.value)


def test_set_twice() -> None:
    with pytest.raises(UserError, match="is set twice"):
        parse(SMALL, overrides=["run.duration=1 s", "run.duration=2 s"])


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("sip-randm-loss", 'no such study; did you mean "sip-random-loss"?'),
        ("studies/sip-stack-profile", 'did you mean "sip-stack-profiles"?'),
        ("missing/study.toml", "no such file"),
    ],
)
def test_no_such_study(named: str, told: str) -> None:
    with pytest.raises(UserError) as caught:
        load(named)
    assert str(caught.value).startswith(f"{named}: ")
    assert told in str(caught.value)
