# SPDX-License-Identifier: Apache-2.0
"""nanet_guard, nanet_store and nanet_pack, each as the top: random datagrams, random stalls.

What comes out is taken apart into datagrams and held against what went in.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, with_timeout

HEAD, DATA, END = range(3)
GOOD, OVERFLOW = 1, 2


@dataclass
class Datagram:
    """One on its way: payload, how many of its words come, and its end."""

    payload: bytes
    words: int
    end: int = GOOD
    port: int = 0

    @property
    def head(self) -> int:
        return 0xC0A80001 << 32 | self.port << 16 | len(self.payload)

    def entries(self) -> list[tuple[int, int]]:
        padded = self.payload.ljust(-(-len(self.payload) // 4) * 4, b"\xee")
        data = [int.from_bytes(padded[4 * n : 4 * n + 4], "big") for n in range(self.words)]
        return [(HEAD, self.head), *((DATA, word) for word in data), (END, self.end)]


@dataclass
class Bench:
    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    out: list[tuple[int, int]] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    lost: int = 0
    cycle: int = 0

    async def start(self, ready: float) -> None:
        d = self.dut
        d.rst_ni.value = 0
        d.in_valid_i.value = 0
        d.in_i.value = 0
        d.out_ready_i.value = 0
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self.take(ready))
        await FallingEdge(d.clk_i)

    async def take(self, ready: float) -> None:
        """Takes what comes in a share of the cycles; what is offered must stay until then."""
        d = self.dut
        offered = None
        while True:
            await FallingEdge(d.clk_i)
            d.out_ready_i.value = self.rng.random() < ready
            await RisingEdge(d.clk_i)
            self.cycle += 1
            if hasattr(d, "lost_o"):
                self.lost += int(d.lost_o.value)
            now = self.entry() if d.out_valid_o.value else None
            # The guard passes what cannot wait; behind it nothing is taken back.
            if offered is not None and not hasattr(d, "lost_o"):
                assert now == offered
            taken = now is not None and bool(d.out_ready_i.value)
            if taken and now is not None:
                self.out.append(now)
                self.at.append(self.cycle)
            offered = None if taken else now

    def entry(self) -> tuple[int, int]:
        d = self.dut
        if hasattr(d, "out_kind_o"):
            return int(d.out_kind_o.value), int(d.out_o.value)
        value = int(d.out_o.value)
        return value >> 64, value & (1 << 64) - 1

    async def put(self, entries: list[tuple[int, int]], eager: float) -> None:
        d = self.dut
        for kind, data in entries:
            while self.rng.random() > eager:
                await FallingEdge(d.clk_i)
            d.in_i.value = kind << 64 | data
            d.in_valid_i.value = 1
            await RisingEdge(d.clk_i)
            while hasattr(d, "in_ready_o") and not d.in_ready_o.value:
                await RisingEdge(d.clk_i)
            await FallingEdge(d.clk_i)
            d.in_valid_i.value = 0

    async def end(self) -> None:
        async def idle() -> None:
            while not self.dut.idle_o.value:
                await FallingEdge(self.dut.clk_i)

        for _ in range(4):
            await FallingEdge(self.dut.clk_i)
        await with_timeout(idle(), 1, "ms")

    def datagrams(self, count: int, most: int, cut: float = 0.0) -> list[Datagram]:
        made = []
        for number in range(count):
            payload = self.rng.randbytes(self.rng.randrange(most + 1))
            words = -(-len(payload) // 4)
            end = self.rng.choice((0, GOOD))
            if self.rng.random() < cut:
                words, end = self.rng.randrange(words + 1), 0
            made.append(Datagram(payload, words, end, number))
        return made


def parts(entries: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Datagrams, each from its head to its end."""
    found: list[list[tuple[int, int]]] = []
    for entry in entries:
        if entry[0] == HEAD:
            assert not found or found[-1][-1][0] == END, "a head inside a datagram"
            found.append([])
        else:
            assert found, "outside a datagram"
            assert found[-1][-1][0] != END, "outside a datagram"
        found[-1].append(entry)
    assert not found or found[-1][-1][0] == END
    return found


async def guard(dut: Any, ready: float) -> None:
    bench = Bench(dut)
    await bench.start(ready)
    sent = bench.datagrams(200, 60)
    for datagram in sent:
        await bench.put(datagram.entries(), bench.rng.choice((0.3, 1.0)))
    await bench.end()
    got = parts(bench.out)
    assert bench.lost + len(got) == len(sent)
    by_head = {datagram.head: datagram for datagram in sent}
    numbers = []
    cuts = 0
    for whole in got:
        datagram = by_head[whole[0][1]]
        numbers.append(datagram.port)
        if whole != datagram.entries():
            cuts += 1
            assert whole[-1] == (END, OVERFLOW)
            assert whole[:-1] == datagram.entries()[: len(whole) - 1]
    assert numbers == sorted(numbers)
    if ready == 1.0:
        assert bench.lost == cuts == 0
    else:
        assert bench.lost > 0
        assert cuts > 0


async def store(dut: Any, ready: float) -> None:
    bench = Bench(dut)
    await bench.start(ready)
    sent = bench.datagrams(100, 200)
    for datagram in sent:
        await bench.put(datagram.entries(), bench.rng.choice((0.3, 1.0)))
    await bench.end()
    assert parts(bench.out) == [datagram.entries() for datagram in sent]
    # Nothing leaves before the end is in.
    one = Datagram(bench.rng.randbytes(400), 100)
    before = len(bench.out)
    await bench.put(one.entries()[:-1], 1.0)
    for _ in range(20):
        await FallingEdge(dut.clk_i)
    assert len(bench.out) == before
    await bench.put(one.entries()[-1:], 1.0)
    begin = bench.cycle
    await bench.end()
    assert bench.out[before:] == one.entries()
    if ready == 1.0:
        assert bench.at[before] - begin == 1
        assert bench.at[-1] - bench.at[before] == len(one.entries()) - 1


async def pack(dut: Any, ready: float) -> None:
    bench = Bench(dut)
    await bench.start(ready)
    width = len(dut.out_o) // 8
    sent = bench.datagrams(150, 200, cut=0.2)
    for datagram in sent:
        await bench.put(datagram.entries(), bench.rng.choice((0.3, 1.0)))
    await bench.end()
    got = parts(bench.out)
    assert len(got) == len(sent)
    low = (1 << 64) - 1
    for whole, datagram in zip(got, sent, strict=True):
        assert whole[0][1] & low == datagram.head
        assert whole[-1][1] & low == datagram.end
        come = datagram.payload[: 4 * datagram.words]
        # Of one that is cut the incomplete beat is dropped.
        if datagram.words < -(-len(datagram.payload) // 4):
            come = come[: len(come) // width * width]
        beats = [beat.to_bytes(width, "little") for _, beat in whole[1:-1]]
        assert len(beats) == -(-len(come) // width)
        assert b"".join(beats)[: len(come)] == come


CHECKS = {"nanet_guard": guard, "nanet_store": store, "nanet_pack": pack}


@cocotb.test()
@cocotb.parametrize(ready=[1.0, 0.6])
async def what_comes_out_is_what_went_in(dut: Any, ready: float) -> None:
    await CHECKS[dut._name](dut, ready)
