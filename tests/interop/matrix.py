"""The interop matrix: every peer, each way round, one cell after the other.

`python tests/interop/matrix.py --write` runs the whole of it and puts the table into
`docs/interop.md`.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import sys
import time
from collections.abc import Iterator
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
    knob_names,
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
    Scene("partial reliability, 5 % loss", Traffic(count=300, max_rtx=0), lossy=True),
    Scene("stream reset", Traffic(streams=4, reset=True)),
    Scene("client aborts", Traffic(end="abort")),
    Scene("server shuts down", Traffic(end="wait", server_end="shutdown")),
    Scene("server aborts", Traffic(end="wait", server_end="abort"), short=False),
    Scene("client restarts", Traffic(most_under_way=8), kind="restart", short=False),
    Scene("peer falls silent", Traffic(quick=True, count=1_000_000), kind="silent", short=False),
)

FAULTS = frozenset({("client restarts", "pion", "we connect")})
"""Cells that fail by the peer's fault; the evidence stands in `docs/interop.md`."""

NOT_OFFERED = {
    "partial reliability, 5 % loss": "sctp-echo sends reliably",
    "stream reset": "sctp-echo resets no streams",
}
"""What our client has no option for."""

NOT_ASKED = {
    # pion uses a stream again only after the peer has reset its direction too, as data
    # channels do (RFC 8831, section 6.7); an echo server has no reason to.
    ("stream reset", "pion"),
}
"""What a peer cannot do with an echo server."""


@dataclass(frozen=True)
class Outcome:
    """What became of a cell."""

    passed: bool | None
    """None: the cell does not exist."""
    why: str = ""

    def __str__(self) -> str:
        return {True: "pass", False: "FAIL", None: "-"}[self.passed]


class Stacks:
    """The programs, built on first use."""

    def __init__(self) -> None:
        self._built: dict[str, Path] = {}

    def __getitem__(self, stack: str) -> Path:
        if stack not in self._built:
            self._built[stack] = build(stack)
        return self._built[stack]


@contextlib.contextmanager
def _server(stacks: Stacks, stack: str, scene: Scene) -> Iterator[tuple[Program, int]]:
    """An echo server, and the UDP port to which a client sends."""
    udp = free_port()
    command = server_command(stacks[stack], stack, udp, scene.traffic)
    with contextlib.ExitStack() as all_of:
        server = all_of.enter_context(running(stack, command, udp))
        to = all_of.enter_context(relay(stacks[OURS], udp)) if scene.lossy else udp
        yield server, to


def run_cell(stacks: Stacks, scene: Scene, peer: str, way: str) -> Outcome:
    """Runs one cell."""
    server, client = (OURS, peer) if way == "peer connects" else (peer, OURS)
    if client == OURS and scene.name in NOT_OFFERED:
        return Outcome(None, NOT_OFFERED[scene.name])
    if scene.traffic.reset and "`reconfiguration`" not in knob_names(stacks[OURS]):
        return Outcome(None, "this headway-net has no setting for RE-CONFIG")
    if (scene.name, peer) in NOT_ASKED:
        return Outcome(None, "needs a server that resets its streams too")
    with _server(stacks, server, scene) as (serving, to):
        udp = free_port()
        command = client_command(stacks[client], client, udp, to, scene.traffic)
        if scene.kind == "restart":
            return _restart(serving, client, command, udp)
        if scene.kind == "silent":
            return _silent(serving, client, command, udp, peer)
        with running(client, command, udp) as connecting:
            told = connecting.wait(60)
        # The last packets are on their way.
        time.sleep(0.3)
        heard = serving.stop()
        verdict = _judge_client(scene, client, told, connecting)
        return verdict if not verdict.passed else _judge_server(scene, server, heard, serving)


def _restart(serving: Program, client: str, command: list[str], udp: int) -> Outcome:
    """A client is killed amid its messages and comes back with the same ports."""
    endless = [word if before != "--count" else "1000000" for before, word in _pairs(command)]
    with running(client, endless, udp) as first:
        time.sleep(1)
        first.process.kill()
        first.process.wait()
    with running(client, command, udp) as second:
        told = second.wait(30)
    time.sleep(0.3)
    serving.stop()
    return _judge_client(SCENES[0], client, told, second)


def _silent(serving: Program, client: str, command: list[str], udp: int, peer: str) -> Outcome:
    """The peer is stopped amid messages: this side gives it up."""
    with running(client, command, udp) as connecting:
        time.sleep(1)
        silenced, waiting = (connecting, serving) if client == peer else (serving, connecting)
        silenced.process.send_signal(signal.SIGSTOP)
        try:
            if waiting is connecting:
                told = waiting.wait(40)
                ends = " ".join(told.get("ends", {})) if client == OURS else told.get("ended", "")
                given_up = any(word in ends for word in ("lost", "not answer", "no longer"))
                return Outcome(given_up, f"{ends} {waiting.other}"[:300])
            time.sleep(15)
            heard = waiting.stop()
            return Outcome(heard.get("lost") == 1, str(heard)[:300])
        finally:
            silenced.process.send_signal(signal.SIGCONT)


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(["", *words], words, strict=False)


def _judge_client(scene: Scene, stack: str, told: dict[str, object], ran: Program) -> Outcome:
    traffic = scene.traffic
    say = f"{stack} client: {told or ran.other}"[:400]
    if stack == OURS and traffic.server_end == "abort":
        # The ABORT overtakes echoes, so not all of them come back.
        ends = told.get("ends")
        aborted = isinstance(ends, dict) and any("the peer aborted" in end for end in ends)
        return Outcome(aborted and told.get("altered") == 0, say)
    if stack == OURS:
        return Outcome(ran.process.returncode == 0 and told.get("right") is True, say)
    sent = traffic.count * (2 if traffic.reset else 1)
    right = told.get("sent") == sent and told.get("bad") == 0
    if traffic.server_end == "abort":
        right &= told.get("ended") == "abort"
    elif traffic.max_rtx is None:
        right &= told.get("echoed") == sent
    else:
        # Some are given up, most come through, and what is reliable comes in any case.
        right &= told.get("last_came") is True
        right &= sent // 2 < int(str(told.get("echoed", 0))) < sent
    if traffic.interleave:
        right &= told.get("interleaving") is True
    if traffic.end == "wait":
        right &= told.get("ended") == traffic.server_end
    else:
        right &= told.get("ended") == {"abort": "own abort"}.get(traffic.end, traffic.end)
    return Outcome(bool(right), say)


def _judge_server(scene: Scene, stack: str, heard: dict[str, object], ran: Program) -> Outcome:
    traffic = scene.traffic
    say = f"{stack} server: {heard or ran.other}"[:400]
    ended = traffic.server_end or traffic.end
    if stack == OURS:
        # What it aborts itself counts among what was lost.
        counted = "lost" if traffic.server_end == "abort" else "aborted"
        counted = "shut_down" if ended == "shutdown" else counted
        return Outcome(heard.get(counted) == 1, say)
    expected = {"abort": "own abort"}.get(ended, ended) if traffic.server_end else ended
    right = heard.get("ended") == expected and heard.get("received") == traffic.count
    if traffic.interleave:
        right &= heard.get("interleaving") is True
    return Outcome(right, say)


def run(
    stacks: Stacks, scenes: tuple[Scene, ...] = SCENES
) -> Iterator[tuple[Scene, str, str, Outcome]]:
    """All cells of some rows."""
    for scene in scenes:
        for peer in PEERS:
            for way in WAYS:
                yield scene, peer, way, run_cell(stacks, scene, peer, way)


def table(cells: dict[tuple[str, str, str], Outcome]) -> str:
    """The matrix in Markdown."""
    heads = [f"{peer}, {way}" for peer in PEERS for way in WAYS]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for scene in SCENES:
        row = [cells.get((scene.name, peer, way)) for peer in PEERS for way in WAYS]
        if any(row):
            marks = [
                "peer's fault"
                if cell and cell.passed is False and (scene.name, peer, way) in FAULTS
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
    arguments = parser.parse_args()
    scenes = tuple(
        replace(scene)
        for scene in SCENES
        if (scene.short or not arguments.short) and (arguments.only or "") in scene.name
    )
    cells: dict[tuple[str, str, str], Outcome] = {}
    try:
        for scene, peer, way, outcome in run(Stacks(), scenes):
            cells[scene.name, peer, way] = outcome
            why = "" if outcome.passed else f"  {outcome.why}"
            print(f"{outcome!s:5} {scene.name}: {peer}, {way}{why}", file=sys.stderr, flush=True)
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    print(table(cells))
    if arguments.write:
        write(table(cells))
    wrong = [key for key, cell in cells.items() if cell.passed is False and key not in FAULTS]
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
