# SPDX-License-Identifier: Apache-2.0
"""Routers joined by real links: framing, credits, checks, lanes. Packets as in `torus_router_tb`.

Every packet arrives once, whole and in the order of its pair of nodes, unless a test spoils words or takes a
link down: then what arrives whole is still right, and all others are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cocotb
from torus_router_tb import Bench, Station

POISON = (1 << 128) - 1


@dataclass
class Links(Bench):
    """The network, with what happens to its links."""

    spoil: float = 0.0
    """Rate of wrong words, of all links together."""
    exact: bool = True
    torn: int = 0
    missing: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.links = len(self.dut.signal_i)
        self.signal = (1 << self.links) - 1

    async def up(self) -> None:
        for _ in range(6000):
            await self.step()
            if int(self.dut.up_o.value) == (1 << self.links) - 1:
                break
        else:
            raise AssertionError(f"not up: {int(self.dut.up_o.value):x}")
        for _ in range(80):
            await self.step()

    async def step(self) -> None:
        wrong = self.rng.random() < self.spoil
        self.dut.spoil_i.value = 1 << self.rng.randrange(self.links) if wrong else 0
        self.dut.signal_i.value = self.signal
        await super().step()

    def take(self, n: int, station: Station) -> None:
        if self.exact:
            super().take(n, station)
            return
        d = self.dut
        self.flits_out += 1
        station.owed += 1
        head, tail = int(d.out_head_o.value) >> n & 1, int(d.out_tail_o.value) >> n & 1
        data = int(d.out_data_o.value) >> (self.width * n) & POISON
        assert head == (station.incoming is None), f"node {n}: a packet inside another"
        station.incoming = [*(station.incoming or []), data]
        if not tail:
            return
        words, station.incoming = station.incoming, None
        if data == POISON:
            self.torn += 1
            return
        # Whole: it is the next of its pair that was not lost.
        waiting = self.expected[(words[0] >> 15, n)]
        while waiting and waiting[0].body != words[1:]:
            waiting.popleft()
            self.missing += 1
        assert waiting, f"node {n}: a packet that nobody sent, or one twice"
        self.arrived.append((words[0] >> 15, waiting.popleft(), self.cycle))

    async def settle(self, limit: int = 60_000) -> None:
        """Until nothing moves; what has not come by then is missing."""
        quiet = 0
        for _ in range(limit):
            before = self.flits_out
            await self.step()
            busy = any(s.queue or s.owed for s in self.stations) or before != self.flits_out
            quiet = 0 if busy else quiet + 1
            if quiet > 800:
                break
        else:
            raise AssertionError("it does not come to rest: deadlock")
        assert all(s.credits == self.depth for s in self.stations), "credits are lost"
        assert all(s.incoming is None for s in self.stations), "a packet without its tail"
        for waiting in self.expected.values():
            self.missing += len(waiting)
            waiting.clear()

    def clean(self) -> None:
        d = self.dut
        for name in ("lost", "dropped", "torn", "gaps", "refused"):
            assert int(getattr(d, f"status_{name}_o").value) == 0, name

    def some(self, packets: int) -> None:
        for _ in range(packets):
            source, dest = (self.rng.randrange(self.nodes) for _ in range(2))
            self.send(source, dest, self.rng.choice((2, 3, 6, 10, 2 * self.depth + 3)))


async def ready(dut: Any) -> Links:
    bench = Links(dut)
    dut.spoil_i.value = 0
    dut.signal_i.value = bench.signal
    await bench.start()
    await bench.up()
    return bench


@cocotb.test()
async def random_packets_at_full_load_arrive_once_whole_and_in_order(dut: Any) -> None:
    """Uniform traffic, every node always has a packet to send; then with sinks that pause."""
    bench = await ready(dut)
    for give, eager, packets in ((1.0, 1.0, 700), (0.3, 1.0, 150), (1.0, 0.3, 150)):
        bench.give, bench.eager = give, eager
        bench.some(packets)
        began, flits = bench.cycle, bench.flits_out
        await bench.drain(200_000)
        each = (bench.flits_out - flits) / (bench.cycle - began) / bench.nodes
        dut._log.info(f"give {give}, eager {eager}: {each:.3f} flits a node and cycle, to the last flit")
    assert len(bench.arrived) == 1000
    bench.clean()


@cocotb.test()
async def rings_full_of_packets_longer_than_buffers_do_not_lock(dut: Any) -> None:
    """All nodes send halfway round at once, packets of 4 KiB: with one channel a ring waits for itself."""
    bench = await ready(dut)
    for _ in range(4):
        for source in range(bench.nodes):
            at = bench.place(source)
            x, y, _ = ((a + size // 2) % size for a, size in zip(at, bench.sizes, strict=True))
            bench.send(source, x + bench.sizes[0] * y, 258)
    await bench.drain(60_000)
    bench.clean()


@cocotb.test()
async def wrong_words_cost_their_packets_alone(dut: Any) -> None:
    """One word in 150 of all links: no packet is mixed, doubled or out of order, and the network goes on."""
    bench = await ready(dut)
    bench.exact, bench.spoil = False, 1 / 150
    bench.some(500)
    while any(s.queue for s in bench.stations):
        await bench.step()
    bench.spoil = 0.0
    await bench.settle()
    torn, gaps = int(dut.status_torn_o.value), int(dut.status_gaps_o.value)
    dut._log.info(
        f"{bench.missing} of 500 missing, {bench.torn} arrived torn; links: {torn} torn, {gaps} gaps"
    )
    assert 0 < bench.missing <= 3 * (torn + gaps)
    assert bench.torn <= torn
    assert len(bench.arrived) + bench.missing == 500
    # A begin that was lost last shows at the next one, whose packet is lost too: one each way of each link.
    for source in range(bench.nodes):
        for dest in range(bench.nodes):
            bench.send(source, dest, 3)
    await bench.settle()
    bench.exact = True
    missing = bench.missing
    bench.some(60)
    await bench.drain(60_000)
    assert bench.missing == missing
    assert len(bench.arrived) + missing == 560 + bench.nodes**2


@cocotb.test()
async def a_link_that_is_down_stops_no_other(dut: Any) -> None:
    """It goes down under load: packets over it are dropped and counted, all others come; up again, all do."""
    bench = await ready(dut)
    # Both directions between nodes 0 and 1.
    plus = 1
    bench.some(200)
    for _ in range(400):
        await bench.step()
    bench.exact = False
    bench.signal &= ~plus
    bench.some(200)
    await bench.settle()
    dropped = int(dut.status_dropped_o.value)
    assert 0 < dropped <= bench.missing <= dropped + int(dut.status_torn_o.value) + 8
    assert len(bench.arrived) + bench.missing == 400
    # Nodes that never need it lose nothing.
    missing = bench.missing
    for _ in range(40):
        bench.send(2, 3, 20)
        bench.send(3, 2, 20)
    await bench.settle()
    assert bench.missing == missing
    bench.signal |= plus
    await bench.up()
    bench.exact = True
    bench.some(100)
    await bench.drain(60_000)
    assert int(dut.status_dropped_o.value) == dropped


@cocotb.test()
async def a_lone_packet_takes_the_routers_and_the_links(dut: Any) -> None:
    """A node 3 cycles; a link 6 and its line; behind the head a flit a cycle."""
    bench = await ready(dut)
    for dest in range(bench.nodes):
        packet = bench.send(0, dest, 2)
        await bench.drain()
        hops = bench.hops(0, dest)
        assert packet.left is not None
        first = bench.router * (hops + 1) + (bench.link + 6) * hops
        assert bench.arrived[-1][2] - packet.left == first + 1, "two flits leave in one chunk"
