# SPDX-License-Identifier: Apache-2.0
"""apenet_node, pins to pins: posts by register, memory behind cocotbext-axi, packets on the links.

The far end of the links is a model of the packet format of its own, with the CRC of `zlib`. Memory around
the put memory and the registered pages has other bytes; every address that is read is recorded.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiRam
from pins import Pins

MEMORY = 1 << 16
PUTS, BLOCKS = 0x1000, 0x180
QUEUE, TABLE = 0x8000, 0x9000
PAGES = [0xB000, 0xE000, 0xC000]
PAGE = 4096
KEY = 0xABC << 4 | 3
CONTROL, QUEUE_LO, QUEUE_SIZE, QUEUE_TAKEN, EVENTS = 0x08, 0x10, 0x18, 0x1C, 0x20
REGION_LO, REGION_PAGES, REGION_SET, REFUSED = 0xE0, 0xE8, 0xEC, 0xF8
PUT_LO, PUT_BYTES, TARGET_LO, TARGET_HI, TARGET_SET = (0x200 + at for at in (0, 8, 0x10, 0x14, 0x18))
POST_PLACES, POST, DONE, FULL, PACKETS, BAD = (0x200 + at for at in (0x20, 0x24, 0x28, 0x2C, 0x30, 0x34))
LAND, SERVE, SERVED, GETS_LOST, ASKED, LATE = (0x200 + at for at in (0x38, 0x3C, 0x40, 0x44, 0x50, 0x54))
SHAPE = 0x258
VALID = 1 << 24
GET, ANSWER, REFUSAL = 2, 3, 4
SERVED_KEY = 0x5A17
EMPTY, OUTSIDE, UNKNOWN = 1, 2, 3
CREDITS = 64
ME, FAR = 0, 1
LONGEST = 4096


def pauses(seed: int, share: float) -> Iterator[bool]:
    rng = random.Random(seed)
    while True:
        yield rng.random() < share


@dataclass(frozen=True)
class Packet:
    """A packet as the format says it; `crc`: with which it came."""

    dest: int
    source: int
    address: int
    payload: bytes
    first: bool
    last: bool
    put: int
    number: int
    total: int
    key: int = KEY
    kind: int = 1
    crc: bool = True

    def flits(self, said: int | None = None) -> list[int]:
        kind = self.first | self.last << 1 | self.kind << 4 | (self.put & 0xFF) << 8
        size = len(self.payload) if said is None else said
        head = self.dest | self.source << 15 | kind << 32 | size << 48 | self.key << 64 | self.address << 80
        padded = self.payload + bytes(-len(self.payload) % 16)
        foot = self.total << 32 | self.number << 64 | self.put << 96
        crc = zlib.crc32(head.to_bytes(16, "little") + padded + foot.to_bytes(16, "little"))
        body = [int.from_bytes(padded[at : at + 16], "little") for at in range(0, len(padded), 16)]
        return [head, *body, foot | (crc if self.crc else crc ^ 1)]


def decoded(flits: list[int]) -> Packet:
    head, *body, foot = flits
    data = b"".join(flit.to_bytes(16, "little") for flit in body)
    size = head >> 48 & 0xFFFF
    kind = head >> 32 & 0xFFFF
    assert -(-size // 16) == len(body)
    assert kind >> 8 == foot >> 96 & 0xFF
    assert data[size:] == bytes(len(data) - size), "zeros behind the last byte"
    crc = zlib.crc32(head.to_bytes(16, "little") + data + (foot & ~0xFFFFFFFF).to_bytes(16, "little"))
    return Packet(
        head & 0x7FFF, head >> 15 & 0x7FFF, head >> 80, data[:size], bool(kind & 1), bool(kind & 2),
        foot >> 96, foot >> 64 & 0xFFFFFFFF, foot >> 32 & 0xFFFFFFFF, head >> 64 & 0xFFFF, kind >> 4 & 0xF,
        crc == foot & 0xFFFFFFFF,
    )  # fmt: skip


@dataclass(frozen=True)
class Event:
    list: int
    refusal: int
    error: int
    index: int
    bytes: int
    sequence: int
    place: int
    end: int
    packets: int


class Bench:
    """A node at 0 of a ring of two; the far node is this bench."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.taken = 0
        self.out: list[Packet] = []
        self.waiting: tuple[deque[tuple[int, int, int, int]], ...] = (deque(), deque())
        self.credits = [[CREDITS, CREDITS], [CREDITS, CREDITS]]
        self.reads: list[tuple[int, int]] = []
        self.begun: tuple[dict[int, list[int]], ...] = ({}, {})
        """Flits so far of what leaves, by link and channel."""
        self.hold = False
        self.owed: deque[int] = deque()
        """Credits that did not go back while they were on hold, clock by clock."""

    async def start(self, share: float = 0.0) -> None:
        d = self.dut
        d.rst_ni.value = 0
        d.time_cycles_i.value = 0
        d.cfg_here_i.value, d.cfg_last_i.value = ME, 1
        d.cfg_firmware_wake_min_i.value = 20
        d.cfg_firmware_wake_span_i.value = 30
        d.cfg_firmware_work_i.value = 40
        for name in ("valid", "vc", "head", "tail", "data"):
            getattr(d, f"flits_rx_{name}_i").value = 0
        d.flits_tx_freed_i.value = 0
        pins, kind = Pins(d), {"reset_active_level": False}
        self.bar = AxiMaster(AxiBus.from_prefix(pins, "bar"), d.clk_i, d.rst_ni, **kind)
        self.ram = AxiRam(AxiBus.from_prefix(pins, "dma"), d.clk_i, d.rst_ni, size=MEMORY, **kind)
        self.empty = self.rng.randbytes(MEMORY)
        self.ram.write(0, self.empty)
        self.ram.write(QUEUE, bytes(32 * 16))
        self.ram.write(TABLE, struct.pack("<3Q", *(page | 1 for page in PAGES)))
        write, read = self.ram.write_if, self.ram.read_if
        channels = (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel)
        for n, channel in enumerate(channels):
            channel.set_pause_generator(pauses(cocotb.RANDOM_SEED + n, share))
        cocotb.start_soon(Clock(d.clk_i, 4, "ns").start())
        await ClockCycles(d.clk_i, 8)
        d.rst_ni.value = 1
        await ClockCycles(d.clk_i, 8)
        cocotb.start_soon(self.links())
        await self.configure()

    async def configure(self) -> None:
        for register, value in (
            (CONTROL, 0), (QUEUE_LO, QUEUE), (QUEUE_SIZE, 4), (REGION_LO, TABLE), (REGION_PAGES, len(PAGES)),
            (REGION_SET, KEY | VALID), (PUT_LO, PUTS), (PUT_BYTES, 64 * BLOCKS), (TARGET_LO, 0),
            (TARGET_HI, KEY << 16), (TARGET_SET, 2 | FAR << 8 | VALID), (TARGET_LO, 4096 - 64),
            (TARGET_SET, 3 | FAR << 8 | VALID), (LAND, KEY), (SERVE, 1 << 16 | SERVED_KEY), (CONTROL, 1),
        ):  # fmt: skip
            await self.write(register, value)

    async def reset(self) -> None:
        """At any moment; the far end begins anew too, and the program sets the node up again."""
        d = self.dut
        d.rst_ni.value = 0
        for queue in self.waiting:
            queue.clear()
        await ClockCycles(d.clk_i, 8)
        for begun in self.begun:
            begun.clear()
        self.credits = [[CREDITS, CREDITS], [CREDITS, CREDITS]]
        self.out.clear()
        self.owed.clear()
        self.reads.clear()
        self.taken = 0
        self.ram.write(QUEUE, bytes(32 * 16))
        d.rst_ni.value = 1
        await ClockCycles(d.clk_i, 8)

    async def links(self) -> None:
        """Both links: collects what leaves, sends what waits, with credits, and gives credits back."""
        d = self.dut
        while True:
            freed = 0
            await ReadOnly()
            valid, vc = int(d.flits_tx_valid_o.value), int(d.flits_tx_vc_o.value)
            head, tail = int(d.flits_tx_head_o.value), int(d.flits_tx_tail_o.value)
            data = int(d.flits_tx_data_o.value) if valid else 0
            back = int(d.flits_rx_freed_o.value)
            if d.rst_ni.value and d.dma_arvalid_o.value and d.dma_arready_i.value:
                beats, width = int(d.dma_arlen_o.value) + 1, 1 << int(d.dma_arsize_o.value)
                self.reads.append((int(d.dma_araddr_o.value), beats * width))
            for link in (0, 1):
                for channel in (0, 1):
                    self.credits[link][channel] += back >> (2 * link + channel) & 1
                if valid >> link & 1:
                    channel = vc >> link & 1
                    flits = self.begun[link].setdefault(channel, [])
                    assert (head >> link & 1) == (not flits)
                    flits.append(data >> 128 * link & (1 << 128) - 1)
                    if tail >> link & 1:
                        self.out.append(decoded(flits))
                        flits.clear()
                    freed |= 1 << (2 * link + channel)
            await RisingEdge(d.clk_i)
            if freed:
                self.owed.append(freed)
            d.flits_tx_freed_i.value = self.owed.popleft() if self.owed and not self.hold else 0
            pins = [0, 0, 0, 0, 0]
            for link in (0, 1):
                queue = self.waiting[link]
                if queue and self.credits[link][queue[0][2]]:
                    head_, tail_, channel, flit = queue.popleft()
                    self.credits[link][channel] -= 1
                    for n, value in enumerate((1, channel, head_, tail_)):
                        pins[n] |= value << link
                    pins[4] |= flit << 128 * link
            for name, value in zip(("valid", "vc", "head", "tail", "data"), pins, strict=True):
                getattr(d, f"flits_rx_{name}_i").value = value

    def send(self, flits: list[int], link: int = 0, channel: int = 0) -> None:
        """A packet to the node, flit by flit."""
        last = len(flits) - 1
        self.waiting[link].extend((n == 0, n == last, channel, flit) for n, flit in enumerate(flits))

    async def read(self, register: int) -> int:
        return struct.unpack("<I", (await self.bar.read(register, 4)).data)[0]

    async def write(self, register: int, value: int) -> None:
        await self.bar.write(register, struct.pack("<I", value))

    async def post(self, offset: int, remote: int, size: int, target: int, get: bool = False) -> None:
        await self.write(POST_PLACES, remote << 16 | offset)
        await self.write(POST, get << 31 | target << 24 | size)

    def ask(self, number: int, offset: int, size: int, key: int = SERVED_KEY, **changes: Any) -> None:
        """Another node's get of this one's put memory, into its own region at 64 times its number."""
        made = Packet(
            ME, FAR, 64 * number, b"", True, True, number, key << 16 | offset, size, 0x7357, GET
        )  # fmt: skip
        self.send(Packet(**{**vars(made), **changes}).flits())

    async def settle(self) -> None:
        """Waits until nothing moves."""
        for _ in range(60_000):
            await RisingEdge(self.dut.clk_i)
            if self.dut.idle_o.value and not any(self.waiting):
                break
        await ClockCycles(self.dut.clk_i, 40)
        assert self.dut.idle_o.value

    def events(self) -> list[Event]:
        found = []
        while True:
            at = QUEUE + self.taken % 16 * 32
            words = struct.unpack("<4Q", self.ram.read(at, 32))
            if words[3] >> 63 != 1 - self.taken // 16 % 2:
                return found
            self.taken += 1
            found.append(Event(
                words[0] >> 8 & 0xFF, words[0] >> 1 & 0x7F, words[0] & 1, words[0] >> 16 & 0xFFFF,
                words[0] >> 32, words[1] & 0xFFFFFFFF, words[1] >> 32, words[2] & 0xFFFF,
                words[2] >> 16 & 0xFFFF,
            ))  # fmt: skip

    def region(self) -> bytes:
        """The registered memory as its program sees it."""
        return b"".join(self.ram.read(page, PAGE) for page in PAGES)

    def outside(self) -> bool:
        """Whether nothing was written outside the registered pages and the queue."""
        mine = [(page, page + PAGE) for page in PAGES] + [(QUEUE, QUEUE + 512), (TABLE, TABLE + 24)]
        mine += [(PUTS, PUTS + 64 * BLOCKS)]
        at = 0
        for begin, end in sorted(mine):
            if self.ram.read(at, begin - at) != self.empty[at:begin]:
                return False
            at = end
        return self.ram.read(at, MEMORY - at) == self.empty[at:]

    def packets(self, data: bytes, at: int, put: int, source: int = FAR) -> list[Packet]:
        """A put to the node, as packets of at most a page of the region each."""
        cuts, pieces = 0, []
        while cuts < len(data):
            size = min(len(data) - cuts, PAGE - (at + cuts) % PAGE)
            pieces.append((cuts, data[cuts : cuts + size]))
            cuts += size
        return [
            Packet(ME, source, at + cut, piece, n == 0, n == len(pieces) - 1, put, n, len(data))
            for n, (cut, piece) in enumerate(pieces)
        ]

    def answers(self, data: bytes, offset: int, number: int, **changes: Any) -> list[Packet]:
        """What answers the get of this number, which lands at this unit of the region."""
        return [
            Packet(**{
                **vars(packet), "kind": ANSWER,
                "address": number << 16 | packet.address // 64 - offset, **changes,
            })
            for packet in self.packets(data, 64 * offset, number)
        ]  # fmt: skip

    def refuse(self, number: int, size: int, **changes: Any) -> list[int]:
        """What refuses it."""
        made = Packet(ME, FAR, number << 16, b"", True, True, number, OUTSIDE, size, KEY, REFUSAL)
        return Packet(**{**vars(made), **changes}).flits()

    async def another(self) -> None:
        """The program ends, and the next one begins."""
        await self.write(CONTROL, 0)
        for _ in range(100):
            if (await self.read(CONTROL)) >> 8 & 1:
                break
        else:
            raise AssertionError("never ready to begin again")
        self.ram.write(QUEUE, bytes(32 * 16))
        self.taken = 0
        await self.write(QUEUE_TAKEN, 0)
        await self.write(CONTROL, 1)


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def what_is_posted_leaves_in_packets_of_a_page_and_is_announced(dut: Any, share: float) -> None:
    bench = Bench(dut)
    await bench.start(share)
    sizes = [1, 15, 16, 17, 64, 65, 2048, 4096, 4097, 8192, 12_345]
    bench.rng.shuffle(sizes)
    expected: list[Packet] = []
    events = []
    for number, size in enumerate(sizes):
        data = bench.rng.randbytes(size)
        blocks = -(-size // 64)
        # The last place too.
        offset = BLOCKS - blocks if number == 0 else bench.rng.randrange(BLOCKS - blocks + 1)
        remote, target = bench.rng.randrange(1000), bench.rng.choice((2, 3))
        bench.ram.write(PUTS + 64 * offset, data)
        await bench.post(offset, remote, size, target)
        while dut.status_events_o.value != number + 1:
            await RisingEdge(dut.clk_i)
        # Announced: its place may be used again.
        bench.ram.write(PUTS + 64 * offset, bytes(size))
        begin = 64 * remote + (4032 if target == 3 else 0)
        for packet in bench.packets(data, begin, number, ME):
            expected.append(Packet(**{**vars(packet), "dest": FAR}))
        events.append(Event(0x81, 0, 0, offset, size, number, remote, target, 1))
    await bench.settle()
    assert bench.out == expected
    assert bench.events() == events
    assert await bench.read(DONE) == len(sizes)
    begin, end = PUTS, PUTS + 64 * BLOCKS
    # A read has whole beats: of at most 64 bytes, as places have.
    assert all(begin <= at and at + size <= end for at, size in bench.reads)
    assert bench.outside()


@cocotb.test()
async def what_must_not_be_read_is_refused_with_its_reason(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    wrong = [
        (0, 0, 2, EMPTY), (0, (4 << 20) + 1, 2, EMPTY), (BLOCKS, 1, 2, OUTSIDE), (BLOCKS - 1, 65, 2, OUTSIDE),
        (0xFFFF, 4 << 20, 2, OUTSIDE), (0, 64, 0, UNKNOWN), (0, 64, 15, UNKNOWN),
    ]  # fmt: skip
    for offset, size, target, _ in wrong:
        await bench.post(offset, 0, size, target)
    await bench.settle()
    assert bench.reads == []
    assert bench.out == []
    found = bench.events()
    assert [one.refusal for one in found] == [reason for *_, reason in wrong]
    assert all(one.packets == 0 and not one.error for one in found)
    # A target that was taken away is unknown; the one beside it is not.
    await bench.write(TARGET_SET, 2 | FAR << 8)
    await bench.post(0, 0, 64, 2)
    await bench.post(0, 0, 64, 3)
    await bench.settle()
    assert [one.refusal for one in bench.events()] == [UNKNOWN, 0]
    assert len(bench.out) == 1
    assert await bench.read(DONE) == (len(wrong) + 1) << 16 | 1


@cocotb.test()
async def the_shape_of_the_torus_has_the_dimensions_that_the_node_has(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    assert await bench.read(SHAPE) == 1
    for last in (0, 2, 31):
        # Of y and z nothing is looked at by the router of a ring.
        dut.cfg_last_i.value = last | 7 << 5 | 3 << 10
        assert await bench.read(SHAPE) == last


@cocotb.test()
async def an_error_of_memory_spoils_its_packet_and_is_in_the_event(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    right = bench.ram.read_if._read

    async def fail(address: int, length: int) -> bytes:
        if address >= PUTS + 4096:
            raise OSError
        return await right(address, length)

    bench.ram.read_if._read = fail
    await bench.post(0, 0, 4160, 2)
    await bench.post(0, 0, 500, 2)
    await bench.settle()
    assert [packet.crc for packet in bench.out] == [True, False, True]
    assert [one.error for one in bench.events()] == [1, 0]


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def what_comes_whole_is_in_memory_and_announced(dut: Any, share: float) -> None:
    bench = Bench(dut)
    await bench.start(share)
    shadow = bytearray(bench.region())
    expected = []
    for number in range(10):
        # Two nodes' packets in turn, by both links: to other halves, as nothing orders them.
        puts = []
        for source in (1, 2):
            low = 0 if source == 1 else 6144
            begin = low + 64 * bench.rng.randrange(90)
            size = bench.rng.randrange(1, low + 6144 - begin + 1)
            data = bench.rng.randbytes(size)
            shadow[begin : begin + size] = data
            puts.append(bench.packets(data, begin, number, source))
            expected.append(Event(0x82, 0, 0, KEY, size, number, begin // 64, source, len(puts[-1])))
        for link, packets in enumerate(puts):
            for packet in packets:
                bench.send(packet.flits(), link, bench.rng.randrange(2) if len(packets) == 1 else 0)
        await bench.settle()
        found = bench.events()
        assert sorted(found, key=lambda one: one.end) == expected[-2:]
        await bench.write(QUEUE_TAKEN, bench.taken)
        assert bench.region() == shadow
    assert bench.outside()
    assert await bench.read(BAD) == 0
    assert await bench.read(PACKETS) == sum(one.packets for one in expected)


@cocotb.test()
async def puts_go_both_ways_at_once_while_page_tables_are_read(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(0.3)
    leaves, comes = bench.rng.randbytes(3 * PAGE), bench.rng.randbytes(3 * PAGE)
    bench.ram.write(PUTS, leaves)
    await bench.post(0, 0, 3 * PAGE, 2)
    # No page is known yet: each packet's first write waits for a read between those of the put.
    for packet in bench.packets(comes, 0, 0):
        bench.send(packet.flits())
    await bench.settle()
    assert b"".join(packet.payload for packet in bench.out if packet.crc) == leaves
    assert bench.region() == comes
    assert sorted(event.list for event in bench.events()) == [0x81, 0x82]
    assert bench.outside()


@cocotb.test()
async def what_is_not_whole_is_counted_and_not_announced(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    data = bench.rng.randbytes(5000)
    one, two = bench.packets(data, 0, 7)
    single = bench.packets(data[:300], 8192, 8)[0]

    def of(packet: Packet, **changes: Any) -> list[int]:
        return Packet(**{**vars(packet), **changes}).flits()

    short, long = single.flits(), single.flits()
    cases: list[tuple[list[list[int]], int, int]] = [
        # packets, bad packets, bad puts
        ([of(one, crc=False), two.flits()], 1, 1),
        ([one.flits(), of(two, crc=False)], 1, 1),
        ([two.flits()], 0, 1),
        ([one.flits(), of(two, number=2)], 0, 1),
        ([one.flits(), of(two, put=6)], 0, 1),
        ([one.flits(), of(two, source=5)], 0, 1),
        ([of(two, first=True)], 0, 1),
        ([of(one, first=False), two.flits()], 0, 1),
        ([[*short[:-2], short[-1]]], 1, 1),
        ([[*long[:-1], 0, long[-1]]], 1, 1),
        ([[short[0]]], 1, 1),
        ([of(single, kind=GET)], 1, 0),
        ([of(single, kind=REFUSAL)], 1, 0),
        ([of(single, kind=5)], 1, 0),
        ([one.flits(), of(two, kind=ANSWER)], 1, 0),
        ([of(single, payload=b"", kind=GET, crc=False)], 1, 0),
        ([of(single, payload=b"", kind=REFUSAL, crc=False)], 1, 0),
        ([of(single, payload=b"")], 1, 1),
        ([single.flits(said=0)], 1, 1),
        ([of(single, address=8192 + 16)], 1, 1),
        ([of(single, address=8192 - 64)], 1, 1),
        ([single.flits(said=4097)], 1, 1),
        ([of(single, key=KEY ^ 1 << 4)], 1, 1),
        ([of(single, key=KEY ^ 1)], 1, 1),
        ([of(single, address=3 * PAGE)], 1, 1),
        ([of(single, address=1 << 40)], 1, 1),
    ]
    packets = bad = puts = 0
    for flits, bad_packets, bad_puts in cases:
        before = bench.region()
        for each in flits:
            bench.send(each)
        await bench.settle()
        packets, bad, puts = packets + len(flits), bad + bad_packets, puts + bad_puts
        where = f"{len(flits)} packets, {cases.index((flits, bad_packets, bad_puts))}"
        assert await bench.read(BAD) == puts << 16 | bad, where
        assert await bench.read(PACKETS) == packets, where
        assert bench.events() == [], where
        if flits == [[*short[:-2], short[-1]]]:
            # What ends a packet too early is no payload.
            assert bench.region()[8192 + 288 : 8192 + 304] == before[8192 + 288 : 8192 + 304]
    assert bench.outside()
    # No get that was not whole was answered.
    assert bench.out == []
    # The next one is not touched by any of them.
    for packet in (one, two, single):
        bench.send(packet.flits())
    await bench.settle()
    assert [event.sequence for event in bench.events()] == [7, 8]
    region = bench.region()
    assert region[:5000] == data
    assert region[8192:8492] == data[:300]


@cocotb.test()
async def a_program_that_takes_no_events_does_not_stop_the_network(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for number in range(20):
        bench.send(bench.packets(bytes([number]) * 64, 64 * number, number)[0].flits())
    await bench.settle()
    assert len(bench.events()) == 16
    assert await bench.read(EVENTS) == 4 << 16 | 16
    assert bench.region()[: 20 * 64] == b"".join(bytes([number]) * 64 for number in range(20))
    # Its own posts wait for a place instead.
    await bench.post(0, 0, 64, 2)
    await ClockCycles(dut.clk_i, 200)
    assert len(bench.out) == 1
    assert await bench.read(EVENTS) == 4 << 16 | 16
    await bench.write(QUEUE_TAKEN, 16)
    await bench.settle()
    assert [one.list for one in bench.events()] == [0x81]


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def a_get_asks_and_what_comes_is_announced_as_its_answer(dut: Any, share: float) -> None:
    bench = Bench(dut)
    await bench.start(share)
    shadow = bytearray(bench.region())
    for number, size in enumerate((1, 64, 4096, 9000)):
        offset = bench.rng.randrange((3 * PAGE - size) // 64)
        await bench.post(offset, 7 + number, size, 3, get=True)
        # A put between them has a number of its own.
        await bench.post(0, 0, 64, 2)
        await bench.settle()
        asked, put = bench.out[-2:]
        # Target 3 begins in the 63rd unit of the far put memory.
        where = KEY << 16 | 63 + 7 + number
        assert asked == Packet(FAR, ME, 64 * offset, b"", True, True, number, where, size, KEY, GET)
        assert (put.kind, put.put) == (1, number)
        data = bench.rng.randbytes(size)
        shadow[64 * offset : 64 * offset + size] = data
        pieces = bench.answers(data, offset, number)
        for piece in pieces:
            bench.send(piece.flits())
        await bench.settle()
        assert bench.events() == [
            Event(0x81, 0, 0, 0, 64, number, 0, 2, 1),
            Event(0x83, 0, 0, KEY, size, number, offset, FAR, len(pieces)),
        ]
        assert bench.region() == shadow
        await bench.write(QUEUE_TAKEN, bench.taken)
    # What is read is of the puts between them.
    assert bench.reads
    assert all(PUTS <= at < PUTS + 64 or at >= TABLE for at, _ in bench.reads)
    # One that the far node refuses, and those that this one does.
    await bench.post(5, 0, 640, 2, get=True)
    await bench.settle()
    bench.send(bench.refuse(4, 640))
    wrong = [(0, 0, 2, EMPTY), (0, 64, 9, UNKNOWN), (0xFFFF, 64, 3, OUTSIDE)]
    for remote, size, target, _ in wrong:
        await bench.post(0, remote, size, target, get=True)
    await bench.settle()
    found = sorted(bench.events(), key=lambda one: one.sequence)
    assert [(one.list, one.refusal, one.error, one.sequence, one.packets) for one in found] == [
        (0x83, reason, 1, 4 + n, 0) for n, reason in enumerate([OUTSIDE, *(w[3] for w in wrong)])
    ]
    assert (found[0].place, found[0].bytes, found[0].end) == (5, 640, FAR)
    assert sum(packet.kind == GET for packet in bench.out) == 5
    assert await bench.read(BAD) == await bench.read(LATE) == 0
    assert bench.outside()


@cocotb.test()
async def a_late_answer_to_an_earlier_programs_get_has_another_number(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    assert await bench.read(ASKED) == 0
    await bench.post(0, 0, 4096, 2, get=True)
    await bench.settle()
    # Its program ends, another one begins.
    await bench.another()
    assert await bench.read(ASKED) == 1
    await bench.post(64, 0, 4096, 2, get=True)
    # Its puts count from 0.
    await bench.post(0, 0, 64, 2)
    await bench.settle()
    assert [(packet.kind, packet.put) for packet in bench.out] == [(GET, 0), (GET, 1), (1, 0)]
    shadow = bench.region()
    data = bench.rng.randbytes(4096)
    for number in (0, 1):
        [piece] = bench.answers(data, 64 * number, number)
        bench.send(piece.flits())
    await bench.settle()
    # Of the one that comes late no byte is written, though its place is registered under the same key.
    assert bench.region() == shadow[:4096] + data + shadow[8192:]
    assert [(event.list, event.sequence) for event in bench.events()] == [(0x81, 0), (0x83, 1)]
    assert (await bench.read(LATE), await bench.read(BAD)) == (1, 1)
    # Nor is a late refusal announced.
    await bench.post(0, 0, 64, 2, get=True)
    await bench.settle()
    await bench.another()
    bench.send(bench.refuse(2, 64))
    await bench.settle()
    assert bench.events() == []
    assert (await bench.read(LATE), await bench.read(BAD)) == (2, 2)


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def only_what_answers_an_open_get_is_written(dut: Any, share: float) -> None:
    bench = Bench(dut)
    await bench.start(share)
    # From the middle of a page to that of the next.
    offset, size = 32, 4096
    data = bench.rng.randbytes(size)
    await bench.post(offset, 0, size, 2, get=True)
    await bench.settle()
    shadow = bench.region()
    one, two = bench.answers(data, offset, 0)

    def of(packet: Packet, **changes: Any) -> list[int]:
        return Packet(**{**vars(packet), **changes}).flits()

    wrong = [
        of(two, address=16 << 16 | 32), of(two, address=1 << 16 | 32), of(two, address=1 << 47 | 32),
        of(two, key=KEY ^ 1 << 4), of(two, source=5), of(two, address=33), of(two, address=64),
        of(two, address=1 << 15),
        of(two, payload=two.payload + b"!"), of(one, payload=one.payload + b"!"), of(two, address=31),
        of(two, payload=b""),
        bench.refuse(1, size), bench.refuse(0, size, source=5), bench.refuse(0, size, key=KEY ^ 1),
    ]  # fmt: skip
    for count, flits in enumerate(wrong, 1):
        bench.send(flits)
        await bench.settle()
        assert bench.region() == shadow, count
        assert (await bench.read(LATE), await bench.read(BAD)) == (count, count)
    for packet in (one, two):
        bench.send(packet.flits())
    await bench.settle()
    shadow = shadow[:2048] + data + shadow[2048 + size :]
    assert bench.region() == shadow
    assert [(one.list, one.sequence, one.place, one.packets) for one in bench.events()] == [
        (0x83, 0, offset, 2)
    ]
    # It is answered: not once more, and not refused either.
    bench.send(of(one, payload=bytes(len(one.payload))))
    bench.send(bench.refuse(0, size))
    await bench.settle()
    assert bench.region() == shadow
    assert bench.events() == []
    assert await bench.read(LATE) == len(wrong) + 2
    # Nor what was refused, here or there.
    await bench.post(0, 0, 64, 2, get=True)
    await bench.post(0, 0, 64, 9, get=True)
    await bench.settle()
    bench.send(bench.refuse(1, 64))
    for number in (1, 2):
        bench.send(bench.answers(bytes(64), 0, number)[0].flits())
    await bench.settle()
    assert sorted((event.sequence, event.refusal) for event in bench.events()) == [(1, OUTSIDE), (2, UNKNOWN)]
    assert bench.region() == shadow
    assert await bench.read(LATE) == len(wrong) + 4
    assert bench.outside()


@cocotb.test()
async def a_get_16_numbers_later_closes_one_that_was_never_answered(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for number in range(17):
        await bench.post(number, 0, 64, 2, get=True)
        await bench.settle()
    shadow = bench.region()
    data = bench.rng.randbytes(64)
    # A put in two packets from the same node: what comes late between them does not touch it.
    put = bench.rng.randbytes(5000)
    first, second = bench.packets(put, 4096, 3)
    bench.send(first.flits())
    bench.send(bench.answers(bytes(64), 0, 0)[0].flits())
    bench.send(second.flits())
    for number in (1, 16):
        bench.send(bench.answers(data, number, number)[0].flits())
    await bench.settle()
    found = [(event.list, event.sequence) for event in bench.events()]
    assert found == [(0x82, 3), (0x83, 1), (0x83, 16)]
    expected = bytearray(shadow)
    expected[64:128], expected[1024:1088], expected[4096:9096] = data, data, put
    assert bench.region() == expected
    assert (await bench.read(LATE), await bench.read(BAD)) == (1, 1)


@cocotb.test()
async def a_get_or_refusal_between_the_packets_of_anothers_put_leaves_it_whole(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    data = bench.rng.randbytes(5000)
    await bench.post(5, 0, 640, 2, get=True)
    for put in (7, 8):
        one, two = bench.packets(data, 0, put)
        bench.send(one.flits())
        # Of the source with which it shares its place in the table.
        if put == 7:
            bench.ask(3, 0, 64, source=FAR + 4)
        else:
            bench.send(bench.refuse(0, 640))
        bench.send(two.flits())
        await bench.settle()
    puts = [(event.list, event.sequence, event.packets) for event in bench.events() if event.list == 0x82]
    assert puts == [(0x82, 7, 2), (0x82, 8, 2)]
    assert await bench.read(BAD) == 0


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def another_nodes_get_is_answered_or_refused_before_anything_is_read(dut: Any, share: float) -> None:
    bench = Bench(dut)
    await bench.start(share)
    data = bench.rng.randbytes(64 * BLOCKS)
    bench.ram.write(PUTS, data)
    wrong = [
        (0, 0, SERVED_KEY, EMPTY), (0, (4 << 20) + 1, SERVED_KEY, EMPTY), (BLOCKS, 1, SERVED_KEY, OUTSIDE),
        (BLOCKS - 1, 65, SERVED_KEY, OUTSIDE), (0, 64, SERVED_KEY ^ 1 << 15, UNKNOWN), (0, 64, 0, UNKNOWN),
    ]  # fmt: skip
    for number, (offset, size, key, _) in enumerate(wrong):
        bench.ask(number, offset, size, key)
    await bench.settle()
    assert bench.reads == []
    assert bench.out == [
        Packet(FAR, ME, n << 16, b"", True, True, n, reason, size, 0x7357, REFUSAL)
        for n, (_, size, _, reason) in enumerate(wrong)
    ]
    bench.out.clear()
    expected = []
    for number, size in enumerate((1, 16, 4096, 12_345, 64 * 3), 20):
        blocks = -(-size // 64)
        offset = BLOCKS - blocks if number == 24 else bench.rng.randrange(BLOCKS - blocks + 1)
        bench.ask(number, offset, size)
        what = data[64 * offset : 64 * offset + size]
        expected += bench.answers(what, number, number, source=ME, dest=FAR, key=0x7357)
    await bench.settle()
    assert bench.out == expected
    assert bench.events() == []
    assert all(at >= PUTS and at + size <= PUTS + 64 * BLOCKS for at, size in bench.reads)
    assert await bench.read(SERVED) == len(wrong) << 16 | 5
    # Not served any more: refused, whatever the key.
    bench.reads.clear()
    await bench.write(CONTROL, 0)
    await bench.write(SERVE, SERVED_KEY)
    await bench.write(CONTROL, 1)
    bench.ask(1, 0, 64)
    await bench.settle()
    assert (bench.out[-1].kind, bench.out[-1].number, bench.reads) == (REFUSAL, UNKNOWN, [])
    assert await bench.read(BAD) == await bench.read(GETS_LOST) == 0


@cocotb.test()
async def what_comes_never_waits_for_what_leaves(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    data = bench.rng.randbytes(4096)
    bench.ram.write(PUTS, data)
    bench.hold = True
    for number in range(60):
        bench.ask(number, 0, 4096)
    for number in range(3):
        bench.send(bench.packets(bytes([number]) * 64, 64 * number, number)[0].flits())
    for _ in range(3000):
        await RisingEdge(dut.clk_i)
    # Nothing leaves: there are no credits. All that came has been taken, and the puts are announced.
    assert not any(bench.waiting)
    assert [(one.list, one.sequence) for one in bench.events()] == [(0x82, 0), (0x82, 1), (0x82, 2)]
    lost = await bench.read(GETS_LOST)
    assert 60 - 16 - 10 < lost <= 60 - 16
    assert await bench.read(PACKETS) == 63


@cocotb.test()
async def posts_without_room_are_counted_and_no_flit_leaves_without_a_credit(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.hold = True
    data = bench.rng.randbytes(4096)
    bench.ram.write(PUTS, data)
    for _ in range(40):
        await bench.post(0, 0, 4096, 2)
    await ClockCycles(dut.clk_i, 2000)
    full = await bench.read(FULL)
    assert full > 0
    assert sum(packet.payload == data for packet in bench.out) == 0, "64 flits are no whole packet"
    # What was begun waits for credits: it is not ready for another program.
    await bench.write(CONTROL, 0)
    assert not await bench.read(CONTROL) & 0x100


@cocotb.test()
async def a_post_is_on_the_link_in_its_cycles_and_packets_follow_each_other(dut: Any) -> None:
    """The latency budget of the page, from the register to the router's pins, less memory's."""
    bench = Bench(dut)
    await bench.start()
    data = bench.rng.randbytes(16_384)
    bench.ram.write(PUTS, data)
    seen: dict[str, int] = {}
    flits: list[int] = []

    async def watch() -> None:
        clock = 0
        while True:
            await RisingEdge(dut.clk_i)
            clock += 1
            for name in ("dma_arvalid_o", "dma_rvalid_i", "flits_tx_valid_o"):
                if getattr(dut, name).value:
                    seen.setdefault(name, clock)
            if dut.bar_wvalid_i.value and dut.bar_wready_o.value:
                seen["post"] = clock
            if dut.flits_tx_valid_o.value:
                flits.append(clock)

    await bench.write(POST_PLACES, 0)
    cocotb.start_soon(watch())
    await bench.write(POST, 2 << 24 | 16_384)
    await bench.settle()
    print({name: clock - seen["post"] for name, clock in seen.items()}, len(flits), flits[-1] - flits[0])
    assert len(flits) == 4 * 258
    # First beat to the header: the buffer 1, the packet's register 1, the node's registers and router 3.
    assert seen["flits_tx_valid_o"] - seen["dma_rvalid_i"] == 5


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def a_reset_in_the_middle_of_puts_and_gets_leaves_nothing_of_them(dut: Any, share: float) -> None:
    """Of a put each way, a get of its own and one that it serves, at once, at any moment of them."""
    bench = Bench(dut)
    await bench.start(share)
    leaves, comes, asked = (bench.rng.randbytes(size) for size in (5000, 5000, 3000))
    caught = 0
    for cycles in (3, 20, 60, 100, 150, 220, 300, *(bench.rng.randrange(400) for _ in range(8))):
        bench.ram.write(PUTS, leaves)
        await bench.post(0, 0, 5000, 2)
        await bench.post(128, 0, 3000, 2, get=True)
        for packet in bench.packets(comes, 0, 0):
            bench.send(packet.flits())
        bench.ask(9, 0, 4000)
        # In half of the cases the get stays open.
        for piece in bench.answers(asked, 128, 0) if cycles % 2 else []:
            bench.send(piece.flits(), 1)
        await ClockCycles(dut.clk_i, cycles)
        caught += not dut.idle_o.value
        await bench.reset()
        # Before the program has set it up: nothing is read or written, nothing leaves.
        before = bench.region()
        for packet in bench.packets(comes, 0, 0):
            bench.send(packet.flits(), bench.rng.randrange(2))
        bench.ask(1, 0, 100)
        await bench.settle()
        assert bench.region() == before
        assert bench.reads == []
        assert bench.events() == []
        assert not [packet for packet in bench.out if packet.kind != REFUSAL]
        # What answers a get of before answers none of now.
        await bench.configure()
        for piece in bench.answers(asked, 128, 0):
            bench.send(piece.flits())
        await bench.settle()
        assert bench.region() == before
        assert bench.events() == []
        late = await bench.read(LATE)
        assert late > 0
        # Then it does all of it, as at the first time.
        bench.out.clear()
        await bench.post(0, 0, 5000, 2)
        await bench.post(128, 0, 3000, 2, get=True)
        for packet in bench.packets(comes, 0, 7):
            bench.send(packet.flits())
        bench.ask(9, 0, 4000)
        await bench.settle()
        for piece in bench.answers(asked, 128, 0):
            bench.send(piece.flits())
        await bench.settle()
        shadow = bench.region()
        assert shadow[:5000] == comes
        assert shadow[128 * 64 : 128 * 64 + 3000] == asked
        kinds = {kind: [one for one in bench.out if one.kind == kind] for kind in (1, GET, ANSWER)}
        assert b"".join(one.payload for one in kinds[1]) == leaves
        assert [(one.put, one.total) for one in kinds[GET]] == [(0, 3000)]
        assert b"".join(one.payload for one in kinds[ANSWER]) == leaves[:4000]
        found = sorted(bench.events(), key=lambda one: one.list)
        assert [(one.list, one.refusal, one.error, one.bytes, one.sequence) for one in found] == [
            (0x81, 0, 0, 5000, 0), (0x82, 0, 0, 5000, 7), (0x83, 0, 0, 3000, 0),
        ]  # fmt: skip
        assert await bench.read(LATE) == late
        await bench.reset()
        await bench.configure()
    assert caught >= 8, "resets came when all had ended"
    assert bench.outside()
