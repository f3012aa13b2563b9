# SPDX-License-Identifier: Apache-2.0
"""Packets of the RDMA network interface, taken apart field by field, and the far ends of its flows."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_words import CONTROL, SHORT

WINDOW = 64
PACKET_BEATS = 64


def bits(value: int, high: int, low: int) -> int:
    return value >> low & (1 << high - low + 1) - 1


@dataclass
class Packet:
    """A packet as it came: header fields, its other beats, link and time."""

    beats: list[int]
    link: int
    cycle: int
    bad: bool
    words: int = 0  # clocks of the link from its Sop to its end

    def __post_init__(self) -> None:
        head = self.beats[0]
        self.seq, self.session = bits(head, 15, 0), bits(head, 23, 16)
        self.src, self.dst = bits(head, 30, 24), bits(head, 37, 31)
        self.size, self.kind = bits(head, 44, 38), bits(head, 46, 45)
        self.last, self.notify = bits(head, 47, 47), bits(head, 48, 48)
        self.irq, self.completion, self.extended = bits(head, 49, 49), bits(head, 50, 50), bits(head, 51, 51)
        self.tag = bits(head, 59, 52)
        self.queue = bits(head, 63, 60)
        assert self.kind == SHORT or self.queue == 0
        head_beats = 1 if self.kind == SHORT else 3 if self.extended else 2
        self.payload = self.beats[head_beats:]
        if self.kind == CONTROL:
            assert len(self.beats) == 2
            assert (self.size, self.last, self.extended, self.tag, self.notify) == (0, 0, 0, 0, 0)
        elif not self.bad:
            assert 1 <= self.size <= PACKET_BEATS
            assert len(self.payload) == self.size, (len(self.payload), self.size)
        else:
            assert len(self.payload) < self.size


def word_at(address: int) -> int:
    """What host memory holds at an address, a multiple of 8: no two the same nearby."""
    return (address * 0x9E3779B97F4A7C15 + 0x7F4A7C15) & 0xFFFFFFFFFFFFFFFF


@dataclass
class Transfer:
    """What the host has asked for, and what has come of it."""

    flow: int
    tag: int
    size: int
    source: int = 0
    address: int = 0
    extended: tuple[int, int] | None = None  # key, immediate
    body: list[int] | None = None  # of a message, or of a write with its data inline
    inline: bool = False
    queue: int = 0
    immediate: int = 0
    notify: bool = False
    irq: bool = False
    completion: bool = False
    local: bool = False
    slots: int = 1
    legal: bool = True
    came: int = 0  # beats
    packets: int = 0
    cut: int = 0  # packets that ended bad

    @property
    def whole(self) -> bool:
        return not self.legal or self.packets == (self.size + PACKET_BEATS - 1) // PACKET_BEATS


@dataclass
class Flow:
    """The far end of a flow, and what is known of the near one."""

    number: int
    session: int | None = None  # that is open here
    known: int | None = None  # that its source uses
    sessions: set[int] = field(default_factory=set)  # that it has used
    first: int = 0
    seen: set[int] = field(default_factory=set)  # numbers of this session
    acked: int = 0  # told with the last ACK
    stored: int = 0  # told to be in memory
    taken: int = 0  # sessions that cannot be opened: their numbers are open already
    flushes: bool = True  # an ACK says that all is
    links: dict[int, int] = field(default_factory=dict)  # number to link
    requests: list[Transfer] = field(default_factory=list)
    messages: list[Transfer] = field(default_factory=list)
    slots: int = 0  # written by the host
    beats: int = 0
    freed: list[int] = field(default_factory=lambda: [0, 0])  # told by local notifications
    message_count: int = 0
    done: list[int] = field(default_factory=list)  # completion words
    answer: bool = True  # ACKs are given
    opens: int = 0
    probes: int = 0
    refused: int = 0  # its count
    pending: bool = False  # it has more to tell

    def base(self) -> int:
        """Every number before this has come."""
        n = self.acked
        while n in self.seen:
            n += 1
        return n
