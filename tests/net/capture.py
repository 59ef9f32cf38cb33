"""Writes all packets that pass the interfaces of this network namespace to a pcap file.

    python capture.py FILE

It says "capturing" once it does, and at SIGTERM how many packets there were and how many
of them the kernel dropped. A program of its own, because it is run by `ip netns exec`.
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import sys
import time
from pathlib import Path

ALL_PROTOCOLS = 3
# Constants of <asm/socket.h> and <linux/if_packet.h> that Python does not name.
SO_RCVBUFFORCE, SOL_PACKET, PACKET_STATISTICS = 33, 263, 6
BUFFER_BYTES = 32 << 20
LONGEST = 1 << 18
ETHERNET = 1


class Stop(Exception):
    """The test is over."""


def stop(*_: object) -> None:
    raise Stop


def main(file: Path) -> None:
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    sniffer.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    packets = []
    signal.signal(signal.SIGTERM, stop)
    try:
        print("capturing", flush=True)
        while True:
            packets.append((time.time_ns(), sniffer.recv(LONGEST)))
    except Stop:
        sniffer.setblocking(False)
    try:
        while True:
            packets.append((time.time_ns(), sniffer.recv(LONGEST)))
    except BlockingIOError:
        pass
    _, dropped = struct.unpack("II", sniffer.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    with file.open("wb") as pcap:
        # Times in nanoseconds.
        pcap.write(struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, LONGEST, ETHERNET))
        for at, packet in packets:
            seconds, nanos = divmod(at, 1_000_000_000)
            pcap.write(struct.pack("=IIII", seconds, nanos, len(packet), len(packet)) + packet)
    print(json.dumps({"packets": len(packets), "dropped": dropped}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
