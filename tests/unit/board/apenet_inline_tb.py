# SPDX-License-Identifier: Apache-2.0
"""Puts that bring their payload, pins to pins: order, bounds, slots, cycles, resets.

Packets, memory and links are those of `apenet_node_tb`.
"""

from __future__ import annotations

import struct
from typing import Any

import cocotb
from apenet_node_tb import (
    CONTROL,
    DONE,
    EMPTY,
    FAR,
    FULL,
    ME,
    PUTS,
    QUEUE_TAKEN,
    UNKNOWN,
    Bench,
    Event,
    Packet,
)
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiResp

WINDOW, CARRIED = 0x1000, 0x25C
LONGEST = 64
WAITING = 16
"""Posts that wait."""


class Inline(Bench):
    """A node whose program stores payload together with its post."""

    def words(self, payload: bytes, remote: int, target: int = 2, size: int | None = None) -> bytes:
        """All of the window that a put needs: its post, then payload up to a multiple of 8 bytes."""
        said = len(payload) if size is None else size
        post = struct.pack("<HHI", 0, remote, target << 24 | said)
        return post + payload + self.rng.randbytes(-len(payload) % 8)

    async def bring(self, payload: bytes, remote: int, target: int = 2, order: str = "burst") -> None:
        """A put in one burst; in lines of 64 bytes, the last one first; or word by word, in any order, but
        the post as one."""
        whole = self.words(payload, remote, target)
        step = {"burst": 128, "lines": 64, "doubles": 8, "words": 4}[order]
        first = max(step, 8)
        pieces = [(0, whole[:first])]
        pieces += [(at, whole[at : at + step]) for at in range(first, len(whole), step)]
        if order == "lines":
            pieces.reverse()
        elif order != "burst":
            self.rng.shuffle(pieces)
        for at, piece in pieces:
            await self.bar.write(WINDOW + at, piece)

    def packet(self, payload: bytes, remote: int, number: int, target: int = 2) -> Packet:
        """As it leaves."""
        at = 64 * remote + (4032 if target == 3 else 0)
        return Packet(FAR, ME, at, payload, True, True, number, 0, len(payload))

    async def took(self) -> list[Event]:
        """The events since the last call; their places may be used again."""
        found = self.events()
        await self.write(QUEUE_TAKEN, self.taken)
        return found

    def done(self, payload: bytes, remote: int, number: int, target: int = 2) -> Event:
        """The event of one that left."""
        return Event(0x81, 0, 0, 0, len(payload), number, remote, target, 1)


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def what_comes_with_its_post_leaves_as_one_packet_and_nothing_is_read(dut: Any, share: float) -> None:
    bench = Inline(dut)
    await bench.start(share)
    assert await bench.read(CARRIED) == LONGEST
    sizes = [
        *range(1, 20),
        31,
        32,
        33,
        47,
        48,
        49,
        55,
        56,
        57,
        63,
        64,
        *(bench.rng.randint(1, 64) for _ in range(20)),
    ]
    bench.rng.shuffle(sizes)
    expected, events = [], []
    for number, size in enumerate(sizes):
        payload, remote = bench.rng.randbytes(size), bench.rng.randrange(1000)
        target = bench.rng.choice((2, 3))
        await bench.bring(payload, remote, target, bench.rng.choice(("burst", "lines", "doubles", "words")))
        expected.append(bench.packet(payload, remote, number, target))
        events.append(bench.done(payload, remote, number, target))
        if number % 8 == 7:
            await bench.settle()
            assert await bench.took() == events
            events.clear()
    await bench.settle()
    assert bench.out == expected
    assert bench.events() == events
    assert await bench.read(DONE) == len(sizes)
    assert bench.reads == []
    assert bench.outside()


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def puts_that_are_read_and_puts_that_are_not_leave_in_the_order_of_their_posts(
    dut: Any, share: float
) -> None:
    bench = Inline(dut)
    await bench.start(share)
    data = bench.rng.randbytes(9000)
    bench.ram.write(PUTS, data)
    expected, numbers = [], 0
    for _ in range(6):
        for _ in range(5):
            size, remote = bench.rng.randint(1, 64), bench.rng.randrange(1000)
            if bench.rng.random() < 0.5:
                size = bench.rng.choice((1, 64, 700, 5000, 9000))
                await bench.post(0, remote, size, 2)
                parts = bench.packets(data[:size], 64 * remote, numbers, ME)
                expected += [Packet(**{**vars(part), "dest": FAR}) for part in parts]
            else:
                payload = bench.rng.randbytes(size)
                await bench.bring(payload, remote)
                expected.append(bench.packet(payload, remote, numbers))
            numbers += 1
        await bench.settle()
        assert [event.sequence for event in await bench.took()] == list(range(numbers - 5, numbers))
    assert bench.out == expected
    assert await bench.read(FULL) == 0


@cocotb.test()
async def a_bad_post_is_refused_with_its_reason_and_the_next_one_has_its_own_bytes(dut: Any) -> None:
    bench = Inline(dut)
    await bench.start()
    good = [bench.rng.randbytes(64) for _ in range(4)]
    await bench.bar.write(WINDOW, bench.words(b"", 1, size=0))
    await bench.bring(good[0], 1)
    for size in (65, 128, 4096, (1 << 23) - 1):
        await bench.bar.write(WINDOW, bench.words(b"", 2, size=size))
    await bench.bring(good[1], 2)
    await bench.bring(b"no target is set there", 3, target=9)
    await bench.bring(good[2], 3)
    # A post without its payload, and another one behind it.
    await bench.bar.write(WINDOW, bench.words(b"", 4, size=40))
    await ClockCycles(dut.clk_i, 50)
    await bench.bring(good[3], 5)
    await bench.settle()
    assert bench.out == [bench.packet(good[n], remote, n) for n, remote in enumerate((1, 2, 3, 5))]
    refusals = [EMPTY, 0, EMPTY, EMPTY, EMPTY, EMPTY, 0, UNKNOWN, 0, EMPTY, 0]
    assert [event.refusal for event in bench.events()] == refusals
    assert await bench.read(DONE) == 4 | 7 << 16
    assert bench.reads == []


@cocotb.test()
async def what_finds_16_waiting_is_counted_and_no_payload_is_overwritten(dut: Any) -> None:
    """No credit comes back: packets, headers and posts fill all that they may."""
    bench = Inline(dut)
    await bench.start()
    bench.hold = True
    kept: list[tuple[bytes, int]] = []
    full = 0
    for _ in range(120):
        await bench.took()
        payload, remote = bench.rng.randbytes(bench.rng.randint(1, 64)), bench.rng.randrange(1000)
        await bench.bring(payload, remote, order=bench.rng.choice(("burst", "doubles")))
        await ClockCycles(dut.clk_i, 30)
        now = await bench.read(FULL)
        if now == full:
            kept.append((payload, remote))
        full = now
    assert full > 64
    # Credits come back one by one, so that packets wait in the middle of their payload.
    while len(bench.out) < len(kept):
        for _ in range(40):
            bench.hold = False
            await RisingEdge(dut.clk_i)
            bench.hold = True
            await ClockCycles(dut.clk_i, bench.rng.randint(1, 6))
        await bench.took()
    bench.hold = False
    while bench.owed:
        await RisingEdge(dut.clk_i)
    await bench.settle()
    assert bench.out == [bench.packet(payload, remote, n) for n, (payload, remote) in enumerate(kept)]


@cocotb.test()
async def a_put_is_on_the_link_in_its_cycles(dut: Any) -> None:
    bench = Inline(dut)
    await bench.start()
    seen: dict[str, int] = {}

    async def watch() -> None:
        clock = 0
        while True:
            await RisingEdge(dut.clk_i)
            clock += 1
            if dut.bar_awvalid_i.value and dut.bar_awready_o.value:
                seen.setdefault("address", clock)
            if dut.bar_wvalid_i.value and dut.bar_wready_o.value:
                seen["stored"] = clock
            if dut.flits_tx_valid_o.value:
                seen.setdefault("header", clock)
                seen["footer"] = clock

    cocotb.start_soon(watch())
    payload = bench.rng.randbytes(64)
    await bench.bar.write(WINDOW, bench.words(payload, 7))
    await bench.settle()
    assert bench.out == [bench.packet(payload, 7, 0)]
    # A beat a clock: the post and 64 bytes.
    assert seen["stored"] - seen["address"] == 9
    # Posted 1, waits 1, checked 1, its packet 1, framed 1, its register 1, the node's registers and router 3.
    assert seen["header"] - seen["stored"] == 9
    assert seen["footer"] - seen["header"] == 5


@cocotb.test()
async def the_window_has_its_words_and_no_others(dut: Any) -> None:
    bench = Inline(dut)
    await bench.start()
    for at, size in ((0x48, 8), (0x48, 4), (0x100, 64), (0xFF8, 8)):
        done = await bench.bar.write(WINDOW + at, bench.rng.randbytes(size))
        assert done.resp == AxiResp.SLVERR
    for at, size in ((0, 4), (0x40, 8), (0x800, 64), (0xFC0, 64)):
        assert (await bench.bar.read(WINDOW + at, size)).resp == AxiResp.SLVERR
    # Registers are where they were.
    assert await bench.read(CARRIED) == LONGEST
    payload = bench.rng.randbytes(33)
    assert (await bench.bar.write(WINDOW, bench.words(payload, 1))).resp == AxiResp.OKAY
    await bench.settle()
    assert bench.out == [bench.packet(payload, 1, 0)]


@cocotb.test()
async def a_program_that_ends_in_the_middle_of_a_put_leaves_nothing_of_it(dut: Any) -> None:
    bench = Inline(dut)
    await bench.start()
    first, second = bench.rng.randbytes(64), bench.rng.randbytes(64)
    await bench.bar.write(WINDOW, bench.words(first, 1)[:48])
    await bench.another()
    # The words of before count for nothing: it is not posted by the two that the first program left out.
    await bench.bar.write(WINDOW, bench.words(second, 2)[:8])
    await bench.bar.write(WINDOW + 48, bench.words(second, 2)[48:])
    await bench.settle()
    assert bench.out == []
    await bench.bar.write(WINDOW + 8, second[:40])
    await bench.settle()
    assert bench.out == [bench.packet(second, 2, 0)]
    assert bench.events() == [bench.done(second, 2, 0)]
    # While the interface is disabled nothing is posted.
    await bench.write(CONTROL, 0)
    await bench.bring(first, 3)
    await bench.another()
    await bench.settle()
    assert len(bench.out) == 1


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def a_reset_in_the_middle_of_puts_leaves_nothing_of_them(dut: Any, share: float) -> None:
    bench = Inline(dut)
    await bench.start(share)
    caught = 0
    for cycles in (0, 2, 5, 8, 12, 15, *(bench.rng.randrange(40) for _ in range(6))):
        writes = [
            bench.bar.init_write(WINDOW, bench.words(bench.rng.randbytes(64), number)) for number in range(3)
        ]
        await ClockCycles(dut.clk_i, 4 + cycles)
        caught += not dut.idle_o.value
        await bench.reset()
        del writes
        await bench.configure()
        await bench.settle()
        assert bench.out == []
        assert bench.events() == []
        payload = bench.rng.randbytes(57)
        await bench.bring(payload, 9, order="doubles")
        await bench.settle()
        assert bench.out == [bench.packet(payload, 9, 0)]
        assert bench.events() == [bench.done(payload, 9, 0)]
        bench.out.clear()
        await bench.reset()
        await bench.configure()
    assert caught >= 6, "resets came when all had ended"
