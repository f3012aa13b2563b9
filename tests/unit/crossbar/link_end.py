# SPDX-License-Identifier: Apache-2.0
"""One end of a link in Python, word for word as docs/explanation/cores/link.md has it.

An `End` is a network interface with a queue for each output of the switch it is tied to, and a sink.
A word is a pair of K flags and 32 bits. It shares nothing with the RTL but the page.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

Word = tuple[int, int]

MASK = 0xFFFFFFFF
DATA, CONTROL = 0b0000, 0b1000
SYM_IDLE, SYM_SOP, SYM_EOP, SYM_EDB = 0xBC, 0xFB, 0xFD, 0xFE
SYM_CREDIT, SYM_CHECK, SYM_ALIGN = 0x5C, 0x7C, 0x3C
SYM_INIT = SYM_IDLE  # INIT and READY: the check is never 0
CHECKED = (SYM_SOP, SYM_CREDIT, SYM_CHECK)
IDLE: Word = (CONTROL, SYM_IDLE << 24)
MODULO = 1024


def _table(poly: int, width: int) -> list[int]:
    top, mask = 1 << (width - 1), (1 << width) - 1
    table = []
    for byte in range(256):
        crc = byte << (width - 8)
        for _ in range(8):
            crc = (crc << 1 ^ poly if crc & top else crc << 1) & mask
        table.append(crc)
    return table


_CRC8 = _table(0x07, 8)
_CRC24 = _table(0x328B63, 24)


def crc8(bits24: int) -> int:
    """Check of a control word's symbol and 16 bits."""
    crc = 0xFF
    for shift in (16, 8, 0):
        crc = _CRC8[crc ^ (bits24 >> shift & 0xFF)]
    return crc


def crc24(words: list[int]) -> int:
    """Check of a packet's data words."""
    crc = 0xFFFFFF
    for word in words:
        for shift in (24, 16, 8, 0):
            crc = (crc << 8 & 0xFFFFFF) ^ _CRC24[crc >> 16 ^ (word >> shift & 0xFF)]
    return crc ^ 0xFFFFFF


def control(symbol: int, ident: int = 0, count: int = 0) -> Word:
    """SOP, CREDIT, CHECK or INIT."""
    head = symbol << 16 | ident << 10 | count % MODULO
    return CONTROL, head << 8 | crc8(head)


INIT, READY = control(SYM_INIT, 0), control(SYM_INIT, 1)


def body(src: int, dst: int, seq: int, length: int, created: int = 0) -> list[int]:
    """The data words of a benchmark packet; the stamps of the switch are 0."""
    words = [0xB5 << 24 | dst << 16 | src << 8, seq & MASK, created & MASK, created & MASK, 0, 0]
    mixed = (src * 0x9E3779B1 ^ dst * 0x85EBCA6B ^ seq * 0xC2B2AE35) & MASK
    words += [(mixed ^ index * 0x27D4EB2F) * 0x165667B1 & MASK for index in range(6, length)]
    return words[:length]


@dataclass
class Packet:
    """One packet at its source, or as it came."""

    src: int
    dst: int
    seq: int
    words: list[int]
    sop: int = -1  # cycle in which the SOP was on the switch's input pins
    born: int = -1


@dataclass
class Arrival:
    """One packet as it came to a sink. `good`: EOP and a right crc24."""

    words: list[int]
    good: bool
    sop: int  # cycle in which the SOP was on the switch's output pins
    end: int
    edb: bool


@dataclass
class End:
    """Far end of switch port `index`. `tx` and `rx` are called once a cycle each."""

    index: int
    ports: int
    rng: random.Random
    bench: bool = False
    depth: int = 512  # of the switch's buffers
    sink_depth: int = 512
    refresh: int = 64
    credit_words: int = 64  # freed and not told: worth a word between packets
    init_words: int = 64  # cycles in which INIT is sent before anything is listened to
    pause: float = 0.0  # chance that a data word is not there yet
    drain: Callable[[int], bool] = lambda _: True  # a word leaves the sink's buffer in this cycle
    cycle: int = 0

    state: str = "init"  # init, ready, up
    queues: list[deque[Packet]] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    sent_packets: list[Packet] = field(default_factory=list)
    words_sent: int = 0
    other_sent: int = 0  # words that are not a packet's, while up
    idle_received: int = 0
    invalid_received: int = 0
    inits: int = 0
    waited: int = 0

    def __post_init__(self) -> None:
        self.queues = [deque() for _ in range(self.ports)]
        self._start()
        self.turn = 0

    def _start(self) -> None:
        self.sent = [0] * self.ports
        self.freed = [0] * self.ports
        self.heard = [False] * self.ports  # credit of this buffer since the start
        self.out: deque[Word] = deque()
        self.out_id = 0
        self.credit_due = True
        self.after_packet = False
        self.quiet = 0
        self.poll = 0
        self.inside: list[int] | None = None
        self.inside_ok = True
        self.sop_cycle = -1
        self.received = 0
        self.stored = getattr(self, "stored", 0)
        self.sink_freed = -self.stored % MODULO
        self.told = self.sink_freed
        self.asked = self.cycle  # since when a CHECK, or the start, asks for a CREDIT; -1: nobody asks

    # ------------------------------------------------------------ transmit
    def room(self, dst: int) -> int:
        return self.depth - (self.sent[dst] - self.freed[dst]) % MODULO if self.heard[dst] else 0

    def tx(self, cycle: int) -> Word:
        """The word that this end puts on the switch's input pins in `cycle`."""
        self.cycle = cycle
        if self.state == "init":
            self.waited += 1
            return INIT
        if self.state == "ready":
            return READY
        if self.out:
            kind = self.out[0][0]
            if kind == DATA and self.pause and self.rng.random() < self.pause:
                self.other_sent += 1
                return self._credit() if self.rng.random() < 0.5 else self._check(self.out_id ^ 1)
            word = self.out.popleft()
            self.sent[self.out_id] = (self.sent[self.out_id] + 1) % MODULO
            self.words_sent += 1
            self.after_packet = not self.out
            return word
        untold = (self.sink_freed - self.told) % MODULO
        late = self.asked >= 0 and cycle - self.asked >= 16 * self.refresh
        if self.after_packet and (untold >= self.credit_words or late):
            self.after_packet = False
            self.other_sent += 1
            return self._credit()
        self.after_packet = False
        for step in range(self.ports):
            dst = (self.turn + step) % self.ports
            queue = self.queues[dst]
            if queue and self.room(dst) >= len(queue[0].words) + 1:
                self.turn = dst + 1
                return self._begin(queue.popleft(), cycle)
        self.other_sent += 1
        if self.told != self.sink_freed or self.asked >= 0:
            return self._credit()
        self.quiet += 1
        if self.quiet % self.refresh == 0:
            lacking = [d for d in range(self.ports) if self.sent[d] != self.freed[d] or not self.heard[d]]
            if lacking:
                self.poll += 1
                return self._check(lacking[self.poll % len(lacking)])
        return IDLE

    def _begin(self, packet: Packet, cycle: int) -> Word:
        packet.sop = cycle
        self.sent_packets.append(packet)
        self.out_id = packet.dst
        checked = list(packet.words)
        if self.bench:
            checked[4:6] = [0] * len(checked[4:6])
        self.out.extend((DATA, word) for word in packet.words)
        self.out.append((CONTROL, SYM_EOP << 24 | crc24(checked)))
        return control(SYM_SOP, packet.dst, self.sent[packet.dst])

    def _credit(self) -> Word:
        self.told = self.sink_freed
        self.asked = -1
        return control(SYM_CREDIT, 0, self.sink_freed)

    def _check(self, ident: int) -> Word:
        ident %= self.ports
        return control(SYM_CHECK, ident, self.sent[ident])

    # ------------------------------------------------------------ receive
    def rx(self, word: Word, cycle: int) -> None:
        """Take the word that was on the switch's output pins in `cycle`."""
        k, data = word
        symbol = data >> 24
        valid = k == DATA or (k == CONTROL and self._known(data))
        start = k == CONTROL and valid and symbol == SYM_INIT and data & 0xFFFFFF != 0
        if start:
            self._handshake(data)
        elif self.state == "ready" and k == CONTROL and valid and symbol != SYM_ALIGN:
            self._up()
        if self.state != "up":
            return
        if self.stored and self.drain(cycle):
            self.stored -= 1
            self.sink_freed = (self.sink_freed + 1) % MODULO
        if not valid:
            self.invalid_received += 1
        if k == CONTROL and valid:
            self._control(symbol, data, cycle)
        elif self.inside is not None:
            self._data(data if valid else 0, valid)

    def _known(self, data: int) -> bool:
        symbol = data >> 24
        if symbol in CHECKED:
            return data & 0xFF == crc8(data >> 8)
        if symbol == SYM_INIT and data & 0xFFFFFF:
            return data & 0xFF == crc8(data >> 8)
        return symbol in (SYM_EOP, SYM_EDB) or (symbol in (SYM_IDLE, SYM_ALIGN) and data & 0xFFFFFF == 0)

    def _handshake(self, data: int) -> None:
        phase = data >> 18 & 0x3F
        if self.state == "init":
            if self.waited >= self.init_words:
                self.state = "ready"
        elif self.state == "ready" and phase == 1:
            self._up()
        elif self.state == "up" and phase == 0:
            self.inits += 1
            if self.inits == 2:
                self.restart()
                return

    def _up(self) -> None:
        self.state = "up"
        self.inits = 0

    def restart(self) -> None:
        """Start over: what is on the way is lost."""
        if self.inside is not None:
            self._end(False, False)
        self.inits = 0
        self.waited = 0
        self.state = "init"
        self._start()

    def _store(self) -> None:
        self.stored += 1
        self.received = (self.received + 1) % MODULO
        assert self.stored <= self.sink_depth, f"sink {self.index}: the switch sent without credit"

    def _data(self, data: int, valid: bool) -> None:
        assert self.inside is not None
        self.inside.append(data)
        self.inside_ok &= valid
        self._store()

    def _control(self, symbol: int, data: int, cycle: int) -> None:
        ident, count = data >> 18 & 0x3F, data >> 8 & 0x3FF
        if symbol in (SYM_EOP, SYM_EDB):
            if self.inside is not None:
                self._store()
                checked = list(self.inside)
                if self.bench:
                    checked[4:6] = [0] * len(checked[4:6])
                right = symbol == SYM_EOP and data & 0xFFFFFF == crc24(checked)
                self._end(right and self.inside_ok, symbol == SYM_EDB, cycle)
        elif symbol in (SYM_SOP, SYM_CHECK):
            if self.inside is not None and symbol == SYM_SOP:
                self._end(False, False, cycle)
            assert ident == 0
            lost = (count - self.received) % MODULO
            self.received = count
            self.sink_freed = (self.sink_freed + lost) % MODULO
            if symbol == SYM_CHECK:
                self.asked = cycle if self.asked < 0 else self.asked
            else:
                self.inside, self.inside_ok, self.sop_cycle = [], True, cycle
        elif symbol == SYM_CREDIT:
            if (self.sent[ident] - count) % MODULO <= (self.sent[ident] - self.freed[ident]) % MODULO or (
                not self.heard[ident]
            ):
                self.freed[ident] = count
                self.heard[ident] = True
        elif symbol in (SYM_IDLE, SYM_ALIGN):
            self.idle_received += symbol == SYM_IDLE and data & 0xFFFFFF == 0
            if self.inside is not None:
                self._end(False, False, cycle)

    def _end(self, good: bool, edb: bool, cycle: int = -1) -> None:
        assert self.inside is not None
        self.arrivals.append(Arrival(self.inside, good, self.sop_cycle, cycle, edb))
        self.inside = None

    @property
    def at_rest(self) -> bool:
        return not self.out and not any(self.queues) and self.sent == self.freed
