# SPDX-License-Identifier: Apache-2.0
"""The crossbar without links: three ports, crosspoints of 40 words, packets of up to 16."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

PORTS, DEPTH, MAX_WORDS = 3, 40, 16
SOP, DATA, EOP, EDB = range(4)
LATENCY = 3  # Sop in to Sop out
RX_LATENCY, TX_LATENCY = 2, 1


@dataclass
class Sent:
    """A packet on its way: its data words, its end, and the cycle of its Sop."""

    words: list[int]
    end: tuple[int, int]
    cycle: int
    forged: bool = False


@dataclass
class Source:
    """Feeds one input. It keeps to the room that `stored_o` leaves, unless told not to."""

    index: int
    rng: random.Random
    chance: float = 0.5  # of a packet where none is in progress
    pause: float = 0.1  # of a gap before a word
    targets: list[int] = field(default_factory=lambda: list(range(PORTS)))
    sizes: tuple[int, int] = (1, MAX_WORDS)
    rude: bool = False
    stop: bool = False
    forge: float = 0.0  # chance that a packet names another source
    flits: deque[tuple[int, int]] = field(default_factory=deque)
    target: int = 0
    count: int = 0
    sent: list[list[Sent]] = field(default_factory=lambda: [[] for _ in range(PORTS)])

    def flit(self, cycle: int, stored: list[int]) -> tuple[int, int] | None:
        rng = self.rng
        if not self.flits:
            if self.stop or rng.random() >= self.chance:
                return None
            self.target = rng.choice(self.targets)
            length = rng.randint(*self.sizes)
            if not self.rude and stored[self.target] + length + 1 > DEPTH - 1:
                return None
            self.count += 1
            words = [self.index << 28 | self.target << 24 | self.count]
            words += [rng.getrandbits(32) for _ in range(length - 1)]
            end = (rng.choice([EOP, EOP, EDB]), rng.getrandbits(24))
            forged = rng.random() < self.forge
            words[0] ^= forged << rng.randrange(24, 28)
            self.sent[self.target].append(Sent(words, end, cycle, forged))
            self.flits.extend([(SOP, self.target), *((DATA, word) for word in words), end])
        elif rng.random() < self.pause:
            return None
        return self.flits.popleft()


@dataclass
class Sink:
    """The far end of one output: words it took, and the room it tells."""

    rng: random.Random
    ready: Callable[[random.Random], bool] = lambda rng: True
    drain: Callable[[random.Random], bool] = lambda rng: True
    size: int = 512
    stored: int = 0
    words: list[int] | None = None
    stamp: int = -1
    came: list[tuple[list[int], tuple[int, int], int]] = field(default_factory=list)


class Crossbar:
    """Drives the bench; each `step` is one cycle."""

    def __init__(self, dut: Any, bench: bool = False) -> None:
        self.dut = dut
        self.bench = bench
        seed = random.getrandbits(32)
        self.sources = [Source(i, random.Random(seed + i)) for i in range(PORTS)]
        self.sinks = [Sink(random.Random(seed - 1 - i)) for i in range(PORTS)]
        self.cycle = 0
        self.up = (1 << PORTS) - 1
        self.refusals = [0] * PORTS
        self.bound: list[int] | None = None  # what each port's packets must name
        self.forged = [0] * PORTS
        self.stored = [[0] * PORTS for _ in range(PORTS)]

    clock: Any = None  # one for all that a test starts

    async def start(self) -> None:
        dut = self.dut
        if Crossbar.clock is not None:
            Crossbar.clock.cancel()
        Crossbar.clock = cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
        await FallingEdge(dut.clk_i)
        dut.bench_i.value = int(self.bench)
        for name in ("rx_valid_i", "rx_flit_i", "rx_id_i", "tx_ready_i", "room_i", "up_i", "time_i"):
            getattr(dut, name).value = 0
        dut.bind_i.value = int(self.bound is not None)
        dut.source_i.value = sum(named << 7 * i for i, named in enumerate(self.bound or []))
        dut.rst_ni.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1

    async def step(self) -> None:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        valid = flits = ids = rooms = ready = 0
        for i, source in enumerate(self.sources):
            flit = source.flit(self.cycle, self.stored[i])
            ids |= source.target << 6 * i
            if flit is not None:
                valid |= 1 << i
                flits |= (flit[0] << 32 | flit[1]) << 34 * i
        for i, sink in enumerate(self.sinks):
            rooms |= (sink.size - sink.stored) << 10 * i
            ready |= int(sink.ready(sink.rng)) << i
        dut.rx_valid_i.value = valid
        dut.rx_flit_i.value = flits
        dut.rx_id_i.value = ids
        dut.room_i.value = rooms
        dut.tx_ready_i.value = ready
        dut.up_i.value = self.up
        dut.time_i.value = self.cycle
        await ReadOnly()
        out_valid, out = dut.tx_valid_o.value.to_unsigned(), dut.tx_flit_o.value.to_unsigned()
        stored = dut.stored_o.value.to_unsigned()
        self.stored = [[stored >> 10 * (PORTS * i + o) & 1023 for o in range(PORTS)] for i in range(PORTS)]
        refused = dut.refused_o.value.to_unsigned()
        self.refusals = [was + (refused >> i & 1) for i, was in enumerate(self.refusals)]
        forged = dut.forged_o.value.to_unsigned()
        self.forged = [was + (forged >> i & 1) for i, was in enumerate(self.forged)]
        for i, sink in enumerate(self.sinks):
            if sink.stored and sink.drain(sink.rng):
                sink.stored -= 1
            if out_valid & ready & 1 << i:
                self.take(sink, out >> 34 * i & (1 << 34) - 1)
        self.cycle += 1

    def take(self, sink: Sink, flit: int) -> None:
        kind, data = flit >> 32, flit & 0xFFFFFFFF
        assert (kind == SOP) == (sink.words is None), "Sop, data, end: a packet leaves whole"
        if kind == SOP:
            assert data == 0
            assert sink.size - sink.stored >= MAX_WORDS + 1, "a packet begun without room for it"
            sink.words, sink.stamp = [], self.cycle
            return
        assert sink.words is not None
        sink.stored += 1
        assert sink.stored <= sink.size
        if kind == DATA:
            sink.words.append(data)
            return
        sink.came.append((sink.words, (kind, data), sink.stamp))
        sink.words = None

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()

    async def empty(self) -> None:
        """No more packets; until all have left and the crossbar says that it rests."""
        for source in self.sources:
            source.stop = True
        for sink in self.sinks:
            sink.ready = sink.drain = lambda rng: True
        for _ in range(1000):
            await self.step()
            busy = any(any(row) for row in self.stored) or any(s.words is not None for s in self.sinks)
            if not busy and self.dut.idle_o.value:
                return
        raise AssertionError("the crossbar does not come to rest")

    def check(self) -> int:
        """Each packet left once, at its output, in its flow's order, unchanged. Returns how many."""
        count = 0
        for o, sink in enumerate(self.sinks):
            flows: list[list[tuple[list[int], tuple[int, int], int]]] = [[] for _ in range(PORTS)]
            for packet in sink.came:
                flows[packet[0][0] >> 28].append(packet)
            for i, source in enumerate(self.sources):
                assert len(flows[i]) == len(source.sent[o])
                for sent, (words, end, left) in zip(source.sent[o], flows[i], strict=True):
                    expected, ended = list(sent.words), sent.end
                    if sent.forged:
                        ended = EDB, (expected[1] if len(expected) > 1 else ended[1])
                        expected = expected[:1]
                    if self.bench and len(expected) > 4:
                        expected[4] = (sent.cycle - RX_LATENCY) & 0xFFFFFFFF
                    if self.bench and len(expected) > 5:
                        expected[5] = left + TX_LATENCY
                    assert words == expected
                    assert end == ended
                    assert left - sent.cycle >= LATENCY
                    count += 1
        return count


@cocotb.test()
async def an_idle_crossbar_takes_three_cycles(dut: Any) -> None:
    bar = Crossbar(dut)
    for source in bar.sources:
        source.stop = True
    await bar.start()
    await bar.run(5)
    for i, source in enumerate(bar.sources):
        for o in range(PORTS):
            source.stop, source.chance, source.pause, source.targets = False, 1.0, 0.0, [o]
            await bar.step()
            await bar.empty()
            sent, (_, _, left) = source.sent[o][-1], bar.sinks[o].came[-1]
            assert left - sent.cycle == LATENCY, f"from {i} to {o}"
    bar.check()


@cocotb.test()
async def every_packet_leaves_once_in_order_and_unchanged(dut: Any) -> None:
    for bench in (False, True):
        bar = Crossbar(dut, bench)
        for source in bar.sources:
            source.pause = random.choice([0.0, 0.1, 0.6])
        for sink in bar.sinks:
            speed = random.choice([0.3, 0.8, 1.0])
            sink.ready = lambda rng, speed=speed: rng.random() < speed
            sink.drain = lambda rng, speed=speed: rng.random() < speed
            sink.size = random.choice([MAX_WORDS + 3, 64, 512])
        await bar.start()
        await bar.run(5000)
        await bar.empty()
        assert bar.check() > 300
        assert not any(bar.refusals)


@cocotb.test()
async def an_output_is_never_idle_between_packets(dut: Any) -> None:
    bar = Crossbar(dut)
    for source in bar.sources:
        source.chance, source.pause, source.sizes = 1.0, 0.0, (1, 5)
    await bar.start()
    await bar.run(60)
    # A crosspoint that was not empty for three cycles had a word for its output.
    history: deque[list[list[int]]] = deque(maxlen=3)
    full = 0
    for _ in range(1000):
        await bar.step()
        offered = dut.tx_valid_o.value.to_unsigned()
        for o in range(PORTS):
            if len(history) == 3 and any(all(was[s][o] for was in history) for s in range(PORTS)):
                full += 1
                assert offered >> o & 1, f"output {o} is idle"
        history.append(bar.stored)
    assert full > 1000
    await bar.empty()
    bar.check()


@cocotb.test()
async def inputs_take_turns_by_packet(dut: Any) -> None:
    bar = Crossbar(dut)
    for source in bar.sources:
        source.targets, source.chance, source.pause, source.sizes = [1], 1.0, 0.0, (4, 4)
    await bar.start()
    await bar.run(2000)
    order = [words[0] >> 28 for words, _, _ in bar.sinks[1].came][PORTS * 3 :]
    assert len(order) > 200
    assert all(sorted(order[n : n + PORTS]) == list(range(PORTS)) for n in range(len(order) - PORTS))
    await bar.empty()
    bar.check()


@cocotb.test()
async def an_output_that_is_down_or_full_holds_only_its_own_packets(dut: Any) -> None:
    for down in (True, False):
        bar = Crossbar(dut)
        for source in bar.sources:
            source.chance, source.pause = 1.0, 0.0
        if down:
            bar.up = 0b101
        else:
            bar.sinks[1].drain = lambda rng: False
            bar.sinks[1].size = 100
        await bar.start()
        await bar.run(400)
        before = [len(sink.came) for sink in bar.sinks]
        for source in bar.sources:
            source.targets = [[0, 1], [1, 2], [2, 1]][source.index]
        await bar.run(600)
        gained = [len(sink.came) - was for sink, was in zip(bar.sinks, before, strict=True)]
        assert gained[1] == 0
        assert gained[0] > 30
        assert gained[2] > 30
        assert all(bar.stored[i][1] + MAX_WORDS + 1 >= DEPTH - MAX_WORDS for i in range(PORTS))
        bar.up = 0b111
        await bar.empty()
        bar.check()


@cocotb.test()
async def what_does_not_fit_is_cut_and_told(dut: Any) -> None:
    bar = Crossbar(dut)
    bar.up = 0
    for source in bar.sources:
        source.chance, source.pause, source.targets = 1.0, 0.0, [0]
    rude = random.randrange(PORTS)
    bar.sources[rude].rude = True
    await bar.start()
    await bar.run(200)
    # Only who does not keep to the room is refused, and told so.
    assert bar.refusals[rude] > 3
    assert sum(bar.refusals) == bar.refusals[rude]
    assert bar.stored[rude][0] >= DEPTH - 1
    bar.up = 0b111
    await bar.empty()
    for i, source in enumerate(bar.sources):
        came = [packet for packet in bar.sinks[0].came if packet[0][0] >> 28 == i]
        whole = [packet for packet in came if packet[0] == source.sent[0][packet[0][0] - (i << 28) - 1].words]
        # What fitted whole is whole; one is cut, bad, and the start of what was sent.
        assert whole
        assert len(came) - len(whole) <= (i == rude)
        assert i == rude or len(came) == len(source.sent[0])
        for words, end, _ in came:
            sent = source.sent[0][words[0] - (i << 28) - 1]
            assert words == sent.words[: len(words)]
            assert end == sent.end if len(words) == len(sent.words) else end[0] == EDB


@cocotb.test()
async def a_packet_that_names_another_source_ends_behind_its_first_word(dut: Any) -> None:
    """Bits 30:24 of word 0 are the bound source of the port, or the packet is poisoned and counted."""
    bar = Crossbar(dut)
    bar.bound = []
    for i, source in enumerate(bar.sources):
        # Word 0 is index, target, count: with one target its upper bits are always the same.
        source.targets, source.forge = [(i + 1) % PORTS], 0.3
        bar.bound.append(i << 4 | source.targets[0])
    await bar.start()
    await bar.run(4000)
    await bar.empty()
    assert bar.check() > 150
    assert not any(bar.refusals)
    forged = [sum(sent.forged for flow in source.sent for sent in flow) for source in bar.sources]
    assert bar.forged == forged
    assert min(forged) > 5


@cocotb.test()
async def without_binding_any_source_may_be_named(dut: Any) -> None:
    bar = Crossbar(dut)
    for source in bar.sources:
        source.forge = 0.5
    await bar.start()
    await bar.run(1000)
    for source in bar.sources:
        for flow in source.sent:
            for sent in flow:
                sent.forged = False
    await bar.empty()
    for source in bar.sources:
        for flow in source.sent:
            for sent in flow:
                sent.forged = False
    assert bar.check() > 50
    assert not any(bar.forged)
