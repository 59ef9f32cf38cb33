"""Study texts for tests: one small study that runs in a few milliseconds."""

from __future__ import annotations

SMALL = """\
[study]
name = "small"
title = "A small study"
seed = 7
replications = 2

[scenario.run]
duration = "2 s"

[scenario.workload]
kind = "sip"
call_rate = 40

[scenario.transport]
kind = "sctp"

[scenario.path]
one_way_delay = "20 ms"
rate = "unlimited"

[scenario.path.loss]
kind = "bernoulli"
generator = "markov"

[[factor]]
key = "path.loss.rate"
levels = ["0.5 %", 0.02, "8 %"]

[[factor]]
key = "path.queue"
levels = [
    { label = "10-20", value = { kind = "drd", min_pkts = 10, max_pkts = 20 } },
    { label = "none", value = { kind = "unlimited" } },
]

[[factor]]
key = "transport.delivery"
levels = ["ordered", "unordered"]

[[expect]]
metric = "psd_p50_s"
where = { "path.loss.rate" = "<= 0.5 %", "transport.delivery" = "unordered" }
max = "500 ms"

[report]
claims = ["s0-c02"]
"""
"""3 x 2 x 2 = 12 points, 24 runs."""


def edited(*changes: tuple[str, str]) -> str:
    """The small study with pieces of its text replaced, each of which must be there."""
    text = SMALL
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def line_of(text: str, piece: str) -> int:
    """The line, from 1, on which `piece` first stands."""
    return text[: text.index(piece)].count("\n") + 1
