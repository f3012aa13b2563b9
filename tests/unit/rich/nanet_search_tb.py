# SPDX-License-Identifier: Apache-2.0
"""The search between ports and lists: datagrams as they were, and behind each good one its candidates."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from rich_model import MAX_HITS, NULL_ID, Model

PORTS, WIDTH, CELLS = 2, 128, 200
HEAD, DATA, END = range(3)
Beat = tuple[int, int]
"""Kind, and contents."""
MASK = (1 << WIDTH) - 1


@dataclass
class Datagram:
    """A packet of events, cut off after some beats, or with a wrong check sum."""

    events: list[list[int]]
    good: bool = True
    beats_kept: int | None = None
    raw: bytes | None = None
    sender: int = 0

    @property
    def payload(self) -> bytes:
        if self.raw is not None:
            return self.raw
        body = b""
        for at, ids in enumerate(self.events):
            # The time of a hit, in the upper bits, is nothing to the search.
            hits = b"".join((id_ | (7 * id_ & 63) << 10).to_bytes(2, "little") for id_ in ids)
            body += (8 + len(hits)).to_bytes(2, "little") + bytes([at & 255, 0, 1, 2, 3, 4]) + hits
        head = bytes([9, 9, 9, 0x1C]) + (8 + len(body)).to_bytes(2, "little")
        return head + bytes([len(self.events), 0]) + body

    @property
    def beats(self) -> list[Beat]:
        data = self.payload
        words = [
            int.from_bytes(data[at : at + WIDTH // 8].ljust(WIDTH // 8, b"\xa5"), "little")
            for at in range(0, len(data), WIDTH // 8)
        ]
        head = (0xC0A80000 + self.sender) << 32 | 6000 << 16 | len(data)
        return [(HEAD, head), *((DATA, word) for word in words[: self.beats_kept]), (END, int(self.good))]

    def candidates(self, model: Model) -> list[Beat]:
        """The datagram behind it."""
        if not self.good:
            return []
        words = []
        for ids in self.searched():
            over = len(ids) > MAX_HITS
            # Of a longer event the first hits and the last go to the search, which leaves the last out.
            words += [hit << 24 | last << 12 | first for hit, _, first, last in model.answers(ids)]
            words.append(1 << 31 | over << 30)
        data = b"".join(word.to_bytes(4, "little") for word in words)
        return Datagram([], raw=data, sender=self.sender).beats

    def wanted(self, model: Model) -> list[tuple[Beat, int]]:
        """What comes out, and which bits of it count: a last beat is filled up with anything."""
        out = [(beat, MASK) for beat in self.beats]
        behind = self.candidates(model)
        for beat in behind:
            left = (behind[0][1] & 0xFFFF) * 8 - WIDTH * sum(
                kind == DATA for (kind, _), _ in out[len(self.beats) :]
            )
            out.append((beat, (1 << min(left, WIDTH)) - 1 if beat[0] == DATA else MASK))
        return out

    def searched(self) -> list[list[int]]:
        """Events as the parser sees them: an event without hits is one of a null id."""
        data = self.payload[: None if self.beats_kept is None else self.beats_kept * WIDTH // 8]
        halves = [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data) - 1, 2)][4:]
        found: list[list[int]] = []
        while halves:
            hits = max(halves[0] // 2 - 4, 0)
            if len(halves) < 4 or (hits and len(halves) == 4):
                break
            found.append([half & 1023 for half in halves[4 : 4 + hits]] or [NULL_ID])
            if len(found[-1]) < max(hits, 1):
                found[-1].append(NULL_ID)
            halves = halves[4 + hits :]
        return found


@dataclass
class Bench:
    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))

    async def start(self) -> Model:
        d = self.dut
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        cocotb.start_soon(Clock(d.search_clk_i, 4, "ns").start())
        for name in ("in_valid_i", "in_kind_i", "in_i", "out_ready_i", "cfg_we_i"):
            getattr(d, name).value = 0
        d.rst_ni.value = d.search_rst_ni.value = 0
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = d.search_rst_ni.value = 1
        await FallingEdge(d.search_clk_i)
        model = Model(CELLS)
        d.cfg_we_i.value = 1
        for memory, address, data in model.words():
            if memory == 0 and address % 64 * 64 >= CELLS:
                continue
            d.cfg_memory_i.value, d.cfg_addr_i.value, d.cfg_data_i.value = memory, address, data
            await FallingEdge(d.search_clk_i)
        d.cfg_we_i.value = 0
        return model

    async def run(
        self,
        ports: list[list[Datagram]],
        model: Model,
        give: float,
        take: float,
        held: int | None = None,
    ) -> None:
        """Send all datagrams; what comes out must be they and their candidates, port by port.

        `held`: port 0 stops behind so many beats until all of port 1 is out.
        """
        d = self.dut
        beats = [[beat for one in port for beat in one.beats] for port in ports]
        wanted = [[pair for one in port for pair in one.wanted(model)] for port in ports]
        sent, got, offered = [0] * PORTS, [0] * PORTS, [False] * PORTS
        for _ in range(60_000):
            valid = kind = data = 0
            for port in range(PORTS):
                waits = held == sent[port] and port == 0 and got[1] < len(wanted[1])
                some = sent[port] < len(beats[port]) and not waits
                offered[port] = some and (offered[port] or self.rng.random() < give)
                if offered[port]:
                    valid |= 1 << port
                    kind |= beats[port][sent[port]][0] << 2 * port
                    data |= beats[port][sent[port]][1] << WIDTH * port
            d.in_valid_i.value, d.in_kind_i.value, d.in_i.value = valid, kind, data
            ready = sum((self.rng.random() < take) << port for port in range(PORTS))
            d.out_ready_i.value = ready
            await RisingEdge(d.clk_i)
            if got == list(map(len, wanted)) and sent == list(map(len, beats)) and d.idle_o.value:
                return
            taken = int(d.out_valid_o.value) & ready
            moved = int(d.in_ready_o.value) & valid
            for port in range(PORTS):
                if moved >> port & 1:
                    sent[port], offered[port] = sent[port] + 1, False
            kinds, words = int(d.out_kind_o.value), int(d.out_o.value)
            for port in range(PORTS):
                if taken >> port & 1:
                    assert got[port] < len(wanted[port]), f"port {port}: a beat too many"
                    beat = (kinds >> 2 * port & 3, words >> WIDTH * port & MASK)
                    self.same(port, beat, *wanted[port][got[port]])
                    got[port] += 1
            await FallingEdge(d.clk_i)
        raise AssertionError(f"{got} of {list(map(len, wanted))} beats came out, {sent} went in")

    @staticmethod
    def same(port: int, got: Beat, wanted: Beat, mask: int) -> None:
        assert got[0] == wanted[0], f"port {port}: kind {got[0]}, {wanted[0]} expected"
        assert not (got[1] ^ wanted[1]) & mask, f"port {port}: {got[1]:x}, {wanted[1]:x} expected"


def packet(rng: random.Random, most: int = 6, **changes: Any) -> Datagram:
    """Events of few photomultipliers, so that they have candidates."""
    near = rng.sample(range(976), 25)
    sizes = [rng.choice((0, 1, 5, 12, 20, 32, 33, 40)) for _ in range(rng.randint(1, most))]
    events = [[rng.choice(near) for _ in range(size)] for size in sizes]
    return Datagram(events, sender=rng.randrange(256), **changes)


@cocotb.test()
async def candidates_follow_each_datagram_of_each_port(dut: Any) -> None:
    """In whatever rhythm beats come and are taken; two ports share one search."""
    bench = Bench(dut)
    model = await bench.start()
    rng = bench.rng
    for give, take in ((1.0, 1.0), (0.2, 1.0), (1.0, 0.2)):
        ports = [[packet(rng) for _ in range(6)] for _ in range(PORTS)]
        assert any(len(one.candidates(model)) > 3 for port in ports for one in port)
        await bench.run(ports, model, give, take)


@cocotb.test()
async def nothing_follows_a_bad_datagram_and_the_next_has_its_own(dut: Any) -> None:
    bench = Bench(dut)
    model = await bench.start()
    rng = bench.rng
    for _ in range(4):
        bad = [
            packet(rng, good=False),
            packet(rng, good=False, beats_kept=rng.randrange(3)),
            packet(rng, good=False, beats_kept=rng.randrange(3, 8)),
        ]
        ports = [
            [*rng.sample(bad, 3), packet(rng), packet(rng, good=False), packet(rng)] for _ in range(PORTS)
        ]
        await bench.run(ports, model, rng.choice((0.4, 1.0)), rng.choice((0.4, 1.0)))


@cocotb.test()
async def an_event_that_is_still_on_the_wire_holds_up_no_other_port(dut: Any) -> None:
    bench = Bench(dut)
    model = await bench.start()
    slow = Datagram([bench.rng.sample(range(976), 32)])
    # The head, and a beat that ends in the middle of the hits.
    await bench.run([[slow], [packet(bench.rng), packet(bench.rng)]], model, 1.0, 1.0, held=3)


@cocotb.test()
async def what_is_no_packet_of_events_stops_nothing(dut: Any) -> None:
    """Any bytes; no payload; a length shorter than its header; hits behind the end of the datagram."""
    bench = Bench(dut)
    model = await bench.start()
    rng = bench.rng
    strange = [b"", b"\1\2", bytes(8), bytes(64), bytes(8) + b"\x08\0" + bytes(6), bytes(8) + b"\xff\xff" * 9]
    # One length in a few is small, so that random bytes have events.
    strange += [
        bytes(rng.choice((0, 0, 12, 40, rng.randrange(256))) for _ in range(2 * rng.randrange(1, 150)))
        for _ in range(12)
    ]
    ports = [[Datagram([], raw=raw) for raw in rng.sample(strange, len(strange))] for _ in range(PORTS)]
    await bench.run([[*port, packet(rng)] for port in ports], model, 1.0, 0.7)


@cocotb.test()
async def a_full_datagram_has_all_its_candidates(dut: Any) -> None:
    """1472 bytes: as many events as fit, and as many words behind them."""
    bench = Bench(dut)
    model = await bench.start()
    empty = Datagram([[] for _ in range(183)])
    near = bench.rng.sample(range(976), 14)
    full = Datagram([near for _ in range(40)])
    assert len(empty.payload) == 1472
    assert len(full.payload) <= 1472
    await bench.run([[empty, full], [full, empty]], model, 1.0, 1.0)
