"""The interop matrix: every peer, each way round.

`python tests/interop/matrix.py --write` runs the whole of it and puts the table into
`docs/interop.md`.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import sys
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from peers import (
    OURS,
    PEERS,
    ROOT,
    Missing,
    Program,
    Traffic,
    build,
    client_command,
    free_port,
    relay,
    running,
    server_command,
)

PAGE = ROOT / "docs" / "interop.md"
WAYS = ("peer connects", "we connect")


@dataclass(frozen=True)
class Scene:
    """One row of the matrix."""

    name: str
    traffic: Traffic
    lossy: bool = False
    kind: str = "transfer"
    """transfer, restart or silent."""
    short: bool = True
    """Whether `make test` runs it too."""


Key = tuple[Scene, str, str]
"""Row, peer and way round."""

SCENES = (
    Scene("ordered, one stream", Traffic()),
    Scene("ordered, 64 streams", Traffic(streams=64, count=256)),
    Scene("unordered", Traffic(unordered=True)),
    Scene("messages of 1 B", Traffic(size=1, count=200), short=False),
    Scene("messages of 200 kB", Traffic(size=200_000, count=10)),
    Scene("200 kB, 64 streams", Traffic(size=200_000, count=64, streams=64), short=False),
    Scene("5 % loss, reordering: ordered", Traffic(count=200), lossy=True),
    Scene("5 % loss: 64 streams", Traffic(count=256, streams=64), lossy=True, short=False),
    Scene("5 % loss: unordered", Traffic(count=200, unordered=True), lossy=True, short=False),
    Scene("5 % loss: 200 kB", Traffic(size=200_000, count=4), lossy=True, short=False),
    Scene("I-DATA", Traffic(size=20_000, count=32, streams=8, interleave=True)),
    Scene(
        "I-DATA, 5 % loss",
        Traffic(size=5_000, count=32, streams=8, interleave=True),
        lossy=True,
        short=False,
    ),
    # Enough packets that some are lost for sure.
    Scene("partial reliability, 5 % loss", Traffic(count=1000, max_rtx=0), lossy=True),
    Scene("stream reset", Traffic(streams=4, reset=True)),
    Scene("client aborts", Traffic(end="abort")),
    Scene("server shuts down", Traffic(end="wait", server_end="shutdown")),
    Scene("server aborts", Traffic(end="wait", server_end="abort"), short=False),
    Scene("client restarts", Traffic(most_under_way=8), kind="restart", short=False),
    Scene("peer falls silent", Traffic(quick=True, count=1_000_000), kind="silent", short=False),
)

CELLS = tuple((scene, peer, way) for scene in SCENES for peer in PEERS for way in WAYS)

SHORT_CELLS = tuple(cell for cell in CELLS if cell[0].short)

FAULTS = frozenset({("client restarts", "pion", "we connect")})
"""Cells that fail by the peer's fault; the evidence stands in `docs/interop.md`."""

BOTH_WAYS = frozenset({("stream reset", "pion")})
"""Where both sides reset their streams: pion uses a stream again only after the peer has reset
its direction too, as data channels do (RFC 8831, section 6.7)."""

REST_MS = 8000
"""How long the line is quiet before pion's client ends an association with losses: see
`docs/interop.md`. Were its last SACK lost, the server would send its DATA again after 1, 3 and
7 s (RFC 9260, sections 6.3.1 and 6.3.3); all of that is lost once in 160,000 times."""

AT_ONCE = 6
"""Cells under way at a time; most of them wait for timers most of the time."""


@dataclass(frozen=True)
class Outcome:
    """What became of a cell."""

    passed: bool
    why: str = ""
    ports: frozenset[int] = frozenset()
    """The UDP ports that it used."""

    def __str__(self) -> str:
        return "pass" if self.passed else "FAIL"


class Stacks:
    """The programs, built on first use."""

    def __init__(self) -> None:
        self._built: dict[str, Path] = {}
        self._lock = threading.Lock()

    def __getitem__(self, stack: str) -> Path:
        with self._lock:
            if stack not in self._built:
                self._built[stack] = build(stack)
            return self._built[stack]


class Matrix(contextlib.AbstractContextManager["Matrix"]):
    """Cells that run, a few at once, and what becomes of them."""

    def __init__(self, stacks: Stacks, keys: Iterable[Key], seed: int = 0) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._cells: dict[Key, Future[Outcome]] = {
            key: self._pool.submit(run_cell, stacks, *key, seed) for key in keys
        }

    def __getitem__(self, key: Key) -> Outcome:
        """The outcome of a cell, as soon as it is there."""
        return self._cells[key].result()

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)


def run_cell(stacks: Stacks, scene: Scene, peer: str, way: str, seed: int = 0) -> Outcome:
    """Runs one cell. The same seed loses the same packets, as far as they come in the same
    order."""
    if (scene.name, peer) in BOTH_WAYS:
        scene = replace(scene, traffic=replace(scene.traffic, both_ways=True))
    if scene.lossy and peer == "pion":
        scene = replace(scene, traffic=replace(scene.traffic, rest_ms=REST_MS))
    server, client = (OURS, peer) if way == "peer connects" else (peer, OURS)
    losses = zlib.crc32(f"{scene.name}, {peer}, {way}, {seed}".encode())
    with contextlib.ExitStack() as all_of:
        udp, own = (all_of.enter_context(free_port()) for _ in range(2))
        command = server_command(stacks[server], server, udp, scene.traffic)
        serving = all_of.enter_context(running(server, command))
        serving.wait_until_ready()
        to = all_of.enter_context(relay(stacks[OURS], udp, losses)) if scene.lossy else udp
        command = client_command(stacks[client], client, own, to, scene.traffic)
        run = {"restart": _restart, "silent": _silent}.get(scene.kind, _transfer)
        outcome = run(scene, serving, client, command)
        return replace(outcome, ports=frozenset({udp, own, to}))


def _transfer(scene: Scene, serving: Program, client: str, command: list[str]) -> Outcome:
    """Messages there and back, and an end."""
    with running(client, command) as connecting:
        told = connecting.report()
        # The client stays meanwhile: where a last packet was lost, its stack is asked again.
        heard = serving.report()
        return _judge(scene, connecting, told, serving, heard)


def _restart(scene: Scene, serving: Program, client: str, command: list[str]) -> Outcome:
    """A client is killed amid its messages and comes back with the same ports."""
    endless = [word if before != "--count" else "1000000" for before, word in _pairs(command)]
    with running(client, endless) as first:
        first.wait_until_up()
        # Any moment will do.
        time.sleep(1)
        first.process.kill()
        first.process.wait()
    with running(client, command) as second:
        told = second.report(40)
        right = _client_is_right(scene, second, told)
        return Outcome(right, f"{second.story()}\n{serving.story()}")


def _silent(_scene: Scene, serving: Program, client: str, command: list[str]) -> Outcome:
    """The peer is stopped amid messages: this side gives it up."""
    with running(client, command) as connecting:
        connecting.wait_until_up()
        # Any moment will do.
        time.sleep(1)
        ours_connects = client == OURS
        silenced, waiting = (serving, connecting) if ours_connects else (connecting, serving)
        silenced.process.send_signal(signal.SIGSTOP)
        try:
            told = waiting.report()
        finally:
            silenced.process.send_signal(signal.SIGCONT)
        if ours_connects:
            given_up = any("no longer answers" in end for end in told.get("ends", {}))
        else:
            given_up = told.get("lost") == 1
        return Outcome(given_up, waiting.story())


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(["", *words], words, strict=False)


def _judge(
    scene: Scene,
    connecting: Program,
    told: Mapping[str, object],
    serving: Program,
    heard: Mapping[str, object],
) -> Outcome:
    right = _client_is_right(scene, connecting, told) and _server_is_right(scene, serving, heard)
    return Outcome(right, f"{connecting.story()}\n{serving.story()}")


def _number(told: Mapping[str, object], key: str) -> int:
    found = told.get(key)
    return found if isinstance(found, int) else -1


def _client_is_right(scene: Scene, ran: Program, told: Mapping[str, object]) -> bool:
    traffic = scene.traffic
    sent = traffic.count * (2 if traffic.reset else 1)
    partial = traffic.max_rtx is not None
    echoed = _number(told, "echoed")
    if traffic.server_end != "abort" and not partial and echoed != sent:
        return False
    # Some are given up and most come through.
    if partial and not sent // 2 < echoed < sent:
        return False
    if ran.stack == OURS:
        if traffic.server_end == "abort":
            # The ABORT overtakes echoes, so not all of them come back.
            ends = told.get("ends")
            aborted = isinstance(ends, dict) and any("the peer aborted" in end for end in ends)
            return aborted and told.get("altered") == told.get("unexpected") == 0
        right = told.get("right") is True and ran.stop() == 0
        right &= not partial or _number(told, "given_up") == sent - echoed
        right &= not traffic.interleave or told.get("interleaving") == 1
        right &= not traffic.reset or told.get("resets") == 1
        return right
    right = told.get("sent") == sent and told.get("bad") == 0
    # What is reliable comes in any case.
    right &= not partial or told.get("last_came") is True
    right &= not traffic.interleave or told.get("interleaving") is True
    right &= not traffic.reset or _number(told, "resets_out") > 0
    end = traffic.server_end if traffic.end == "wait" else traffic.end
    return right and told.get("ended") == {"abort": "own abort"}.get(traffic.end, end)


def _server_is_right(scene: Scene, ran: Program, heard: Mapping[str, object]) -> bool:
    traffic = scene.traffic
    ended = traffic.server_end or traffic.end
    if ran.stack == OURS:
        # What it aborts itself counts among what was lost.
        counted = "lost" if traffic.server_end == "abort" else "aborted"
        return heard.get("shut_down" if ended == "shutdown" else counted) == 1
    expected = "own abort" if traffic.server_end == "abort" else ended
    received = _number(heard, "received")
    sent = traffic.count * (2 if traffic.reset else 1)
    right = heard.get("ended") == expected
    right &= received == sent if traffic.max_rtx is None else sent // 2 < received < sent
    right &= not traffic.interleave or heard.get("interleaving") is True
    right &= not traffic.reset or _number(heard, "resets_in") > 0
    return right


def table(cells: dict[tuple[str, str, str], Outcome]) -> str:
    """The matrix in Markdown."""
    heads = [f"{peer}, {way}" for peer in PEERS for way in WAYS]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for scene in SCENES:
        row = [cells.get((scene.name, peer, way)) for peer in PEERS for way in WAYS]
        if any(row):
            marks = [
                "peer's fault"
                if cell and not cell.passed and (scene.name, peer, way) in FAULTS
                else str(cell or "")
                for cell, (peer, way) in zip(
                    row, ((p, w) for p in PEERS for w in WAYS), strict=True
                )
            ]
            lines.append(f"| {scene.name} | {' | '.join(marks)} |")
    return "\n".join(lines) + "\n"


def write(text: str) -> None:
    """Puts the table into its page."""
    page = PAGE.read_text()
    marked = re.compile(r"(<!-- matrix -->\n).*?(<!-- end -->)", re.DOTALL)
    PAGE.write_text(marked.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", page, count=1))


def main() -> int:
    """Runs the matrix and prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="into docs/interop.md as well")
    parser.add_argument("--short", action="store_true", help="what `make test` runs")
    parser.add_argument("--only", help="rows whose name contains this")
    parser.add_argument("--seed", type=int, default=0, help="other losses")
    arguments = parser.parse_args()
    keys = [
        (scene, peer, way)
        for scene, peer, way in (SHORT_CELLS if arguments.short else CELLS)
        if (arguments.only or "") in scene.name
    ]
    cells: dict[tuple[str, str, str], Outcome] = {}
    stacks = Stacks()
    try:
        for stack in (OURS, *PEERS):
            stacks[stack]
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    with Matrix(stacks, keys, arguments.seed) as matrix:
        for scene, peer, way in keys:
            outcome = cells[scene.name, peer, way] = matrix[scene, peer, way]
            why = "" if outcome.passed else f"  {outcome.why}"
            print(f"{outcome!s:5} {scene.name}: {peer}, {way}{why}", file=sys.stderr, flush=True)
    print(table(cells))
    if arguments.write:
        write(table(cells))
    wrong = [key for key, cell in cells.items() if not cell.passed and key not in FAULTS]
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
