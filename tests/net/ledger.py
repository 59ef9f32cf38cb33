"""What both ends of many calls sent and received, whichever program they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MESSAGES = ("INVITE", "180 INVITE", "200 INVITE", "ACK", "BYE", "200 BYE")
"""The messages of a call, in order."""

TIMED = {
    "INVITE": ("INVITE", "180 INVITE"),
    "200 INVITE": ("200 INVITE", "ACK"),
    "BYE": ("BYE", "200 BYE"),
}
"""Messages that a timer repeats, and the messages whose loss makes it do so: each such loss
costs one repetition, as long as the call goes on."""


@dataclass(frozen=True)
class Count:
    """One kind of message at one end."""

    times: int
    """Sent or received, every time."""
    again: int
    """Of these, not the first time."""


Side = dict[str, Count]
"""What one end counted, by message."""


def of_headway(report: dict[str, Any]) -> Side:
    """The counts of a user agent of headway-net; each message goes one way only."""
    return {
        kind: Count(row["sent"] + row["received"], row["sent_again"] + row["received_again"])
        for kind, row in report["messages"].items()
    }


CALLER = {
    "INVITE": "0_INVITE_Sent",
    "180 INVITE": "2_180_Recv",
    "200 INVITE": "3_200_Recv",
    "ACK": "4_ACK_Sent",
    "BYE": "6_BYE_Sent",
    "200 BYE": "7_200_Recv",
}
"""Columns of SIPp's counts for scenarios/caller.xml; the number is the command's."""

ANSWERER = {
    "INVITE": "0_INVITE_Recv",
    "180 INVITE": "1_180_Sent",
    "200 INVITE": "3_200_Sent",
    "ACK": "4_ACK_Recv",
    "BYE": "5_BYE_Recv",
    "200 BYE": "6_200_Sent",
}
"""Likewise for scenarios/answerer.xml."""


def of_sipp(counts: dict[str, int], columns: dict[str, str]) -> Side:
    """The counts of SIPp, which counts first messages and repeated ones apart."""
    side = {}
    for kind, column in columns.items():
        first = counts[column]
        again = counts[column.rsplit("_", 1)[0] + "_Retrans"]
        side[kind] = Count(first + again, again)
    unexpected = {name: n for name, n in counts.items() if name.endswith("_Unexp") and n}
    timed_out = {name: n for name, n in counts.items() if name.endswith("_Timeout") and n}
    assert not unexpected and not timed_out, f"SIPp: {unexpected} {timed_out}"
    return side


@dataclass(frozen=True)
class Run:
    """Both ends of one run, and what the path between them lost."""

    caller: Side
    answerer: Side
    lost_by_relay: int

    def sender(self, kind: str) -> Side:
        """The side that sends a message."""
        return self.caller if kind in ("INVITE", "ACK", "BYE") else self.answerer

    def receiver(self, kind: str) -> Side:
        """The side that receives it."""
        return self.answerer if kind in ("INVITE", "ACK", "BYE") else self.caller

    def lost(self, kind: str) -> int:
        """Messages of a kind that were sent and did not arrive."""
        return self.sender(kind)[kind].times - self.receiver(kind)[kind].times

    def repeated(self, kind: str) -> int:
        """Messages of a kind that were sent again."""
        return self.sender(kind)[kind].again

    def repeated_by_timer(self) -> int:
        """All messages that a timer of either end sent again."""
        return sum(self.repeated(kind) for kind in TIMED)
