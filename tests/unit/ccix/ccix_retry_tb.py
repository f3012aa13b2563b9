# SPDX-License-Identifier: Apache-2.0
"""An AXI master of cocotbext-axi whose pages go away and come back, and ccix_retry in front of it.

Memory is a subordinate of cocotbext-axi, which answers with SLVERR where a page is away. It counts what is
written to each 8 bytes: each beat of the master once.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Event, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiResp, AxiSlave
from cocotbext.axi.address_space import Region

BEAT, PAGE, PAGES = 8, 4096, 4
TRIES = int(os.environ.get("CCIX_TRIES", "15"))


class AwayError(Exception):
    """The page is not mapped."""


class Memory(Region):
    """Pages, of which some are away."""

    def __init__(self) -> None:
        super().__init__(PAGES * PAGE)
        self.content = bytearray(PAGES * PAGE)
        self.away: set[int] = set()
        self.written: Counter[int] = Counter()
        self.refused: Counter[tuple[str, int]] = Counter()

    def reach(self, kind: str, at: int) -> None:
        if at // PAGE in self.away:
            self.refused[kind, at // BEAT] += 1
            raise AwayError

    async def _read(self, address: int, length: int, **_: Any) -> bytes:
        self.reach("read", address)
        return bytes(self.content[address : address + length])

    async def _write(self, address: int, data: bytes, **_: Any) -> None:
        self.reach("write", address)
        self.content[address : address + len(data)] = data
        self.written[address // BEAT] += 1


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.memory = Memory()
        self.wanted: Counter[int] = Counter()
        cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
        dut.rst_ni.value = 0
        self.master = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.clk_i, dut.rst_ni, False)
        self.port = AxiSlave(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, self.memory, False)

    async def start(self) -> None:
        await self.clocks(3)
        self.dut.rst_ni.value = 1
        await self.clocks(3)

    async def clocks(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.clk_i)

    def pauses(self) -> None:
        def some(chance: float) -> Any:
            while True:
                yield self.rng.random() < chance

        write, read = self.master.write_if, self.master.read_if
        port_write, port_read = self.port.write_if, self.port.read_if
        for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel):
            channel.set_pause_generator(some(0.2))
        for channel in (port_write.aw_channel, port_write.w_channel, port_write.b_channel):
            channel.set_pause_generator(some(0.3))
        for channel in (port_read.ar_channel, port_read.r_channel):
            channel.set_pause_generator(some(0.3))

    def write(self, at: int, data: bytes) -> Event:
        for beat in range(at // BEAT, (at + len(data) - 1) // BEAT + 1):
            self.wanted[beat] += 1
        return self.master.init_write(at, data, awid=0)

    @property
    def retries(self) -> int:
        return int(self.dut.retries_o.value)


async def result(event: Event) -> Any:
    await event.wait()
    return event.data


async def host(one: Bench, longest: int, stop: Event) -> None:
    """Takes pages away, and gives each back before the last try."""
    while not stop.is_set():
        await one.clocks(one.rng.randrange(20, 300))
        page = one.rng.randrange(PAGES)
        one.memory.away.add(page)
        await one.clocks(one.rng.randrange(1, longest))
        one.memory.away.discard(page)


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def what_the_host_takes_away_and_gives_back_is_read_and_written_once(dut: Any) -> None:
    """Bursts that do not wait for each other; those to one place in the master's order."""
    one = Bench(dut)
    await one.start()
    one.pauses()
    stop = Event()
    moving = cocotb.start_soon(host(one, 200, stop))
    rng, compared = one.rng, 0
    half = PAGES * PAGE // 2
    # The master writes below and in the end reads there; meanwhile it reads above.
    wanted = bytearray(rng.randbytes(half))
    one.memory.content[:half] = wanted
    one.memory.content[half:] = rng.randbytes(half)
    for _ in range(60):
        writes, reads = [], []
        places = [rng.randrange(half - 300) for _ in range(2)]
        for _ in range(rng.randrange(1, 6)):
            # Aligned bursts, and parts of one beat.
            if rng.random() < 0.5:
                at = rng.choice(places) // BEAT * BEAT
                data = rng.randbytes(BEAT * rng.randrange(1, 30))
            else:
                at = rng.choice(places)
                data = rng.randbytes(rng.randrange(1, BEAT - at % BEAT + 1))
            wanted[at : at + len(data)] = data
            writes.append(one.write(at, data))
            at = half + rng.randrange(half // BEAT - 40) * BEAT
            reads.append((at, one.master.init_read(at, BEAT * rng.randrange(1, 40), arid=0)))
        for at, event in reads:
            found = await result(event)
            assert found.resp == AxiResp.OKAY
            assert found.data == one.memory.content[at : at + len(found.data)]
            compared += len(found.data)
        for event in writes:
            assert (await result(event)).resp == AxiResp.OKAY
        assert one.memory.content[:half] == wanted
    stop.set()
    await moving
    assert one.memory.written == one.wanted, "each beat is written once"
    assert one.retries > 50
    assert sum(one.memory.refused.values()) >= one.retries
    assert {kind for kind, _ in one.memory.refused} == {"read", "write"}
    assert compared > 10_000


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_page_that_stays_away_is_an_error_behind_the_last_try(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    one.memory.away = {1}
    bad, good = PAGE, 2 * PAGE
    events = [one.write(at, bytes([at >> 12] * 16)) for at in (good, bad, good + 16)]
    found = [(await result(event)).resp for event in events]
    assert found == [AxiResp.OKAY, AxiResp.SLVERR, AxiResp.OKAY]
    assert one.memory.refused == {("write", bad // BEAT): TRIES + 1, ("write", bad // BEAT + 1): TRIES + 1}
    assert one.retries == 2 * TRIES
    one.memory.refused.clear()
    reads = [one.master.init_read(at, 24, arid=0) for at in (good, bad, good)]
    answers = [await result(event) for event in reads]
    assert [one_answer.resp for one_answer in answers] == [AxiResp.OKAY, AxiResp.SLVERR, AxiResp.OKAY]
    assert answers[0].data == answers[2].data == one.memory.content[good : good + 24]
    assert one.memory.refused["read", bad // BEAT] == TRIES + 1
    # The rest of that burst comes as it is, once.
    assert one.retries == 3 * TRIES
    # It begins anew with the next page.
    assert one.memory.content[good : good + 32] == bytes([2] * 32)
    one.memory.away = set()
    assert (await result(one.master.init_read(bad, 24, arid=0))).resp == AxiResp.OKAY


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_later_write_to_a_line_waits_for_the_one_that_is_tried_again(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    one.memory.away = {0}
    first, second = one.write(0, b"A" * BEAT), one.write(0, b"B" * BEAT)
    other = one.write(PAGE, b"C" * BEAT)
    await one.clocks(100)
    assert one.retries > 0
    assert one.memory.written == {}, "the answer of a burst waits for those before it, and so does the line"
    one.memory.away = set()
    for event in (first, second, other):
        assert (await result(event)).resp == AxiResp.OKAY
    assert one.memory.content[:BEAT] == b"B" * BEAT
    assert one.memory.written == one.wanted


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_burst_goes_on_from_the_beat_that_was_refused(dut: Any) -> None:
    """The page goes in mid-burst: beats that the master has are not read again."""
    one = Bench(dut)
    await one.start()
    one.memory.content[:PAGE] = one.rng.randbytes(PAGE)
    event = one.master.init_read(64, 64 * BEAT, arid=0)
    await one.clocks(30)
    one.memory.away = {0}
    await one.clocks(60)
    one.memory.away = set()
    found = await result(event)
    assert found.resp == AxiResp.OKAY
    assert found.data == one.memory.content[64 : 64 + 64 * BEAT]
    refused = [beat for kind, beat in one.memory.refused if kind == "read"]
    assert min(refused) > 64 // BEAT, "some beats came before"
    assert one.retries >= 1
