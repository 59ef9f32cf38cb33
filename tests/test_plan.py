"""Plans: points, runs, seeds, RunSpecs."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from headway import core, plan
from headway.errors import UserError
from headway.seeds import run_seed
from headway.study import load, parse
from study_files import SMALL, edited


def test_random_loss_has_336_points_and_3360_runs() -> None:
    made = plan.build(load("sip-random-loss"))
    assert len(made.points) == 336
    assert len(made.runs) == 3360
    assert len({run.id for run in made.runs}) == 3360


def test_points_are_the_product_in_the_order_of_declaration() -> None:
    study = parse(SMALL)
    made = plan.build(study)
    expected = list(
        itertools.product([0.005, 0.02, 0.08], ["10-20", "none"], ["ordered", "unordered"])
    )
    assert [point.values for point in made.points] == expected
    assert [point.index for point in made.points] == list(range(12))
    assert [run.id for run in made.runs[:3]] == ["p0000-r00", "p0000-r01", "p0001-r00"]


def test_specs_are_what_the_engine_takes() -> None:
    made = plan.build(parse(SMALL))
    for run, text in zip(made.runs, made.specs(), strict=True):
        core.check(text)
        spec = json.loads(text)
        assert spec["run"] == {
            "id": run.id,
            "point": run.point.index,
            "replication": run.replication,
        }
        assert spec["seed"] == run.seed
        assert re.fullmatch("[0-9a-f]{16}", run.seed)
        assert spec["path"]["loss"]["rate"] == run.point.values[0]
        assert spec["transport"]["delivery"] == run.point.values[2]
        assert spec["collect"] == {
            "messages": False,
            "transactions": False,
            "distributions": True,
        }


def seeds(text: str, **options: object) -> dict[tuple[object, ...], str]:
    made = plan.build(parse(text), **options)  # type: ignore[arg-type]
    return {(*run.point.values, run.replication): run.seed for run in made.runs}


def test_seeds_are_common_to_transports_and_different_elsewhere() -> None:
    found = seeds(SMALL)
    for (loss, queue, delivery, replication), seed in found.items():
        assert seed == found[(loss, queue, "ordered", replication)]
        assert (seed == found[(0.02, "none", delivery, 1)]) == (
            (loss, queue, replication) == (0.02, "none", 1)
        )
    assert len(set(found.values())) == 3 * 2 * 2


def test_seeds_do_not_depend_on_labels_order_or_selection() -> None:
    found = seeds(SMALL)
    turned = SMALL.replace('"0.5 %", 0.02, "8 %"', '"8 %", "2 %", 0.005')
    assert seeds(turned) == found
    relabelled = seeds(SMALL.replace('label = "none"', 'label = "no queue"'))
    assert set(relabelled.values()) == set(found.values())
    first, rest = SMALL.split("[[factor]]", 1)
    one, two, three = rest.split("[[factor]]")
    three, tail = three.split("[[expect]]")
    swapped = f"{first}[[factor]]{two}[[factor]]{one}[[factor]]{three}[[expect]]{tail}"
    assert {(b, a, *more): seed for (a, b, *more), seed in seeds(swapped).items()} == found
    only = seeds(SMALL, only=["path.loss.rate=0.02"])
    assert only.items() <= found.items()
    more = seeds(SMALL, replications=12)
    assert found.items() <= more.items()


def test_another_study_seed_changes_every_seed() -> None:
    assert not set(seeds(SMALL).values()) & set(seeds(edited(("seed = 7", "seed = 8"))).values())


def test_the_rule_of_seeds_is_the_documented_one() -> None:
    """Written out once more, so that a change of the rule cannot go unseen."""
    assert run_seed(7, '{"path.loss.rate":0.02}', 3) == "939c0ee219d09e85"


def test_only_keeps_matching_points_under_their_numbers() -> None:
    study = parse(SMALL)
    for written in ("0.02", "2 %", "2.0 %"):
        made = plan.build(study, only=[f"path.loss.rate={written}"])
        assert [point.index for point in made.points] == [4, 5, 6, 7]
    made = plan.build(
        study,
        only=["path.loss.rate=0.5 %", "path.loss.rate=8 %", "path.queue=none"],
    )
    assert [point.values for point in made.points] == [
        (0.005, "none", "ordered"),
        (0.005, "none", "unordered"),
        (0.08, "none", "ordered"),
        (0.08, "none", "unordered"),
    ]


@pytest.mark.parametrize(
    ("only", "told"),
    [
        ("path.loss.rat=0.02", 'is no factor of small; did you mean "path.loss.rate"?'),
        ("path.loss.rate=3 %", "3 % is not a level; levels: 0.5 %, 0.02, 8 %"),
        ("path.queue=20-30", "levels: 10-20, none"),
        ("transport.delivery", "write KEY=VALUE"),
    ],
)
def test_only_with_what_is_not_there(only: str, told: str) -> None:
    with pytest.raises(UserError) as caught:
        plan.build(parse(SMALL), only=[only])
    assert str(caught.value).startswith(f"--only {only}: ")
    assert told in str(caught.value)


def test_levels_of_keys_varied_together_that_never_meet() -> None:
    text = edited(
        (
            'key = "path.loss.rate"\nlevels = ["0.5 %", 0.02, "8 %"]',
            'keys = ["path.loss.rate", "path.one_way_delay"]\n'
            'levels = [[0.01, "20 ms"], ["2 %", "60 ms"]]',
        )
    )
    study = parse(text[: text.index("[[expect]]")])
    made = plan.build(study, only=["path.one_way_delay=0.06 s"])
    assert {point.values[0] for point in made.points} == {0.02}
    # As results show it, in base units.
    made = plan.build(study, only=["path.one_way_delay=0.06"])
    assert {point.values[0] for point in made.points} == {0.02}
    with pytest.raises(UserError, match="no point matches"):
        plan.build(study, only=["path.one_way_delay=60 ms", "path.loss.rate=1 %"])


def test_the_hash_follows_what_results_depend_on() -> None:
    study = parse(SMALL)
    base = plan.build(study).hash
    assert plan.build(parse("# a remark\n" + SMALL)).hash == base
    changed = [
        plan.build(study, replications=3),
        plan.build(study, samples=True),
        plan.build(study, only=["path.queue=none"]),
        plan.build(parse(SMALL, overrides=["run.duration=3 s"])),
        plan.build(parse(edited(("seed = 7", "seed = 8")))),
        plan.build(parse(edited(('label = "none"', 'label = "no queue"')))),
    ]
    assert len({base, *(made.hash for made in changed)}) == 1 + len(changed)


def test_run_ids_grow_with_the_study() -> None:
    made = plan.build(parse(SMALL), replications=101)
    assert made.runs[100].id == "p0000-r100"
    assert made.runs[0].id == "p0000-r000"
