"""Recorded conversations as packet captures (pcap and pcapng), read with dpkt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from headway.errors import UserError
from headway.study.recording import LARGEST, Message, counted_from_the_first

__all__ = ["CAPTURES", "read_capture"]

CAPTURES = (".pcap", ".pcapng", ".cap")
"""Endings by which captures are known."""

NANOS = 10**9
SEQUENCES = 1 << 32
SYN = 2
BEGIN, END = 2, 1
"""Flags of an SCTP DATA chunk: the first and the last fragment (RFC 9260, section 3.3.1)."""
DATA_CHUNK, DATA_HEADER = 0, 12
"""Type of a DATA chunk, and the bytes between its chunk header and the user data."""

RAW_IP = (12, 14, 101, 228, 229)
"""Link types without a link header: dpkt knows them by no class of their own."""


def read_capture(
    path: Path, shown: str, protocol: str, port: int | None, forward_from: str | None
) -> tuple[Message, ...]:
    """The messages of a capture, the first at zero.

    Times are whole microseconds where the file has those. What was sent again counts once.
    Raises UserError where the file cannot be read or holds no such message.
    """
    dpkt = _dpkt(shown)
    try:
        with path.open("rb") as file:
            found = list(_messages(dpkt, file, shown, protocol, port))
    except OSError as error:
        raise UserError(f"{shown}: cannot be read ({error.strerror})") from error
    wanted = f"{protocol.upper()}{'' if port is None else f' of port {port}'}"
    if not found:
        raise UserError(f"{shown}: holds no message over {wanted}")
    origin = forward_from or found[0].source
    if all(message.source != origin for message in found):
        others = ", ".join(sorted({message.source for message in found}))
        raise UserError(f"{shown}: no message over {wanted} comes from {origin}, but from {others}")
    found.sort(key=lambda message: message.at)
    return counted_from_the_first(
        ((message.at, message.size, message.source != origin) for message in found), shown
    )


def _dpkt(shown: str) -> Any:
    try:
        import dpkt
    except ImportError as error:
        raise UserError(
            f'{shown}: reading captures needs dpkt; pip install "headway[capture]"'
        ) from error
    return dpkt


@dataclass(frozen=True)
class _Found:
    at: int
    size: int
    source: str


def _messages(
    dpkt: Any, file: Any, shown: str, protocol: str, port: int | None
) -> Iterator[_Found]:
    try:
        reader = dpkt.pcap.UniversalReader(file)
    except (ValueError, dpkt.Error) as error:
        raise UserError(f"{shown}: is neither pcap nor pcapng") from error
    network = _network(dpkt, reader.datalink(), shown)
    of_protocol: dict[str, Callable[[], _Sizes]] = {"udp": _Udp, "tcp": _Tcp, "sctp": _Sctp}
    sizes = of_protocol[protocol]()
    kind = {"udp": dpkt.udp.UDP, "tcp": dpkt.tcp.TCP, "sctp": dpkt.sctp.SCTP}[protocol]
    number = 0
    try:
        for time, frame in reader:
            number += 1
            try:
                packet = network(frame)
            except (dpkt.Error, IndexError, ValueError):
                # Not IP, or not whole.
                continue
            unit = getattr(packet, "data", None)
            if not isinstance(unit, kind) or (port and port not in (unit.sport, unit.dport)):
                continue
            source = dpkt.utils.inet_to_str(packet.src)
            flow = (packet.src, packet.dst, unit.sport, unit.dport)
            for size in sizes.of(flow, unit, packet):
                if size > LARGEST:
                    what = f"a message of {size} bytes; the most is {LARGEST}"
                    raise UserError(f"{shown}: packet {number}: {what}")
                yield _Found(_nanos(time), size, source)
    except (dpkt.Error, ValueError) as error:
        raise UserError(f"{shown}: packet {number + 1}: is cut off or damaged") from error


def _nanos(time: Any) -> int:
    """A time as dpkt tells it: a decimal of nanoseconds, or a float, exact to a microsecond."""
    return int(time * NANOS) if isinstance(time, Decimal) else round(time * 10**6) * 1000


def _network(dpkt: Any, link: int, shown: str) -> Callable[[bytes], Any]:
    """What takes a frame to its IP packet."""
    links: dict[int, Callable[[bytes], Any]] = {
        dpkt.pcap.DLT_NULL: lambda frame: dpkt.loopback.Loopback(frame).data,
        dpkt.pcap.DLT_EN10MB: lambda frame: dpkt.ethernet.Ethernet(frame).data,
        dpkt.pcap.DLT_LINUX_SLL: lambda frame: dpkt.sll.SLL(frame).data,
        276: lambda frame: dpkt.sll2.SLL2(frame).data,
    }
    if link in RAW_IP:
        return lambda frame: (dpkt.ip6.IP6 if frame[0] >> 4 == 6 else dpkt.ip.IP)(frame)
    if link not in links:
        raise UserError(f"{shown}: has frames of link type {link}, which cannot be read")
    return links[link]


class _Sizes(Protocol):
    """What messages a packet carries, by their sizes."""

    def of(self, flow: tuple[Any, ...], unit: Any, packet: Any) -> list[int]: ...


class _Udp(_Sizes):
    """A datagram is a message; its length is that of the header, so cut frames do no harm."""

    def of(self, flow: tuple[Any, ...], unit: Any, packet: Any) -> list[int]:
        del flow, packet
        return [unit.ulen - 8] if unit.ulen > 8 else []


@dataclass
class _Tcp(_Sizes):
    """What a segment brings for the first time is a message."""

    ends: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def of(self, flow: tuple[Any, ...], unit: Any, packet: Any) -> list[int]:
        start, length = unit.seq, len(unit.data)
        if packet.v == 4 and packet.len > 0:
            # The frame may be cut, the header tells the whole length.
            length = max(packet.len - 4 * packet.hl - 4 * unit.off, 0)
        if unit.flags & SYN:
            self.ends[flow] = (start + 1) % SEQUENCES
            return []
        if not length:
            return []
        end = (start + length) % SEQUENCES
        known = self.ends.get(flow, start)
        new = (end - known + SEQUENCES // 2) % SEQUENCES - SEQUENCES // 2
        if new <= 0:
            return []
        self.ends[flow] = end
        return [min(new, length)]


@dataclass
class _Sctp(_Sizes):
    """A user message is one when all its fragments have left; a chunk sent again is none."""

    seen: set[tuple[Any, ...]] = field(default_factory=set)
    fragments: dict[tuple[Any, ...], tuple[int, int]] = field(default_factory=dict)
    """Flags and size by flow and TSN, of messages that are not whole."""

    def of(self, flow: tuple[Any, ...], unit: Any, packet: Any) -> list[int]:
        del packet
        whole: list[int] = []
        for chunk in unit.chunks:
            if chunk.type != DATA_CHUNK or len(chunk.data) < DATA_HEADER:
                continue
            tsn = int.from_bytes(chunk.data[:4], "big")
            if (flow, tsn) in self.seen:
                continue
            self.seen.add((flow, tsn))
            self.fragments[flow, tsn] = (chunk.flags, chunk.len - 4 - DATA_HEADER)
            first = self._edge(flow, tsn, BEGIN, -1)
            last = self._edge(flow, tsn, END, 1)
            if first is not None and last is not None:
                count = (last - first) % SEQUENCES + 1
                parts = [(flow, (first + i) % SEQUENCES) for i in range(count)]
                whole.append(sum(self.fragments.pop(part)[1] for part in parts))
        return [size for size in whole if size > 0]

    def _edge(self, flow: tuple[Any, ...], tsn: int, flag: int, step: int) -> int | None:
        """The fragment with this flag, from `tsn` on; None where one before it is missing."""
        while (known := self.fragments.get((flow, tsn))) is not None:
            if known[0] & flag:
                return tsn
            tsn = (tsn + step) % SEQUENCES
        return None
