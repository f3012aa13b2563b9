# SPDX-License-Identifier: Apache-2.0
"""Routers wired to a torus: packets between all nodes, random stalls of the sinks.

A station at each node sends under credits and takes what comes; every packet must arrive once, whole, in the
order of its pair of nodes.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

HEAD, TAIL = 2, 1
Place = tuple[int, int, int]


@dataclass
class Packet:
    """From a source, its number, and its flits without the head."""

    dest: int
    body: list[int]
    left: int | None = None
    """Cycle in which its head went in."""


@dataclass
class Station:
    """A node's source and sink."""

    credits: int
    queue: deque[Packet] = field(default_factory=deque)
    at: int = 0
    owed: int = 0
    """Flits that were taken and whose credits are not given back yet."""
    incoming: list[int] | None = None


@dataclass
class Bench:
    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    cycle: int = 0
    give: float = 1.0
    eager: float = 1.0

    def __post_init__(self) -> None:
        d = self.dut
        self.sizes = tuple(int(getattr(d, name).value) for name in "XYZ")
        self.width = int(d.Width.value)
        self.depth = int(d.Depth.value)
        self.link = int(d.LinkCycles.value)
        self.router = 3 if int(d.Pins.value) else 2
        self.began = 0
        self.nodes = self.sizes[0] * self.sizes[1] * self.sizes[2]
        self.stations = [Station(self.depth) for _ in range(self.nodes)]
        self.expected: dict[tuple[int, int], deque[Packet]] = {}
        self.arrived: list[tuple[int, Packet, int]] = []
        self.flits_out = 0
        self.bad = 0

    def place(self, node: int) -> Place:
        x, y, _ = self.sizes
        return node % x, node // x % y, node // x // y

    def hops(self, source: int, dest: int) -> int:
        found = 0
        for a, b, size in zip(self.place(source), self.place(dest), self.sizes, strict=True):
            steps = (b - a) % size
            found += min(steps, size - steps)
        return found

    def send(self, source: int, dest: int, flits: int) -> Packet:
        body = [self.rng.getrandbits(self.width) for _ in range(flits - 1)]
        packet = Packet(dest, body)
        self.stations[source].queue.append(packet)
        self.expected.setdefault((source, dest), deque()).append(packet)
        return packet

    def head(self, source: int, dest: int) -> int:
        """Destination in the bits that routers read, the source's number above them."""
        x, y, z = self.place(dest)
        return x | y << 5 | z << 10 | source << 15

    async def start(self) -> None:
        d = self.dut
        d.rst_ni.value = 0
        for name in ("in_valid_i", "in_head_i", "in_tail_i", "in_data_i", "out_freed_i"):
            getattr(d, name).value = 0
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        await ClockCycles(d.clk_i, 4)
        await FallingEdge(d.clk_i)
        d.rst_ni.value = 1

    async def reset(self) -> None:
        """All routers, at any moment; the stations begin anew too."""
        d = self.dut
        for name in ("in_valid_i", "out_freed_i"):
            getattr(d, name).value = 0
        d.rst_ni.value = 0
        await ClockCycles(d.clk_i, 4)
        await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        self.stations = [Station(self.depth) for _ in range(self.nodes)]
        self.expected.clear()
        self.began = 0

    async def step(self) -> None:
        """One cycle: drive, clock, look."""
        d = self.dut
        valid = head = tail = data = freed = 0
        for n, station in enumerate(self.stations):
            if station.queue and station.credits and self.rng.random() < self.eager:
                packet = station.queue[0]
                words = [self.head(n, packet.dest), *packet.body]
                valid |= 1 << n
                head |= (station.at == 0) << n
                tail |= (station.at == len(words) - 1) << n
                data |= words[station.at] << (self.width * n)
                if station.at == 0:
                    packet.left = self.cycle
                    self.began += 1
                station.credits -= 1
                station.at += 1
                if station.at == len(words):
                    station.at = 0
                    station.queue.popleft()
            if station.owed and self.rng.random() < self.give:
                station.owed -= 1
                freed |= 1 << n
        d.in_valid_i.value = valid
        d.in_head_i.value = head
        d.in_tail_i.value = tail
        d.in_data_i.value = data
        d.out_freed_i.value = freed
        await FallingEdge(d.clk_i)
        self.cycle += 1
        back = int(d.in_freed_o.value)
        out = int(d.out_valid_o.value)
        for n, station in enumerate(self.stations):
            station.credits += back >> n & 1
            assert station.credits <= self.depth, f"node {n}: more credits than places"
            if out >> n & 1:
                self.take(n, station)

    def take(self, n: int, station: Station) -> None:
        d = self.dut
        self.flits_out += 1
        station.owed += 1
        assert station.owed <= self.depth, f"node {n}: flits without a credit"
        head, tail = int(d.out_head_o.value) >> n & 1, int(d.out_tail_o.value) >> n & 1
        data = int(d.out_data_o.value) >> (self.width * n) & (1 << self.width) - 1
        assert head == (station.incoming is None), f"node {n}: a packet inside another"
        station.incoming = [*(station.incoming or []), data]
        if tail:
            source = station.incoming[0] >> 15
            assert station.incoming[0] == self.head(source, n)
            packet = self.expected[(source, n)].popleft()
            assert station.incoming[1:] == packet.body, f"from {source} to {n}: lost, doubled or altered"
            self.arrived.append((source, packet, self.cycle))
            station.incoming = None

    async def drain(self, limit: int = 20_000) -> None:
        left = limit
        while any(self.expected.values()) or any(s.owed for s in self.stations):
            await self.step()
            left -= 1
            assert left, f"{sum(map(len, self.expected.values()))} packets never came: deadlock"
        for _ in range(2 * self.link + 8):
            await self.step()
        assert all(s.credits == self.depth for s in self.stations), "credits are lost"
        assert int(self.dut.idle_o.value) == 1
        if self.router == 3:
            assert int(self.dut.status_packets_o.value) == self.began


async def ready(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.start()
    return bench


@cocotb.test()
async def a_lone_packet_takes_two_or_three_cycles_a_router_and_those_of_the_links(dut: Any) -> None:
    bench = await ready(dut)
    for source in range(bench.nodes):
        for dest in range(bench.nodes):
            packet = bench.send(source, dest, 3)
            await bench.drain()
            assert packet.left is not None
            hops = bench.hops(source, dest)
            # From the cycle in which the head is offered to that in which the tail is out.
            assert bench.arrived[-1][2] - packet.left == bench.router * (hops + 1) + bench.link * hops + 2


@cocotb.test()
async def random_packets_arrive_once_in_order_while_sinks_stall(dut: Any) -> None:
    bench = await ready(dut)
    for give, eager in ((1.0, 1.0), (0.3, 1.0), (1.0, 0.3)):
        bench.give, bench.eager = give, eager
        for _ in range(400):
            source, dest = (bench.rng.randrange(bench.nodes) for _ in range(2))
            bench.send(source, dest, bench.rng.choice((2, 2, 3, 5, 2 * bench.depth + 3)))
        await bench.drain(200_000)


@cocotb.test()
async def rings_full_of_packets_longer_than_buffers_do_not_lock(dut: Any) -> None:
    """All nodes send halfway round at once: with one channel a ring waits for itself."""
    bench = await ready(dut)
    for _ in range(12):
        for source in range(bench.nodes):
            at = bench.place(source)
            x, y, z = ((a + size // 2) % size for a, size in zip(at, bench.sizes, strict=True))
            dest = x + bench.sizes[0] * (y + bench.sizes[1] * z)
            bench.send(source, dest, 3 * bench.depth)
    await bench.drain()


@cocotb.test()
async def one_flow_has_a_flit_a_cycle(dut: Any) -> None:
    bench = await ready(dut)
    for _ in range(20):
        bench.send(0, 1, 16)
    for _ in range(40):
        await bench.step()
    before = bench.flits_out
    for _ in range(100):
        await bench.step()
    # A buffer of Depth covers the round trip of a credit: 4 cycles, two more with pins, and the link.
    assert bench.depth >= 4 + 2 * (bench.router - 2) + 2 * bench.link
    assert bench.flits_out - before == 100
    await bench.drain()


@cocotb.test()
async def two_flows_share_an_output_evenly(dut: Any) -> None:
    """Node 1 gets packets of its neighbour and of itself: round robin by packet."""
    bench = await ready(dut)
    for _ in range(40):
        bench.send(0, 1, 8)
        bench.send(1, 1, 8)
    for _ in range(40):
        await bench.step()
    before = len(bench.arrived)
    for _ in range(320):
        await bench.step()
    seen = [source for source, _, _ in bench.arrived[before:]]
    assert len(seen) in (40, 41) or len(bench.arrived) == 80
    assert abs(seen.count(0) - seen.count(1)) <= 1
    await bench.drain()


@cocotb.test()
async def a_packet_for_a_node_that_does_not_exist_is_discarded_and_counted(dut: Any) -> None:
    bench = await ready(dut)
    for number in range(1, 4):
        wrong = Packet(0, [bench.rng.getrandbits(bench.width) for _ in range(2 * bench.depth)])
        bench.stations[0].queue.append(wrong)
        good = bench.head
        # The head of the first queued packet is made when it is sent: x is outside the ring.
        bench.head = lambda source, dest: 31 | source << 15  # type: ignore[method-assign]
        while bench.stations[0].queue:
            await bench.step()
        bench.head = good  # type: ignore[method-assign]
        bench.send(0, 1, 4)
        await bench.drain()
        assert int(dut.status_lost_o.value) == number


@cocotb.test()
async def a_reset_in_the_middle_of_packets_leaves_an_empty_network(dut: Any) -> None:
    bench = await ready(dut)
    for _ in range(12):
        bench.give, bench.eager = 0.4, 1.0
        for _ in range(200):
            source, dest = (bench.rng.randrange(bench.nodes) for _ in range(2))
            bench.send(source, dest, bench.rng.choice((2, 5, 2 * bench.depth + 3)))
        for _ in range(bench.rng.randrange(1, 150)):
            await bench.step()
        assert not dut.idle_o.value, "it is in the middle"
        await bench.reset()
        assert dut.idle_o.value
        # Every place is free, and no packet waits for the rest of another.
        bench.give = 1.0
        for _ in range(20):
            bench.send(0, 1, 16)
        for _ in range(40):
            await bench.step()
        before = bench.flits_out
        for _ in range(100):
            await bench.step()
        assert bench.flits_out - before == 100
        await bench.drain()
