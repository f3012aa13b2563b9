# SPDX-License-Identifier: Apache-2.0
"""The switch with a Python end on each link: every packet arrives once, in order, whole, and in time."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from link_end import DATA, MASK, SYM_EOP, SYM_SOP, Arrival, End, Packet, Word, body

PORTS = int(os.environ["SWITCH_PORTS"])
MAX_PORTS = 16
LATENCY = 6  # SOP on the pins to SOP on the pins, idle switch
MAX_WORDS = 128
CORE = os.environ.get("SWITCH_TESTS", "all") == "all"


class Net:
    """A switch and its links, one word a cycle each way.

    `spoil(port, cycle, word)` may change a word on its way into the switch.
    """

    def __init__(self, dut: Any, bench: bool = False, sink_depth: int = 512) -> None:
        self.dut = dut
        self.bench = bench
        self.rng = random.Random(random.getrandbits(32))
        self.ends = [
            End(i, PORTS, random.Random(self.rng.getrandbits(32)), bench=bench, sink_depth=sink_depth)
            for i in range(PORTS)
        ]
        self.bind = False
        self.cycle = 0
        self.signal = (1 << PORTS) - 1
        self.next_seq: Counter[tuple[int, int]] = Counter()
        self.spoil: Callable[[int, int, Word], Word] | None = None
        self.watch: Callable[[int, int, Word], None] | None = None
        self.was_idle = self.still = False
        self.was_in = 0, 0, 0
        self.was_out = 0, 0
        self.idle_cycles = 0

    clock: Any = None  # one for all that a test starts

    async def start(self) -> None:
        dut = self.dut
        if Net.clock is not None:
            Net.clock.cancel()
        Net.clock = cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
        await FallingEdge(dut.clk_i)
        dut.cfg_bench_i.value = int(self.bench)
        dut.cfg_bind_i.value = int(self.bind)
        dut.cfg_source_i.value = sum(port << 4 * port for port in range(PORTS))
        dut.serdes_signal_i.value = self.signal
        dut.serdes_rx_data_i.value = 0
        dut.serdes_rx_k_i.value = 0
        dut.time_cycles_i.value = 0
        dut.rst_ni.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for _ in range(600):
            await self.step()
            if all(end.state == "up" and all(end.heard) for end in self.ends):
                break
        assert all(end.state == "up" and all(end.heard) for end in self.ends), "links do not come up"
        assert self.status("up") == (1 << PORTS) - 1

    async def step(self) -> None:
        """One cycle: its inputs are driven, its outputs read."""
        dut, cycle = self.dut, self.cycle
        await FallingEdge(dut.clk_i)
        out = dut.serdes_tx_data_o.value.to_unsigned()
        out_k = dut.serdes_tx_k_o.value.to_unsigned()
        # Said to be idle, and no pin has moved since: nothing else may have moved.
        idle = bool(dut.idle_o.value)
        if self.was_idle and self.still:
            assert idle, "a device that was idle has woken by itself"
            assert (out, out_k) == self.was_out
            self.idle_cycles += 1
        self.was_idle, self.was_out = idle, (out, out_k)
        data = flags = 0
        for i, end in enumerate(self.ends):
            word = end.tx(cycle)
            if self.spoil is not None:
                word = self.spoil(i, cycle, word)
            flags |= word[0] << 4 * i
            data |= word[1] << 32 * i
            came = out_k >> 4 * i & 0xF, out >> 32 * i & MASK
            if self.watch is not None:
                self.watch(i, cycle, came)
            end.rx(came, cycle)
        self.still = self.was_in == (data, flags, self.signal)
        self.was_in = data, flags, self.signal
        dut.serdes_rx_data_i.value = data
        dut.serdes_rx_k_i.value = flags
        dut.serdes_signal_i.value = self.signal
        dut.time_cycles_i.value = cycle
        self.cycle += 1

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()

    async def rest(self, limit: int = 20000) -> None:
        """Until nothing is under way and all credit is home."""
        quiet = 0
        for _ in range(limit):
            await self.step()
            rest = all(end.at_rest and not end.stored and end.inside is None for end in self.ends)
            quiet = quiet + 1 if rest else 0
            if quiet == 40:
                return
        lacking = [(e.index, e.sent, e.freed, [len(q) for q in e.queues]) for e in self.ends]
        raise AssertionError(f"not at rest after {limit} cycles: {lacking}")

    async def finish(self) -> None:
        """Nothing new is sent; what is under way arrives, and is checked."""
        for end in self.ends:
            for queue in end.queues:
                queue.clear()
        await self.rest()
        self.check()

    def send(self, src: int, dst: int, length: int) -> Packet:
        seq = self.next_seq[src, dst]
        self.next_seq[src, dst] += 1
        packet = Packet(src, dst, seq, body(src, dst, seq, length, self.cycle), born=self.cycle)
        self.ends[src].queues[dst].append(packet)
        return packet

    def status(self, name: str) -> int:
        return int(getattr(self.dut, f"status_{name}_o").value)

    def of_ports(self, name: str) -> list[int]:
        """A counter of each port that a switch may have."""
        value = self.status(f"port_{name}")
        return [value >> 32 * port & MASK for port in range(MAX_PORTS)]

    def flows(self) -> dict[tuple[int, int], list[Packet]]:
        """Packets sent, by source and destination, in order."""
        flows: dict[tuple[int, int], list[Packet]] = {}
        for end in self.ends:
            for packet in end.sent_packets:
                flows.setdefault((packet.src, packet.dst), []).append(packet)
        return flows

    def came(self) -> dict[tuple[int, int], list[Arrival]]:
        """Good packets that came, by source and destination, in order."""
        flows: dict[tuple[int, int], list[Arrival]] = {}
        for dst, end in enumerate(self.ends):
            for arrival in end.arrivals:
                if arrival.good:
                    assert arrival.words[0] >> 24 == 0xB5
                    assert arrival.words[0] >> 16 & 0xFF == dst, "a packet at the wrong port"
                    flows.setdefault((arrival.words[0] >> 8 & 0xFF, dst), []).append(arrival)
        return flows

    def check(self) -> int:
        """Every packet came once, in order, unchanged. Returns how many."""
        sent, came = self.flows(), self.came()
        assert set(came) == set(sent)
        for flow, packets in sent.items():
            assert len(came[flow]) == len(packets), f"{flow}: {len(packets)} sent, {len(came[flow])} came"
            for packet, arrival in zip(packets, came[flow], strict=True):
                self.check_one(packet, arrival)
        assert all(a.good for end in self.ends for a in end.arrivals)
        count = sum(map(len, sent.values()))
        assert self.status("packets_in") == self.status("packets_out") == count
        none = [0] * (MAX_PORTS - PORTS)
        assert self.of_ports("in") == [len(end.sent_packets) for end in self.ends] + none
        assert self.of_ports("out") == [len(end.arrivals) for end in self.ends] + none
        assert self.of_ports("bad") == [0] * MAX_PORTS
        for name in (
            "bad",
            "crc_bad",
            "poisoned",
            "invalid",
            "cut",
            "dropped",
            "credit_bad",
            "refused",
            "forged",
        ):
            assert self.status(name) == 0, name
        return count

    def check_one(self, packet: Packet, arrival: Arrival) -> None:
        words = list(packet.words)
        if self.bench and len(words) > 4:
            words[4] = packet.sop & MASK
        if self.bench and len(words) > 5:
            words[5] = arrival.sop & MASK
        assert arrival.words == words
        assert arrival.sop - packet.sop >= LATENCY


@cocotb.test()
async def an_idle_switch_takes_six_cycles(dut: Any) -> None:
    net = Net(dut, bench=True)
    await net.start()
    for src in range(PORTS):
        for dst in range(PORTS):
            packet = net.send(src, dst, random.choice([6, 16, 128]))
            await net.rest()
            [arrival] = net.came()[src, dst]
            assert arrival.sop - packet.sop == LATENCY <= 8
            # Cut through: the end follows its input at the same distance.
            assert arrival.end - arrival.sop == len(packet.words) + 1
    assert net.check() == PORTS * PORTS


@cocotb.test(skip=not CORE)
async def random_traffic_arrives_once_in_order_and_whole(dut: Any) -> None:
    for bench in (False, True):
        net = Net(dut, bench)
        for end in net.ends:
            end.pause = random.choice([0.0, 0.1, 0.5])
            rate = random.choice([0.4, 0.8, 1.0])
            end.drain = lambda _, rate=rate, rng=end.rng: rng.random() < rate
        await net.start()
        for _ in range(4000):
            await net.step()
            for src in range(PORTS):
                if random.random() < 0.03:
                    shortest = 6 if bench else 1
                    length = random.choice([shortest, 7, 16, MAX_WORDS, random.randint(shortest, MAX_WORDS)])
                    net.send(src, random.randrange(PORTS), length)
        for end in net.ends:
            end.drain = lambda _: True
            end.pause = 0.0
        await net.rest()
        assert net.check() > 200


def full(net: Net, pairs: list[tuple[int, int]], length: int) -> None:
    """Keep these flows' queues from running dry."""
    for src, dst in pairs:
        while len(net.ends[src].queues[dst]) < 3:
            net.send(src, dst, length)


@cocotb.test()
async def a_permutation_has_the_whole_line(dut: Any) -> None:
    """The switch leaves no word unused that its input filled."""
    half = PORTS // 2
    shift = random.randrange(1, PORTS)
    both_ways = [(src, (src + shift) % PORTS) for src in range(PORTS)]
    one_way = [(src, half + (src + shift) % half) for src in range(half)]
    for length, pairs in ((1, one_way), (16, one_way), (1, both_ways), (16, both_ways), (128, both_ways)):
        net = Net(dut)
        await net.start()
        unused = [0] * PORTS
        first = net.cycle + 400

        def watch(port: int, cycle: int, word: Word, unused: list[int] = unused, first: int = first) -> None:
            if cycle >= first:
                unused[port] += word[0] != DATA and word[1] >> 24 not in (SYM_SOP, SYM_EOP)

        net.watch = watch
        before = []
        while net.cycle < first + 3000:
            if net.cycle == first - LATENCY:
                before = [end.other_sent for end in net.ends]
            full(net, pairs, length)
            await net.step()
        net.watch = None
        worst = max(unused[dst] for _, dst in pairs)
        dut._log.info("%d data words a packet: at most %d of 3000 words not a packet's", length, worst)
        for src, dst in pairs:
            from_source = net.ends[src].other_sent - before[src]
            if pairs is one_way:
                # Nothing to tell: one refresh word and one ALIGN in 1024, and what is under way at the
                # window's ends.
                assert from_source <= 3000 // 1024 + 1
                assert unused[dst] <= from_source + 2 * (3000 // 1024 + 1)
            else:
                # Credit for the other direction: a word for 64.
                assert unused[dst] <= 3000 // 64 + 2 * (3000 // 1024 + 1)
        await net.finish()


@cocotb.test(skip=not CORE)
async def an_output_that_all_want_is_shared_in_turn(dut: Any) -> None:
    net = Net(dut)
    await net.start()
    dst = random.randrange(PORTS)
    pairs = [(src, dst) for src in range(PORTS)]
    while len(net.ends[dst].arrivals) < 60 * PORTS:
        full(net, pairs, 16)
        await net.step()
    order = [arrival.words[0] >> 8 & 0xFF for arrival in net.ends[dst].arrivals]
    steady = order[4 * PORTS :]
    # Between two packets of one source stands one of each other.
    for first in range(len(steady) - PORTS):
        assert sorted(steady[first : first + PORTS]) == list(range(PORTS))
    await net.finish()


@cocotb.test(skip=not CORE)
async def a_sink_that_stands_still_stops_nobody_else(dut: Any) -> None:
    net = Net(dut)
    stalled = random.randrange(PORTS)
    net.ends[stalled].drain = lambda _: False
    await net.start()
    others = [i for i in range(PORTS) if i != stalled]
    pairs = [(src, stalled) for src in range(PORTS)]
    pairs += [(src, others[(n + 1) % len(others)]) for n, src in enumerate(others)]
    for _ in range(3000):
        full(net, pairs, 32)
        await net.step()
    # All that fits is on its way: the sink's buffer and one crosspoint of each source.
    before = [len(end.arrivals) for end in net.ends]
    assert before[stalled] == 1 + (512 - (MAX_WORDS + 1)) // 33
    for _ in range(2000):
        full(net, pairs, 32)
        await net.step()
    gained = [len(end.arrivals) - was for end, was in zip(net.ends, before, strict=True)]
    assert gained[stalled] == 0
    for i in others:
        assert gained[i] * 34 >= 0.95 * 2000, f"port {i}: {gained[i]} packets in 2000 cycles"
    net.ends[stalled].drain = lambda _: True
    await net.finish()


@cocotb.test(skip=not CORE)
async def a_port_that_goes_down_is_lossless_for_all_that_waits(dut: Any) -> None:
    net = Net(dut)
    await net.start()
    down = random.randrange(PORTS)
    others = [i for i in range(PORTS) if i != down]

    def offer(chance: float) -> None:
        for src in range(PORTS):
            if random.random() < chance and sum(map(len, net.ends[src].queues)) < 40:
                net.send(src, random.randrange(PORTS), random.randint(2, 60))

    for _ in range(1000):
        await net.step()
        offer(0.02)
    # Both directions of one cable break, in the middle of a packet each way.
    for _ in range(200):
        full(net, [(down, others[0]), (others[-1], down)], 60)
        await net.step()
    lost_from = net.cycle
    net.signal &= ~(1 << down)
    broken = net.ends[down]
    # What comes over a broken cable is anything.
    net.spoil = lambda i, _, word: (random.getrandbits(4), random.getrandbits(32)) if i == down else word
    broken.restart()
    for _ in range(1500):
        await net.step()
        offer(0.02)
    assert net.status("up") == ((1 << PORTS) - 1) & ~(1 << down)
    assert not any(arrival.end > lost_from for arrival in broken.arrivals)
    net.spoil = None
    net.signal = (1 << PORTS) - 1
    for _ in range(500):
        await net.step()
        offer(0.02)
    assert net.status("up") == (1 << PORTS) - 1
    await net.rest()
    # Between others: nothing lost. To and from the broken port: at most what was on its way.
    sent, came = net.flows(), net.came()
    lost: Counter[str] = Counter()
    for flow, packets in sent.items():
        arrivals = came.get(flow, [])
        whole = {packet.seq: packet for packet in packets}
        for arrival in arrivals:
            net.check_one(whole[arrival.words[1]], arrival)
        seqs = [arrival.words[1] for arrival in arrivals]
        assert seqs == sorted(set(seqs)), "out of order or twice"
        missing = sorted(set(whole) - set(seqs))
        if down not in flow:
            assert missing == [], f"{flow} lost {missing}"
        lost["out" if flow[1] == down else "in"] += len(missing)
    dut._log.info("lost to the broken port %d, from it %d", lost["out"], lost["in"])
    assert lost["out"] <= 2
    assert lost["in"] <= 1
    for i, end in enumerate(net.ends):
        for arrival in end.arrivals:
            assert arrival.good or i == down or arrival.edb


@cocotb.test(skip=not CORE)
async def a_dead_port_holds_only_what_is_for_it(dut: Any) -> None:
    net = Net(dut)
    dead = random.randrange(PORTS)
    await net.start()
    net.signal &= ~(1 << dead)
    await net.run(10)
    others = [i for i in range(PORTS) if i != dead]
    pairs = [(src, dead) for src in others]
    pairs += [(src, others[(n + 1) % len(others)]) for n, src in enumerate(others)]
    for _ in range(2500):
        full(net, pairs, 50)
        await net.step()
    before = [len(end.arrivals) for end in net.ends]
    for src in others:
        assert net.ends[src].room(dead) < 51, "the crosspoint in front of the dead port fills"
    for _ in range(2000):
        full(net, pairs, 50)
        await net.step()
    for i in others:
        assert (len(net.ends[i].arrivals) - before[i]) * 52 >= 0.95 * 2000
    assert all(a.good for i in others for a in net.ends[i].arrivals)
    assert net.status("refused") == net.status("bad") == 0


@cocotb.test(skip=not CORE)
async def bit_errors_cost_the_packets_they_hit_and_no_other(dut: Any) -> None:
    net = Net(dut)
    await net.start()
    hit: set[tuple[int, int]] = set()  # port and cycle of a spoilt word
    rate = 0.002

    def spoil(i: int, cycle: int, word: Word) -> Word:
        if net.rng.random() >= rate:
            return word
        hit.add((i, cycle))
        bit = net.rng.randrange(36)
        return (word[0] ^ 1 << (bit - 32), word[1]) if bit >= 32 else (word[0], word[1] ^ 1 << bit)

    net.spoil = spoil
    for _ in range(6000):
        await net.step()
        for src in range(PORTS):
            if random.random() < 0.03 and sum(map(len, net.ends[src].queues)) < 30:
                net.send(
                    src, random.randrange(PORTS), random.choice([1, 2, 16, random.randint(1, MAX_WORDS)])
                )
    net.spoil = None
    await net.rest()
    sent, came = net.flows(), net.came()
    lost = 0
    for flow, packets in sent.items():
        seqs = [arrival.words[1] if len(arrival.words) > 1 else None for arrival in came.get(flow, [])]
        whole = {packet.seq: packet for packet in packets}
        for arrival in came.get(flow, []):
            if len(arrival.words) > 1:
                net.check_one(whole[arrival.words[1]], arrival)
        known = [seq for seq in seqs if seq is not None]
        assert known == sorted(set(known)), "out of order or twice"
        for packet in packets:
            words = range(packet.sop, packet.sop + len(packet.words) + 2)
            spoilt = any((flow[0], cycle) in hit for cycle in words)
            arrived = packet.seq in known or len(packet.words) == 1
            assert arrived or spoilt, f"{flow} {packet.seq} was lost without an error in it"
            lost += not arrived
    assert lost > 10, "the test did not test"
    bad = sum(not a.good for end in net.ends for a in end.arrivals)
    counted = net.status("bad")
    reasons = {name: net.status(name) for name in ("crc_bad", "poisoned", "cut", "invalid", "credit_bad")}
    dut._log.info("%d lost, %d came bad, %d counted bad, %s", lost, bad, counted, reasons)
    assert bad <= counted
    assert net.status("refused") == 0
    # All ports are as good as new.
    for end in net.ends:
        end.sent_packets.clear()
        end.arrivals.clear()
    for src in range(PORTS):
        for dst in range(PORTS):
            net.send(src, dst, 20)
    await net.rest()
    assert {flow: len(packets) for flow, packets in net.came().items()} == {
        (src, dst): 1 for src in range(PORTS) for dst in range(PORTS)
    }


@cocotb.test()
async def at_rest_the_switch_says_so_and_moves_nothing(dut: Any) -> None:
    net = Net(dut)
    await net.start()
    for src in range(PORTS):
        net.send(src, random.randrange(PORTS), 30)
    await net.rest()
    await net.run(100)
    net.idle_cycles = 0
    await net.run(300)
    assert net.idle_cycles == 300
    # It wakes with the first word, and what it does then is what it always does.
    packet = net.send(0, PORTS - 1, 10)
    await net.rest()
    assert net.ends[PORTS - 1].arrivals[-1].sop - packet.sop == LATENCY
    net.check()


@cocotb.test()
async def probes_tell_where_a_packet_came_and_went(dut: Any) -> None:
    net = Net(dut)
    await net.start()
    src, dst = random.randrange(PORTS), random.randrange(PORTS)
    packet = net.send(src, dst, 8)
    seen = []
    for _ in range(60):
        await net.step()
        strobes = dut.probe_o.value.to_unsigned()
        tags = dut.probe_tag_o.value.to_unsigned()
        seen += [(b, tags >> 8 * b & 0xFF, net.cycle - 1) for b in range(32) if strobes >> b & 1]
    [arrival] = net.ends[dst].arrivals
    assert seen == [(src, dst, packet.sop + 3), (16 + dst, src, arrival.sop)]


@cocotb.test()
async def a_bound_port_sends_in_no_other_name(dut: Any) -> None:
    """A packet whose header names another source ends bad behind its first word; its credit comes home."""
    net = Net(dut)
    net.bind = True
    await net.start()
    forged = 0
    for serial in range(40):
        src, dst = random.randrange(PORTS), random.randrange(PORTS)
        packet = net.send(src, dst, random.choice([1, 2, 3, 16, MAX_WORDS]))
        named = src if serial % 2 else random.choice([one for one in range(128) if one != src])
        forged += named != src
        packet.words[0] = named << 24 | dst << 16 | src << 8
    await net.rest()
    arrivals = [arrival for end in net.ends for arrival in end.arrivals]
    assert len(arrivals) == 40
    for arrival in arrivals:
        true = arrival.words[0] >> 24 == arrival.words[0] >> 8 & 0xFF
        assert arrival.good == true
        assert arrival.edb != true
        assert true or len(arrival.words) == 1
    assert net.status("forged") == forged == 20
    assert net.status("bad") == 0, "they came in good"
