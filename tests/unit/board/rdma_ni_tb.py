# SPDX-License-Identifier: Apache-2.0
"""Two hosts with an RDMA network interface each and a switch between: what programs see of each other.

Formats and offsets are those of docs/explanation/cores/rdma.md and of the register description.
"""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Callable
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiResp, AxiSlave
from isthmus import regs
from pcie_host import Memory
from rdma_words import BOUNDS, FULL, KEY, LOST, descriptor, extension, message_header

REG = {r.name: r.offset for r in regs.load("rdma").registers}
REQUESTS, MESSAGES, QUEUES, TAILS, REGIONS = 0x4000, 0x8000, 0xC000, 0xD000, 0xE000
LOCAL, LOCAL_MESSAGE, NOTIFY, DONE = 0xF000, 0xF040, 0xF080, 0xF0C0
LINKS = int(os.environ.get("RDMA_LINKS", "1"))

LOCAL_FLAG, NOTIFY_FLAG, IRQ_FLAG, DONE_FLAG = 1, 2, 4, 8
FLAGS = {"local": LOCAL_FLAG, "notify": NOTIFY_FLAG, "irq": IRQ_FLAG, "completion": DONE_FLAG}


def slots(
    source: int,
    target: int,
    beats: int,
    host: int,
    flags: int = 0,
    start: bool = True,
    key: int | None = None,
) -> list[int]:
    """Beats of one or two slots."""
    told = {name: bool(flags & bit) for name, bit in FLAGS.items()}
    made = descriptor(source, target, beats, host, start, **told, extended=key is not None)
    return [*made, *(() if key is None else extension(target, key, 0x1DEA))]


class Host:
    """A host's driver: its memory, its tables and its queues. Addresses are those of its bus."""

    BASE = 0x1_0000_0000
    SHORT = 0x4000_0000
    """What short descriptors reach: 32 bits of address."""

    def __init__(self, number: int, bar: Any, memory: Any) -> None:
        self.number, self.bar, self.memory = number, bar, memory
        self.slot, self.place = 0, 0
        self.errors = self.BASE + 0x8000
        self.inbox = self.BASE + 0x1_0000
        words = self.BASE + 0x9000
        self.local, self.notified, self.done = words, words + 0x40, words + 0x80
        self.ring = self.BASE + 0xA000
        self.memory.writable = [
            range(self.errors, self.errors + 16 * 16), range(words, words + 0xC0),
            range(self.inbox, self.inbox + 0x2000), range(self.ring, self.ring + 8 * 64),
            range(self.SHORT, self.SHORT + 0x4000),
        ]  # fmt: skip
        for area in self.memory.writable:
            self.memory.put(area.start, bytes(len(area)))

    async def write(self, offset: int, *beats: int) -> None:
        await self.bar.write(offset, b"".join(beat.to_bytes(8, "little") for beat in beats))

    async def load(self, offset: int, length: int) -> bytes:
        return bytes((await self.bar.read(offset, length)).data)

    async def register(self, name: str, value: int) -> None:
        await self.bar.write(REG[name], value.to_bytes(4, "little"))

    async def counter(self, name: str) -> int:
        return int.from_bytes(bytes(await self.load(REG[name], 4)), "little")

    def word(self, address: int) -> int:
        return int.from_bytes(self.memory.get(address, 8), "little")

    async def start(self, other: int, *, bench: bool = False) -> None:
        while not await self.counter("STATE") & 2:
            pass
        # Region 0..1: what short descriptors of the hosts may write; 5: the inbox, under a key.
        await self.write(REGIONS + 32 * other, self.SHORT, self.SHORT + 0x4000, 1 | 1 << 1 + other)
        await self.write(
            REGIONS + 32 * 5, self.inbox, self.inbox + 0x2000, 1 | 1 << 1 + other | 0xC0FFEE << 32
        )
        # Queue 7: 8 slots of 8 beats with frame words.
        await self.write(QUEUES + 16 * 7, self.ring, 64 << 17 | 1 << 34 | 1 << 37 + other | 1 << 45)
        await self.write(TAILS + 8 * 7, 0)
        await self.write(LOCAL + 8 * other, self.local)
        await self.write(NOTIFY + 8 * other, self.notified)
        await self.write(DONE + 8 * other, self.done)
        await self.register("HOST", self.number | 0x21 << 8)
        await self.register("ERR_BASE_LO", self.errors & 0xFFFF_FFFF)
        await self.register("ERR_BASE_HI", self.errors >> 32)
        await self.register("LOST_CYCLES", 2000)
        await self.register("PROBE_CYCLES", 3000)
        await self.register("IRQ_MASK", 0xFF)
        await self.register("CONTROL", 0xF1 | bench << 1)
        # Queues are cleared first: what is posted before is not taken.
        while not await self.counter("STATE") & 1:
            pass

    async def post(self, host: int, beats: list[int]) -> None:
        slots = len(beats) // 2
        if self.slot + slots > 128:
            raise AssertionError("the bench does not wrap inside a descriptor")
        await self.write(REQUESTS + 0x800 * host + 16 * self.slot, *beats)
        self.slot = (self.slot + slots) % 128

    async def send(self, host: int, queue: int, body: list[int], flags: int = 0) -> None:
        header = message_header(len(body), queue, 0xABCD) | flags << 16
        for beat in [header, *body]:
            await self.write(MESSAGES + 0x800 * host + 8 * self.place, beat)
            self.place = (self.place + 1) % 256

    def records(self) -> list[tuple[int, int]]:
        """(code, 1: what we refused) of the error records so far."""
        found = []
        for at in range(16):
            beat = self.word(self.errors + 16 * at)
            if beat >> 63:
                found.append((beat & 0xFF, beat >> 23 & 1))
        return found


def over_axi(dut: Any, letter: str, number: int) -> Host:
    """A host whose bus is AXI itself."""
    memory = Memory()
    bar = AxiMaster(AxiBus.from_prefix(dut, f"{letter}_bar"), dut.clk_i, dut.rst_ni, reset_active_level=False)
    dma = AxiSlave(
        AxiBus.from_prefix(dut, f"{letter}_dma"), dut.clk_i, dut.rst_ni, target=memory,
        reset_active_level=False,
    )  # fmt: skip
    for part in (bar.write_if, bar.read_if, dma.write_if, dma.read_if):
        part.log.setLevel(logging.WARNING)
    return Host(number, bar, memory)


async def until(dut: Any, what: str, ready: Callable[[], bool], cycles: int = 20_000) -> int:
    for cycle in range(cycles):
        if ready():
            return cycle
        await RisingEdge(dut.clk_i)
    raise AssertionError(f"{what}: not within {cycles} cycles")


async def start(dut: Any, *, bench: bool = False) -> tuple[Host, Host]:
    cocotb.start_soon(Clock(dut.clk_i, 10_000, "ps").start())
    cocotb.start_soon(Clock(dut.link_clk_i, 12_800, "ps").start())
    dut.rst_ni.value = 0
    dut.cut_i.value = 0
    dut.flip_i.value = 0
    dut.bench_i.value = bench
    hosts = over_axi(dut, "a", 0), over_axi(dut, "b", 1)
    await ClockCycles(dut.clk_i, 10)
    dut.rst_ni.value = 1
    for host in hosts:
        await host.start(1 - host.number, bench=bench)
    await until(dut, "links up", lambda: int(dut.a_up.value) == int(dut.b_up.value) == (1 << LINKS) - 1)
    return hosts


def settle(*hosts: Host) -> None:
    for host in hosts:
        assert host.memory.violations == [], host.memory.violations[:3]


@cocotb.test()
async def a_write_is_in_memory_before_its_notification(dut: Any) -> None:
    a, b = await start(dut)
    cycles = {}
    for beats in (1, 8, 64, 65, 200, 512):
        data = random.randbytes(8 * beats)
        source, target = 0x1234_0000 + 8 * random.randrange(64), b.SHORT + 8 * random.randrange(64)
        a.memory.put(source, data)
        b.memory.put(b.notified, bytes(8))
        seen: list[bytes] = []

        def arrived(target: int = target, size: int = len(data), seen: list[bytes] = seen) -> bool:
            if b.word(b.notified) == 0:
                return False
            seen.append(b.memory.get(target, size))
            return True

        await a.post(1, slots(source, target, beats, 1, NOTIFY_FLAG | LOCAL_FLAG))
        cycles[8 * beats] = await until(dut, f"notification of {beats} beats", arrived)
        assert seen[0] == data
        assert b.word(b.notified) & (1 << 48) - 1 == target + 8 * beats - 8
    dut._log.info("cycles from the descriptor to the notification, by bytes: %s", cycles)
    await until(dut, "local notification", lambda: a.word(a.local) == a.slot)
    assert a.records() == b.records() == []
    settle(a, b)


@cocotb.test()
async def a_message_lands_in_the_queue_with_its_frame_word(dut: Any) -> None:
    a, b = await start(dut)
    for number in range(12):
        body = [random.getrandbits(64) for _ in range(1 + number % 7)]
        await a.send(1, 7, body)
        slot = b.ring + 64 * (number % 8)
        phase = 1 - number // 8 % 2
        frame = phase | len(body) << 1 | a.number << 8 | (number + 1) << 16 | 0xABCD << 32
        await until(dut, f"message {number}", lambda slot=slot, frame=frame: b.word(slot) == frame)
        assert [b.word(slot + 8 + 8 * at) for at in range(len(body))] == body
        await b.write(TAILS + 8 * 7, 8 * ((number + 1) % 8))
    settle(a, b)


@cocotb.test()
async def a_full_queue_refuses_and_the_sender_is_told(dut: Any) -> None:
    a, b = await start(dut)
    for number in range(9):
        await a.send(1, 7, [number])
    await until(dut, "refusal", lambda: (FULL, 0) in a.records())
    assert b.word(b.ring + 8) == 0
    settle(a, b)


@cocotb.test()
async def a_key_opens_its_region_and_no_other(dut: Any) -> None:
    a, b = await start(dut)
    a.memory.put(0x5000, bytes(range(64)))
    right = 5 | 0xC0FFEE << 8
    before = dict(b.memory.bytes)
    for key, target in ((right ^ 1 << 20, b.inbox), (right, b.inbox + 0x2000 - 56), (6, b.inbox)):
        await a.post(1, slots(0x5000, target, 8, 1, key=key))
    await until(dut, "three refusals", lambda: len(a.records()) == 3)
    assert sorted(code for code, _ in a.records()) == [KEY, KEY, BOUNDS]
    kept = {at: byte for at, byte in b.memory.bytes.items() if not b.errors <= at < b.errors + 256}
    assert kept == {at: byte for at, byte in before.items() if not b.errors <= at < b.errors + 256}
    await a.post(1, slots(0x5000, b.inbox + 64, 8, 1, DONE_FLAG, key=right))
    await until(dut, "completion", lambda: a.word(a.done) & 0xFFFF == 4)
    assert b.memory.get(b.inbox + 64, 64) == bytes(range(64))
    assert [await b.counter(f"PACKETS_{what}") for what in ("TAKEN", "REFUSED")] == [1, 3]
    settle(a, b)


@cocotb.test()
async def a_cluster_waits_for_its_start(dut: Any) -> None:
    a, b = await start(dut)
    a.memory.put(0x7000, random.randbytes(512))
    order = [2, 0, 1]
    for slot in order:
        await a.write(
            REQUESTS + 0x800 + 16 * slot,
            *slots(0x7000 + 64 * slot, b.SHORT + 64 * slot, 8, 1, start=False),
        )
    await ClockCycles(dut.clk_i, 400)
    assert b.memory.get(b.SHORT, 192) == bytes(192)
    await a.write(REQUESTS + 0x800 + 48, *slots(0x7000 + 192, b.SHORT + 192, 8, 1, NOTIFY_FLAG))
    await until(dut, "notification", lambda: b.word(b.notified) != 0)
    assert b.memory.get(b.SHORT, 256) == a.memory.get(0x7000, 256)
    settle(a, b)


@cocotb.test()
async def clusters_are_completed_in_any_order(dut: Any) -> None:
    """Both hosts fill theirs at the same time, each slot when it likes, the one with the start last."""
    hosts = await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)

    async def fill(own: Host, far: Host) -> bytes:
        slot = 0
        own.memory.put(0x7000, rng.randbytes(64 * 40))
        while slot < 40:
            cluster = list(range(slot, min(40, slot + rng.randint(2, 8))))
            *order, last = cluster
            rng.shuffle(order)
            for at in [*order, last]:
                beats = slots(
                    0x7000 + 64 * at, far.SHORT + 64 * at, 8, far.number, NOTIFY_FLAG if at == last else 0,
                    start=at == last,
                )  # fmt: skip
                await own.write(REQUESTS + 0x800 * far.number + 16 * at, *beats)
                await ClockCycles(dut.clk_i, rng.randint(0, 60))
                if at != last:
                    assert far.memory.get(far.SHORT + 64 * slot, 64 * len(cluster)) == bytes(
                        64 * len(cluster)
                    )
            slot += len(cluster)
        return own.memory.get(0x7000, 64 * 40)

    a, b = hosts
    filling = [cocotb.start_soon(fill(a, b)), cocotb.start_soon(fill(b, a))]
    for task, far in zip(filling, (b, a), strict=True):
        sent = await task
        await until(
            dut, "last cluster", lambda far=far, sent=sent: far.memory.get(far.SHORT, len(sent)) == sent
        )
    assert a.records() == b.records() == []
    settle(a, b)


@cocotb.test()
async def a_bit_error_costs_its_packet_and_both_programs_hear_of_it(dut: Any) -> None:
    a, b = await start(dut)
    a.memory.put(0x9000, random.randbytes(4096))
    await a.post(1, slots(0x9000, b.SHORT, 8, 1, DONE_FLAG))
    await until(dut, "the first", lambda: a.word(a.done) & 0xFFFF == 1)
    await a.post(1, slots(0x9000, b.SHORT, 512, 1, NOTIFY_FLAG | DONE_FLAG))
    await until(
        dut, "its first packets", lambda: b.memory.get(b.SHORT + 512, 8) == a.memory.get(0x9000 + 512, 8)
    )
    dut.flip_i.value = 4  # one word of host 1's first link
    await RisingEdge(dut.link_clk_i)
    await RisingEdge(dut.link_clk_i)
    dut.flip_i.value = 0
    await until(dut, "the loss", lambda: (LOST, 0) in a.records() and (LOST, 1) in b.records(), 60_000)
    await until(dut, "the notification that says so", lambda: b.word(b.notified) >> 63 == 1)
    wrong = [
        at
        for at in range(0, 4096, 8)
        if b.memory.get(b.SHORT + at, 8) not in (a.memory.get(0x9000 + at, 8), bytes(8))
    ]
    assert wrong == []
    b.memory.put(b.notified, bytes(8))
    await a.post(1, slots(0x9000, b.SHORT, 512, 1, NOTIFY_FLAG))
    await until(dut, "the same again", lambda: b.word(b.notified) != 0)
    assert b.word(b.notified) >> 63 == 0
    assert b.memory.get(b.SHORT, 4096) == a.memory.get(0x9000, 4096)
    settle(a, b)


@cocotb.test()
async def both_ways_at_once_every_byte_is_right(dut: Any) -> None:
    a, b = await start(dut)
    hosts = (a, b)
    for host in hosts:
        host.memory.put(0x2_0000, random.randbytes(0x4000))

    async def run(me: Host, other: Host) -> None:
        at = 0
        while at < 0x4000 // 8:
            beats = min(random.choice((1, 3, 64, 100, 512)), 0x4000 // 8 - at)
            flags = NOTIFY_FLAG | DONE_FLAG if at + beats == 0x4000 // 8 else 0
            await me.post(
                other.number, slots(0x2_0000 + 8 * at, other.SHORT + 8 * at, beats, other.number, flags)
            )
            at += beats

    tasks = [cocotb.start_soon(run(a, b)), cocotb.start_soon(run(b, a))]
    for task in tasks:
        await task
    await until(dut, "both notifications", lambda: all(host.word(host.notified) for host in hosts), 60_000)
    for me, other in ((a, b), (b, a)):
        assert other.memory.get(other.SHORT, 0x4000) == me.memory.get(0x2_0000, 0x4000)
    assert a.records() == b.records() == []
    settle(a, b)


@cocotb.test()
async def what_lies_above_the_registers_is_an_error_and_no_register(dut: Any) -> None:
    a, b = await start(dut)
    before = await a.load(REG["HOST"], 4)
    for offset in (0x100, 0x100 + REG["HOST"], 0x3FFC):
        assert (await a.bar.write(offset, bytes(4))).resp == AxiResp.SLVERR
        assert (await a.bar.read(offset, 4)).resp == AxiResp.SLVERR
    assert await a.load(REG["HOST"], 4) == before
    settle(a, b)


@cocotb.test()
async def an_interrupt_is_raised_once_and_cleared_by_the_driver(dut: Any) -> None:
    a, b = await start(dut)
    strobes = [0]

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            strobes[0] += int(dut.b_irq.value)

    cocotb.start_soon(watch())
    for number in (1, 2):
        await a.post(1, slots(0x100, b.SHORT, 1, 1, IRQ_FLAG))
        await until(dut, f"interrupt {number}", lambda number=number: strobes[0] == number)
        assert await b.counter("IRQ") == 1
        await b.register("IRQ", 1)
        assert await b.counter("IRQ") == 0
    settle(a, b)
