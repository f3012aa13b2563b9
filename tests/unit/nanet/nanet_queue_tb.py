# SPDX-License-Identifier: Apache-2.0
"""nanet_queue: datagrams go in as words and come out as beats; what finds no room is lost and counted."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, with_timeout
from nanet_stages_tb import DATA, END, GOOD, HEAD, OVERFLOW, Datagram, parts

LOW = (1 << 64) - 1


@dataclass
class Bench:
    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    out: list[tuple[int, int]] = field(default_factory=list)
    ready: float = 1.0
    lost: int = 0
    firsts: int = 0
    lasts: int = 0
    taken_ends: int = 0

    def __post_init__(self) -> None:
        self.width = int(self.dut.DataWidth.value) // 8
        self.word = int(self.dut.WordWidth.value) // 8

    async def start(self) -> None:
        d = self.dut
        d.rst_ni.value, d.in_valid_i.value, d.in_i.value, d.beat_ready_i.value = 0, 0, 0, 0
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self.look())
        await FallingEdge(d.clk_i)

    async def look(self) -> None:
        d = self.dut
        usage = ends = 0
        offered = None
        while True:
            d.beat_ready_i.value = self.rng.random() < self.ready
            await ReadOnly()
            self.lost += int(d.head_lost_o.value)
            self.firsts += int(d.first_o.value)
            self.lasts += int(d.last_o.value)
            now = (int(d.beat_kind_o.value), int(d.beat_o.value)) if d.beat_valid_o.value else None
            if offered is not None:
                assert now == offered, "an offered beat changed before it was taken"
            # In a clock at most one beat comes and one goes, and so with ends.
            came = int(d.usage_o.value) - usage
            assert came in (0, 1)
            assert int(d.ends_o.value) - ends in (0, came)
            usage, ends = int(d.usage_o.value), int(d.ends_o.value)
            assert ends == self.lasts - int(d.last_o.value) - self.taken_ends
            if now is not None:
                assert usage > 0, "a beat is offered and none is counted"
            offered = now
            if now is not None and d.beat_ready_i.value:
                self.out.append(now)
                usage -= 1
                ends -= now[0] == END
                self.taken_ends += now[0] == END
                offered = None
            await FallingEdge(d.clk_i)

    async def put(self, datagram: Datagram, eager: float) -> None:
        d = self.dut
        padded = datagram.payload.ljust(datagram.words * self.word, b"\xee")
        words = [padded[n * self.word :][: self.word] for n in range(datagram.words)]
        data = [(DATA, int.from_bytes(word, "big")) for word in words]
        for kind, value in [(HEAD, datagram.head), *data, (END, datagram.end)]:
            while self.rng.random() > eager:
                d.in_valid_i.value = 0
                await FallingEdge(d.clk_i)
            d.in_i.value, d.in_valid_i.value = kind << 64 | value, 1
            await FallingEdge(d.clk_i)
        d.in_valid_i.value = 0

    def datagram(self, number: int, most: int) -> Datagram:
        payload = self.rng.randbytes(self.rng.randrange(most + 1))
        return Datagram(payload, -(-len(payload) // self.word), self.rng.choice((0, GOOD)), number)

    def beats(self, datagram: Datagram) -> int:
        """With its head and its end."""
        return 2 + -(-len(datagram.payload) // self.width)

    def check(self, whole: list[tuple[int, int]], sent: Datagram) -> bool:
        """Whether it came whole; what came of it is right."""
        head, *data, end = whole
        assert (head[0], head[1] & LOW) == (HEAD, sent.head)
        come = b"".join(beat.to_bytes(self.width, "little") for _, beat in data)
        if end[1] & LOW & OVERFLOW:
            assert sent.payload.startswith(come)
            return False
        assert end[1] & LOW == sent.end
        assert len(data) == self.beats(sent) - 2
        assert come[: len(sent.payload)] == sent.payload
        return True

    async def idle(self) -> None:
        async def wait() -> None:
            while not self.dut.idle_o.value:
                await FallingEdge(self.dut.clk_i)

        for _ in range(3):
            await FallingEdge(self.dut.clk_i)
        await with_timeout(wait(), 1, "ms")
        assert int(self.dut.usage_o.value) == int(self.dut.ends_o.value) == 0


@cocotb.test()
@cocotb.parametrize(ready=[1.0, 0.5, 0.02])
async def every_datagram_comes_in_order_or_its_loss_is_counted(dut: Any, ready: float) -> None:
    bench = Bench(dut, ready=ready)
    await bench.start()
    sent = {}
    slow = ready < 0.5
    number = 0
    # Slowly: until enough found no room, behind stores that hold many.
    while number < 200 or (slow and bench.lost <= 10 and number < 4000):
        one = bench.datagram(number, bench.rng.choice((0, 20, 120)))
        sent[one.head] = one
        await bench.put(one, bench.rng.choice((0.3, 1.0)))
        number += 1
    bench.ready = 1.0
    await bench.idle()
    got = parts(bench.out)
    assert bench.lost + len(got) == len(sent)
    assert bench.firsts == bench.lasts == len(got)
    came = [sent[whole[0][1] & LOW] for whole in got]
    assert [one.port for one in came] == sorted(one.port for one in came)
    whole = [bench.check(beats, one) for beats, one in zip(got, came, strict=True)]
    if ready == 1.0:
        assert bench.lost == 0
        assert all(whole)
    elif slow:
        assert bench.lost > 10
        assert not all(whole)


@cocotb.test()
async def what_waits_is_counted_in_beats_and_ends(dut: Any) -> None:
    bench = Bench(dut, ready=0.0)
    await bench.start()
    waiting = []
    for number in range(4):
        waiting.append(bench.datagram(number, 30))
        await bench.put(waiting[-1], 1.0)
        assert not dut.idle_o.value
    for _ in range(60):
        await FallingEdge(dut.clk_i)
    # Two places behind the queue's memory hold beats too: all of them count.
    assert int(dut.usage_o.value) == sum(map(bench.beats, waiting))
    assert int(dut.ends_o.value) == len(waiting)
    assert not dut.idle_o.value
    bench.ready = 1.0
    await bench.idle()
    for beats, one in zip(parts(bench.out), waiting, strict=True):
        assert bench.check(beats, one)
