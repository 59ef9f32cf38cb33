"""The command line as its users meet it: one process a command."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headway import core, plan
from headway.cli import results
from headway.execute import execute
from headway.study import parse, shipped
from study_files import SMALL, edited

COMMANDS = ("list", "validate", "plan", "run", "report", "check", "simulate", "profiles")


def headway(
    *arguments: str | Path, cwd: Path | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headway", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return written(tmp_path, SMALL)


def written(folder: Path, text: str) -> Path:
    file = folder / "small" / "study.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_every_command_has_examples() -> None:
    # In one process, for these pages only differ in text.
    code = (
        "from typer.testing import CliRunner; from headway.cli.app import app\n"
        f"for name in {COMMANDS!r}:\n"
        "    found = CliRunner().invoke(app, [name, '--help'])\n"
        "    assert found.exit_code == 0, name\n"
        "    assert f'$ headway {name}' in found.output, found.output\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['headway', '--help']\n"
        "from headway.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'polars', 'pydantic', 'scipy', 'numpy', 'plotly', 'headway._core'}\n"
        "sys.exit(f'loaded {heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Commands" in done.stdout


def test_version_says_how_the_engine_was_built() -> None:
    done = headway("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(f"headway {core.version()}")
    assert ("by its profile" in done.stdout) == core.profiled()


def test_the_engines_exercise_runs_every_shipped_study() -> None:
    folder = Path(core.__file__).parent
    exercise = folder.parents[1] / "scripts" / "train-engine"
    done = subprocess.run(
        [sys.executable, exercise, folder], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"of {len(shipped())} studies" in done.stderr


def test_list_names_the_shipped_studies() -> None:
    done = headway("list")
    assert done.returncode == 0
    assert re.search(r"sip-random-loss\s+336\s+3360\s", done.stdout)
    assert "sip-stack-profiles" in done.stdout


def test_validate(study: Path) -> None:
    done = headway("validate", study)
    assert done.returncode == 0
    assert "small is valid: 3 factors, 12 points, 24 runs, 1 rule" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "path.loss.rat=0.1"], 'did you mean "path.loss.rate"?'),
        (["--only", "path.loss.rate=3 %"], "3 % is not a level"),
        (["--set", "path.one_way_delay=-20 ms"], '"-20 ms" is negative'),
        (["--set", "transport.profile=linux"], "unknown profile"),
    ],
)
def test_a_wrong_option_is_one_message_and_nothing_written(
    study: Path, tmp_path: Path, arguments: list[str], told: str
) -> None:
    done = headway("run", study, "--out", tmp_path / "out", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_wrong_study_is_one_message_and_nothing_written(tmp_path: Path) -> None:
    written(tmp_path, edited(('"8 %"', "1.7")))
    for command in (["validate", "small"], ["plan", "small"], ["run", "small"]):
        done = headway(*command, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == (
            "error: small/study.toml:27: factor path.loss.rate, level 1.7: "
            "1.7 is above 1 (or 100 %)\n"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["small"]


def test_names_in_the_report_section_are_checked_first(tmp_path: Path) -> None:
    study = written(tmp_path, edited(('"s0-c02"]', '"s0-c2"]\nfigures = ["fig44"]')))
    done = headway("run", study, "--out", tmp_path / "out")
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert ': report.claims: no such name "s0-c2"; did you mean "s0-c' in first
    assert ': report.figures: no such name "fig44"; did you mean "fig4"?' in second
    assert not (tmp_path / "out").exists()


def test_plan_counts_and_measures(study: Path) -> None:
    done = headway("plan", study, "--only", "path.loss.rate=0.02", "--replications", "3")
    assert done.returncode == 0
    assert "4 points x 3 replications = 12 runs" in done.stdout
    assert re.search(r"about [0-9.]+ s on \d+ threads?, at [0-9.]+ ms a run", done.stdout)
    assert re.search(r"path\.queue\s+2\s+10-20 · none", done.stdout)


def test_every_line_of_the_plan_can_be_simulated(study: Path, tmp_path: Path) -> None:
    specs = headway("plan", study, "--json").stdout.splitlines()
    assert len(specs) == 24
    (tmp_path / "spec.json").write_text(specs[7])
    from_file = headway("simulate", tmp_path / "spec.json")
    piped = headway("simulate", "-", stdin=specs[7])
    assert from_file.returncode == piped.returncode == 0
    found = json.loads(from_file.stdout)
    assert found == json.loads(piped.stdout)
    assert found["run_id"] == "p0003-r01"
    assert found["psd_p50_s"] >= 0.04


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("{", "standard input:1: is not JSON"),
        ("{}", "error: standard input: "),
        ('{"version": 1, "sed": 1}', "sed"),
    ],
)
def test_simulate_refuses_a_wrong_spec(spec: str, told: str) -> None:
    done = headway("simulate", "-", stdin=spec)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_profiles_show_values_and_sources() -> None:
    done = headway("profiles")
    assert done.returncode == 0
    assert re.search(r"rto_min\s+1 s\s+\S+", done.stdout)
    found = json.loads(headway("profiles", "--json").stdout)
    assert {"rfc9260", "lksctp-2.6.11", "lksctp-2.6.18", "freebsd-6.1"} <= set(found)


def test_run_ends_with_the_answer_and_the_report(study: Path, tmp_path: Path) -> None:
    done = headway("run", study.parent, "--progress", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert lines[0] | {"elapsed_s": 0} == {
        "event": "start",
        "done": 0,
        "total": 24,
        "elapsed_s": 0,
        "runs_per_second": 0.0,
        "left_s": None,
    }
    assert (lines[-1]["event"], lines[-1]["done"]) == ("end", 24)
    assert "report:  out/small/report.html" in done.stdout
    assert (tmp_path / "out" / "small" / "report.html").is_file()
    assert "1 claim: " in done.stdout
    record = json.loads((tmp_path / "out" / "small" / "verdicts.json").read_text())
    assert [rule["status"] for rule in record["rules"]] == ["passes"]
    assert [verdict["id"] for verdict in record["verdicts"]] == ["s0-c02"]

    again = headway("run", study.parent, cwd=tmp_path)
    assert again.returncode == 0
    assert "all 24 runs were done before" in again.stderr
    assert again.stdout == done.stdout


def test_a_variant_gets_a_folder_of_its_own(study: Path, tmp_path: Path) -> None:
    options = ["--no-report", "--only", "path.queue=none", "--set", "run.duration=1 s"]
    done = headway("run", study.parent, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = list((tmp_path / "out").iterdir())
    assert len(found) == 1
    assert re.fullmatch("small-[0-9a-f]{8}", found[0].name)
    assert not (found[0] / "report.html").exists()
    # Checking reads the same overrides from the folder.
    assert headway("check", found[0]).returncode == 0


def test_a_rule_that_fails_makes_run_and_check_fail(tmp_path: Path) -> None:
    study = written(tmp_path, edited(('max = "500 ms"', 'max = "10 ms"')))
    done = headway("run", study, "--out", tmp_path / "out", "--no-report")
    assert done.returncode == 1
    assert "fails" in done.stdout
    assert "rules that fail: " in done.stderr
    assert headway("check", tmp_path / "out").returncode == 1


def test_check_fails_when_a_claim_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The claim needs the whole grid of the paper, and speaks of 450 bytes a call.
    text = shipped()["sip-random-loss"].read_text()
    text = re.sub(r"claims = \[.*?\]", 'claims = ["s0-c02"]', text, flags=re.DOTALL)
    changes = ["run.duration=1 s", "workload.invite=900 B"]
    made = plan.build(parse(text, overrides=changes), replications=2)
    execute(made, tmp_path / "out")
    results.check(tmp_path / "out")
    file = tmp_path / "out" / "verdicts.json"
    record = json.loads(file.read_text())
    assert record["verdicts"][0]["verdict"] == "does not hold"
    record["verdicts"][0]["verdict"] = "holds"
    file.write_text(json.dumps(record))
    # It stays lost until it holds again.
    for _ in range(2):
        with pytest.raises(SystemExit) as caught:
            results.check(tmp_path / "out")
        assert caught.value.code == 1
        assert "held before and no longer: s0-c02\n" in capsys.readouterr().err


def test_report_and_check_need_results(tmp_path: Path) -> None:
    for command in ("report", "check"):
        done = headway(command, tmp_path)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert str(tmp_path) in done.stderr


def test_report_is_written_again(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert headway("run", study, "--out", out, "--no-report").returncode == 0
    done = headway("report", out)
    assert done.returncode == 0, done.stderr
    assert (out / "report.html").is_file()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    done = subprocess.run(
        long_run(folder), cwd=folder, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0
    return folder / "out"


def long_run(folder: Path) -> list[str]:
    """A command that is busy for a second or two; 96 runs."""
    study = written(folder, edited(('duration = "2 s"', 'duration = "60 s"')))
    return [
        *(sys.executable, "-m", "headway", "run", str(study), "--out", "out", "--no-report"),
        *("--jobs", "1", "--replications", "8", "--progress", "json"),
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_is_done_and_the_same_command_goes_on(
    tmp_path: Path, uninterrupted: Path, number: signal.Signals
) -> None:
    command = long_run(tmp_path)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stderr is not None
    told = []
    deadline = time.monotonic() + 30
    for line in process.stderr:
        told.append(line)
        if line.startswith("{") and json.loads(line)["done"] > 0:
            break
        assert time.monotonic() < deadline
    process.send_signal(number)
    told += list(process.stderr)
    assert process.wait(timeout=30) == 130
    message = "".join(line for line in told if not line.startswith("{"))
    assert re.search(r"interrupted: \d+ of 96 runs are done and kept in out; ", message), message
    assert "headway run " in message
    assert not (tmp_path / "out" / "runs.parquet").exists()

    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d+ runs? in .* \d+ done before", done.stderr)
    for name in ("runs.parquet", "points.csv", "points.parquet", "distributions.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (uninterrupted / name).read_bytes()
