# SPDX-License-Identifier: Apache-2.0
"""Two ends of a torus link over lanes that are late and spoil words.

Each end has a router's port: flits of two channels under credits in, buffers of a router behind. Every flit
that comes out is compared. A packet may be missing, or end with a poisoned tail, only where a test spoils
words or takes the link down.
"""

from __future__ import annotations

import os
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly

LANES, DELAY, MAX_SKEW = 4, int(os.environ["TORUS_DELAY"]), 4
DEPTH, MAX_WORDS = int(os.environ["TORUS_DEPTH"]), int(os.environ["TORUS_MAX_WORDS"])
ALIGN_WORDS, INIT_WORDS = int(os.environ["TORUS_ALIGN_WORDS"]), int(os.environ["TORUS_INIT_WORDS"])
WIDTH = 32 * LANES
POISON = (1 << WIDTH) - 1
COUNTS = ("dropped", "torn", "gaps", "invalid", "refused", "downs")
SOP, EOP, EDB = 0x8FB, 0x8FD, 0x8FE


@dataclass
class Port:
    """A router's port at one end: what it sends, and its buffers for what comes."""

    queues: list[deque[list[int]]] = field(default_factory=lambda: [deque(), deque()])
    at: list[int] = field(default_factory=lambda: [0, 0])
    credit: list[int] = field(default_factory=lambda: [DEPTH, DEPTH])
    sent: list[deque[list[int]]] = field(default_factory=lambda: [deque(), deque()])
    eager: float = 1.0
    last: int = 1
    stored: list[int] = field(default_factory=lambda: [0, 0])
    give: list[float] = field(default_factory=lambda: [1.0, 1.0])
    open: list[list[int] | None] = field(default_factory=lambda: [None, None])
    came: list[int] = field(default_factory=lambda: [0, 0])
    poisoned: int = 0
    missing: int = 0
    flits: list[int] = field(default_factory=lambda: [0, 0])
    first: int | None = None
    """Cycle in which the first flit came out."""


class Bench:
    """Both ends; `rate`: words with a wrong bit in 10000, on any lane."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.ports = [Port(), Port()]
        self.cycle = 0
        self.rate = 0
        self.exact = True
        self.number = 0
        self.signal = [(1 << LANES) - 1] * 2
        self.spoil_next: dict[int, int] = {}
        self.times: dict[str, int] = {}

    def packet(self, end: int, vc: int, flits: int) -> list[int]:
        """A packet whose first word is like no other's; the payload has words of ones too."""
        self.number += 1
        words = [self.rng.getrandbits(WIDTH) for _ in range(flits)]
        words[0] = self.number << 32 | self.rng.getrandbits(32)
        if flits > 3:
            words[self.rng.randrange(1, flits - 1)] = POISON
        self.ports[end].queues[vc].append(words)
        return words

    def counts(self, end: int) -> dict[str, int]:
        value = self.dut.count_o.value.to_unsigned() >> 32 * len(COUNTS) * end
        return {name: value >> 32 * place & 0xFFFFFFFF for place, name in enumerate(COUNTS)}

    async def start(self, skew: list[list[int]] | None = None, up: bool = True) -> None:
        d = self.dut
        d.rst_ni.value = 0
        for name in (
            "in_valid_i",
            "in_vc_i",
            "in_head_i",
            "in_tail_i",
            "in_data_i",
            "out_freed_i",
            "spoil_i",
        ):
            getattr(d, name).value = 0
        rows = skew or [[0] * LANES] * 2
        d.skew_i.value = sum(
            s << 4 * (LANES * e + n) for e, row in enumerate(rows) for n, s in enumerate(row)
        )
        d.signal_i.value = (1 << 2 * LANES) - 1
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        await ClockCycles(d.clk_i, DELAY + 20)
        await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        if up:
            await self.until_up()

    async def until_up(self) -> None:
        for _ in range(4 * INIT_WORDS + 8 * ALIGN_WORDS):
            await self.step()
            if int(self.dut.up_o.value) == 3:
                for _ in range(60):
                    await self.step()
                return
        raise AssertionError("not up")

    def drive(self) -> None:
        d = self.dut
        valid = vcs = head = tail = data = freed = spoil = 0
        for e, port in enumerate(self.ports):
            ready = [v for v in (1 - port.last, port.last) if port.queues[v] and port.credit[v]]
            if ready and self.rng.random() < port.eager:
                v = port.last = ready[0]
                words = port.queues[v][0]
                at = port.at[v]
                valid |= 1 << e
                vcs |= v << e
                head |= (at == 0) << e
                tail |= (at == len(words) - 1) << e
                data |= words[at] << WIDTH * e
                self.times.setdefault(f"in{e}", self.cycle)
                port.credit[v] -= 1
                if at == 0:
                    port.sent[v].append(words)
                port.at[v] = at + 1
                if at + 1 == len(words):
                    port.at[v] = 0
                    port.queues[v].popleft()
            for v in (0, 1):
                if port.stored[v] and self.rng.random() < port.give[v]:
                    port.stored[v] -= 1
                    freed |= 1 << 2 * e + v
            if self.rate and self.rng.randrange(10000) < self.rate:
                spoil |= 1 << 36 * (LANES * e + self.rng.randrange(LANES)) + self.rng.randrange(36)
            spoil |= self.spoil_next.pop(e, 0) << 36 * LANES * e
        d.in_valid_i.value, d.in_vc_i.value, d.in_head_i.value = valid, vcs, head
        d.in_tail_i.value, d.in_data_i.value, d.out_freed_i.value = tail, data, freed
        d.spoil_i.value = spoil
        d.signal_i.value = self.signal[0] | self.signal[1] << LANES

    async def step(self) -> None:
        """One cycle: drive, look before the edge, clock."""
        self.drive()
        await ReadOnly()
        d = self.dut
        back, valid = int(d.in_freed_o.value), int(d.out_valid_o.value)
        for e, port in enumerate(self.ports):
            for v in (0, 1):
                port.credit[v] += back >> 2 * e + v & 1
                assert port.credit[v] <= DEPTH
            if valid >> e & 1:
                self.take(
                    e,
                    int(d.out_vc_o.value) >> e & 1,
                    int(d.out_head_o.value) >> e & 1,
                    int(d.out_tail_o.value) >> e & 1,
                    d.out_data_o.value.to_unsigned() >> WIDTH * e & POISON,
                )
        await FallingEdge(d.clk_i)
        self.cycle += 1

    def take(self, e: int, v: int, head: int, tail: int, word: int) -> None:
        """A flit for the buffer of channel v: it has a place, and is the next of its packet."""
        port, far = self.ports[e], self.ports[1 - e]
        self.times.setdefault(f"out{e}", self.cycle)
        port.stored[v] += 1
        port.flits[v] += 1
        assert port.stored[v] <= DEPTH, "more flits than places"
        assert bool(head) == (port.open[v] is None), "a head begins a packet, and nothing else does"
        words = port.open[v] or []
        words.append(word)
        port.open[v] = words
        if self.exact:
            assert word == far.sent[v][0][len(words) - 1], "every flit is the one that was sent"
        if not tail:
            return
        port.open[v] = None
        if word == POISON and (not far.sent[v] or words not in far.sent[v]):
            assert not self.exact
            port.poisoned += 1
            return
        # Those that are missing were lost; none comes twice, late or mixed with another.
        assert words in far.sent[v], "a packet that nobody sent"
        while far.sent[v][0] != words:
            assert not self.exact
            far.sent[v].popleft()
            port.missing += 1
        far.sent[v].popleft()
        port.came[v] += 1

    async def drain(self, limit: int = 20000) -> None:
        """Until all that is queued has left, and nothing moves any more."""
        for port in self.ports:
            port.give = [1.0, 1.0]
        quiet = 0
        for _ in range(limit):
            before = [sum(port.flits) for port in self.ports]
            await self.step()
            busy = any(any(port.queues) or any(port.stored) for port in self.ports)
            quiet = 0 if busy or before != [sum(port.flits) for port in self.ports] else quiet + 1
            if quiet > 4 * DELAY + 200:
                break
        else:
            raise AssertionError("it does not end")
        for port in self.ports:
            assert port.credit == [DEPTH, DEPTH], "every credit is back"
            assert port.open == [None, None], "every packet has its tail"

    def queue_some(self, packets: int, longest: int) -> None:
        for _ in range(packets):
            self.packet(self.rng.randrange(2), self.rng.randrange(2), self.rng.randint(1, longest))


def any_skew(rng: random.Random) -> list[list[int]]:
    return [[rng.randint(0, MAX_SKEW) for _ in range(LANES)] for _ in (0, 1)]


async def made(dut: Any, skew: bool = False) -> Bench:
    bench = Bench(dut)
    await bench.start(any_skew(bench.rng) if skew else None)
    return bench


@cocotb.test()
async def every_packet_comes_whole_and_in_order(dut: Any) -> None:
    """Both channels both ways, packets shorter and longer than buffers, sinks that pause at random."""
    for give, eager in ((1.0, 1.0), (0.5, 1.0), (1.0, 0.4), (0.15, 0.9)):
        bench = await made(dut, skew=True)
        for port in bench.ports:
            port.give, port.eager = [give, give], eager
        bench.queue_some(120, 2 * DEPTH)
        queued = sum(len(q) for port in bench.ports for q in port.queues)
        for _ in range(1500):
            await bench.step()
        await bench.drain()
        assert sum(sum(port.came) for port in bench.ports) == queued
        for end in (0, 1):
            assert set(bench.counts(end).values()) == {0}, bench.counts(end)


@cocotb.test()
async def a_flit_takes_two_cycles_out_and_four_in(dut: Any) -> None:
    """tx_* to the word's cycle at tx_o 2; rx_i of the latest lane to rx_* 4: idle link, a flit behind it."""
    for late in (0, MAX_SKEW):
        bench = Bench(dut)
        await bench.start([[late, *[0] * (LANES - 1)], [0] * LANES])
        words = bench.packet(0, bench.rng.randrange(2), 3)
        left = None
        for _ in range(60 + DELAY):
            await bench.step()
            lane = bench.dut.tx_o.value.to_unsigned() & 0xF_FFFF_FFFF
            if left is None and lane == words[0] & 0xFFFFFFFF:
                left = bench.cycle
        assert left is not None
        assert left - bench.times["in0"] == 2
        assert bench.times["out1"] - left == DELAY + late + 4
        await bench.drain()


async def rate(bench: Bench, cycles: int, vc: int | None = None) -> float:
    """Flits a cycle out of end 1, of both channels or one."""
    before = list(bench.ports[1].flits)
    for _ in range(cycles):
        await bench.step()
    moved = [b - a for a, b in zip(before, bench.ports[1].flits, strict=True)]
    return (sum(moved) if vc is None else moved[vc]) / cycles


@cocotb.test()
async def a_stalled_channel_leaves_the_link_to_the_other(dut: Any) -> None:
    """With nothing taken of channel 0 for long, channel 1 has the rate that it has alone; then all comes."""
    for v in (0, 1):
        bench = await made(dut)
        length, cycles = DEPTH - 1, 1200
        for _ in range(30):
            bench.packet(0, 1 - v, length)
        for _ in range(300):
            await bench.step()
        alone = await rate(bench, cycles, 1 - v)
        await bench.drain()
        for _ in range(60):
            bench.packet(0, 1 - v, length)
            bench.packet(0, v, length)
        bench.ports[1].give[v] = 0.0
        for _ in range(20 * DEPTH):
            await bench.step()
        assert bench.ports[1].stored[v] >= DEPTH - 2, "its buffer is full"
        for _ in range(60):
            bench.packet(0, 1 - v, length)
        beside = await rate(bench, cycles, 1 - v)
        assert abs(beside - alone) < 0.01, (beside, alone)
        assert await rate(bench, 100, v) == 0
        bench.ports[1].give[v] = 1.0
        await bench.drain()


@cocotb.test()
async def a_full_link_carries_what_framing_leaves(dut: Any) -> None:
    """Packets that wait: n flits take n + 2 words of the line for each chunk, beside the marks."""
    for flits in (MAX_WORDS, 6, 2 * MAX_WORDS):
        chunks = -(-flits // MAX_WORDS)
        words = flits + 2 * chunks
        bench = await made(dut)
        for _ in range(3000 // flits + 20):
            bench.packet(0, 0, flits)
            bench.packet(0, 1, flits)
        for _ in range(4 * DEPTH + 100):
            await bench.step()
        found = await rate(bench, 2000)
        limit = flits / words * ALIGN_WORDS / (ALIGN_WORDS + 1)
        bench.dut._log.info(f"{flits} flits: {found:.4f} of {limit:.4f}")
        assert 0.985 * limit < found <= limit + 0.01, (flits, found, limit)
        for port in bench.ports:
            for queue in port.queues:
                while len(queue) > 1:
                    queue.pop()
        await bench.drain()


@cocotb.test()
async def a_wrong_word_costs_its_packet_and_nothing_else(dut: Any) -> None:
    """Wrong bits anywhere, up to one word in 17: what comes whole is right, what is torn is counted."""
    for rate_, eager in ((40, 1.0), (200, 0.6), (400, 0.3), (600, 1.0)):
        bench = await made(dut, skew=True)
        bench.rate, bench.exact = rate_, False
        for port in bench.ports:
            # Flits that come slowly: most chunks end with a pause.
            port.give, port.eager = [0.9, 0.6], eager
        bench.queue_some(250, 12)
        queued = sum(len(q) for port in bench.ports for q in port.queues)
        while any(any(port.queues) for port in bench.ports):
            await bench.step()
        bench.rate = 0
        await bench.drain()
        came = sum(sum(port.came) for port in bench.ports)
        counts = [bench.counts(end) for end in (0, 1)]
        bad = sum(c["torn"] + c["gaps"] for c in counts)
        assert sum(port.poisoned for port in bench.ports) <= sum(c["torn"] for c in counts)
        assert came < queued, "some were hit"
        assert queued - came <= 3 * bad, (queued, came, counts)
        assert bad <= 2 * (queued - came), (queued, came, counts)
        assert [c["downs"] + c["dropped"] for c in counts] == [0, 0]
        # A begin that was lost last shows at the next one, whose packet is lost too. Behind that nothing
        # is different.
        for vc in (0, 1):
            for end in (0, 1):
                bench.packet(end, vc, 3)
        await bench.drain()
        bench.exact = True
        for port in bench.ports:
            port.sent = [deque(), deque()]
        counts = [bench.counts(end) for end in (0, 1)]
        bench.queue_some(30, 40)
        await bench.drain()
        assert [bench.counts(end) for end in (0, 1)] == counts


@cocotb.test()
async def a_lost_begin_mixes_no_packets(dut: Any) -> None:
    """The Sop of a middle chunk, of a tail's, of a whole packet: what is without it never joins another."""
    for flits, hit in ((3 * MAX_WORDS, 1), (2 * MAX_WORDS, 1), (4, 0), (2 * MAX_WORDS, 0)):
        bench = await made(dut)
        bench.exact = False
        vc = bench.rng.randrange(2)
        for _ in range(6):
            bench.packet(0, vc, flits)
        begun = 0
        for _ in range(40 * MAX_WORDS + 400):
            if (bench.dut.tx_o.value.to_unsigned() >> 24 & 0xFFF) == SOP:
                # Packets of one chunk: hit the third; of several: a chunk of the second.
                if begun == (2 if flits < MAX_WORDS else flits // MAX_WORDS + hit):
                    bench.spoil_next[0] = 1 << 9
                begun += 1
            await bench.step()
        await bench.drain()
        counts = bench.counts(1)
        assert (counts["gaps"], counts["refused"]) == (1, 0), counts
        assert counts["torn"] == (1 if hit else 0)
        assert sum(bench.ports[1].came) in (4, 5), "one packet is lost, or two"
        assert bench.ports[1].poisoned == counts["torn"]


@cocotb.test()
async def a_link_that_goes_down_drops_and_comes_back(dut: Any) -> None:
    """In the middle of packets of both channels, at any moment: torn ones end, the rest is dropped, and
    counted; up again, packets come whole."""
    bench = await made(dut, skew=True)
    for _ in range(8):
        bench.exact = False
        for port in bench.ports:
            port.give = [bench.rng.choice((0.3, 1.0)) for _ in (0, 1)]
        bench.queue_some(60, 3 * DEPTH)
        for _ in range(bench.rng.randrange(20, 600)):
            await bench.step()
        before = [bench.counts(end) for end in (0, 1)]
        queued = [sum(len(q) for q in port.queues) for port in bench.ports]
        end, lane = bench.rng.randrange(2), bench.rng.randrange(LANES)
        bench.signal[end] ^= 1 << lane
        for _ in range(bench.rng.choice((3, 4 * DELAY + 40, 2000))):
            await bench.step()
        bench.signal[end] = (1 << LANES) - 1
        for _ in range(4 * DELAY + 40):
            await bench.step()
        await bench.until_up()
        await bench.drain()
        after = [bench.counts(e) for e in (0, 1)]
        assert all(a["downs"] == b["downs"] + 1 for a, b in zip(after, before, strict=True))
        for e in (0, 1):
            dropped = after[e]["dropped"] - before[e]["dropped"]
            assert 0 < dropped <= queued[e] + 2 * DEPTH, (queued, dropped)
        for port in bench.ports:
            port.sent = [deque(), deque()]
        bench.exact = True
        bench.queue_some(30, 2 * DEPTH)
        await bench.drain()


@cocotb.test()
async def before_the_link_is_up_packets_are_dropped_and_counted(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(up=False)
    bench.signal = [0, 0]
    for _ in range(20):
        bench.packet(0, bench.rng.randrange(2), 9)
    await bench.drain()
    assert bench.counts(0) == {**dict.fromkeys(COUNTS, 0), "dropped": 20}
    assert sum(bench.ports[1].flits) == 0
