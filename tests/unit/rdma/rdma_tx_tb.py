# SPDX-License-Identifier: Apache-2.0
"""The sending half of the RDMA interface between a host's bus, its links and the far ends of its flows.

One loop a clock domain looks at the pins and drives them. Every packet is held against what the host
has asked for, to the beat; every number is given once; whatever the host is told must be true by then.
"""

from __future__ import annotations

import itertools
import logging
import os
import random
from collections import deque
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.queue import Queue
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiBus, AxiMaster, AxiResp
from cocotbext.axi.axi_channels import AxiARSink, AxiRSource
from link_model import K_DATA, K_EDB, K_EOP, K_SOP, crc24
from rdma_tx_model import (
    PACKET_BEATS,
    WINDOW,
    Flow,
    Packet,
    Transfer,
    bits,
    word_at,
)
from rdma_words import (
    ACK,
    BOUNDS,
    CONTROL,
    DESCRIPTOR,
    KEY,
    MESSAGE,
    OPEN,
    PROBE,
    READ,
    REFUSED,
    SESSION,
    SHORT,
    WRITE,
    control,
    descriptor,
    extension,
    header,
    message_header,
)

HOSTS = int(os.environ["RDMA_HOSTS"])
LINKS = int(os.environ["RDMA_LINKS"])
OUTSTANDING = int(os.environ["RDMA_OUTSTANDING"])
HOST_NS, LINK_NS = 10, 12.8
OWN, FIRST_SESSION = 5, 0xFE
ROOM = 512
MAX_WORDS = 134
REQUESTS, MESSAGES, TABLES = 0x4000, 0x8000, 0xC000
STROBES = (
    "posted",
    "request_bad",
    "message_posted",
    "message_bad",
    "granted",
    "issued",
    "begun",
    "probed",
    "ignored",
    "failed",
    "refused",
)


class Reads:
    """Host memory, read side: bursts answered in order, not before `latency` clocks after their address."""

    def __init__(self, bus: AxiBus, bench: Bench) -> None:
        self.bench = bench
        self.ar = AxiARSink(bus.read.ar, bench.dut.clk_i)
        self.r = AxiRSource(bus.read.r, bench.dut.clk_i)
        self.r.queue_occupancy_limit = 2
        self.latency = 20
        self.early = 0  # clocks ahead of a burst's data at which rearly_i tells of it; 0: never
        self.late = 0  # and at most so many more that it takes all the same
        self.told = 0
        self.poisoned: set[int] = set()
        self.bursts: list[tuple[int, int, int]] = []  # cycle, address, bytes
        self.follow = 0  # bytes that must still follow
        self.under = 0  # transfers with beats to come
        self.most = 0
        self._due: Queue[tuple[int, Any]] = Queue()
        cocotb.start_soon(self._take())
        cocotb.start_soon(self._answer())

    async def _take(self) -> None:
        while True:
            ar = await self.ar.recv()
            address, length, follow = int(ar.araddr), 8 * (int(ar.arlen) + 1), int(ar.aruser)
            assert address % 8 == 0
            assert address // 4096 == (address + length - 1) // 4096
            if self.follow == 0:
                self.follow = follow
                assert 8 <= follow <= 4096
                self.under += 1
                self.most = max(self.most, self.under)
            assert follow == self.follow
            self.follow -= length
            assert self.follow >= 0
            self.bursts.append((self.bench.cycle, address, length))
            await self._due.put((self.bench.cycle + self.latency, ar, self.follow == 0))

    async def _tell(self, due: int) -> None:
        """Tell of the next beat, if none stands before it."""
        d = self.bench.dut
        # A beat that is sent shows a clock later.
        while self.bench.cycle <= due - self.early:
            await RisingEdge(d.clk_i)
        if self.r.idle() and not int(d.dma_rvalid.value):
            self.told += 1
            d.rearly_i.value = 1
            cocotb.start_soon(self._told())

    async def _told(self) -> None:
        await RisingEdge(self.bench.dut.clk_i)
        self.bench.dut.rearly_i.value = 0

    async def _answer(self) -> None:
        while True:
            due, ar, last = await self._due.get()
            if self.early:
                await self._tell(due)
                due += self.bench.rng.randint(0, self.late)
            while self.bench.cycle < due:
                await RisingEdge(self.bench.dut.clk_i)
            beats = int(ar.arlen) + 1
            for n in range(beats):
                r = self.r._transaction_obj()
                address = int(ar.araddr) + 8 * n
                r.rid, r.rlast = int(ar.arid), n == beats - 1
                r.rresp = 2 if address in self.poisoned else 0
                r.rdata = 0xBAD0BAD0BAD0BAD0 if r.rresp else word_at(address)
                await self.r.send(r)
            if last:
                self.under -= 1


class Bench:
    """Host, links and far ends around the sending half."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.cycle = 0
        self.link_cycle = 0
        self.flows = [Flow(i) for i in range(HOSTS)]
        self.counts = dict.fromkeys(STROBES, 0)
        self.errors: list[tuple[int, int, int, int, int]] = []  # code, tag, host, more, address
        self.packets: list[Packet] = []
        self.controls: list[Packet] = []
        self.parts: list[list[int]] = [[] for _ in range(LINKS)]
        self.destination = [-1] * LINKS
        self.begun = [0] * LINKS  # link cycle of the Sop
        self.receive: deque[tuple[int, int, int]] = deque()  # due cycle, header, second beat
        self.gap = 0
        self.send: deque[tuple[int, int]] = deque()  # control packets of the receiving half
        self.taken: list[tuple[int, int]] = []  # of those that were not seen to leave
        self.sending = self.offered = False
        self.room_now = 0
        self.ack_every, self.ack_delay = 8, 40
        self.ready = 1.0  # chance that a link takes a word
        self.told = 1.0  # chance that what is told is taken
        self.blocked: set[int] = set()
        self.up = (1 << LINKS) - 1
        self.enabled = (1 << LINKS) - 1
        self.shown: tuple[frozenset[int], int] | None = None
        self.steady = True  # all links are up: packets go round in turn
        self.bench_mode = False
        self.running = False
        self.places = itertools.count(0x1_0000_0000, 8)
        self.locals: list[tuple[int, int, int, int]] = []  # cycle, flow, message, count

    # ------------------------------------------------------------ start
    async def start(self, probe: int = 2000, bench: bool = False) -> None:
        d = self.dut
        self.bench_mode = bench
        d.rst_ni.value = d.link_rst_ni.value = 0
        d.enable_i.value = 0
        d.host_id_i.value = OWN
        d.first_session_i.value = FIRST_SESSION
        d.probe_cycles_i.value = probe
        d.link_enable_i.value = self.enabled
        d.bench_i.value = bench
        d.rearly_i.value = 0
        d.ctl_valid_i.value = d.rxctl_valid_i.value = 0
        d.ctl_header_i.value = d.ctl_i.value = d.rxctl_header_i.value = d.rxctl_i.value = 0
        d.told_ready_i.value = 0
        d.up_i.value = 0
        d.room_i.value = 0
        d.tx_ready_i.value = 0
        for name in ("bar", "dma"):
            logging.getLogger(f"cocotb.{d._name}.{name}").setLevel(logging.WARNING)
        self.bar = AxiMaster(AxiBus.from_prefix(d, "bar"), d.clk_i)
        bus = AxiBus.from_prefix(d, "dma")
        self.clocks = [
            cocotb.start_soon(Clock(d.clk_i, HOST_NS, "ns").start()),
            cocotb.start_soon(Clock(d.link_clk_i, LINK_NS, "ns", period_high=6.4).start()),
        ]
        self.reads = Reads(bus, self)
        for _ in range(4):
            await FallingEdge(d.link_clk_i)
        d.link_rst_ni.value = 1
        await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self._host())
        cocotb.start_soon(self._link())
        await self.clocks_of(20)
        d.enable_i.value = 1
        await self.until(lambda: self.running, 530)

    async def clocks_of(self, n: int) -> None:
        await Timer(n * HOST_NS, "ns")

    async def until(self, done: Any, limit: int) -> int:
        """Host clocks until `done()`; more than `limit` is an error."""
        start = self.cycle
        while not done():
            await RisingEdge(self.dut.clk_i)
            assert self.cycle - start <= limit, (f"not within {limit}", self.counts, self.errors)
        return self.cycle - start

    # ------------------------------------------------------------ what the host is told
    async def _host(self) -> None:
        d = self.dut
        while True:
            await FallingEdge(d.clk_i)
            self.cycle += 1
            news = int(d.news_o.value)
            self.running = bool(news & 2)
            self.room_now = news >> 2
            if news & 1:
                self._news(int(d.host_o.value))
            self._drive()

    def _news(self, value: int) -> None:
        if value & 1:
            self._local(bits(value, 3, 1), bits(value, 4, 4), bits(value, 20, 5))
        if value >> 21 & 1:
            self._done(bits(value, 24, 22), bits(value, 88, 25))
        if value >> 89 & 1:
            self._error(bits(value, 153, 90), bits(value, 217, 154))
        if value >> 227 & 1:
            self.taken.append(self.send.popleft())
            self.sending = False
        strobes = value >> 228
        for bit, name in enumerate(STROBES):
            self.counts[name] += strobes >> bit & 1

    def _drive(self) -> None:
        d, rng = self.dut, self.rng
        if self.told < 1.0:
            d.told_ready_i.value = rng.getrandbits(3) if self.told > 0 else 0
        elif self.cycle == 1:
            d.told_ready_i.value = 7
        if self.send and not self.sending:
            self.sending = True
            d.ctl_header_i.value, d.ctl_i.value = self.send[0]
            d.ctl_valid_i.value = 1
        elif self.offered and not self.sending:
            d.ctl_valid_i.value = 0
        self.offered = self.sending
        if self.gap:
            d.rxctl_valid_i.value = 0
            self.gap = 0
        elif self.receive and self.receive[0][0] <= self.cycle:
            _, d.rxctl_header_i.value, d.rxctl_i.value = self.receive.popleft()
            d.rxctl_valid_i.value = 1
            self.gap = 1

    def _local(self, number: int, message: int, count: int) -> None:
        flow = self.flows[number]
        self.locals.append((self.cycle, number, message, count))
        before = flow.freed[message]
        now = before + (count - before) % 65536
        assert now > before, "told again"
        flow.freed[message] = now
        assert now <= (flow.beats if message else flow.slots)
        given = 0
        for transfer in flow.messages if message else flow.requests:
            if given == now:
                return
            given += transfer.slots
            assert given <= now, "a part of a transfer is given back"
            assert transfer.whole or self._leaving(transfer), (number, message, count, transfer)
        assert given == now

    def _leaving(self, transfer: Transfer) -> bool:
        """All but the last packet's end is out."""
        for link in range(LINKS):
            words = self.parts[link]
            if words and self.destination[link] == transfer.flow and len(words) > 3:
                size, tag = bits(words[1], 12, 6), bits(words[1], 27, 20)
                if tag == transfer.tag and len(words) >= 2 * (size + 2):
                    return True
        return False

    def _done(self, number: int, word: int) -> None:
        flow = self.flows[number]
        if flow.done:
            assert bits(word, 23, 18) - bits(flow.done[-1], 23, 18) & 63 <= 1
        flow.done.append(word)

    def _error(self, beat0: int, beat1: int) -> None:
        assert bits(beat0, 63, 36) == 0
        assert bits(beat0, 23, 23) == 0
        self.errors.append(
            (bits(beat0, 7, 0), bits(beat0, 15, 8), bits(beat0, 22, 16), bits(beat0, 35, 24), beat1)
        )

    # ------------------------------------------------------------ links
    def rooms(self) -> int:
        one = sum((0 if f in self.blocked else ROOM) << 10 * f for f in range(HOSTS))
        return sum(one << 10 * HOSTS * link for link in range(LINKS))

    async def _link(self) -> None:
        d, rng = self.dut, self.rng
        mask = (1 << 35) - 1
        while True:
            await FallingEdge(d.link_clk_i)
            self.link_cycle += 1
            if int(d.taken_o.value):
                value = int(d.link_o.value)
                for link in range(LINKS):
                    word = value >> 35 * link & mask
                    if word >> 34:
                        self._flit(link, word >> 32 & 3, word & 0xFFFFFFFF)
            if self.ready < 1.0:
                d.tx_ready_i.value = sum((rng.random() < self.ready) << i for i in range(LINKS))
            elif self.shown is None:
                d.tx_ready_i.value = (1 << LINKS) - 1
            if self.shown != (shown := (frozenset(self.blocked), self.up)):
                self.shown = shown
                d.room_i.value = self.rooms()
                d.up_i.value = self.up

    def _flit(self, link: int, kind: int, data: int) -> None:
        words = self.parts[link]
        if kind == K_SOP:
            assert self.destination[link] < 0
            assert not words
            self.destination[link] = data
            self.begun[link] = self.link_cycle
        elif kind == K_DATA:
            assert self.destination[link] >= 0
            words.append(data)
            assert len(words) <= MAX_WORDS
        else:
            assert len(words) % 2 == 0
            assert words
            if kind == K_EOP:
                assert data == crc24(words, self.bench_mode), "crc24"
            else:
                assert kind == K_EDB
            beats = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
            packet = Packet(beats, link, self.cycle, kind == K_EDB)
            packet.words = self.link_cycle - self.begun[link]
            assert packet.dst == self.destination[link]
            assert packet.src == OWN
            self.destination[link] = -1
            self.parts[link] = []
            self._packet(packet)

    # ------------------------------------------------------------ far ends
    def answer(self, flow: Flow, session: int, seq: int, second: int) -> None:
        """A control packet of a far end reaches us later."""
        head = header(seq & 0xFFFF, session, flow.number, OWN)
        due = self.cycle + self.ack_delay
        at = len(self.receive)
        while at and self.receive[at - 1][0] > due:
            at -= 1
        self.receive.insert(at, (due, head, second))

    def ack(self, flow: Flow) -> None:
        assert flow.session is not None
        base = flow.base()
        flow.seen = {n for n in flow.seen if n >= base}
        flow.acked = base
        if flow.flushes:
            flow.stored = base
        word = control(ACK, 1, 0, flow.refused, flow.pending, flow.stored)
        self.answer(flow, flow.session, base, word)

    def refuse(self, flow: Flow, code: int, tag: int, more: int = 0) -> None:
        """REFUSED of packet 0; `more` others are counted that nobody has told of."""
        assert flow.session is not None
        flow.refused += 1 + more
        word = control(REFUSED, code, tag, flow.refused, stored=flow.stored)
        self.answer(flow, flow.session, 1, word)

    def _packet(self, packet: Packet) -> None:
        flow = self.flows[packet.dst]
        if packet.kind == CONTROL:
            self._control(flow, packet)
            return
        self.packets.append(packet)
        assert packet.session in flow.sessions, "data before OPEN"
        if self.steady:
            flow.links[packet.seq] = packet.link
        self._match(flow, packet)
        if flow.session != packet.session:
            self.answer(flow, packet.session, 0, control(REFUSED, SESSION, packet.tag))
            return
        number = flow.acked + (packet.seq - flow.acked & 0xFFFF)
        assert number < flow.acked + WINDOW, "outside the window"
        assert number not in flow.seen, "a number was given twice"
        flow.seen.add(number)
        if flow.answer and (packet.completion or len(flow.seen) % self.ack_every == 0):
            self.ack(flow)

    def _control(self, flow: Flow, packet: Packet) -> None:
        self.controls.append(packet)
        kind = bits(packet.beats[1], 3, 0)
        if kind == OPEN:
            assert packet.beats[1] == control(OPEN)
            flow.opens += 1
            flow.known = packet.session
            flow.sessions.add(packet.session)
            if flow.taken:
                flow.taken -= 1
                self.answer(flow, packet.session, 0, control(REFUSED, SESSION, 1))
                return
            if flow.session != packet.session:
                flow.session, flow.acked, flow.seen = packet.session, packet.seq, set()
                flow.stored = packet.seq
            if flow.answer:
                self.ack(flow)
        elif kind == PROBE:
            assert packet.beats[1] == control(PROBE)
            flow.probes += 1
            if flow.session == packet.session:
                # Numbers given since it was made may have come over another link, and been acknowledged.
                assert (packet.seq - flow.acked + WINDOW & 0xFFFF) <= 2 * WINDOW
                if flow.answer:
                    self.ack(flow)
            else:
                self.answer(flow, packet.session, 0, control(REFUSED, SESSION))
        else:
            first, second = packet.beats
            assert (first, second) in self.taken, "the receiving half gave no such control packet"
            self.taken.remove((first, second))

    # ------------------------------------------------------------ is it what was asked for?
    def _match(self, flow: Flow, packet: Packet) -> None:
        if packet.tag & 0x80:
            transfer = self._find(flow.messages, packet.tag)
            assert transfer.body is not None
            assert packet.payload == transfer.body
            short = transfer.immediate == 0 and transfer.queue < 16
            assert packet.kind == (WRITE if transfer.inline else SHORT if short else MESSAGE)
            assert bool(packet.extended) == (transfer.extended is not None)
            if transfer.inline:
                assert packet.beats[1] == transfer.address
                if transfer.extended is not None:
                    assert packet.beats[2] == transfer.extended[0] | transfer.extended[1] << 32
            elif short:
                assert packet.queue == transfer.queue
            else:
                assert packet.beats[1] == transfer.queue | transfer.immediate << 32
            offset = 0
        else:
            assert packet.kind == WRITE
            transfer = self._find(flow.requests, packet.tag)
            assert bool(packet.extended) == (transfer.extended is not None)
            if transfer.extended is not None:
                assert packet.beats[2] == transfer.extended[0] | transfer.extended[1] << 32
            offset = packet.beats[1] - transfer.address
            assert offset % (8 * PACKET_BEATS) == 0, (packet, transfer)
            offset //= 8
            if not self.bench_mode:
                expected = [word_at(transfer.source + 8 * (offset + i)) for i in range(len(packet.payload))]
                assert packet.payload == expected
        size = min(PACKET_BEATS, transfer.size - offset)
        assert packet.size == size
        last = offset + size == transfer.size
        assert packet.last == last
        assert (packet.notify, packet.irq, packet.completion) == (
            (transfer.notify, transfer.irq, transfer.completion) if last else (0, 0, 0)
        )
        transfer.packets += 1
        transfer.came += size
        transfer.cut += packet.bad
        assert transfer.came <= transfer.size

    def _find(self, transfers: list[Transfer], tag: int) -> Transfer:
        for transfer in transfers:
            if transfer.tag == tag and not transfer.whole:
                return transfer
        raise AssertionError(f"nothing was asked for under tag {tag:#x}")

    def check_turns(self) -> None:
        """While all links were up, the data packets of a destination went to them in turn."""
        for flow in self.flows:
            numbers = sorted(flow.links)
            for before, after in itertools.pairwise(numbers):
                if after == before + 1:
                    assert flow.links[after] == (flow.links[before] + 1) % LINKS, (flow.number, after)

    def check_whole(self) -> None:
        for flow in self.flows:
            for transfer in flow.requests + flow.messages:
                assert transfer.whole, transfer

    # ------------------------------------------------------------ the host
    async def store(self, address: int, data: bytes, narrow: bool = False) -> None:
        if narrow:
            for at in range(0, len(data), 4):
                await self.bar.write(address + at, data[at : at + 4], size=2)
        else:
            reply = await self.bar.write(address, data)
            assert reply.resp == AxiResp.OKAY

    async def post(
        self, number: int, transfers: list[Transfer], shuffle: bool = False, narrow: bool = False
    ) -> None:
        """Write a cluster of descriptors; the last one starts it."""
        flow = self.flows[number]
        slots: list[tuple[int, bytes]] = []
        for transfer in transfers:
            slot = flow.slots % 128
            transfer.flow, transfer.tag = number, slot
            start = transfer is transfers[-1]
            beats = list(
                descriptor(
                    transfer.source,
                    transfer.address,
                    transfer.size,
                    number,
                    start,
                    transfer.local,
                    transfer.notify,
                    transfer.irq,
                    transfer.completion,
                    transfer.extended is not None,
                )
            )
            first = b"".join(beat.to_bytes(8, "little") for beat in beats)
            if transfer.extended is not None:
                transfer.slots = 2
                second = b"".join(
                    beat.to_bytes(8, "little") for beat in extension(transfer.address, *transfer.extended)
                )
                slots.append(((slot + 1) % 128, second))
            slots.append((slot, first))
            flow.requests.append(transfer)
            flow.slots += transfer.slots
        assert flow.slots - flow.freed[0] <= 128
        if shuffle:
            head = slots[:-1]
            self.rng.shuffle(head)
            slots = [*head, slots[-1]]
        for slot, data in slots:
            await self.store(REQUESTS + number * 0x800 + slot * 16, data, narrow)

    async def message(self, number: int, transfer: Transfer, narrow: bool = False) -> None:
        """Write a message, in pieces that end with the ring."""
        flow = self.flows[number]
        transfer.flow, transfer.tag = number, 0x80 | flow.message_count % 128
        transfer.size = len(transfer.body or [])
        follow = list(transfer.body or [])
        if transfer.inline:
            key = transfer.extended
            follow = [transfer.address, *([] if key is None else [key[0] | key[1] << 32]), *follow]
        transfer.slots = len(follow) + 1
        head = message_header(
            len(follow),
            transfer.queue,
            transfer.immediate,
            transfer.local,
            transfer.notify,
            transfer.irq,
            transfer.completion,
            transfer.inline,
            transfer.inline and transfer.extended is not None,
        )
        data = b"".join(beat.to_bytes(8, "little") for beat in [head, *follow])
        flow.messages.append(transfer)
        at = flow.beats % 256
        flow.message_count += 1
        flow.beats += transfer.slots
        assert flow.beats - flow.freed[1] <= 256
        first = min(len(data), 8 * (256 - at))
        await self.store(MESSAGES + number * 0x800 + at * 8, data[:first], narrow)
        if first < len(data):
            await self.store(MESSAGES + number * 0x800, data[first:], narrow)

    def request(self, size: int | None = None, plain: bool = False, **fields: Any) -> Transfer:
        rng = self.rng
        size = size or rng.choice((1, 2, rng.randint(1, 16), rng.randint(1, 512), 64, 65, 512))
        source = 0x1000 * rng.randint(1, 1 << 40) + 8 * rng.randint(0, 511)
        extended = None if plain or rng.random() < 0.7 else (rng.getrandbits(32), rng.getrandbits(32))
        address = 8 * rng.getrandbits(26) if extended is None else 8 * rng.getrandbits(58)
        chance = [not plain and rng.random() < 0.3 for _ in range(4)]
        made = Transfer(
            0,
            0,
            size,
            source=source,
            address=address,
            extended=extended,
            notify=chance[0],
            irq=chance[1],
            completion=chance[2],
            local=chance[3],
        )
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    def letter(self, beats: int | None = None, **fields: Any) -> Transfer:
        rng = self.rng
        beats = beats or rng.choice((1, 1, 2, rng.randint(1, 64), 64))
        made = Transfer(
            0,
            0,
            beats,
            body=[rng.getrandbits(64) for _ in range(beats)],
            queue=rng.getrandbits(8),
            immediate=rng.getrandbits(32),
        )
        for name in ("notify", "irq", "completion", "local"):
            setattr(made, name, rng.random() < 0.3)
        if rng.random() < 0.3:
            made.immediate = 0
        if rng.random() < 0.5:
            made.queue %= 16
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    def inline(self, beats: int | None = None, keyed: bool | None = None, **fields: Any) -> Transfer:
        """A write whose data is written behind its address into the message queue."""
        rng = self.rng
        keyed = rng.random() < 0.5 if keyed is None else keyed
        most = 62 if keyed else 63
        made = self.letter(beats or rng.choice((1, 1, 2, rng.randint(1, most), most)))
        made.inline, made.address = True, rng.getrandbits(64)
        if keyed:
            made.extended = (rng.getrandbits(32), rng.getrandbits(32))
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    async def program(self, number: int, rounds: int, narrow: float = 0.0) -> None:
        """A host program that keeps one destination busy, and within what it was given back."""
        flow, rng = self.flows[number], self.rng
        for _ in range(rounds):
            if rng.random() < 0.5:
                count = rng.choice((1, 1, 2, 5))
                cluster = [self.request() for _ in range(count)]
                cluster[-1].local = True
                need = 2 * count
                await self.until(lambda need=need: flow.slots - flow.freed[0] + need <= 128, 400_000)
                await self.post(number, cluster, rng.random() < 0.5, rng.random() < narrow)
            else:
                letter = self.letter(local=True) if rng.random() < 0.6 else self.inline(local=True)
                need = letter.size + 3
                await self.until(lambda need=need: flow.beats - flow.freed[1] + need <= 256, 400_000)
                await self.message(number, letter, rng.random() < narrow)

    def quiet(self) -> bool:
        return bool(int(self.dut.idle_o.value)) and not self.receive and not self.send

    async def rest(self, limit: int = 200_000) -> None:
        """All has left, all was acknowledged, nothing moves any more."""
        for flow in self.flows:
            flow.answer = True
        await self.until(self.quiet, limit)
        before = len(self.packets) + len(self.controls)
        await self.clocks_of(50)
        assert self.quiet()
        assert len(self.packets) + len(self.controls) == before


async def made(dut: Any, **options: Any) -> Bench:
    bench = Bench(dut)
    await bench.start(**options)
    return bench


def paused(rng: random.Random, chance: float) -> Iterator[bool]:
    while True:
        yield rng.random() < chance


@cocotb.test()
async def one_of_each(dut: Any) -> None:
    """A message, a short and a long transfer: what leaves is what was asked for, and the host is told."""
    b = await made(dut)
    await b.message(1, b.letter(1, local=True))
    await b.rest()
    await b.post(1, [b.request(1, plain=True, local=True)])
    await b.rest()
    await b.post(0, [b.request(512, local=True, completion=True)])
    await b.rest()
    b.check_whole()
    assert len(b.packets) == 10
    assert [flow.opens for flow in b.flows[:2]] == [1, 1]
    assert b.flows[1].freed == [1, 2]
    # The far end has acknowledged all of flow 0, for the transfer asked for completion.
    assert b.flows[0].done[-1] == 8 | 1 << 16 | FIRST_SESSION << 24
    assert not b.errors


@cocotb.test()
async def who_does_not_ask_is_not_told(dut: Any) -> None:
    """What left without asking is given back with the next that asks."""
    b = await made(dut)
    flow = b.flows[1]
    for _ in range(3):
        await b.post(1, [b.request(70, plain=True)])
        await b.message(1, b.letter(2, local=False))
    await b.rest()
    b.check_whole()
    assert flow.freed == [0, 0]
    await b.post(1, [b.request(1, plain=True, local=True)])
    await b.rest()
    assert flow.freed == [4, 0]
    await b.message(1, b.letter(2, local=True))
    await b.rest()
    assert flow.freed == [4, flow.beats]


@cocotb.test()
async def everything_at_once(dut: Any) -> None:
    """All destinations, all kinds, random sizes, slow links and slow memory: nothing lost, nothing twice."""
    b = await made(dut)
    b.ready, b.told = 0.9, 0.5
    b.reads.ar.set_pause_generator(paused(b.rng, 0.2))
    b.reads.r.set_pause_generator(paused(b.rng, 0.1))
    b.reads.early, b.reads.late = b.rng.choice((0, 1, 3, 8)), b.rng.choice((0, 2, 30))
    programs = [cocotb.start_soon(b.program(f, 12, narrow=0.1)) for f in range(HOSTS)]
    for program in programs:
        await program
    await b.rest()
    b.check_whole()
    b.check_turns()
    assert not b.errors
    assert b.reads.most <= OUTSTANDING
    assert not any(packet.bad for packet in b.packets)
    for flow in b.flows:
        # What has come is acknowledged, and the last notification gave back all up to it.
        numbers = sum(t.packets for t in flow.requests + flow.messages)
        assert flow.base() == numbers
        open_word = flow.done[-1]
        assert bits(open_word, 15, 0) == numbers & 0xFFFF
        assert flow.opens == 1
    assert b.counts["request_bad"] == b.counts["message_bad"] == 0


@cocotb.test()
async def a_destination_that_takes_nothing_stops_itself_alone(dut: Any) -> None:
    """One far buffer stays full: its queues stand, all others go on; then its packets go, too."""
    b = await made(dut)
    await b.post(0, [b.request(64, plain=True, local=True)])
    await b.until(lambda: b.flows[0].freed[0] == 1, 3000)
    b.blocked = {0}
    for _ in range(6):
        await b.post(0, [b.request(512, plain=True, local=True), b.request(512, plain=True, local=True)])
    await b.message(0, b.letter(64, local=True))
    before = len(b.packets)
    # More than the VOQs hold for one destination waits; the others are as fast as on their own.
    for f in range(1, HOSTS):
        for _ in range(4):
            await b.post(f, [b.request(64, plain=True, local=True)])
            await b.message(f, b.letter(4, local=True))
    await b.until(
        lambda: all(f.freed == [4, 20] for f in b.flows[1:]), 8 * HOSTS * 64 * 3 // LINKS + 2000 * OUTSTANDING
    )
    assert not any(packet.dst == 0 for packet in b.packets[before:])
    assert b.flows[0].freed == [1, 0]
    # Control packets for others are not held up either.
    for f in range(HOSTS):
        said = control(ACK, 1, stored=0xC3A5 >> f)
        if f % 2:
            said = control(REFUSED, f + 1, 0x80 | f, 0xA5 + f, f % 4 == 1, 0x5A3C << f)
        b.send.append((header(7 << f, 3 + f, OWN, f), said))
    b.send.rotate(-1)
    count = len(b.controls)
    await b.until(lambda: len(b.controls) >= count + HOSTS - 1, 2000)
    b.blocked = set()
    await b.rest()
    b.check_whole()
    b.check_turns()
    assert b.flows[0].freed == [13, 65]
    assert not b.errors


@cocotb.test()
async def a_probe_leaves_the_last_place_to_who_was_shown_it(dut: Any) -> None:
    """Of the two control packets that may wait for a far end PROBE is never the second."""
    b = await made(dut, probe=300)
    await b.post(0, [b.request(64, plain=True, local=True)])
    await b.rest()
    count = len(b.controls)
    b.blocked = {0}
    await b.clocks_of(50)
    answer = (header(7, 3, OWN, 0), control(ACK, 1))
    b.send.append(answer)
    await b.until(lambda: not b.send, 100)
    # Not acknowledged, so PROBE is due again and again.
    await b.post(0, [b.request(8, plain=True, local=True)])
    for _ in range(1500):
        await b.clocks_of(1)
        assert b.room_now & 1
    b.send.append(answer)
    await b.until(lambda: not b.send, 20)
    await b.clocks_of(10)
    assert not b.room_now & 1, "two wait"
    b.blocked = set()
    await b.rest()
    b.check_whole()
    assert len(b.controls) >= count + 3
    assert b.counts["probed"] > 0
    assert not b.errors


@cocotb.test()
async def a_host_that_takes_nothing_holds_up_no_probe_to_another(dut: Any) -> None:
    """An ACK of the receiving half may take the place for which PROBE to the same host was chosen."""
    b = await made(dut, probe=300)
    for number in range(3):
        await b.post(number, [b.request(8, plain=True, local=True)])
    await b.rest()
    stuck, busy, other = b.flows[:3]
    stuck.answer = other.answer = False
    for flow in (stuck, other):
        await b.post(flow.number, [b.request(8, plain=True, local=True)])
    for _ in range(60):
        b.blocked = {stuck.number}
        # A long packet in progress: what is chosen meanwhile has to wait.
        await b.post(busy.number, [b.request(512, plain=True, local=True)])
        await b.clocks_of(b.rng.randrange(1, 350))
        b.send.append((header(7, 3, OWN, stuck.number), control(ACK, 1)))
        before = other.probes
        await b.until(lambda before=before: other.probes >= before + 2, 3000)
        b.blocked = set()
        await b.until(lambda: not b.send, 1000)
        await b.clocks_of(100)
    await b.rest()
    b.check_whole()
    assert not b.errors


@cocotb.test()
async def what_is_not_legal_is_refused_and_its_slot_given_back(dut: Any) -> None:
    """Each kind of wrong descriptor and message: code 1 with its tag; what stands around it goes."""
    b = await made(dut)
    flow = b.flows[2]
    wrong: list[tuple[list[tuple[int, int]], int]] = []

    def slot(
        source: int = 0x1000, destination: int = 64, size: int = 8, host: int = 2, **flags: Any
    ) -> tuple[int, int]:
        return descriptor(source, destination, size, host, True, True, **flags)

    wrong.append(([slot(size=0)], 0x1000))
    wrong.append(([slot(size=513)], 0x1000))
    wrong.append(([slot(source=0x1004)], 0x1004))
    wrong.append(([slot(destination=68)], 0x1000))
    wrong.append(([slot(host=3)], 0x1000))
    wrong.append(([slot(host=2 + 8)], 0x1000))
    wrong.append(([slot(spare=1)], 0x1000))
    wrong.append(([slot(spare=256)], 0x1000))
    wrong.append(([slot(extended=True), extension(0, 1, 2, spare=1)], 0x1000))
    used = 0
    for slots, source in wrong:
        await b.post(2, [b.request(70, plain=True)])
        used += 1
        data = b"".join(beat.to_bytes(8, "little") for pair in slots for beat in pair)
        transfer = Transfer(2, used, 8, slots=len(slots), legal=False, local=True)
        flow.requests.append(transfer)
        flow.slots += len(slots)
        tag = used
        used += len(slots)
        await b.store(REQUESTS + 2 * 0x800 + tag * 16, data)
        await b.until(lambda used=used: flow.freed[0] == used, 4000)
        await b.until(lambda tag=tag: any(e[1] == tag for e in b.errors), 20)
        assert b.errors[-1] == (DESCRIPTOR, tag, 2, 0, source)
    numbers = len(b.packets)
    assert numbers == 2 * len(wrong)
    # Messages: their length is believed, so the one behind is found.
    for head, beats in (
        (message_header(3, 9, 5, local=True, spare=1), 3),
        (message_header(0, 9, 5, local=True), 0),
        (message_header(65, 9, 5, local=True), 65),
        (message_header(2, 9, 5, local=True) | 0x80, 2),
        (message_header(3, 9, 5, local=True, extended=True), 3),
        (message_header(1, 0, 0, local=True, write=True), 1),
        (message_header(0, 0, 0, local=True, write=True), 0),
        (message_header(2, 0, 0, local=True, write=True, extended=True), 2),
        (message_header(65, 0, 0, local=True, write=True), 65),
    ):
        data = b"".join(beat.to_bytes(8, "little") for beat in [head, *range(beats)])
        flow.messages.append(Transfer(2, 0, 0, slots=beats + 1, legal=False, local=True))
        await b.store(MESSAGES + 2 * 0x800 + flow.beats % 256 * 8, data)
        tag = 0x80 | flow.message_count
        flow.message_count += 1
        flow.beats += beats + 1
        # With its last beat, whatever follows.
        await b.until(lambda: flow.freed[1] == flow.beats, 4000)
        await b.message(2, b.letter(2, local=True))
        await b.until(lambda: flow.freed[1] == flow.beats, 4000)
        await b.until(lambda tag=tag: any(e[1] == tag for e in b.errors), 20)
        assert b.errors[-1] == (DESCRIPTOR, tag, 2, 0, 0)
    await b.rest()
    b.check_whole()
    assert len(b.packets) == numbers + 9
    assert flow.base() == numbers + 9


@cocotb.test()
async def a_write_may_bring_its_data_with_it(dut: Any) -> None:
    """Written into the message queue behind its address: a write's packet, and host memory is not read."""
    b = await made(dut)
    for size, keyed in ((1, False), (1, True), (63, False), (62, True), (7, False)):
        await b.message(1, b.inline(size, keyed, local=True, notify=True))
        await b.rest()
    await b.message(2, b.letter(1, immediate=0, queue=15, local=True))
    await b.message(2, b.letter(1, immediate=0, queue=16, local=True))
    await b.message(2, b.letter(1, immediate=1 << 31, queue=0, local=True))
    await b.rest()
    # The shortest there is, one behind the other: each ends by itself.
    for _ in range(9):
        count = len(b.packets)
        await b.message(2, b.letter(1, immediate=0, queue=1, local=True, completion=True))
        await b.until(lambda count=count: len(b.packets) > count, 100)
    await b.rest()
    b.check_whole()
    assert [p.kind for p in b.packets] == [WRITE] * 5 + [SHORT, MESSAGE, MESSAGE] + [SHORT] * 9
    assert not b.reads.bursts
    assert b.flows[1].freed[1] == b.flows[1].beats == 146
    assert not b.errors


@cocotb.test()
async def a_message_and_read_data_may_come_in_one_cycle(dut: Any) -> None:
    """Whichever is first, both leave whole and soon."""
    b = await made(dut)
    for number in (1, 2):
        await b.message(number, b.letter(1, local=True))
    await b.rest()
    for gap in range(1, 60):
        count = len(b.packets)
        task = cocotb.start_soon(b.post(1, [b.request(1, plain=True, completion=True, local=True)]))
        await b.clocks_of(gap)
        await b.message(2, b.letter(1, completion=True, local=True))
        await task
        await b.until(lambda count=count: len(b.packets) == count + 2, 200)
        await b.rest()
    b.check_whole()


@cocotb.test()
async def a_message_that_comes_as_the_one_before_leaves_goes_and_is_given_back(dut: Any) -> None:
    """Nothing else is posted that would wake up what was forgotten: neither the queue nor the last count."""
    b = await made(dut)
    flow = b.flows[1]
    for _ in range(400):
        count = len(b.packets)
        await b.message(1, b.letter(1, local=True, queue=1, immediate=0))
        await b.clocks_of(1 + b.rng.randrange(20))
        await b.message(1, b.letter(1, local=True, queue=1, immediate=0))
        await b.until(lambda count=count: len(b.packets) == count + 2, 600)
        await b.until(lambda: flow.freed[1] == flow.beats, 600)
    await b.rest()
    b.check_whole()


@cocotb.test()
async def packets_with_a_key_give_back_the_room_of_all_their_beats(dut: Any) -> None:
    """As many as there are beats of room, and more: one that kept a beat would stop its flow."""
    b = await made(dut)
    flow = b.flows[1]
    for _ in range(1100 // 16 * LINKS):
        keyed = [b.request(1, plain=True, extended=(n, n)) for n in range(16)]
        keyed[-1].local = True
        await b.until(lambda: flow.slots - flow.freed[0] + 32 <= 128, 10_000)
        await b.post(1, keyed)
    await b.rest()
    b.check_whole()


@cocotb.test()
async def a_read_that_fails_ends_its_packet(dut: Any) -> None:
    """Bad beats at a packet's begin, in its midst, at its end: EDB there, nothing wrong before, code 2."""
    b = await made(dut)
    b.steady = False
    flow = b.flows[1]
    for beat in (0, 63, 64, 100, 199, 195):
        b.reads.early = 3 * (beat & 1)
        b.errors.clear()
        b.packets.clear()
        transfer = b.request(200, plain=True, local=True, completion=True)
        b.reads.poisoned = {transfer.source + 8 * beat}
        follower = [] if beat == 195 else [b.request(3, plain=True, local=True)]
        await b.post(1, [transfer, *follower])
        given = flow.slots
        await b.until(lambda given=given: flow.freed[0] == given, 4000)
        assert b.errors == [(READ, transfer.tag, 1, 0, 0)]
        packets = sorted((p for p in b.packets if p.tag == transfer.tag), key=lambda p: p.seq)
        assert [packet.bad for packet in packets] == [n == beat // 64 for n in range(4)]
        [bad] = [packet for packet in b.packets if packet.bad]
        assert len(bad.payload) == beat % 64
    # In the midst of the last packet, with nothing behind it: its end leaves at once.
    transfer = b.request(64, plain=True, local=True, completion=True)
    b.reads.poisoned = {transfer.source + 8 * 20}
    b.errors.clear()
    b.packets.clear()
    await b.post(1, [transfer])
    await b.until(lambda: any(packet.bad for packet in b.packets), 300)
    await b.rest()
    # All of a transfer, and two of its packets while the first record is not taken.
    b.errors.clear()
    transfer = b.request(512, plain=True, local=True)
    b.reads.poisoned = {transfer.source + 8 * n for n in range(512)}
    b.errors.clear()
    await b.post(1, [transfer])
    given = flow.slots
    await b.until(lambda: flow.freed[0] == given, 6000)
    await b.until(lambda: sum(1 + e[3] for e in b.errors) == 8, 100)
    assert all(e[:3] == (READ, transfer.tag, 1) for e in b.errors)
    await b.rest()
    b.check_whole()


@cocotb.test()
async def what_was_taken_is_asked_for_until_it_is_in_memory(dut: Any) -> None:
    """An ACK opens the window; the completion word waits for one that speaks of memory."""
    b = await made(dut, probe=500)
    flow = b.flows[1]
    await b.message(1, b.letter(1, local=True))
    await b.rest()
    assert bits(flow.done[-1], 15, 0) == 1
    flow.flushes = False
    b.ack_every = 1
    for _ in range(9):
        await b.post(1, [b.request(n) for n in (1, 2, 3)])
    await b.until(lambda: flow.acked == 1 + 9 * 3, 8000)
    await b.until(lambda: flow.probes > 2, 4000)
    assert bits(flow.done[-1], 15, 0) == 1
    # A number behind, or beyond what was given: nothing.
    for wrong in (0, 29, 0x8001):
        b.answer(flow, flow.session or 0, flow.acked, control(ACK, 1, stored=wrong))
    await b.clocks_of(400)
    assert bits(flow.done[-1], 15, 0) == 1
    b.answer(flow, flow.session or 0, flow.acked, control(ACK, 1, stored=20))
    await b.until(lambda: bits(flow.done[-1], 15, 0) == 20, 400)
    probes = flow.probes
    await b.until(lambda: flow.probes > probes, 2000)
    flow.flushes = True
    await b.until(lambda: bits(flow.done[-1], 15, 0) == 28, 2000)
    probes = flow.probes
    await b.clocks_of(3000)
    assert flow.probes == probes
    await b.rest()
    b.check_whole()


@cocotb.test()
async def the_window_stops_and_a_probe_heals(dut: Any) -> None:
    """Without ACKs 64 packets leave and no more; PROBE comes when its time is out; its answer frees them."""
    b = await made(dut, probe=500)
    flow = b.flows[1]
    await b.message(1, b.letter(1, local=True))
    await b.rest()
    flow.answer = False
    for _ in range(30):
        await b.post(1, [b.request(1, plain=True), b.request(2, plain=True), b.request(3, plain=True)])
    await b.until(lambda: flow.probes > 0, 4000)
    assert b.counts["probed"] > 0
    await b.clocks_of(3000)
    numbers = len(b.packets) - 1
    assert numbers == WINDOW
    assert 2 <= flow.probes <= 8
    # Acknowledged by one: one more. Numbers that were never given, or of another session: nothing.
    assert flow.session is not None
    b.ack_delay = 1
    b.answer(flow, flow.session, flow.acked + 1, control(ACK, 1))
    flow.seen.discard(flow.acked)
    flow.acked += 1
    await b.clocks_of(400)
    assert len(b.packets) == WINDOW + 2
    ignored = b.counts["ignored"]
    b.answer(flow, flow.session, flow.acked + WINDOW + 1, control(ACK, 1))
    b.answer(flow, flow.session ^ 1, flow.acked + 5, control(ACK, 1))
    b.answer(flow, flow.session, flow.acked + 3, control(PROBE))
    b.answer(flow, flow.session, flow.acked - 1, control(ACK, 1))
    await b.clocks_of(400)
    assert len(b.packets) == WINDOW + 2
    assert b.counts["ignored"] == ignored + 4
    flow.answer = True
    b.ack(flow)
    await b.rest()
    b.check_whole()
    assert len(b.packets) == 91


@cocotb.test()
async def refusals_are_told(dut: Any) -> None:
    """REFUSED: an error record each, counted in the completion word; what the ring has no room for, too."""
    b = await made(dut)
    flow = b.flows[0]
    await b.post(0, [b.request(64, plain=True, local=True)])
    await b.rest()
    assert flow.session is not None
    b.ack_delay = 2
    b.refuse(flow, BOUNDS, 0x33, 4)
    await b.rest()
    assert b.errors == [(BOUNDS, 0x33, 0, 4, 0)]
    assert flow.done[-1] >> 32 == 5

    def counted(_: int) -> None:
        flow.refused += 1
        b.ack(flow)

    # Itemised ones, and those that only a count tells of.
    for tell, known in ((lambda n: b.refuse(flow, BOUNDS, n), 66), (counted, 127)):
        b.errors.clear()
        b.told = 0.02
        for n in range(60):
            tell(n)
        await b.clocks_of(600)
        b.told = 0.5
        # One more picks up what was counted.
        b.refuse(flow, BOUNDS, 77)
        await b.rest()
        await b.clocks_of(200)
        assert len(b.errors) < 61
        assert sum((error[0] != 0) + error[3] for error in b.errors) == 61
        assert flow.done[-1] >> 32 == known
    # Records of three kinds that wait for one place: none takes another's.
    b.errors.clear()
    b.told = 0.0
    b.steady = False
    transfer = b.request(8, plain=True)
    b.reads.poisoned = {transfer.source + 8}
    for n in range(3):
        b.refuse(flow, BOUNDS, n)
    await b.post(0, [transfer])
    await b.clocks_of(600)
    b.told = 0.5
    await b.until(lambda: len(b.errors) == 4, 400)
    assert sorted(error[:2] for error in b.errors) == sorted(
        [(READ, transfer.tag), (BOUNDS, 0), (BOUNDS, 1), (BOUNDS, 2)]
    )


@cocotb.test()
async def a_refusal_that_was_lost_is_told_by_the_next_control_packet(dut: Any) -> None:
    """The count tells of it, once, whatever overtakes what; a session's counts begin where its ACK says."""
    b = await made(dut)
    flow = b.flows[0]
    flow.refused = 4094
    await b.post(0, [b.request(64, plain=True, local=True)])
    await b.rest()
    assert flow.session is not None
    assert not b.errors, "what was before the session is not this one's"
    b.ack_delay = 2
    flow.refused += 3
    b.ack(flow)
    await b.rest()
    assert b.errors == [(0, 0, 0, 3, 0)], "none of them by name"
    b.ack(flow)
    b.refuse(flow, BOUNDS, 0x33, 2)
    await b.rest()
    assert b.errors[1:] == [(BOUNDS, 0x33, 0, 2, 0)]
    assert flow.done[-1] >> 32 == 6
    # Overtaken ones: all that they count was told.
    for behind in (1, 2, 1000):
        for word in (
            control(ACK, 1, 0, flow.refused - behind),
            control(REFUSED, KEY, 1, flow.refused - behind),
        ):
            b.answer(flow, flow.session, 1, word)
    await b.rest()
    assert len(b.errors) == 2
    assert flow.done[-1] >> 32 == 6


@cocotb.test()
async def a_far_end_that_has_more_to_tell_is_asked_again(dut: Any) -> None:
    b = await made(dut, probe=300)
    flow = b.flows[0]
    await b.post(0, [b.request(64, plain=True, local=True)])
    await b.rest()
    await b.clocks_of(1500)
    probes = flow.probes
    flow.pending = True
    b.ack(flow)
    await b.until(lambda: flow.probes > probes + 1, 2000)
    assert flow.done[-1] >> 17 & 1, "the host knows"
    flow.pending = False
    flow.refused += 1
    await b.until(lambda: len(b.errors) == 1, 1000)
    assert b.errors == [(0, 0, 0, 1, 0)]
    await b.clocks_of(800)
    assert not flow.done[-1] >> 17 & 1
    probes = flow.probes
    await b.clocks_of(1500)
    assert flow.probes == probes, "it has all"


@cocotb.test()
async def a_far_end_that_was_reset(dut: Any) -> None:
    """It forgets its sessions: what is under way is told as failed, the flow opens anew, the rest goes."""
    b = await made(dut, probe=800)
    b.steady = False
    flow = b.flows[1]
    sessions = []
    for n in range(12):
        b.errors.clear()
        for _ in range(5):
            await b.post(1, [b.request(300, plain=True, local=True)])
        count = len(b.packets)
        await b.until(lambda count=count: len(b.packets) > count + 3, 4000)
        flow.session = None
        ended, acked = flow.known, flow.acked
        assert ended is not None
        if n >= 3:
            # It says so with an ACK of a flow that is not open, while more is posted.
            b.answer(flow, ended, flow.acked, control(ACK, 0))
            await b.clocks_of(b.ack_delay - 2 * n + b.rng.randrange(20))
            await b.post(1, [b.request(512, plain=True, local=True)])
        await b.rest()
        assert flow.freed[0] == flow.slots
        assert flow.session == FIRST_SESSION + n + 1 & 0xFF
        told = [error for error in b.errors if error[0] == SESSION]
        assert len(told) == 1
        assert told[0][2] == 1
        assert told == b.errors
        assert flow.done[-1] >> 16 == 1 | (n + 1) << 2 | flow.session << 8
        # Reported: how many packets ended with the session, those included that were granted meanwhile.
        lost = [p for p in b.packets if p.session == ended and (p.seq - acked & 0xFFFF) < WINDOW]
        assert told[0][3] == len(lost)
        sessions.append(flow.session)
        assert flow.base() & 0xFFFF == bits(flow.done[-1], 15, 0)
    assert sessions == [FIRST_SESSION + n + 1 & 0xFF for n in range(12)]
    b.check_whole()
    assert b.counts["failed"] == 12


@cocotb.test()
async def a_session_whose_number_the_far_end_has_open_is_passed_over(dut: Any) -> None:
    """This host has started again: the next number is tried at once, and nobody is told of a loss."""
    b = await made(dut, probe=4000)
    flow = b.flows[1]
    flow.taken = 3
    await b.post(1, [b.request(30, plain=True, local=True, completion=True)])
    begin = b.cycle
    await b.rest()
    assert [flow.known, flow.opens] == [FIRST_SESSION + 3 & 0xFF, 4]
    assert b.cycle - begin < 3000, "it waits for no time to run out"
    assert not b.errors
    assert bits(flow.done[-1], 15, 0) == 1
    assert bits(flow.done[-1], 23, 18) == 0, "no session has ended"
    # The same word for an open flow is an answer to an OPEN of long ago.
    assert flow.session is not None
    b.answer(flow, flow.session, 0, control(REFUSED, SESSION, 1))
    await b.post(1, [b.request(30, plain=True, local=True)])
    await b.rest()
    assert not b.errors
    assert flow.opens == 4
    b.check_whole()


@cocotb.test()
async def an_ended_session_counts_what_had_refusals_to_come(dut: Any) -> None:
    """An ACK may go before the REFUSED of what it acknowledges; a reset of the far end loses that."""
    b = await made(dut, probe=2_000)
    b.steady = False
    flow = b.flows[1]
    await b.message(1, b.letter(1, local=True))
    await b.rest()
    flow.answer = False
    await b.post(1, [b.request(3 * 64, plain=True, local=True)])
    await b.until(lambda: len(b.packets) == 4, 4000)
    assert flow.session is not None
    flow.seen, flow.acked, ended = set(), 4, flow.session
    b.answer(flow, ended, 4, control(ACK, 1, pending=True, stored=4))
    await b.clocks_of(300)
    flow.answer, flow.session = True, None
    b.answer(flow, ended, 0, control(ACK, 0))
    await b.clocks_of(300)
    told = [error for error in b.errors if error[0] == SESSION]
    assert [error[3] for error in told] == [3], "the three of which nobody will say more"
    await b.post(1, [b.request(8, plain=True, local=True)])
    await b.rest()


@cocotb.test()
async def links_that_go_down(dut: Any) -> None:
    """Packets go to the links that are up; what waits in a dead one goes when it is disabled: dropped."""
    b = await made(dut, probe=600)
    b.steady = False
    flow = b.flows[2]
    await b.message(2, b.letter(1, local=True))
    await b.rest()
    if LINKS > 1:
        b.up = 1
        await b.clocks_of(20)
        count = len(b.packets)
        for _ in range(4):
            await b.post(2, [b.request(512, local=True, extended=(1, 2))])
            await b.message(2, b.letter(60, local=True))
        await b.rest()
        assert {packet.link for packet in b.packets[count:]} == {0}
        # Two links, and back to one in the midst.
        b.up = 3
        await b.clocks_of(20)
        for _ in range(3):
            await b.post(2, [b.request(512, plain=True, local=True)])
        await b.until(lambda: any(packet.link == 1 for packet in b.packets), 5000)
        b.up = (1 << LINKS) - 1
        await b.rest()
    b.check_whole()
    # The last link dies with packets in its queue; the host gives it up.
    last = LINKS - 1
    b.up &= ~(1 << last)
    flow.answer = False
    if LINKS == 1:
        await b.clocks_of(20)
        b.up = 1
        b.blocked = {2}
    await b.clocks_of(20)
    b.up |= 1 << last
    b.blocked = {2}
    await b.clocks_of(20)
    for _ in range(4 * LINKS):
        await b.post(2, [b.request(64, plain=True, local=True)])
    await b.clocks_of(1500)
    count = len(b.packets)
    b.up &= ~(1 << last)
    b.blocked = set()
    await b.clocks_of(3000)
    assert all(packet.link != last for packet in b.packets[count:])
    assert flow.freed[0] < flow.slots
    dut.link_enable_i.value = b.enabled & ~(1 << last)
    # What was dropped did not come; its slots are given back all the same.
    for transfer in flow.requests:
        transfer.legal = transfer.whole and transfer.legal
    await b.until(lambda: flow.freed[0] == flow.slots, 3000)
    dut.link_enable_i.value = b.enabled
    b.up |= 1 << last


@cocotb.test()
async def stop_and_start(dut: Any) -> None:
    """Stopped, what was granted ends, the rest is forgotten; started again, all begins at zero."""
    b = await made(dut, probe=700)
    for n in range(3):
        for f in range(HOSTS):
            await b.post(f, [b.request(512, plain=True, local=True) for _ in range(3)])
            await b.message(f, b.letter(20, local=True))
        await b.clocks_of(b.rng.randint(1, 2500))
        dut.enable_i.value = 0
        await b.until(lambda: not b.running, 40_000)
        await b.until(b.quiet, 3000)
        granted = b.counts["granted"]
        whole = sum(t.whole for f in b.flows for t in f.requests + f.messages)
        assert whole == granted, (whole, granted)
        begun = [t for f in b.flows for t in f.requests + f.messages if t.packets and not t.whole]
        assert not begun
        b.counts["granted"] = 0
        b.flows = [Flow(i) for i in range(HOSTS)]
        dut.first_session_i.value = FIRST_SESSION + 16 * (n + 1) & 0xFF
        dut.enable_i.value = 1
        await b.until(lambda: b.running, 530)
        b.receive.clear()
    await b.program(1, 4)
    await b.rest()
    b.check_whole()
    assert b.flows[1].sessions == {FIRST_SESSION + 48 & 0xFF}


@cocotb.test()
async def benchmark_mode(dut: Any) -> None:
    """No reads; payload is zeros and stamps: when the descriptor was written, when its SOP went out."""
    b = await made(dut, bench=True)
    await b.message(0, b.letter(1, local=True))
    await b.rest()
    for size in (1, 2, 64, 130):
        before = int(dut.stamp_o.value)
        count = len(b.packets)
        await b.post(0, [b.request(size, plain=True, local=True)])
        after = int(dut.stamp_o.value)
        given = b.flows[0].slots
        await b.until(lambda given=given: b.flows[0].freed[0] == given, 3000)
        link_now = int(dut.link_stamp_o.value)
        stamps = set()
        for packet in b.packets[count:]:
            assert all(beat == 0 for n, beat in enumerate(packet.payload) if n != 1)
            if packet.size > 1:
                stamps.add(packet.payload[1] & 0xFFFFFFFF)
                assert link_now - 1000 < packet.payload[1] >> 32 <= link_now
        assert len(stamps) == (size > 1)
        assert all(before <= stamp <= after for stamp in stamps)
    assert b.reads.bursts == []
    # A write that brings its data with it has no stamps.
    await b.message(0, b.inline(9, local=True))
    await b.rest()
    # A descriptor's own first beat does not count; an extended one is refused.
    slots = descriptor(0x1234, 64, 2, 0, True, True, extended=True)
    b.flows[0].requests.append(Transfer(0, 4, 2, legal=False, local=True))
    b.flows[0].slots += 1
    await b.store(REQUESTS + 4 * 16, b"".join(beat.to_bytes(8, "little") for beat in slots))
    await b.until(lambda: len(b.errors) == 1, 500)
    assert b.errors[0][:2] == (DESCRIPTOR, 4)


@cocotb.test()
async def what_the_host_may_not_do(dut: Any) -> None:
    """Starts of more than was given back, messages out of order or too many: refused, and no harm done."""
    b = await made(dut)
    flow = b.flows[1]
    await b.post(1, [b.request(8, plain=True, local=True)])
    await b.rest()
    # What was not released, or has not all come, is looked at at once and does not go.
    granted, bad = b.counts["granted"], b.counts["request_bad"]
    for slot, start in ((flow.slots, False), (flow.slots + 127, True)):
        words = descriptor(0x1000, 0, 1, 1, start, extended=start)
        await b.store(REQUESTS + 0x800 + slot % 128 * 16, b"".join(x.to_bytes(8, "little") for x in words))
    await b.clocks_of(40)
    assert (b.counts["granted"], b.counts["request_bad"]) == (granted, bad + 1)
    letter, place, bad = b.letter(1, local=True), flow.beats % 256, b.counts["message_bad"]
    letter.flow, letter.tag, letter.slots = 1, 0x80 | flow.message_count, 2
    assert letter.body is not None
    flow.messages.append(letter)
    flow.message_count += 1
    flow.beats += 2
    flags = (letter.local, letter.notify, letter.irq, letter.completion)
    head = message_header(1, letter.queue, letter.immediate, *flags)
    for at, beat in ((0, head), (2, 0), (1, letter.body[0])):
        assert b.counts["granted"] == granted
        await b.store(MESSAGES + 0x800 + (place + at) * 8, beat.to_bytes(8, "little"))
        await b.clocks_of(40)
    assert (b.counts["granted"], b.counts["message_bad"]) == (granted + 1, bad + 1)
    await b.rest()
    b.blocked = {1}
    # 127 more may be written while the first is given back: 128 slots. Then not one.
    for _ in range(16):
        await b.post(1, [b.request(8, plain=True, local=True) for _ in range(8)])
    bad = b.counts["request_bad"]
    data = b"".join(x.to_bytes(8, "little") for x in descriptor(0, 0, 8, 1, True))
    await b.store(REQUESTS + 0x800 + flow.slots % 128 * 16, data)
    await b.clocks_of(10)
    assert b.counts["request_bad"] == bad + 1
    if HOSTS < 8:
        await b.store(REQUESTS + HOSTS * 0x800, data)
        await b.store(MESSAGES + HOSTS * 0x800, data)
        await b.clocks_of(10)
        assert b.counts["request_bad"] == bad + 3  # each of its beats
        assert b.counts["message_bad"] == 3  # one of them above
    bad = b.counts["message_bad"]
    for _ in range(4):
        await b.message(1, b.letter(63, local=True))
    await b.store(MESSAGES + 0x800 + flow.beats % 256 * 8, bytes(8))
    await b.store(MESSAGES + 0x800 + (flow.beats + 3) % 256 * 8, bytes(8))
    await b.clocks_of(10)
    assert b.counts["message_bad"] == bad + 2
    b.blocked = set()
    await b.rest()
    b.check_whole()
    b.check_turns()
    assert flow.freed == [129, 258]
    assert not b.errors


@cocotb.test()
async def registers_and_tables(dut: Any) -> None:
    """Behind the BAR: any access to registers, whole beats alone to tables, no reads of queues."""
    b = await made(dut)
    data = bytes(range(1, 33))
    await b.store(0x0100, data)
    assert bytes((await b.bar.read(0x0104, 8, size=2)).data) == data[4:12]
    await b.store(0x0102, b"\xaa\xbb")
    assert bytes((await b.bar.read(0x0100, 8)).data) == b"\x01\x02\xaa\xbb\x05\x06\x07\x08"
    await b.store(TABLES, data)
    await b.store(0xFFF8, data[:8])
    assert bytes((await b.bar.read(TABLES, 32)).data) == data
    assert bytes((await b.bar.read(0xFFF8, 8)).data) == data[:8]
    refused = b.counts["refused"]
    assert (await b.bar.write(TABLES + 4, data[:4])).resp == AxiResp.SLVERR
    assert (await b.bar.write(TABLES, data[:8], size=2)).resp == AxiResp.SLVERR
    await b.clocks_of(5)
    assert b.counts["refused"] == refused + 3
    assert bytes((await b.bar.read(TABLES, 32)).data) == data
    reply = await b.bar.read(REQUESTS, 16)
    assert reply.resp == AxiResp.SLVERR
    assert bytes(reply.data) == b"\xff" * 16
    # Loads, stores and traffic at the same time.
    traffic = cocotb.start_soon(b.program(1, 4))
    for n in range(20):
        await b.store(0x0200, n.to_bytes(4, "little"))
        assert int.from_bytes((await b.bar.read(0x0200, 4)).data, "little") == n
    await traffic
    await b.rest()
    b.check_whole()


class Watch:
    """When something first showed at the pins and between the cores since it was made: host clocks, ns."""

    def __init__(self, bench: Bench) -> None:
        self.at: dict[str, int] = {}
        self.ns: dict[str, float] = {}
        self.sop_ns = 0.0
        self.dut = bench.dut
        self.tasks = [cocotb.start_soon(self._host()), cocotb.start_soon(self._link())]

    async def _host(self) -> None:
        d = self.dut
        for cycle in itertools.count():
            await FallingEdge(d.clk_i)
            for name, now in (
                ("address", int(d.bar_awvalid.value) and int(d.bar_awready.value)),
                ("last", int(d.bar_wvalid.value) and int(d.bar_wready.value) and int(d.bar_wlast.value)),
                ("soon", int(d.arsoon_o.value)),
                ("read", int(d.dma_arvalid.value)),
                ("early", int(d.rearly_i.value)),
                ("data", int(d.dma_rvalid.value)),
                ("voq", int(d.voq_valid.value)),
            ):
                again = name == "last" and not self.at.keys() & {"read", "voq"}
                if now and (again or name not in self.at):
                    self.at[name] = cycle
                    self.ns[name] = get_sim_time("ns")

    async def _link(self) -> None:
        while not int(self.dut.tx_valid.value):
            await FallingEdge(self.dut.link_clk_i)
        # From the edge behind which the beat showed to that behind which the Sop did.
        self.sop_ns = get_sim_time("ns") - LINK_NS / 2 - (self.ns["voq"] - HOST_NS / 2)

    def span(self, begin: str, end: str) -> int:
        return self.at[end] - self.at[begin]

    def stop(self) -> None:
        for task in self.tasks:
            task.cancel()


class Ahead:
    """When arsoon_o was up, and addresses on offer and taken, clock by clock."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.dut = bench, bench.dut
        self.seen: list[tuple[int, int, int]] = []
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        d = self.dut
        while True:
            await FallingEdge(d.clk_i)
            offered = int(d.dma_arvalid.value)
            self.seen.append((int(d.arsoon_o.value), offered, offered & int(d.dma_arready.value)))

    async def take(self) -> tuple[int, int, int]:
        """Since it was asked last, at rest: clocks up without an address, with one, and addresses."""
        await self.bench.rest()
        seen, self.seen = self.seen, []
        assert not seen[-1][0], "still up"
        alone = sum(soon and not offered for soon, offered, _ in seen)
        return alone, sum(soon and offered for soon, offered, _ in seen), sum(taken for *_, taken in seen)


@cocotb.test()
async def the_bus_is_told_ahead_of_a_read(dut: Any) -> None:
    """From a descriptor's write to its address's being taken; for what comes to nothing a few clocks."""
    b = await made(dut)
    await b.message(1, b.letter(1, local=True))
    told = Ahead(b)
    await told.take()

    def plain(size: int) -> Transfer:
        transfer = b.request(size, plain=True, local=True)
        transfer.source &= ~0xFFF
        return transfer

    # However long it is looked at: all the time, to the address.
    for transfer in (plain(1), plain(64), plain(65), b.request(1, extended=(1, 2), local=True)):
        transfer.source &= ~0xFFF
        await b.post(1, [transfer])
        alone, with_address, addresses = await told.take()
        assert (with_address, addresses) == (1, 1)
        assert TOLD_AHEAD <= alone <= 9, alone
    # In two stores: from the second on.
    await b.post(1, [plain(1)], narrow=True)
    alone, with_address, _ = await told.take()
    assert with_address == 1
    assert TOLD_AHEAD <= alone <= 8, alone
    # While the bus takes no address.
    b.reads.ar.pause = True
    await b.post(1, [plain(1)])
    await b.clocks_of(30)
    b.reads.ar.pause = False
    alone, with_address, _ = await told.take()
    assert alone == TOLD_AHEAD
    assert with_address > 10
    # Of a transfer that 4 KiB cut, the first burst alone.
    await b.post(1, [b.request(9, plain=True, local=True, source=0x7FC0)])
    alone, with_address, addresses = await told.take()
    assert (alone, with_address, addresses) == (TOLD_AHEAD, 1, 2)
    # A message reads nothing.
    await b.message(1, b.letter(3, local=True))
    assert await told.take() == (0, 0, 0)
    # One that is not legal.
    flow = b.flows[1]

    async def slot(at: int, size: int, start: bool) -> None:
        beats = descriptor(0x1000, 64, size, 1, start, True)
        data = b"".join(beat.to_bytes(8, "little") for beat in beats)
        await b.store(REQUESTS + 0x800 + at % 128 * 16, data)

    flow.requests.append(Transfer(1, flow.slots % 128, 8, legal=False, local=True))
    flow.slots += 1
    await slot(flow.slots - 1, 0, True)
    alone, with_address, addresses = await told.take()
    assert (with_address, addresses) == (0, 0)
    assert 0 < alone <= 8, alone
    # While as many reads are under way as may be: nothing is told, since none can come.
    b.reads.latency = 300
    for _ in range(OUTSTANDING):
        await b.post(1, [plain(1)])
        await b.clocks_of(20)
    before = len(told.seen)
    await b.post(1, [plain(1)])
    await b.clocks_of(30)
    assert not any(soon for soon, *_ in told.seen[before:])
    await told.take()
    # One that is not started.
    await slot(flow.slots, 1, False)
    alone, with_address, addresses = await told.take()
    assert (with_address, addresses) == (0, 0)
    assert 0 < alone <= 3, alone


@cocotb.test()
async def how_long_it_takes(dut: Any) -> None:
    """Idle: cycles that the page says. Busy: a link is full with long transfers, and numbers wrap round."""
    b = await made(dut)
    b.reads.latency = 50
    flow = b.flows[1]
    await b.message(1, b.letter(1, local=True))
    await b.rest()

    # The crossing takes up to a link clock more or less, as the clocks stand to each other.
    sop = (HOST_NS + 2 * LINK_NS, HOST_NS + 3 * LINK_NS)
    for size in (1, 64, 1, 7, 9, 1):
        watch = Watch(b)
        transfer = b.request(size, plain=True, local=True)
        transfer.source &= ~0xFFF  # no edge of 4 KiB inside
        await b.post(1, [transfer])
        await b.rest()
        watch.stop()
        assert watch.span("address", "last") == 1
        assert watch.span("last", "read") == WRITE_TO_ADDRESS
        assert watch.span("soon", "read") == TOLD_AHEAD
        assert watch.span("data", "voq") == DATA_TO_VOQ
        assert sop[0] - 0.1 <= watch.sop_ns <= sop[1] + 0.1, watch.sop_ns
        watch = Watch(b)
        short = size % 2  # its header takes one beat
        await b.message(1, b.letter(size, local=True, queue=3, immediate=1 - short))
        await b.rest()
        watch.stop()
        assert watch.span("last", "voq") == MESSAGE_TO_VOQ
        assert sop[0] - 0.1 <= watch.sop_ns <= sop[1] + 0.1, watch.sop_ns
        # Begun early, and the link does not wait inside.
        words = 2 * (2 + size) + 1
        assert [packet.words for packet in b.packets[-2:]] == [words, words - 2 * short]
    # Told of the data ahead: its packet begins, and most of its headers have gone when it is there.
    for early in (1, 2, 3):
        b.reads.early = early
        for size in (1, 9, 1, 64, 1):
            watch = Watch(b)
            transfer = b.request(size, plain=True, local=True)
            transfer.source &= ~0xFFF
            await b.post(1, [transfer])
            await b.rest()
            watch.stop()
            assert watch.span("early", "data") == early
            assert watch.span("early", "voq") == DATA_TO_VOQ
            assert sop[0] - 0.1 <= watch.sop_ns <= sop[1] + 0.1, watch.sop_ns
            # The link waits for a word at most.
            assert 0 <= b.packets[-1].words - (2 * (2 + size) + 1) <= (early > 2)
    # Told of, and late: the packet pauses, and is whole.
    b.reads.early, b.reads.late = 3, 60
    for _ in range(4):
        await b.post(1, [b.request(66, plain=True, local=True), b.request(3, plain=True, local=True)])
        await b.message(1, b.letter(2, local=True))
    await b.rest()
    b.reads.early = 0
    assert not any(packet.bad for packet in b.packets)
    # More than one packet, and an extended descriptor.
    for transfer in (b.request(65, plain=True, local=True), b.request(1, extended=(1, 2), local=True)):
        transfer.source &= ~0xFFF
        watch = Watch(b)
        await b.post(1, [transfer])
        await b.rest()
        watch.stop()
        assert watch.span("last", "read") <= LONG_TO_ADDRESS
    # Where 4 KiB cut the first burst short, as fast.
    watch = Watch(b)
    await b.post(1, [b.request(9, plain=True, local=True, source=0x7FC0)])
    await b.rest()
    watch.stop()
    assert watch.span("last", "read") == WRITE_TO_ADDRESS
    given = [flow.freed[0], flow.freed[1]]
    assert given == [flow.slots, flow.beats]
    # Long transfers, back to back: the links or the bus are the limit, nothing else.
    b.ack_delay = 200
    start = None
    words = 0
    for n in range(10):
        await b.post(1, [b.request(512, plain=True, local=True) for _ in range(4)])
        given = flow.slots
        await b.until(lambda given=given: flow.slots - flow.freed[0] <= 8 and given, 40_000)
        if n == 3:
            start, words = b.cycle, sum(packet.size for packet in b.packets)
        if n == 8:
            assert start is not None
            beats = sum(packet.size for packet in b.packets) - words
            rate = beats / (b.cycle - start)
    links = LINKS * 64 / (64 + 3) / 2 * HOST_NS / LINK_NS
    bus = 512 / (512 + 16 + (70 if OUTSTANDING == 1 else 4))
    assert rate > 0.96 * min(links, bus), (rate, links, bus)
    await b.rest()
    b.check_whole()
    b.check_turns()


WRITE_TO_ADDRESS, LONG_TO_ADDRESS = 4, 8
TOLD_AHEAD = 4
DATA_TO_VOQ = 0
MESSAGE_TO_VOQ = 3
"""Cycles from the last beat at the BAR's pins to the address of its read, at most so many where there is more
to reckon, and to a message's first beat at its VOQ; that the bus is told ahead of the address; from read
data at the pins, or what tells of it, to the first beat at the VOQ."""
