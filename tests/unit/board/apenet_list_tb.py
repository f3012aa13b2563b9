# SPDX-License-Identifier: Apache-2.0
"""Messages into a node's circular list of buffers, pins to pins: order, events, bounds, keys, policies.

Packets, memory and links are those of `apenet_node_tb`. What became of each message is counted, and the
counts are compared with what was sent.
"""

from __future__ import annotations

from typing import Any

import cocotb
from apenet_node_tb import (
    BAD,
    CONTROL,
    DONE,
    EMPTY,
    FAR,
    KEY,
    LAND,
    ME,
    PACKETS,
    PAGE,
    PUT_BYTES,
    PUT_LO,
    PUTS,
    QUEUE,
    QUEUE_LO,
    QUEUE_SIZE,
    QUEUE_TAKEN,
    REFUSED,
    REGION_LO,
    REGION_PAGES,
    REGION_SET,
    TABLE,
    TARGET_HI,
    TARGET_LO,
    TARGET_SET,
    UNKNOWN,
    VALID,
    Bench,
    Packet,
)
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge

BUFFER_KEY, BUFFER_LO, BUFFER_BYTES, BUFFER_SET = 0x2C, 0x30, 0x38, 0x3C
LIST, RETURNED, FILLED, FRAMES = 0x40, 0x60, 0x70, 0x80
NO_BUFFER, LOST, NO_EVENT, DELIVERED = 0xA0, 0xB0, 0xC0, 0xD0
LIST_KEY, LIST_REFUSED = 0x248, 0x24C
NEWEST, OLDEST, HOLD = 0, 1, 2
MESSAGE = 5
OPEN_KEY = 0x11E7
OTHER = 5
"""A third node: it shares no entry of the table of puts with the far one."""
ALIKE = FAR | 4
"""A node that shares the far one's entry: coordinates are told apart by two bits."""


class Lists(Bench):
    """A node with one list of equal buffers in its registered pages."""

    async def open(self, buffers: int, size: int, policy: int = NEWEST, at: int = 0, most: int = 1) -> None:
        await self.write(CONTROL, 0)
        for number in range(buffers):
            for register, value in (
                (BUFFER_KEY, KEY), (BUFFER_LO, at + number * size), (BUFFER_BYTES, size),
                (BUFFER_SET, number),
            ):  # fmt: skip
                await self.write(register, value)
        self.size, self.at, self.buffers, self.back = size, at, buffers, 0
        for register, value in (
            (LIST, 1 | buffers << 8 | most << 16 | policy << 24), (RETURNED, 0),
            (LIST_KEY, 1 << 16 | OPEN_KEY), (CONTROL, 1),
        ):  # fmt: skip
            await self.write(register, value)

    def message(self, data: bytes, number: int, source: int = FAR, **changes: Any) -> Packet:
        made = Packet(
            ME, source, number, data, True, True, number, 0, len(data), OPEN_KEY, MESSAGE
        )  # fmt: skip
        return Packet(**{**vars(made), **changes})

    async def recycle(self, count: int = 1) -> None:
        self.back += count
        await self.write(RETURNED, self.back & 0xFFFF)

    def part(self, flits: list[int], begin: int, end: int) -> None:
        """Some flits of a packet."""
        last = len(flits) - 1
        self.waiting[0].extend((n == 0, n == last, 0, flits[n]) for n in range(begin, end))

    def buffer(self, number: int) -> bytes:
        return self.region()[self.at + number * self.size :][: self.size]

    async def counted(self) -> dict[str, int]:
        list_, lost, event = await self.read(NO_BUFFER), await self.read(LOST), await self.read(NO_EVENT)
        found = {
            "came": await self.read(FRAMES) & 0xFFFF, "closed": list_ & 0xFFFF, "no_buffer": list_ >> 16,
            "too_long": lost & 0xFFFF, "bad": lost >> 16, "no_event": event & 0xFFFF,
            "overwritten": event >> 16, "delivered": await self.read(DELIVERED),
        }  # fmt: skip
        # Each message that was let in has one end.
        ends = ("closed", "no_buffer", "too_long", "bad", "no_event", "delivered")
        assert found["came"] == sum(found[end] for end in ends), found
        return {name: count for name, count in found.items() if count and name != "came"}


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def messages_of_two_sources_take_buffers_in_turn_and_each_is_told(dut: Any, share: float) -> None:
    bench = Lists(dut)
    await bench.start(share)
    await bench.open(2, PAGE + 1024, at=64)
    sizes = [
        1,
        16,
        17,
        64,
        127,
        128,
        129,
        1000,
        2048,
        2049,
        4033,
        4096,
        *bench.rng.choices(range(1, 4097), k=12),
    ]
    bench.rng.shuffle(sizes)
    numbers = {FAR: 70_000, OTHER: 3}
    for count, size in enumerate(sizes):
        source = bench.rng.choice((FAR, OTHER))
        data = bench.rng.randbytes(size)
        bench.send(bench.message(data, numbers[source], source).flits(), bench.rng.randrange(2))
        await bench.settle()
        (event,) = bench.events()
        assert (event.list, event.refusal, event.error, event.index) == (0, 0, 0, count % 2)
        assert (event.bytes, event.sequence, event.packets) == (size, count, 1)
        assert (event.place, event.end) == (numbers[source], source), "number and node of the sender"
        assert bench.buffer(count % 2)[:size] == data
        numbers[source] += 1
        await bench.recycle()
        await bench.write(QUEUE_TAKEN, bench.taken & 0xFFFF)
    assert await bench.counted() == {"delivered": len(sizes)}
    assert await bench.read(BAD) == await bench.read(LIST_REFUSED) == 0
    assert await bench.read(REFUSED) & 0xFFFF == 0
    assert await bench.read(PACKETS) == len(sizes)
    assert bench.outside()


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def a_burst_from_both_sides_that_is_longer_than_the_list_and_no_program(dut: Any, share: float) -> None:
    """A program that gives nothing back, under both policies that do not wait."""
    for policy in (NEWEST, OLDEST):
        bench = Lists(dut)
        if policy == NEWEST:
            await bench.start(share)
            first = bench
        else:
            # The same node, closed and set anew.
            bench = first
            first.events()
            await bench.write(CONTROL, 0)
            await bench.settle()
            assert await bench.read(CONTROL) & 0x100
            bench.ram.write(QUEUE, bytes(32 * 16))
            bench.taken = 0
            await bench.write(QUEUE_TAKEN, 0)
        before = {} if policy == NEWEST else await bench.counted()
        await bench.open(4, 1024, policy)
        sent: dict[tuple[int, int], bytes] = {}
        for number in range(5):
            for link, source in enumerate((FAR, OTHER)):
                data = bench.rng.randbytes(bench.rng.randrange(1, 1025))
                sent[source, number] = data
                bench.send(bench.message(data, number, source).flits(), link)
        await bench.settle()
        found = bench.events()
        assert [one.index for one in found] == [count % 4 for count in range(len(found))]
        assert [one.sequence for one in found] == list(range(len(found)))
        for source in (FAR, OTHER):
            mine = [one.place for one in found if one.end == source]
            assert mine == sorted(set(mine)), "each once, in order"
        after = await bench.counted()
        more = {
            name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)
        }
        if policy == NEWEST:
            assert len(found) == 4
            assert more == {"delivered": 4, "no_buffer": 6}
        else:
            assert len(found) == 10
            assert more == {"delivered": 10, "overwritten": 6}
        for one in found[-4:]:
            assert bench.buffer(one.index)[: one.bytes] == sent[one.end, one.place]
        assert bench.outside()


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def hold_stops_the_senders_and_loses_nothing(dut: Any, share: float) -> None:
    bench = Lists(dut)
    await bench.start(share)
    await bench.open(4, 1024, HOLD)
    # 14 events of the queue of 16 are left for what this bench does not take at once.
    sent = [bench.rng.randbytes(bench.rng.randrange(900, 1025)) for _ in range(40)]
    for number, data in enumerate(sent):
        bench.send(bench.message(data, number).flits())
    behind = bench.rng.randbytes(200)
    bench.send(bench.packets(behind, 2 * PAGE, 9)[0].flits())
    await ClockCycles(dut.clk_i, 6000)
    # The queue, the buffer of flits and those of the router are full: the sender has no credit.
    assert bench.waiting[0]
    assert not bench.credits[0][0]
    found = bench.events()
    assert [one.sequence for one in found] == [0, 1, 2, 3]
    for number, data in enumerate(sent):
        assert bench.buffer(number % 4)[: len(data)] == data
        await bench.write(QUEUE_TAKEN, bench.taken & 0xFFFF)
        await bench.recycle()
        for _ in range(4000):
            await RisingEdge(dut.clk_i)
            found += bench.events()
            if len([one for one in found if one.list == 0]) > number + 4:
                break
            if number + 4 >= len(sent):
                break
    await bench.settle()
    found += bench.events()
    mine = [(one.list, one.index, one.sequence, one.place) for one in found if one.list == 0]
    assert mine == [(0, number % 4, number, number) for number in range(40)]
    # What waited behind came too, once they were in the queue: not before the eighth last was in memory.
    assert [(one.list, one.sequence) for one in found if one.list] == [(0x82, 9)]
    assert [one.list for one in found].index(0x82) >= 40 - 4 - 9
    assert bench.region()[2 * PAGE :][:200] == behind
    assert await bench.counted() == {"delivered": 40}
    assert await bench.read(BAD) == 0
    # Closed, a list that holds lets the network go on.
    for number in range(40):
        bench.send(bench.message(sent[number], number).flits())
    await ClockCycles(dut.clk_i, 6000)
    assert bench.waiting[0]
    await bench.write(CONTROL, 0)
    await bench.settle()
    assert await bench.read(CONTROL) & 0x100
    counted = await bench.counted()
    assert counted["delivered"] + counted["closed"] == 80
    assert bench.outside()


@cocotb.test()
async def what_may_not_enter_is_counted_and_nothing_of_it_is_written(dut: Any) -> None:
    bench = Lists(dut)
    await bench.start()
    await bench.open(4, 512)
    before = bench.ram.read(0, QUEUE)
    data = bench.rng.randbytes(512)
    for number, changes in enumerate(({"key": OPEN_KEY ^ 1}, {"key": KEY}, {"key": 0})):
        bench.send(bench.message(data, number, **changes).flits())
    await bench.settle()
    assert (await bench.read(LIST_REFUSED), await bench.read(BAD)) == (3, 3)
    # No message: none, too many bytes, of one flit.
    bench.send(bench.message(b"", 0).flits())
    bench.send(bench.message(data, 0).flits(5000))
    bench.send(bench.message(data, 0).flits()[:1])
    await bench.settle()
    assert (await bench.read(LIST_REFUSED), await bench.read(BAD)) == (3, 6)
    # Longer than a buffer.
    bench.send(bench.message(data + b"1", 0).flits())
    await bench.settle()
    assert bench.events() == []
    pages = b"".join(bench.empty[page : page + PAGE] for page in (0xB000, 0xE000, 0xC000))
    assert bench.region() == pages
    assert bench.ram.read(0, QUEUE) == before
    assert await bench.counted() == {"too_long": 1}
    # Spoiled, and cut short: written, not announced, and written over.
    good = bench.message(data, 4)
    bench.send(Packet(**{**vars(good), "crc": False}).flits())
    flits = good.flits()
    bench.send(flits[:9])
    bench.send(flits[:3] + flits[-1:])
    bench.send([*flits, *flits[1:]])
    bench.send(flits)
    await bench.settle()
    assert [(one.index, one.sequence, one.place) for one in bench.events()] == [(0, 0, 4)]
    assert bench.buffer(0) == data
    assert bench.region()[512:] == pages[512:]
    assert await bench.counted() == {"too_long": 1, "bad": 4, "delivered": 1}
    # A region that is not registered: the buffer's event says so.
    await bench.write(REGION_SET, KEY)
    bench.send(flits)
    await bench.settle()
    assert [(one.error, one.index) for one in bench.events()] == [(1, 1)]
    assert bench.region()[512:] == pages[512:]
    assert await bench.read(REFUSED) & 0xFFFF > 0
    # No list for others.
    await bench.write(CONTROL, 0)
    await bench.write(LIST_KEY, OPEN_KEY)
    await bench.write(CONTROL, 1)
    bench.send(flits)
    await bench.settle()
    assert await bench.read(LIST_REFUSED) == 4
    assert bench.outside()


@cocotb.test()
async def messages_between_the_packets_of_a_put_leave_it_whole(dut: Any) -> None:
    bench = Lists(dut)
    await bench.start()
    await bench.open(8, 256, at=2 * PAGE)
    data = bench.rng.randbytes(2 * PAGE)
    for number, packet in enumerate(bench.packets(data, 0, 6)):
        bench.send(packet.flits())
        bench.send(bench.message(bytes([number]) * 200, number, ALIKE).flits())
    await bench.settle()
    found = [(one.list, one.end, one.bytes) for one in bench.events()]
    assert sorted(found) == [(0, ALIKE, 200), (0, ALIKE, 200), (0x82, FAR, 2 * PAGE)]
    assert bench.region()[: 2 * PAGE] == data
    assert await bench.read(BAD) == 0


@cocotb.test()
async def several_messages_make_a_buffer_full(dut: Any) -> None:
    bench = Lists(dut)
    await bench.start()
    await bench.open(2, 1024, most=3)
    parts = [bench.rng.randbytes(size) for size in (100, 64, 65, 900, 125)]
    for number, part in enumerate(parts):
        bench.send(bench.message(part, number).flits())
    await bench.settle()
    # Three, each at a multiple of 64. The next two do not fit together: the second one finds no buffer.
    first, second = bench.events()
    assert (first.packets, first.bytes, first.index, first.place) == (3, 192 + 65, 0, 2)
    assert (second.packets, second.bytes, second.index, second.place) == (1, 900, 1, 3)
    held = bench.buffer(0)
    assert [held[at : at + len(part)] for at, part in zip((0, 128, 192), parts, strict=False)] == parts[:3]
    assert await bench.counted() == {"delivered": 4, "no_buffer": 1}


@cocotb.test()
async def a_reset_in_the_middle_of_a_message_leaves_nothing_of_it(dut: Any) -> None:
    bench = Lists(dut)
    await bench.start()
    await bench.open(4, PAGE // 2)
    data = bench.rng.randbytes(2000)
    flits = bench.message(data, 1).flits()
    for cut in (1, 2, 40, len(flits) - 1):
        bench.part(flits, 0, cut)
        await ClockCycles(dut.clk_i, 30 + cut)
        assert not bench.waiting[0]
        assert not dut.idle_o.value, "it is in the middle"
        dut.rst_ni.value = 0
        await ClockCycles(dut.clk_i, 8)
        dut.rst_ni.value = 1
        bench.credits = [[64, 64], [64, 64]]
        bench.taken = 0
        bench.ram.write(QUEUE, bytes(32 * 16))
        # The rest of it, and a whole one, before the program has set the node up again.
        await ClockCycles(dut.clk_i, 8)
        bench.part(flits, cut, len(flits))
        bench.send(flits)
        await bench.settle()
        assert bench.events() == []
        for register, value in (
            (QUEUE_LO, QUEUE), (QUEUE_SIZE, 4), (REGION_LO, TABLE), (REGION_PAGES, 3),
            (REGION_SET, KEY | VALID), (PUT_LO, PUTS), (PUT_BYTES, 64), (LAND, KEY),
        ):  # fmt: skip
            await bench.write(register, value)
        await bench.open(4, PAGE // 2)
        bench.send(flits)
        await bench.settle()
        assert [(one.index, one.sequence, one.bytes) for one in bench.events()] == [(0, 0, 2000)]
        assert bench.buffer(0)[:2000] == data
        assert (await bench.counted())["delivered"] == 1
    assert bench.outside()


@cocotb.test()
async def closed_in_the_middle_of_a_message_the_node_is_ready_for_the_next_program(dut: Any) -> None:
    bench = Lists(dut)
    await bench.start()
    data = bench.rng.randbytes(2000)
    flits = bench.message(data, 1).flits()
    delivered = 0
    for cut in (1, 3, 60):
        await bench.open(4, PAGE // 2)
        bench.part(flits, 0, cut)
        await ClockCycles(dut.clk_i, 90)
        await bench.write(CONTROL, 0)
        assert not await bench.read(CONTROL) & 0x100, "it is in the middle"
        bench.part(flits, cut, len(flits))
        await bench.settle()
        assert await bench.read(CONTROL) & 0x100
        bench.taken = 0
        bench.ram.write(QUEUE, bytes(32 * 16))
        await bench.open(4, PAGE // 2)
        bench.send(flits)
        await bench.settle()
        (event,) = bench.events()
        assert (event.index, event.sequence, event.bytes) == (0, 0, 2000)
        delivered += 1
        await bench.write(CONTROL, 0)
        await bench.settle()
        bench.taken = 0
        bench.ram.write(QUEUE, bytes(32 * 16))
    assert bench.outside()
    assert await bench.read(DELIVERED) >= delivered


@cocotb.test()
async def a_put_to_a_list_leaves_as_one_message_or_is_refused(dut: Any) -> None:
    bench = Lists(dut)
    await bench.start()
    for register, value in (
        (TARGET_LO, 0x1240), (TARGET_HI, OPEN_KEY << 16), (TARGET_SET, 5 | FAR << 8 | VALID | 1 << 25),
    ):  # fmt: skip
        await bench.write(register, value)
    sizes = [1, 64, 65, 4095, 4096]
    for size in sizes:
        data = bench.rng.randbytes(size)
        bench.ram.write(PUTS, data)
        await bench.post(0, 3, size, 5)
        await bench.settle()
        # Whatever place is named: the list has its own.
        number = len(bench.out) - 1
        assert bench.out[-1] == bench.message(data, number, ME, dest=FAR)
    for size, get, reason in ((4097, False, EMPTY), (0, False, EMPTY), (64, True, UNKNOWN)):
        await bench.post(0, 0, size, 5, get)
        await bench.settle()
        assert bench.events()[-1].refusal == reason
    # An address beside it is cut into pages as ever.
    await bench.post(0, 1, 4096, 2)
    await bench.settle()
    assert [len(packet.payload) for packet in bench.out[len(sizes) :]] == [4032, 64]
    assert await bench.read(DONE) == 3 << 16 | 6


# By width of the bus in bits. An event of 32 bytes is two beats of 128 bits, and one of 256 or 512.
LISTED, PLACED = ({128: (13, 18), 256: (13, 16), 512: (13, 15)}, {128: (9, 15), 256: (9, 13), 512: (9, 12)})
"""Clocks from the head on the link to the first write, and from the tail to the event's write."""


@cocotb.test()
async def the_way_of_a_message_has_its_cycles(dut: Any) -> None:
    """The budget of the page: header on the link to the first write, tail to the event's write."""
    bench = Lists(dut)
    await bench.start()
    await bench.open(8, 256)
    writes: list[tuple[int, int]] = []
    tails: list[int] = []
    heads: list[int] = []
    clock = 0

    async def watch() -> None:
        nonlocal clock
        while True:
            await ReadOnly()
            if dut.dma_awvalid_o.value and dut.dma_awready_i.value:
                writes.append((clock, int(dut.dma_awaddr_o.value)))
            if int(dut.flits_rx_valid_i.value) & 1:
                if int(dut.flits_rx_head_i.value) & 1:
                    heads.append(clock)
                if int(dut.flits_rx_tail_i.value) & 1:
                    tails.append(clock)
            await RisingEdge(dut.clk_i)
            clock += 1

    cocotb.start_soon(watch())
    # The first one reads the page's table.
    for number in range(2):
        bench.send(bench.message(bytes(64), number).flits())
        await bench.settle()
    bench.send(bench.packets(bytes(64), PAGE - 64, 1)[0].flits())
    await bench.settle()
    inside = [at for at, addr in writes if not QUEUE <= addr < QUEUE + 512]
    events = [at for at, addr in writes if QUEUE <= addr < QUEUE + 512]
    listed, put = (inside[1] - heads[1], events[1] - tails[1]), (inside[2] - heads[2], events[2] - tails[2])
    print("list", listed, "place", put)
    assert listed == LISTED[len(dut.dma_wdata_o)]
    assert put == PLACED[len(dut.dma_wdata_o)]
