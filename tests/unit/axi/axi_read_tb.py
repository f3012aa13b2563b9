# SPDX-License-Identifier: Apache-2.0
"""axi_read_engine against cocotbext-axi's memory, with back-pressure on every channel."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb
from axi_tb import pauses
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, with_timeout
from cocotbext.axi import AxiRamRead, AxiReadBus, AxiSlaveRead, MemoryRegion

SIZE = 1 << 16
BURST = 256
ROOM = 96


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.granule = int(dut.Granule.value)
        self.width = len(dut.data_keep_o) * self.granule
        self.image = self.rng.randbytes(SIZE)
        self.commands: deque[tuple[int, int, int]] = deque()
        self.asked: deque[tuple[int, int, int]] = deque()  # taken by the engine and not yet answered
        self.bytes = bytearray()
        self.errors: list[bool] = []
        self.answered: list[tuple[int, bytes, list[bool]]] = []
        self.bursts: list[tuple[int, int]] = []
        self.room = ROOM
        self.cycle = 0
        self.beats: list[int] = []  # in which cycles; also commands, and addresses that were on offer
        self.taken: list[int] = []
        self.offers: list[int] = []
        self.eager = 1.0

    async def start(self, *, memory: MemoryRegion | None = None) -> None:
        d = self.dut
        for name in ("cmd_valid", "cmd_addr", "cmd_bytes", "cmd_tag", "stop", "data_ready"):
            getattr(d, f"{name}_i").value = 0
        d.room_i.value = self.room
        d.rst_ni.value = 0
        bus = AxiReadBus.from_prefix(d, "m_axi")
        kind = {"reset_active_level": False}
        if memory is None:
            self.model: Any = AxiRamRead(bus, d.clk_i, d.rst_ni, size=SIZE, **kind)
            self.model.write(0, self.image)
        else:
            self.model = AxiSlaveRead(bus, d.clk_i, d.rst_ni, target=memory, **kind)
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for _ in range(4):
            await RisingEdge(d.clk_i)
        await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self.watch())

    def hold(self, share: float) -> None:
        """Address and data each stall for this share of the cycles."""
        for n, channel in enumerate((self.model.ar_channel, self.model.r_channel)):
            channel.set_pause_generator(pauses(cocotb.RANDOM_SEED + n, share))

    def any_command(self, tag: int) -> None:
        lengths = (1, 2, 7, 8, 63, 64, 65, 255, 256, 257, self.rng.randrange(1, 4097))
        length = -(-self.rng.choice(lengths) // self.granule) * self.granule
        address = self.rng.randrange((SIZE - length) // self.granule) * self.granule
        self.commands.append((address, length, tag))

    async def watch(self) -> None:
        """Drives at falling edges, and sees before each rising edge what it will do."""
        d = self.dut
        reserve = bool(d.Reserve.value)
        command: tuple[int, int, int] | None = None
        places = 0  # beats that the receiver holds
        held: tuple[int, int] | None = None  # an offer that was not taken
        while True:
            await FallingEdge(d.clk_i)
            if command is None and self.commands and self.rng.random() < self.eager:
                command = self.commands.popleft()
                d.cmd_addr_i.value, d.cmd_bytes_i.value, d.cmd_tag_i.value = command
            d.cmd_valid_i.value = command is not None
            if reserve:
                # Freed at once and rarely, so that it is full now and then.
                places = 0 if self.eager == 1.0 or self.rng.random() < 0.01 else places
                d.room_i.value = ROOM - places
            # With room reserved the receiver never stalls.
            ready = reserve or self.rng.random() < self.eager
            d.data_ready_i.value = ready
            await ReadOnly()
            self.cycle += 1
            if command is not None and d.cmd_ready_o.value:
                self.asked.append(command)
                self.taken.append(self.cycle)
                command = None
            offer = None
            if d.m_axi_arvalid.value:
                self.offers.append(self.cycle)
                offer = (int(d.m_axi_araddr.value), int(d.m_axi_arlen.value) + 1)
            assert held is None or offer == held, "an offer changed before it was taken"
            held = offer
            if offer is not None and d.m_axi_arready.value:
                self.bursts.append(offer)
                held = None
            if d.data_valid_o.value and ready:
                self.beat()
                if reserve:
                    places += 1
                    assert places <= ROOM, "a beat without a place"

    def beat(self) -> None:
        d = self.dut
        data = int(d.data_o.value).to_bytes(self.width, "little")
        keep = int(d.data_keep_o.value)
        for part in range(self.width // self.granule):
            if keep >> part & 1:
                self.bytes += data[part * self.granule : (part + 1) * self.granule]
        self.errors.append(bool(d.data_error_o.value))
        self.beats.append(self.cycle)
        if d.data_last_o.value:
            self.answered.append((int(d.data_tag_o.value), bytes(self.bytes), self.errors))
            self.bytes, self.errors = bytearray(), []

    async def until(self, ready: Any) -> None:
        async def wait() -> None:
            while not ready():
                await RisingEdge(self.dut.clk_i)

        await with_timeout(wait(), 300, "us")

    def check(self) -> None:
        """Every command has its bytes and its tag, in order; bursts are aligned and in one window."""
        for (address, length, tag), (got, data, errors) in zip(self.asked, self.answered, strict=True):
            assert (got, data) == (tag, self.image[address : address + length])
            assert not any(errors)
        for address, beats in self.bursts:
            assert address % self.width == 0
            assert address // BURST == (address + self.width * beats - 1) // BURST


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.4, 0.8])
async def commands_of_any_place_and_length_are_answered_with_their_bytes(dut: Any, share: float) -> None:
    bench = Bench(dut)
    bench.eager = 0.3 if share != 0.4 else 1.0
    await bench.start()
    bench.hold(share)
    for n in range(60):
        bench.any_command(n % 16)
    await bench.until(lambda: len(bench.answered) == 60 and bench.dut.idle_o.value)
    bench.check()


@cocotb.test()
async def a_beat_s_error_is_its_own_and_the_command_goes_on(dut: Any) -> None:
    bench = Bench(dut)

    class Holes(MemoryRegion):
        async def _read(self, address: int, length: int, **kwargs: Any) -> bytes:
            if 0x1100 <= address < 0x1140:
                raise ValueError("a hole")
            return bytes(await super()._read(address, length, **kwargs))

    await bench.start(memory=Holes(SIZE))
    for tag, address in enumerate((0x0F00, 0x1000, 0x1200)):
        bench.commands.append((address, 512 if tag == 1 else 256, tag))
    await bench.until(lambda: len(bench.answered) == 3)
    bad = [address for address in range(0x1000, 0x1200, bench.width) if 0x1100 <= address < 0x1140]
    first = (0x1100 - 0x1000) // bench.width
    for tag, (got, _, errors) in enumerate(bench.answered):
        assert got == tag
        assert [n for n, error in enumerate(errors) if error] == (
            list(range(first, first + len(bad))) if tag == 1 else []
        )


@cocotb.test()
async def the_first_address_follows_its_command_and_beats_follow_each_other(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    reserve = int(dut.Reserve.value)
    for n in range(8):
        bench.commands.append((0x1000 * n + BURST, 2 * BURST, n))
    await bench.until(lambda: len(bench.answered) == 8)
    assert bench.offers[0] - bench.taken[0] == 1 + reserve
    assert len(bench.beats) == 8 * 2 * BURST // bench.width
    assert bench.beats[-1] - bench.beats[0] == len(bench.beats) - 1
    bench.check()


@cocotb.test()
async def a_stop_ends_the_command_behind_the_burst_on_offer(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for share in (0.0, 0.6):
        bench.hold(share)
        for delay in range(1, 12):
            bench.commands.append((0x100 * delay + 8, 2048, 3))
            asked = len(bench.asked)
            await bench.until(lambda asked=asked: len(bench.asked) > asked)
            for _ in range(delay):
                await FallingEdge(dut.clk_i)
            offered = bool(dut.m_axi_arvalid.value)
            dut.stop_i.value = 1
            before = len(bench.bursts)
            await bench.until(lambda: bool(dut.idle_o.value))
            assert len(bench.bursts) - before <= int(offered) + 1
            await FallingEdge(dut.clk_i)
            dut.stop_i.value = 0
    # It goes on as if nothing had been.
    bench.asked.clear()
    bench.answered.clear()
    bench.bytes.clear()
    bench.errors.clear()
    for n in range(5):
        bench.any_command(n)
    await bench.until(lambda: len(bench.answered) == 5)
    bench.check()
