"""CPU time of the user-space SCTP stacks side by side, and handshakes per second.

usrsctp, dcsctp and this project's stack carry the same messages between two ends in one
process, packets of at most 1472 bytes through memory, checksums made and checked. They take
turns, so that a machine whose speed drifts does not decide; every figure is a median.

dcsctp formats each packet as hexadecimal text even where nothing logs it. The copy that is
measured returns before that where logging is off: `build` lays it under the target directory,
puts the condition in and builds with it in place of the published crate.

Beside that, what a flood of INITs leaves of this project's throughput.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
WORK = ROOT / "target" / "bench-sctp"

MESSAGES = {64: 300_000, 450: 150_000, 1000: 80_000, 65536: 2_000}
"""Messages in one turn, by their size in bytes."""
HANDSHAKES = {"ours": 20_000, "dcsctp": 20_000, "usrsctp": 2_000}
STACKS = ("usrsctp", "dcsctp", "ours")

GUARDED = "pub fn log_packet(name: &str, ts: SocketTime, sent: bool, data: &[u8]) {\n"
GUARD = "        if !log::log_enabled!(log::Level::Info) { return; }\n"


def _guarded_dcsctp() -> Path:
    """dcsctp as it is published, but for the condition before its dump of packets."""
    text = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = next(p for p in json.loads(text)["packages"] if p["name"] == "dcsctp")
    copy = WORK / "dcsctp"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(Path(found["manifest_path"]).parent, copy)
    # A package of a registry is read only.
    subprocess.run(["chmod", "-R", "u+w", str(copy)], check=True)
    source = copy / "src" / "lib.rs"
    before = source.read_text()
    if before.count(GUARDED) != 1:
        raise SystemExit(f"{source} no longer has the dump of packets where it was")
    source.write_text(before.replace(GUARDED, GUARDED + GUARD))
    return copy


def build() -> dict[str, list[str]]:
    """Builds all and returns the command of each stack."""
    WORK.mkdir(parents=True, exist_ok=True)
    dcsctp = _guarded_dcsctp()
    # A workspace of its own, so that the lock file of the project stays as it is.
    manifest = (HERE / "Cargo.toml").read_text()
    inherited = {"version": '"0.0.0"', "edition": '"2024"', "publish": "false"}
    for line in ("rust-version", "license"):
        manifest = manifest.replace(f"\n{line}.workspace = true", "")
    for line, value in inherited.items():
        manifest = manifest.replace(f"\n{line}.workspace = true", f"\n{line} = {value}")
    for name in ("sansio", "sctp"):
        path = ROOT / "crates" / name
        manifest = manifest.replace(
            f"headway-{name}.workspace = true", f'headway-{name} = {{ path = "{path}" }}'
        )
    manifest = manifest.replace("bytes.workspace = true", 'bytes = "1.12"')
    manifest = manifest.replace("[lints]\nworkspace = true\n", "")
    manifest = manifest.replace("src/main.rs", str(HERE / "src" / "main.rs"))
    manifest += (
        f'\n[workspace]\n\n[patch.crates-io]\ndcsctp = {{ path = "{dcsctp}" }}\n\n'
        '[profile.release]\nlto = "thin"\ncodegen-units = 4\ndebug = "line-tables-only"\n'
    )
    (WORK / "Cargo.toml").write_text(manifest)
    shutil.copy(ROOT / "Cargo.lock", WORK / "Cargo.lock")
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "--target-dir", str(WORK / "target")],
        cwd=WORK,
        check=True,
    )
    program = str(WORK / "target" / "release" / "sctp-stacks")
    usrsctp = str(WORK / "usrsctp")
    source = str(HERE / "usrsctp.c")
    libraries = ["-lusrsctp", "-lpthread"]
    subprocess.run(["cc", "-O2", "-o", usrsctp, source, *libraries], check=True)
    return {"usrsctp": [usrsctp], "dcsctp": [program], "ours": [program]}


def _once(command: list[str], what: str, stack: str, *numbers: int) -> float:
    names = [] if stack == "usrsctp" else [stack]
    words = [*command, what, *names, *map(str, numbers)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=300)
    return float(json.loads(done.stdout)["cpu_us"])


def measure(turns: int) -> list[dict[str, object]]:
    """Every figure, with the ratio of ours to usrsctp."""
    commands = build()
    figures: list[dict[str, object]] = []

    def compare(name: str, unit: str, of: dict[str, list[float]], conditions: str) -> None:
        medians = {stack: statistics.median(values) for stack, values in of.items()}
        for stack, value in medians.items():
            peer = medians["usrsctp"] if stack != "usrsctp" else None
            figures.append(
                {
                    "name": f"{name}_{stack}",
                    "value": value,
                    "unit": unit,
                    "peer": peer,
                    "ratio": None if peer is None else value / peer,
                    "conditions": conditions,
                }
            )

    for size, count in MESSAGES.items():
        of: dict[str, list[float]] = {stack: [] for stack in STACKS}
        for _ in range(turns):
            for stack in STACKS:
                of[stack].append(_once(commands[stack], "messages", stack, size, count))
        compare(
            f"sctp_message_{size}",
            "us",
            of,
            f"CPU of one message of {size} B, both ends, in memory, ordered on one stream, "
            f"packets of 1472 B, median of {turns}; peer: usrsctp",
        )
    of = {stack: [] for stack in STACKS}
    for _ in range(turns):
        for stack in STACKS:
            cpu_us = _once(commands[stack], "handshakes", stack, HANDSHAKES[stack])
            of[stack].append(1e6 / cpu_us)
    compare(
        "sctp_handshakes",
        "1/s",
        of,
        f"associations set up in a second of CPU, both ends, in memory, median of {turns}; "
        "peer: usrsctp",
    )
    return figures


def flood() -> list[dict[str, object]]:
    """What an association keeps of its throughput under floods of INITs.

    Each is a median of the eleven rounds of the example, which takes the cases in turn. Where
    less than half is kept the example fails, and the figure says it.
    """
    example = ["--release", "--quiet", "--locked", "-p", "headway-sctp", "--example", "init_flood"]
    done = subprocess.run(
        ["cargo", "run", *example, "--", "--json"], cwd=ROOT, check=False, stdout=subprocess.PIPE
    )
    kept = {
        row["inits_per_message"]: 100 * row["kept"]
        for row in json.loads(done.stdout)
        if row["limited"]
    }
    return [
        {
            "name": f"sctp_flood_kept_{share}",
            "value": kept[share],
            "unit": "%",
            "peer": None,
            "ratio": None,
            "conditions": "of the messages of 1000 B that a second of CPU carries, both ends, "
            f"under a flood of INITs from random sources, {share} for each message, with the "
            "default limit on INITs, median of 11",
        }
        for share in ("1", "10")
    ]


def main() -> None:
    """Prints the figures as JSON, for `bench/run.py`, or as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = [*measure(arguments.turns), *flood()]
    if arguments.json:
        json.dump(figures, sys.stdout)
        return
    for figure in figures:
        ratio = f"{figure['ratio']:.2f}" if figure["ratio"] is not None else ""
        print(f"{figure['name']:28} {figure['value']:12.3f} {figure['unit']:4} {ratio}")


if __name__ == "__main__":
    main()
