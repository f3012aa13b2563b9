# SPDX-License-Identifier: Apache-2.0
"""axi_write_engine and event_queue against cocotbext-axi's memory, with back-pressure on every channel."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, with_timeout
from cocotbext.axi import AxiRamWrite, AxiSlaveWrite, AxiWriteBus, MemoryRegion

SIZE = 1 << 16
BURST = 256
EVENT = 32


def pauses(seed: int, share: float) -> Iterator[bool]:
    rng = random.Random(seed)
    while True:
        yield rng.random() < share


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.width = len(dut.m_axi_wstrb)
        self.expected = bytearray(SIZE)
        self.commands: deque[tuple[int, int, int]] = deque()
        self.beats: deque[tuple[int, bool]] = deque()
        self.done: list[tuple[int, bool]] = []
        self.irqs = 0

    async def start(self, *, queue: bool = False, memory: bool = True) -> None:
        d = self.dut
        for name in (
            "cmd_valid", "cmd_addr", "cmd_bytes", "cmd_tag", "data_valid", "data_keep", "data", "enable",
            "base", "size", "taken", "irq_enable", "irq_gap", "event_valid", "event",
        ):  # fmt: skip
            getattr(d, f"{name}_i").value = 0
        d.use_queue_i.value = queue
        d.rst_ni.value = 0
        bus = AxiWriteBus.from_prefix(d, "m_axi")
        kind = {"reset_active_level": False}
        self.ram = AxiRamWrite(bus, d.clk_i, d.rst_ni, size=SIZE, **kind) if memory else None
        self.bus = bus
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for _ in range(4):
            await RisingEdge(d.clk_i)
        await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self.watch())

    def hold(self, share: float) -> None:
        """Address, data and answers each stall for this share of the cycles."""
        assert self.ram is not None
        for n, channel in enumerate((self.ram.aw_channel, self.ram.w_channel, self.ram.b_channel)):
            channel.set_pause_generator(pauses(cocotb.RANDOM_SEED + n, share))

    async def watch(self) -> None:
        d = self.dut
        while True:
            await FallingEdge(d.clk_i)
            if d.done_valid_o.value:
                self.done.append((int(d.done_tag_o.value), bool(d.done_error_o.value)))
            self.irqs += int(d.irq_o.value)

    def command(self, address: int, data: bytes, tag: int, kept: int | None = None) -> None:
        """Queues a command; of its beats only the first `kept` have strobes."""
        self.commands.append((address, len(data), tag))
        first = address % self.width
        image = bytes(first) + data
        for n, at in enumerate(range(0, len(image), self.width)):
            beat = image[at : at + self.width]
            keep = kept is None or n < kept
            # Lanes without a byte of the command hold anything.
            noise = bytearray(self.rng.randbytes(self.width))
            low = first if n == 0 else 0
            noise[low : len(beat)] = beat[low:]
            self.beats.append((int.from_bytes(noise, "little"), keep))
            if keep:
                begin = address - first + at
                self.expected[begin + low : begin + len(beat)] = beat[low:]

    async def feed(self, eager: float) -> None:
        cocotb.start_soon(self._feed_data(eager))
        d = self.dut
        while self.commands:
            await FallingEdge(d.clk_i)
            if self.rng.random() > eager:
                continue
            d.cmd_addr_i.value, d.cmd_bytes_i.value, d.cmd_tag_i.value = self.commands.popleft()
            d.cmd_valid_i.value = 1
            await RisingEdge(d.clk_i)
            while not d.cmd_ready_o.value:
                await RisingEdge(d.clk_i)
            await FallingEdge(d.clk_i)
            d.cmd_valid_i.value = 0

    async def _feed_data(self, eager: float) -> None:
        d = self.dut
        while self.beats:
            if self.rng.random() > eager:
                await FallingEdge(d.clk_i)
                continue
            d.data_i.value, d.data_keep_i.value = self.beats.popleft()
            d.data_valid_i.value = 1
            await RisingEdge(d.clk_i)
            while not d.data_ready_o.value:
                await RisingEdge(d.clk_i)
            await FallingEdge(d.clk_i)
            d.data_valid_i.value = 0

    async def until(self, ready: Any) -> None:
        async def wait() -> None:
            while not ready():
                await FallingEdge(self.dut.clk_i)

        await with_timeout(wait(), 2, "ms")


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.4, 0.8])
async def commands_of_any_place_and_length_write_their_bytes_and_no_others(dut: Any, share: float) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.hold(share)
    tags = []
    for n in range(60):
        length = bench.rng.choice((1, 2, 7, 8, 63, 64, 65, 255, 256, 257, bench.rng.randrange(1, 4097)))
        address = bench.rng.randrange(SIZE - length)
        kept = None if bench.rng.random() < 0.8 else bench.rng.randrange(3)
        bench.command(address, bench.rng.randbytes(length), n % 16, kept)
        tags.append(n % 16)
    await bench.feed(bench.rng.choice((0.3, 1.0)))
    await bench.until(lambda: len(bench.done) == len(tags) and bench.dut.idle_o.value)
    assert bench.done == [(tag, False) for tag in tags]
    assert bench.ram is not None
    assert bench.ram.read(0, SIZE) == bytes(bench.expected)


@cocotb.test()
async def an_error_of_any_burst_is_the_command_s_and_of_no_other(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(memory=False)

    class Holes(MemoryRegion):
        async def _write(self, address: int, data: bytes, **kwargs: Any) -> None:
            if 0x1100 <= address < 0x1200:
                raise ValueError("a hole")
            await super()._write(address, data, **kwargs)

    AxiSlaveWrite(bench.bus, dut.clk_i, dut.rst_ni, target=Holes(SIZE), reset_active_level=False)
    # In the hole: the second burst of two, the first of three, the second of two, none.
    commands = ((0x0F00, 256), (0x1000, 512), (0x1200, 256), (0x1180, 512), (0x1080, 256), (0x1300, 256))
    for tag, (address, length) in enumerate(commands):
        bench.command(address, bench.rng.randbytes(length), tag)
    await bench.feed(1.0)
    await bench.until(lambda: len(bench.done) == len(commands))
    assert bench.done == [(tag, tag in (1, 3, 4)) for tag in range(len(commands))]


@cocotb.test()
async def data_flows_a_beat_a_cycle_over_bursts_and_commands(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    commands = 8
    for n in range(commands):
        bench.command(0x1000 * n + BURST, bench.rng.randbytes(2 * BURST), n)
    beats = len(bench.beats)
    moved: list[int] = []

    async def count() -> None:
        cycle = 0
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            if dut.m_axi_wvalid.value and dut.m_axi_wready.value:
                moved.append(cycle)

    cocotb.start_soon(count())
    cocotb.start_soon(bench.feed(1.0))
    await bench.until(lambda: len(bench.done) == commands)
    assert len(moved) == beats
    assert moved[-1] - moved[0] == beats - 1


@cocotb.test()
async def events_go_round_the_ring_with_their_phase_and_wait_for_no_host(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(queue=True)
    assert bench.ram is not None
    bench.hold(0.3)
    base, log2 = 0x2000, 2
    dut.base_i.value, dut.size_i.value, dut.enable_i.value = base, log2, 1
    dut.irq_enable_i.value, dut.irq_gap_i.value = 1, 20
    sent, taken, lost = [], 0, 0
    for n in range(40):
        event = bench.rng.getrandbits(255)
        await FallingEdge(dut.clk_i)
        dut.event_i.value, dut.event_valid_i.value = event, 1
        await RisingEdge(dut.clk_i)
        while not dut.event_ready_o.value:
            await RisingEdge(dut.clk_i)
        full = bool(dut.full_o.value)
        await FallingEdge(dut.clk_i)
        dut.event_valid_i.value = 0
        assert full == (len(sent) - taken == 1 << log2)
        if full:
            lost += 1
        else:
            sent.append(event)
        # Nothing is taken at first, so that one finds the ring full.
        if (n > 1 << log2 and n % 3 == 2) or full:
            await bench.until(lambda: int(dut.written_o.value) == len(sent))
            while taken < len(sent):
                place = base + taken % (1 << log2) * EVENT
                found = int.from_bytes(bench.ram.read(place, EVENT), "little")
                phase = 1 - (taken >> log2) % 2
                assert found == phase << 255 | sent[taken]
                taken += 1
                if bench.rng.random() < 0.3:
                    break
            dut.taken_i.value = taken
    assert int(dut.lost_o.value) == lost
    assert lost > 0
    await bench.until(lambda: dut.queue_idle_o.value)
    assert 0 < bench.irqs <= len(sent)
