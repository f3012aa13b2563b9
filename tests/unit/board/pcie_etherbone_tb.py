# SPDX-License-Identifier: Apache-2.0
"""The whole device at its AXI pins: the documented driver sequence, exact clocks, what must not hang it."""

from __future__ import annotations

import itertools
import random
from typing import Any

import bus_map
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from etherbone_model import BCA, CYC, RCA, RFF, Bus, Record, Slave, random_records, request
from pcie_host import DRAINING, REG, WINDOW, Host, Memory, attach, bytes_to_words, paused, words_to_bytes
from pins import Pins

RAM, SDB, ECA, TLU, CTRL, SILENT, NOWHERE = (n << 20 for n in range(7))
HEADER = [0x4E6F1044]
STATUS_READ = Record(CYC | BCA | RFF | RCA, 0xF, 0, [], 0x8001, [4])


def body(records: list[Record]) -> list[int]:
    """Records as words, without the header: that comes once a stream."""
    return request(records)[1:]


def timestamps(n: int) -> list[Record]:
    """A checked bus cycle that reads the time `n` times."""
    return [Record(BCA | RFF, 0xF, 0, [], 0x8000, [ECA + 0x18, ECA + 0x1C] * n), STATUS_READ]


class Board(Bus):
    """The reference bus, with the data that the crossbar shows beside an err."""

    def fill(self, adr: int) -> int:
        return 0


class Bench:
    def __init__(self, dut: Any, latency: int) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.memory = Memory()
        self.cycle = 0
        self.latency = latency
        self.pins: dict[str, list[int]] = {}
        self.aw: list[tuple[int, int, int]] = []
        self.irqs = 0

    async def start(self, req_log2: int = 12, rep_log2: int = 12, offset: int = 0, run: bool = True) -> Host:
        d = self.dut
        d.rst_ni.value = 0
        d.time_ns_i.value = 0
        d.trigger_i.value = 0
        self.bar, self.writes, self.reads = attach(d, self.memory, self.latency)
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        for _ in range(5):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self._watch())

        async def load(address: int, length: int) -> bytes:
            return bytes((await self.bar.read(address, length, size=2)).data)

        async def store(address: int, data: bytes) -> None:
            await self.bar.write(address, data)

        self.host = Host(
            self.memory,
            load,
            store,
            d.clk_i,
            (0x1_0000_0000 + offset, req_log2),
            (0x2_0000_0000 + offset, rep_log2),
            0x3_0000_0008,
        )
        if run:
            await self.host.start()
        return self.host

    async def _watch(self) -> None:
        """Clock numbers of every handshake, and the time."""
        d = self.dut
        names = [f"{side}_{channel}" for side in ("bar", "dma") for channel in ("aw", "w", "b", "ar", "r")]
        at = Pins(d)
        channels = [(name, getattr(at, f"{name}valid"), getattr(at, f"{name}ready")) for name in names]
        self.pins = {name: [] for name, _, _ in channels}
        while True:
            await RisingEdge(d.clk_i)
            d.time_ns_i.value = 10**18 + 8 * self.cycle
            for name, valid, ready in channels:
                if valid.value and ready.value:
                    self.pins[name].append(self.cycle)
                    if name == "dma_aw":
                        self.aw.append((self.cycle, int(d.dma_awaddr_o.value), int(d.dma_awlen_o.value)))
            self.irqs += int(d.irq_o.value)
            self.cycle += 1

    def forget(self) -> None:
        for seen in self.pins.values():
            seen.clear()
        self.aw.clear()

    def slow(self, probability: float) -> None:
        """Every channel of every bus model pauses at random."""
        for channel in (
            self.bar.write_if.aw_channel, self.bar.write_if.w_channel, self.bar.write_if.b_channel,
            self.bar.read_if.ar_channel, self.bar.read_if.r_channel,
            self.writes.aw_channel, self.writes.w_channel, self.writes.b_channel,
            self.reads.ar_channel, self.reads.r_channel,
        ):  # fmt: skip
            channel.set_pause_generator(paused(self.rng, self.rng.choice([0.0, probability])))

    async def handshake(self) -> None:
        await self.host.push(words_to_bytes(HEADER))
        assert bytes_to_words(await self.host.take(4)) == [0x4E6F1444]

    async def ask(self, words: list[int], push: bool) -> list[int]:
        data = words_to_bytes(words)
        await (self.host.push(data) if push else self.host.ring(data))
        return bytes_to_words(await self.host.take(len(data)))

    async def clocks(self, n: int) -> None:
        for _ in range(n):
            await RisingEdge(self.dut.clk_i)


async def started(dut: Any, latency: int = 150, **kwargs: Any) -> Bench:
    b = Bench(dut, latency)
    await b.start(**kwargs)
    return b


@cocotb.test()
async def one_pushed_timestamp_takes_the_clocks_that_the_docs_say(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    words = body(timestamps(1))
    for _ in range(3):
        # one write-combined line: the window's next one, so that the 7 words leave in 4 beats
        await b.ask([0] * (-b.host.pushed // 4 % 16), push=True)
        b.forget()
        reply = await b.ask(words, push=True)
        stamp = reply[2] << 32 | reply[3]
        assert reply == [0x060F0200, 0x8000, stamp >> 32, stamp & 0xFFFFFFFF, 0x0E0F0100, 0x8001, 0]
        last = b.pins["bar_w"][3]
        cocotb.log.info("push beats %s", [c - last for c in b.pins["bar_w"][:4]])
        cocotb.log.info(
            "aw %s w %s", [c - last for c in b.pins["dma_aw"]], [c - last for c in b.pins["dma_w"]]
        )
        assert [c - last for c in b.pins["dma_aw"]] == [4, 5]
        assert [c - last for c in b.pins["dma_w"]] == [7, 11, 13, 14, 15]
        assert stamp == 10**18 + 8 * (last + 5)


@cocotb.test()
async def a_doorbell_of_one_timestamp_takes_its_round_trip_and_few_clocks(dut: Any) -> None:
    b = await started(dut, latency=0)
    await b.handshake()
    b.forget()
    await b.ask(body(timestamps(1)), push=False)
    bell = b.pins["bar_w"][0]
    fetched = b.pins["dma_r"][-1]
    cocotb.log.info(
        "doorbell to ar %d, last r to last w %d", b.pins["dma_ar"][0] - bell, b.pins["dma_w"][-1] - fetched
    )
    assert b.pins["dma_ar"][0] - bell == 7
    assert b.pins["dma_w"][-1] - fetched == 14


@cocotb.test()
async def timestamps_of_one_bus_cycle_are_16_ns_apart_from_memory_to_memory(dut: Any) -> None:
    b = await started(dut, req_log2=16, rep_log2=16)
    await b.handshake()
    for n in (8, 127):
        reply = await b.ask(body(timestamps(n)), push=False)
        stamps = [reply[2 + 2 * i] << 32 | reply[3 + 2 * i] for i in range(n)]
        assert {y - x for x, y in itertools.pairwise(stamps)} == {16}


@cocotb.test()
async def records_back_to_back_cost_a_clock_a_word_with_a_round_trip_of_1200_ns(dut: Any) -> None:
    b = await started(dut, req_log2=16, rep_log2=16)
    await b.handshake()
    words = body(timestamps(8) * 200)
    b.forget()
    task = cocotb.start_soon(b.host.ring(words_to_bytes(words)))
    reply = bytes_to_words(await b.host.take(4 * len(words)))
    await task
    took = b.pins["dma_w"][-1] - b.pins["dma_w"][0]
    cocotb.log.info("%d words in %d clocks, %d AW", len(words), took, len(b.aw))
    # The first burst is in before the first word is out; from there on one word a clock.
    assert took <= len(words) + 8
    assert all(reply[21 * i + 20] == 0 for i in range(200))


@cocotb.test()
async def random_requests_by_both_ways_are_answered_as_the_reference_says(dut: Any) -> None:
    b = await started(
        dut, latency=random.Random(cocotb.RANDOM_SEED).randrange(200), req_log2=9, rep_log2=9, offset=0xFC0
    )
    await b.handshake()
    bus = Board()
    model = Slave(bus, {0x08: SDB, 0x28: 2})
    values = [b.rng.getrandbits(32) for _ in range(16)]
    await b.ask(body([Record(CYC, 0xF, RAM, values)]), push=True)
    bus.memory = {RAM + 4 * i: value for i, value in enumerate(values)}
    model.errors = 0
    bus.errors = {NOWHERE + 4 * i for i in range(64)}
    b.slow(0.4)
    for turn in range(60):
        records = random_records(b.rng, budget=b.rng.choice([10, 40]))
        for record in records:
            if b.rng.random() < 0.1:
                record.write_base += NOWHERE
            if not record.flags & RCA and b.rng.random() < 0.1:
                record.reads = [adr + NOWHERE for adr in record.reads]
        records.append(Record(CYC))
        words, expected = body(records), model.serve(records)[0][1:]
        push = b.rng.random() < 0.5 and 4 * len(words) < 900
        data = words_to_bytes(words)
        if push:
            while b.host.positions()[1] != b.host.tail:
                await RisingEdge(dut.clk_i)
            await b.host.push(data, iter(lambda: b.rng.randrange(1, 17), None))
            reply = await b.host.take(len(data))
        else:
            task = cocotb.start_soon(b.host.ring(data[: b.host.req_size]))
            reply = await b.host.take(min(len(data), b.host.req_size))
            await task
            if len(data) > b.host.req_size:
                await b.host.ring(data[b.host.req_size :])
                reply += await b.host.take(len(data) - b.host.req_size)
        assert bytes_to_words(reply) == expected, turn
    assert not b.memory.violations
    assert await b.host.errors() == []
    b.slow(0.0)
    for address, length in b.reads.bursts:
        assert length <= 256
        assert address // 256 == (address + length - 1) // 256
        assert b.host.req_base <= address
        assert address + length <= b.host.req_base + b.host.req_size
    assert await b.host.get("RING_WORDS") == b.host.tail // 4
    assert await b.host.get("PUSH_WORDS") == b.host.pushed // 4
    assert await b.host.get("REPLY_WORDS") == (b.host.tail + b.host.pushed) // 4
    assert await b.host.get("READ_BURSTS") == len(b.reads.bursts)
    bursts = [aw for aw in b.aw if aw[1] != b.host.status]
    assert await b.host.get("WRITE_BURSTS") == len(bursts)
    assert all(addr // 256 == (addr + 8 * beats + 7) // 256 for _, addr, beats in bursts)
    assert await b.host.get("STATUS_WRITES") == len(b.aw) - len(bursts)


@cocotb.test()
async def the_config_space_reads_as_zero_beyond_its_registers(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    places = [0x0C, 0x2C, *(1 << bit | low for bit in range(6, 16) for low in (0x0C, 0x2C))]
    reply = await b.ask(body([Record(CYC | BCA | RCA, 0xF, 0, [], 0x8001, places)]), push=False)
    assert reply[2:] == [SDB, 2] + [0] * 20


@cocotb.test()
async def a_full_reply_ring_waits_for_the_host_and_loses_nothing(dut: Any) -> None:
    b = await started(dut, rep_log2=6)
    await b.handshake()
    n = 60
    values = [b.rng.getrandbits(32) for _ in range(n)]
    task = cocotb.start_soon(b.host.ring(words_to_bytes(body([Record(CYC, 0xF, RAM, values)]))))
    await b.host.take(4 * (n + 2))
    await task
    await b.host.ring(
        words_to_bytes(body([Record(CYC | BCA, 0xF, 0, [], 0x8000, [RAM + 4 * i for i in range(n)])]))
    )
    await b.clocks(600)
    held = b.host.positions()[0]
    assert 0 < held - b.host.consumed <= b.host.rep_size
    await b.clocks(300)
    assert b.host.positions()[0] == held
    reply = bytes_to_words(await b.host.take(4 * (n + 2)))
    assert reply[2:] == values
    assert not b.memory.violations


@cocotb.test()
async def a_push_that_breaks_a_rule_is_refused_whole(dut: Any) -> None:
    b = await started(dut)
    h = b.host
    await b.handshake()
    write = words_to_bytes(body([Record(CYC, 0xF, RAM, [0x11223344])]))
    refused = 0

    async def refuse(address: int, data: bytes) -> None:
        nonlocal refused
        await h.store(WINDOW + address, data)
        refused += 1
        assert await h.get("PUSH_REFUSED") == refused
        assert await h.errors() == ["push_refused"]
        assert await h.get("PUSH_NEXT") == h.pushed % 4096
        await h.set("ERRORS", 0xFF)
        assert await h.errors() == []

    await b.ask(body([Record(CYC, 0xF, RAM, [0xAAAAAAAA])]), push=True)
    await refuse((h.pushed + 8) % 4096, write)  # not where the last one ended
    await refuse(h.pushed % 4096, write[:-1])  # last word not whole
    await refuse(h.pushed % 4096 + 1, write[1:])  # first word not whole
    await refuse(h.pushed % 4096, bytes(4 * 256 + 4))  # more than there is room for
    before = (await b.ask(body([Record(CYC | BCA, 0xF, 0, [], 0, [RAM])]), push=True))[-1]
    assert before == 0xAAAAAAAA
    # while the request ring is not empty
    b.reads.latency = 400
    data = words_to_bytes(body([Record(CYC | BCA, 0xF, 0, [], 0, [RAM])]))
    await h.ring(data)
    await refuse(h.pushed % 4096, write)
    assert bytes_to_words(await h.take(len(data)))[-1] == 0xAAAAAAAA
    # and goes on where it stopped
    await b.ask(body([Record(CYC, 0xF, RAM, [0x11223344])]), push=True)
    assert (await b.ask(body([Record(CYC | BCA, 0xF, 0, [], 0, [RAM])]), push=True))[-1] == 0x11223344
    await h.stop()
    await h.store(WINDOW, write)
    assert await h.get("PUSH_REFUSED") == refused + 1


@cocotb.test()
async def wrong_doorbells_are_ignored_and_told(dut: Any) -> None:
    b = await started(dut)
    h = b.host
    for value in (2, h.req_size + 4, 0xFFFFFFFC):
        await h.set("REQ_TAIL", value)
        assert await h.errors() == ["tail_bad"]
        await h.set("ERRORS", 0xFF)
    for value in (4, 1, 0xFFFFFFFC):
        await h.set("REP_CONSUMED", value)
        assert await h.errors() == ["consumed_bad"]
        await h.set("ERRORS", 0xFF)
    assert b.reads.bursts == []
    await b.handshake()
    assert len(await b.ask(body(timestamps(1)), push=False)) == 7


@cocotb.test()
async def a_tail_may_be_a_ring_ahead_of_the_head_and_no_more(dut: Any) -> None:
    b = await started(dut, latency=400, req_log2=6)
    h = b.host
    for first in (HEADER, [0]):
        await h.ring(words_to_bytes(first + [0] * 15))
        await h.set("REQ_TAIL", h.tail + 4)
        assert await h.get("REQ_HEAD") == h.tail - 64
        assert await h.errors() == ["tail_bad"]
        await h.set("ERRORS", 0xFF)
        assert bytes_to_words(await h.take(64)) == [first[0] and 0x4E6F1444] + [0] * 15
        assert await h.get("REQ_HEAD") == h.tail
    assert await h.errors() == []


@cocotb.test()
async def it_is_not_off_before_memory_has_answered(dut: Any) -> None:
    b = await started(dut, latency=400)
    h = b.host
    # A read is in flight.
    await h.ring(words_to_bytes(HEADER))
    await h.set("CONTROL", 0)
    await b.clocks(100)
    assert await h.get("STATE") == DRAINING
    await b.clocks(400)
    assert await h.get("STATE") == 0
    # A write is not answered.
    await h.start()
    b.writes.b_channel.pause = True
    await h.push(words_to_bytes(HEADER))
    await b.clocks(50)
    await h.set("CONTROL", 0)
    await b.clocks(100)
    assert await h.get("STATE") == DRAINING
    b.writes.b_channel.pause = False
    await b.clocks(50)
    assert await h.get("STATE") == 0
    await h.start()
    await b.handshake()


@cocotb.test()
async def it_is_not_off_before_its_bus_operations_have_ended(dut: Any) -> None:
    b = await started(dut)
    h = b.host
    await b.handshake()
    silent = bool(dut.SilentSlave.value)
    await h.push(words_to_bytes(body([Record(CYC | BCA, 0xF, 0, [], 0x8000, [SILENT])])))
    await b.clocks(50)
    await h.set("CONTROL", 0)
    await b.clocks(100)
    # Where nobody answers the time-out does, after 500 clocks.
    assert await h.get("STATE") == (DRAINING if silent else 0)
    await b.clocks(500)
    assert await h.get("STATE") == 0
    await h.start()
    await b.handshake()
    assert len(await b.ask(body(timestamps(1)), push=True)) == 7


@cocotb.test()
async def an_illegal_configuration_does_not_start(dut: Any) -> None:
    b = await started(dut, run=False)
    h = b.host
    for name, value in (
        ("REQ_BASE_LO", 32), ("REP_BASE_LO", 8), ("STATUS_LO", 4), ("REQ_SIZE", 5), ("REP_SIZE", 25),
        ("REQ_SIZE", 0), ("REQ_BASE_HI", 1 << 31), ("REP_BASE_HI", 1 << 31), ("STATUS_HI", 1 << 31),
    ):  # fmt: skip
        await h.stop()
        await h.configure()
        await h.set(name, value)
        await h.set("CONTROL", 1)
        assert (await h.get("STATE"), await h.errors()) == (0, ["config_bad"]), name
    await h.start()
    await b.handshake()


@cocotb.test()
async def a_bad_read_response_stops_the_engine_until_it_is_started_again(dut: Any) -> None:
    b = await started(dut)
    h = b.host
    await b.handshake()
    words = body(timestamps(20))
    b.memory.poisoned_reads = {h.req_base + 96}
    await h.ring(words_to_bytes(words))
    await b.clocks(800)
    assert (await h.get("STATE"), await h.errors()) == (0, ["read_response"])
    assert await h.get("AXI_ERRORS") == 1
    b.memory.poisoned_reads = set()
    before = len(b.reads.bursts)
    await h.set("REQ_TAIL", h.tail + 8)
    await b.clocks(300)
    assert len(b.reads.bursts) == before
    await h.start()
    await b.handshake()
    assert len(await b.ask(words, push=False)) == len(words)


@cocotb.test()
async def a_bad_write_response_stops_the_engine_until_it_is_started_again(dut: Any) -> None:
    b = await started(dut)
    h = b.host
    await b.handshake()
    b.memory.poisoned_writes = {h.rep_base + 512}
    words = body(timestamps(100))
    await h.ring(words_to_bytes(words))
    await b.clocks(1500)
    assert (await h.get("STATE"), await h.errors()) == (0, ["write_response"])
    b.memory.poisoned_writes = set()
    await h.start()
    await b.handshake()
    assert len(await b.ask(words, push=False)) == len(words)
    assert not b.memory.violations


@cocotb.test()
async def disabling_in_the_middle_finishes_what_is_in_flight_and_writes_nothing_more(dut: Any) -> None:
    b = await started(dut, latency=100)
    h = b.host
    for turn in range(12):
        if turn % 2:
            b.slow(0.3)
        await h.start()
        await b.handshake()
        if turn % 3 == 2:
            cocotb.start_soon(h.push(words_to_bytes(body(timestamps(30)))))
        else:
            await h.ring(words_to_bytes(body(timestamps(60))))
        await b.clocks(b.rng.randrange(1, 500))
        await h.stop()
        seen = len(b.memory.writes)
        told = h.positions()
        await b.clocks(400)
        assert len(b.memory.writes) == seen
        assert h.positions() == told
        assert not b.memory.violations
    b.slow(0.0)
    await h.start()
    await b.handshake()
    assert len(await b.ask(body(timestamps(30)), push=True)) == 65


@cocotb.test()
async def a_reset_in_the_middle_starts_over(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    cocotb.start_soon(b.host.ring(words_to_bytes(body(timestamps(60)))))
    await b.clocks(250)
    await b.clocks(1500)  # a reset of the device comes with one of the hard block: nothing in flight
    dut.rst_ni.value = 0
    await b.clocks(3)
    dut.rst_ni.value = 1
    assert await b.host.get("STATE") == 0
    await b.host.start()
    await b.handshake()
    assert len(await b.ask(body(timestamps(8)), push=False)) == 21


@cocotb.test()
async def the_status_word_never_tells_of_data_that_is_not_there(dut: Any) -> None:
    b = await started(dut, req_log2=10, rep_log2=8, latency=40)
    h = b.host
    await b.handshake()
    b.slow(0.5)
    seen = 0
    told = 4
    task = cocotb.start_soon(h.ring(words_to_bytes(body(timestamps(60)))))
    for _ in range(4000):
        await RisingEdge(dut.clk_i)
        for address, data in b.memory.writes[seen:]:
            if address == h.status:
                tail = int.from_bytes(data[:4], "little")
                assert told >= tail
            elif h.rep_base <= address < h.rep_base + h.rep_size:
                told += len(data)
        seen = len(b.memory.writes)
        ready = h.positions()[0] - h.consumed
        if ready and b.rng.random() < 0.02:
            await h.take(ready)
    await task


@cocotb.test()
async def the_stream_begins_with_a_probe_or_a_header_and_answers_anything_else_with_zero(dut: Any) -> None:
    b = await started(dut)
    reply = await b.ask([0x12345678, 0xDEADBEEF, 0x4E6F11FF, 0xCAFEF00D, *body(timestamps(1))], push=True)
    assert reply[:4] == [0, 0, 0x4E6F1644, 0xCAFEF00D]
    assert reply[4] == 0x060F0200
    assert len(reply) == 11
    assert await b.host.get("EB_MALFORMED") == 2


@cocotb.test()
async def an_interrupt_follows_each_status_word_when_asked_for(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    assert b.irqs == 0
    await b.host.start(irq=True)
    b.memory.writes.clear()
    await b.handshake()
    for _ in range(5):
        await b.ask(body(timestamps(1)), push=False)
    await b.clocks(20)
    assert b.irqs == 6 == sum(address == b.host.status for address, _ in b.memory.writes)


@cocotb.test()
async def a_slave_that_never_answers_ends_in_an_error(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    silent = bool(dut.SilentSlave.value)
    reply = await b.ask(body([Record(BCA, 0xF, 0, [], 0, [RAM, SILENT, RAM]), STATUS_READ]), push=True)
    assert reply[-1] & 7 == (3 if silent else 2)
    assert await b.host.get("EB_TIMEOUTS") == int(silent)
    assert await b.host.get("EB_BUS_ERRORS") == (2 if silent else 1)


@cocotb.test()
async def the_registers_can_be_read_over_the_bus_too_but_not_written(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    reply = await b.ask(
        body([Record(BCA, 0xF, CTRL + 0x0C, [0], 0, [CTRL, CTRL + 0x10]), STATUS_READ]), push=True
    )
    assert reply[-5:-3] == [0x50444D41, 1]
    assert reply[-1] & 7 == 4
    assert await b.host.get("CONTROL") == 1
    table = await b.ask(
        body([Record(CYC | BCA, 0xF, 0, [], 0, [SDB + 4 * i for i in range(16 * 5)])]), push=False
    )
    data = words_to_bytes(table[2:])
    assert data[64 * 4 + 44 : 64 * 4 + 63].decode() == "isthmus-pcie-dma   "


@cocotb.test()
async def host_and_bus_read_the_registers_at_the_same_time(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    names = ("ID", "REQ_BASE_HI", "REP_SIZE", "PUSH_WORDS", "VERSION")
    values = [await b.host.get(name) for name in names]
    words = body([Record(BCA | CYC, 0xF, 0, [], 0x8000, [CTRL + REG[name] for name in names] * 20)])
    b.bar.read_if.ar_channel.set_pause_generator(paused(b.rng, 0.3))
    for _ in range(5):
        task = cocotb.start_soon(b.ask(words, push=False))
        loads = 0
        while not task.done():
            n = b.rng.randrange(len(names))
            assert await b.host.get(names[n]) == values[n]
            loads += 1
        assert (await task)[2:] == values * 20
        assert loads > 10


@cocotb.test()
async def the_limits_are_those_that_the_device_was_built_for(dut: Any) -> None:
    b = await started(dut)
    limits = await b.host.get("LIMITS")
    # A line less than the buffer: what is on its way to the service may lag behind.
    assert limits & 0xFFFF == int(dut.WriteBytes.value)
    assert limits >> 16 == 4 * int(dut.BufferWords.value) - 64
    await b.handshake()
    # As much as that may be pushed while no reply leaves.
    data = words_to_bytes([word for _ in range(30) for word in body(timestamps(2))][: (limits >> 16) // 4])
    b.writes.w_channel.pause = True
    await b.host.push(data)
    assert await b.host.errors() == []
    b.writes.w_channel.pause = False
    assert len(await b.host.take(len(data))) == len(data)


@cocotb.test()
async def an_address_that_the_map_lacks_is_an_error_and_harmless(dut: Any) -> None:
    b = await started(dut)
    for address in (0x100, 0xFFC, WINDOW, 0x1C):
        answer = await b.bar.read(address, 4, size=2)
        assert (int(answer.resp), bytes(answer.data)) == (2, b"\xff" * 4), hex(address)
    assert int((await b.bar.write(0x200, bytes(4))).resp) == 2
    assert int((await b.bar.write(0x00, bytes(4))).resp) == 2
    await b.handshake()


@cocotb.test()
async def probes_follow_a_unit_through_its_stages(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    names = [
        "BarWrite",
        "RingFetch",
        "StreamFirstWord",
        "WbIssue",
        "ReplyFirstWord",
        "DmaWriteFirst",
        "StatusWritten",
    ]
    seen: list[tuple[str, int]] = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            strobes, tags = int(dut.probe_o.value), int(dut.probe_tag_o.value)
            seen.extend((name, tags >> 8 * n & 0xFF) for n, name in enumerate(names) if strobes >> n & 1)

    cocotb.start_soon(watch())
    for push in (True, False, True):
        seen.clear()
        # one line: one push
        await b.ask([0] * (-b.host.pushed // 4 % 16), push=True)
        seen.clear()
        await b.ask(body(timestamps(1)), push=push)
        await b.clocks(5)
        tags = {tag for name, tag in seen}
        assert len(tags) == 1, seen
        order = ["BarWrite"] + ([] if push else ["RingFetch"]) + ["StreamFirstWord", "WbIssue", "WbIssue"]
        assert sorted(name for name, _ in seen) == sorted(
            [*order, "ReplyFirstWord", "DmaWriteFirst", "StatusWritten"]
        )
        assert [name for name, _ in seen][:2] == order[:2]
        assert seen[-1][0] == "StatusWritten"


@cocotb.test()
async def idle_means_that_nothing_changes(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()
    for push in (True, False):
        await b.ask(body(timestamps(3)), push=push)
        for _ in range(100):
            await RisingEdge(dut.clk_i)
            if dut.idle_o.value:
                break
        assert dut.idle_o.value
        b.forget()
        await b.clocks(300)
        assert dut.idle_o.value
        assert not any(b.pins.values())


@cocotb.test()
async def every_window_ends_where_the_sdb_table_and_the_page_say(dut: Any) -> None:
    b = await started(dut)
    await b.handshake()

    async def read(address: int) -> int | None:
        words = await b.ask(body([Record(BCA | RFF, 0xF, 0, [], 0x8000, [address]), STATUS_READ]), push=True)
        return None if words[-1] & 1 else words[2]

    async def write(address: int, value: int) -> bool:
        words = await b.ask(body([Record(0, 0xF, address, [value]), STATUS_READ]), push=True)
        return not words[-1] & 1

    assert await bus_map.walk(read, write, REG["ID"]) > 100
