"""Execution: threads, interruption, resumption, what a folder may hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from headway import plan
from headway.errors import UserError
from headway.execute import Interrupted, execute, measure_rate
from headway.metrics import METRICS
from headway.plan import Plan
from headway.samples import RUN_COLUMNS
from headway.store import PARTIAL, Batch, Store, batches, open_store
from headway.study import parse
from study_files import SMALL, edited

TIMELY = "provenance.json"
"""The one file that tells of time."""


def make(*, text: str = SMALL, **options: object) -> Plan:
    return plan.build(parse(text), **options)  # type: ignore[arg-type]


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != TIMELY
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "small"
    execute(make(samples=True), folder, jobs=1)
    return folder


def test_a_folder_holds_every_table(finished: Path) -> None:
    assert sorted(files(finished)) == [
        "distributions.parquet",
        "points.csv",
        "points.parquet",
        "runs.parquet",
        "samples/flows.parquet",
        "samples/messages.parquet",
        "samples/transactions.parquet",
        "samples/windows.parquet",
        "study.toml",
    ]
    assert (finished / "study.toml").read_text() == SMALL


def test_runs_are_in_the_order_of_the_plan(finished: Path) -> None:
    made = make(samples=True)
    runs = pl.read_parquet(finished / "runs.parquet")
    factors = made.study.factor_columns
    assert runs.columns == [*RUN_COLUMNS, *factors, *METRICS["sip"]]
    assert runs["run_id"].to_list() == [run.id for run in made.runs]
    assert runs["seed"].to_list() == [run.seed for run in made.runs]
    assert runs.select(factors).rows() == [run.point.values for run in made.runs]
    assert runs["complete"].all()
    assert runs.schema["path.loss.rate"] == pl.Float64
    assert runs.schema["path.queue"] == pl.String


def test_points_summarise_runs(finished: Path) -> None:
    runs = pl.read_parquet(finished / "runs.parquet")
    points = pl.read_parquet(finished / "points.parquet")
    assert points.height == 12
    assert points["point_id"].to_list() == list(range(12))
    for name in METRICS["sip"]:
        assert {f"{name}.{what}" for what in ("mean", "ci_low", "ci_high", "n")} <= set(
            points.columns
        )
    mean = runs.filter(point_id=3)["psd_p95_s"].mean()
    assert points.filter(point_id=3)["psd_p95_s.mean"].item() == pytest.approx(mean)
    csv = pl.read_csv(finished / "points.csv", infer_schema_length=None)
    assert csv["psd_p95_s.mean"].to_list() == points["psd_p95_s.mean"].to_list()


def test_samples_belong_to_the_runs(finished: Path) -> None:
    runs = pl.read_parquet(finished / "runs.parquet")
    messages = pl.read_parquet(finished / "samples" / "messages.parquet")
    transactions = pl.read_parquet(finished / "samples" / "transactions.parquet")
    counted = messages.group_by("run_id", maintain_order=True).len()
    assert counted["run_id"].to_list() == runs["run_id"].to_list()
    assert counted["len"].to_list() == runs["messages"].to_list()
    parts = ("sender_wait_ns", "network_ns", "recovery_ns", "hol_blocking_ns")
    assert (messages["delay_ns"] == messages.select(pl.sum_horizontal(parts)).to_series()).all()
    assert transactions.height == runs["calls"].sum()


def test_provenance_says_what_ran(finished: Path) -> None:
    record = json.loads((finished / TIMELY).read_text())
    made = make(samples=True)
    assert record["study"]["text"] == SMALL
    assert record["plan"]["hash"] == made.hash
    assert (record["seed"], record["replications"], record["runs"]) == (7, 2, 24)
    assert record["samples"] is True
    assert record["runs_per_second"] > 0
    assert record["jobs"] == 1
    assert [session["runs"] for session in record["sessions"]] == [24]


@pytest.mark.parametrize("jobs", [2, 8])
def test_any_number_of_threads_gives_the_same_bytes(
    finished: Path, tmp_path: Path, jobs: int
) -> None:
    outcome = execute(make(samples=True), tmp_path / "again", jobs=jobs)
    assert outcome.runs == 24
    assert files(tmp_path / "again") == files(finished)


def interrupt_after(count: int, patch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle: in the main thread, while batches are under way."""
    from headway import execute as module

    whole = module._Threads.run

    def run(self: object, batches: list[Batch]) -> Iterator[Batch]:
        for number, batch in enumerate(whole(self, batches)):  # type: ignore[arg-type]
            yield batch
            if number + 1 == count:
                raise KeyboardInterrupt

    patch.setattr(module._Threads, "run", run)


def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "small"
    done = 0
    for count in (5, 3):
        with monkeypatch.context() as patch:
            interrupt_after(count, patch)
            with pytest.raises(Interrupted) as caught:
                execute(make(samples=True), folder, jobs=2)
        assert caught.value.done >= done + count
        assert caught.value.total == 24
        done = caught.value.done
        assert sorted(path.name for path in folder.iterdir()) == [PARTIAL]
    outcome = execute(make(samples=True), folder, jobs=2)
    assert outcome.resumed == done
    assert outcome.runs == 24 - done
    assert files(folder) == files(finished)
    record = json.loads((folder / TIMELY).read_text())
    assert sum(session["runs"] for session in record["sessions"]) == 24
    assert len(record["sessions"]) == 3


def damage_cut(store: Store, batch: Batch) -> None:
    file = store.file(batch, "runs")
    file.write_bytes(file.read_bytes()[:100])


def damage_swapped(store: Store, batch: Batch) -> None:
    other = store.batches[batch.index + 1]
    store.file(batch, "runs").write_bytes(store.file(other, "runs").read_bytes())


def damage_gone(store: Store, batch: Batch) -> None:
    store.file(batch, "runs").unlink()


@pytest.mark.parametrize("damage", [damage_cut, damage_swapped, damage_gone])
def test_a_damaged_batch_is_done_again(
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Store, Batch], None],
) -> None:
    folder = tmp_path / "small"
    with monkeypatch.context() as patch:
        interrupt_after(6, patch)
        with pytest.raises(Interrupted):
            execute(make(samples=True), folder, jobs=1)
    store = open_store(folder, make(samples=True))
    before = store.done()
    damage(store, before[0])
    assert [batch.index for batch in store.done()] == [batch.index for batch in before[1:]]
    execute(make(samples=True), folder, jobs=1)
    assert files(folder) == files(finished)


def test_complete_results_are_left_alone(finished: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*")}
    outcome = execute(make(samples=True), finished, jobs=1)
    assert (outcome.runs, outcome.resumed) == (0, 24)
    assert {path: path.stat().st_mtime_ns for path in finished.rglob("*")} == before


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (make(), "--samples yes there, no here"),
        (make(samples=True, replications=3), "replications 2 there, 3 here"),
        (
            make(samples=True, only=["path.queue=none"]),
            "--only none there, path.queue=none here",
        ),
        (
            make(samples=True, text=edited(('name = "small"', 'name = "other"'), ("= 7", "= 8"))),
            "study small there, other here; seed 7 there, 8 here",
        ),
        (
            make(samples=True, text=edited(('"20 ms"', '"30 ms"'))),
            "the study file has changed since",
        ),
    ],
)
def test_results_of_another_plan_are_refused(finished: Path, other: Plan, told: str) -> None:
    before = files(finished)
    with pytest.raises(UserError) as caught:
        execute(other, finished, jobs=1)
    assert str(caught.value).startswith(f"{finished}: holds results of another plan ({told})")
    assert "--force" in str(caught.value)
    assert files(finished) == before


def test_force_replaces_results_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    execute(make(samples=True), folder, jobs=1)
    (folder / "verdicts.json").write_text("{}")
    (folder / "notes.txt").write_text("mine")
    execute(make(replications=1), folder, jobs=1, force=True)
    assert pl.read_parquet(folder / "runs.parquet").height == 12
    assert (folder / "notes.txt").read_text() == "mine"
    assert not (folder / "samples").exists()
    assert not (folder / "verdicts.json").exists()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(UserError, match="holds no results of Headway"):
        execute(make(), tmp_path, jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    with pytest.raises(UserError, match="is a file"):
        execute(make(), tmp_path / "letter.txt", jobs=1)


def test_batches_depend_on_the_plan_only() -> None:
    made = make(replications=200)
    sizes = [len(batch.runs) for batch in batches(made)]
    assert sum(sizes) == 2400
    assert set(sizes[:-1]) == {9}
    assert [len(batch.runs) for batch in batches(make())] == [1] * 24


def test_rate_is_measured() -> None:
    assert measure_rate(make(), most_runs=2) > 0
