# SPDX-License-Identifier: Apache-2.0
"""fx2_stream between an FX2LP and a service that echoes words."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer, with_timeout
from fx2_model import BUFFERS, PACKET, Fx2

ZLP, STALE = 400, 900


class Bench:
    """The device under test, an FX2LP and an echo; `stall` is how often the echo waits."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.width = len(dut.fx2_fd_i)
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.fx2 = Fx2(dut, self.width, self.rng)
        self.stall = 0.0
        self.allowed: int | None = None  # words that the service may still give; None: all
        self.words: list[int] = []
        self.taken: list[int] = []
        self.aborts = 0

    async def start(self, opened: bool = True) -> None:
        d = self.dut
        d.rst_ni.value = 0
        d.fx2_open_i.value = 0
        d.rx_ready_i.value = 0
        d.tx_valid_i.value = 0
        d.tx_data_i.value = 0
        d.in_flight_i.value = 0
        d.service_idle_i.value = 1
        for flag in ("empty", "last", "full", "tight"):
            getattr(d, f"fx2_flag_{flag}_ni").value = 0
        d.fx2_fd_i.value = 0
        cocotb.start_soon(Clock(d.clk_i, 8_000, "ps").start())
        await Timer(self.rng.randrange(8_000), "ps")
        cocotb.start_soon(Clock(d.fx2_clk_i, 20_834, "ps").start())
        await ClockCycles(d.fx2_clk_i, 4)
        d.rst_ni.value = 1
        cocotb.start_soon(self.fx2.run())
        cocotb.start_soon(self._service())
        await ClockCycles(d.fx2_clk_i, 10)
        if opened:
            await self.open()

    async def open(self) -> None:
        self.dut.fx2_open_i.value = 1
        await ClockCycles(self.dut.fx2_clk_i, 12)

    async def close(self) -> None:
        self.dut.fx2_open_i.value = 0
        await Timer(1, "us")
        self.fx2.reset_fifos()
        await Timer(3, "us")

    async def _service(self) -> None:
        d = self.dut
        ready = valid = False
        while True:
            await RisingEdge(d.clk_i)
            if d.abort_o.value:
                self.aborts += 1
                assert not d.rx_valid_o.value
            if ready and d.rx_valid_o.value:
                word = int(d.rx_data_o.value)
                self.words.append(word)
                self.taken.append(word)
            if valid and d.tx_ready_o.value:
                self.words.pop(0)
                if self.allowed is not None:
                    self.allowed -= 1
            await FallingEdge(d.clk_i)
            ready = len(self.words) < 8 and self.rng.random() >= self.stall
            valid = bool(self.words) and self.allowed != 0 and self.rng.random() >= self.stall
            d.rx_ready_i.value = ready
            d.tx_valid_i.value = valid
            d.tx_data_i.value = self.words[0] if valid else self.rng.randrange(1 << 32)
            d.in_flight_i.value = bool(self.words)
            d.service_idle_i.value = not self.words

    def stream(self, length: int) -> bytes:
        return self.rng.randbytes(length)

    async def collect(self, length: int, limit_us: int = 4_000) -> bytes:
        async def take() -> bytes:
            data = b""
            while len(data) < length:
                data += await self.fx2.receive()
            return data

        return await with_timeout(take(), limit_us, "us")


@cocotb.test()
async def bytes_come_back_in_order_whatever_waits(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    rng = bench.rng
    step = bench.width // 8
    for stall in (0.0, 0.5, 0.9):
        bench.stall = stall
        data = bench.stream(4 * rng.randrange(1_000, 1_800))

        async def host(data: bytes = data) -> None:
            while data:
                count = min(len(data), rng.choice([step, 2 * step, 28, 84, 510, PACKET, PACKET]))
                await bench.fx2.send(data[:count])
                data = data[count:]
                await Timer(rng.choice([1, 200, 9_450]), "ns")

        sender = cocotb.start_soon(host())
        back = b""
        while len(back) < len(data):
            back += await with_timeout(bench.fx2.receive(), 4_000, "us")
            await Timer(rng.choice([1, 500, 30_000]), "ns")
        assert back == data
        await sender
    assert bench.aborts == 0


@cocotb.test()
async def a_short_reply_leaves_after_a_bounded_number_of_cycles(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for length in (4, 28, 84, 508):
        await Timer(bench.rng.randrange(1_000, 3_000), "ns")
        start = bench.fx2.cycle
        data = bench.stream(length)
        await bench.fx2.send(data)
        assert await bench.collect(length) == data
        pieces = length * 8 // bench.width
        elapsed = bench.fx2.ends[-1] - start
        dut._log.info("reply of %d bytes ended %d cycles after its request came", length, elapsed)
        # In and out once each, in bursts of what the queues hold; 8 quiet cycles; crossings, turns.
        assert elapsed <= 2 * pieces + 6 * (1 + length // 64) + 32


@cocotb.test()
async def packets_that_are_all_full_are_followed_by_an_empty_one_later(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    data = bench.stream(2 * PACKET)
    await bench.fx2.send(data[:PACKET])
    await bench.fx2.send(data[PACKET:])
    assert await bench.collect(2 * PACKET) == data
    full = bench.fx2.cycle
    assert bench.fx2.ends == []
    assert await with_timeout(bench.fx2.receive(), 100, "us") == b""
    assert ZLP <= bench.fx2.ends[0] - full <= ZLP + 20
    await Timer(60, "us")
    assert len(bench.fx2.ends) == 1
    assert bench.fx2.committed == []


@cocotb.test()
async def nothing_is_ended_while_the_service_owes_words(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    data = bench.stream(8)
    bench.allowed = 1
    await bench.fx2.send(data)
    await Timer(50, "us")
    assert bench.fx2.filling == data[:4]
    assert bench.fx2.committed == []
    bench.allowed = None
    assert await bench.collect(8) == data


@cocotb.test()
async def a_host_that_does_not_read_stops_the_stream_and_loses_nothing(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    data = bench.stream(10 * PACKET)

    async def host() -> None:
        for at in range(0, len(data), PACKET):
            await bench.fx2.send(data[at : at + PACKET])

    cocotb.start_soon(host())
    await Timer(300, "us")
    assert len(bench.fx2.committed) == BUFFERS
    assert len(bench.fx2.out) == BUFFERS
    assert await bench.collect(len(data)) == data


@cocotb.test()
async def part_of_a_word_waits_and_is_dropped_when_stale(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.fx2.send(b"\x01\x02")
    await Timer(5, "us")
    await bench.fx2.send(b"\x03\x04")
    assert await bench.collect(4) == b"\x01\x02\x03\x04"
    assert bench.aborts == 0
    await bench.fx2.send(b"\xaa\xbb")
    await Timer(STALE * 21 + 1_000, "ns")
    assert bench.aborts == 1
    await bench.fx2.send(b"\x05\x06\x07\x08")
    assert await bench.collect(4) == b"\x05\x06\x07\x08"
    assert bench.taken == [0x01020304, 0x05060708]


@cocotb.test()
async def closing_drops_what_is_under_way_and_a_new_session_starts_clean(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(opened=False)
    bench.fx2.out.append(b"\0" * 8)
    await Timer(2, "us")
    assert len(bench.fx2.out) == 1, "read while closed"
    bench.fx2.reset_fifos()
    for number in range(1, 9):
        await bench.open()
        bench.allowed = None if number % 2 else 0
        sender = cocotb.start_soon(bench.fx2.send(bench.stream(4 * bench.rng.randrange(1, 120) + 2)))
        await Timer(bench.rng.randrange(300, 6_000), "ns")
        bench.allowed = None
        await bench.close()
        await sender
        assert bench.aborts == number
        assert (bench.words, bench.fx2.committed, bench.fx2.filling) == ([], [], b"")
    await bench.open()
    data = bench.stream(64)
    await bench.fx2.send(data)
    assert await bench.collect(64) == data


@cocotb.test()
async def idle_is_told_once_nothing_moves(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.fx2.send(bench.stream(8))
    await bench.collect(8)
    await Timer(2, "us")
    for _ in range(200):
        await RisingEdge(dut.clk_i)
        assert dut.idle_o.value
    await bench.fx2.send(b"\x01\x02")
    await Timer(1, "us")
    assert not dut.idle_o.value, "a part of a word has a timer running"
