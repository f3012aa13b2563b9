# SPDX-License-Identifier: Apache-2.0
"""An AXI master of cocotbext-axi over the cache, while the host's program uses the same lines.

Each 16 bytes belong to a writer: three tasks of the AXI side, or the host. A reader compares the bytes whose
writer has nothing open, so that every line is shared and every byte is known.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Lock, ReadOnly, RisingEdge
from cocotbext.axi import AxiBurstType, AxiBus, AxiMaster, AxiResp

LINE = 128
LINES = 12
BYTES = LINE * LINES
BAD = 256 * LINE
"""From here on the agent reports an error."""
REACH = 1 << 40
LOAD, STORE, EVICT = 0, 1, 2
ADD, CLEAR, XOR, SET, SMAX, SMIN, UMAX, UMIN = range(8)
SWAP, COMPARE = 0b110000, 0b110001
ATOMIC_STORE, ATOMIC_LOAD = 0b010000, 0b100000
OLD_ID = 32


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        self.width = len(dut.s_axi_wdata) // 8
        for name in ("", ".s_axi"):
            logging.getLogger(f"cocotb.{dut._name}{name}").setLevel(logging.WARNING)
        self.content = bytearray(BYTES)
        self.changing = [0] * BYTES
        """How often a byte was begun to be written, or is."""
        self.old: dict[int, list[tuple[int, int, int]]] = {}
        self.lock = Lock()

    async def start(self, pause: bool) -> None:
        self.dut.pause_i.value = int(pause)
        await self.wake("host_valid_i", "host_op_i", "host_index_i", "host_mask_i", "host_data_i")

    async def wake(self, *pins: str) -> None:
        """Clock, master and reset, with 0 at the pins."""
        dut = self.dut
        cocotb.start_soon(Clock(dut.clk_i, 4, "ns", impl="gpi").start())
        for pin in ("rst_ni", *pins):
            getattr(dut, pin).value = 0
        bus = AxiBus.from_prefix(dut, "s_axi")
        self.axi = AxiMaster(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
        for _ in range(4):
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for _ in range(2):
            await RisingEdge(dut.clk_i)
        cocotb.start_soon(self.olds())

    def pauses(self) -> None:
        """All channels of the master wait at random."""
        write, read = self.axi.write_if, self.axi.read_if
        for channel in (
            write.aw_channel,
            write.w_channel,
            write.b_channel,
            read.ar_channel,
            read.r_channel,
        ):
            rng = random.Random(self.rng.random())
            channel.set_pause_generator(iter(lambda rng=rng: rng.random() < 0.3, None))

    async def olds(self) -> None:
        """Beats on R that answer an atomic."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            await ReadOnly()
            if int(dut.old_valid_o.value):
                beat = (int(dut.old_data_o.value), int(dut.old_resp_o.value), int(dut.old_last_o.value))
                self.old.setdefault(int(dut.old_id_o.value), []).append(beat)

    async def host(self, op: int, line: int, mask: int = 0, data: int = 0) -> int:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.host_valid_i.value, dut.host_op_i.value, dut.host_index_i.value = 1, op, line
        dut.host_mask_i.value, dut.host_data_i.value = mask, data
        while True:
            await RisingEdge(dut.clk_i)
            taken = int(dut.host_ready_o.value)
            await FallingEdge(dut.clk_i)
            if taken:
                break
        dut.host_valid_i.value = 0
        while not int(dut.host_rsp_valid_o.value):
            await FallingEdge(dut.clk_i)
        return int(dut.host_rsp_data_o.value)

    def begin(self, at: int, data: bytes) -> None:
        for i in range(len(data)):
            self.changing[at + i] += 1

    def end(self, at: int, data: bytes) -> None:
        for i, byte in enumerate(data):
            self.changing[at + i] += 1
            self.content[at + i] = byte

    def versions(self, at: int, size: int) -> list[int]:
        return self.changing[at : at + size]

    def compare(self, at: int, data: bytes, before: list[int], what: str) -> int:
        """Bytes that nobody wrote meanwhile; how many there are."""
        known = 0
        for i, byte in enumerate(data):
            if before[i] % 2 == 0 and self.changing[at + i] == before[i]:
                known += 1
                assert byte == self.content[at + i], f"{what}: byte {at + i:#x} is {byte:#x}"
        return known


def owned(at: int, owner: int) -> int:
    """The first byte of one of the owner's blocks near `at`."""
    return min(at // 64 * 64 + 16 * owner, BYTES - 64 + 16 * owner)


async def axi_task(one: Bench, owner: int, ids: tuple[int, ...], count: int, writes: float = 0.5) -> int:
    rng, known = random.Random(one.rng.random()), 0
    top = one.width.bit_length() - 1
    for _ in range(count):
        size = rng.randint(0, top)
        if rng.random() < writes:
            first = rng.randrange(16)
            data = rng.randbytes(rng.randint(1, 16 - first))
            at = owned(rng.randrange(BYTES), owner) + first
            one.begin(at, data)
            response = await one.axi.write(at, data, awid=rng.choice(ids), size=size)
            one.end(at, data)
            assert response.resp == AxiResp.OKAY
        else:
            length = rng.randint(1, 8 * one.width if rng.random() < 0.2 else 32)
            at = rng.randrange(BYTES - length)
            before = one.versions(at, length)
            response = await one.axi.read(at, length, arid=rng.choice(ids), size=size)
            assert response.resp == AxiResp.OKAY
            known += one.compare(at, response.data, before, "read")
    return known


async def host_task(one: Bench, running: Callable[[], bool]) -> int:
    rng, known = random.Random(one.rng.random()), 0
    while running():
        line = rng.randrange(LINES)
        kind = rng.random()
        if kind < 0.5:
            at = owned(LINE * line + rng.choice([0, 64]), 3)
            data = rng.randbytes(16)
            one.begin(at, data)
            place = at % LINE
            await one.host(STORE, line, 0xFFFF << place, int.from_bytes(data, "little") << 8 * place)
            one.end(at, data)
        elif kind < 0.9:
            before = one.versions(LINE * line, LINE)
            got = (await one.host(LOAD, line)).to_bytes(LINE, "little")
            known += one.compare(LINE * line, got, before, "the host's load")
        else:
            await one.host(EVICT, line)
    return known


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def every_byte_is_the_last_that_was_written_while_the_host_fights_for_the_lines(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=True)
    one.pauses()
    tasks = [
        cocotb.start_soon(axi_task(one, owner, ids, 160))
        for owner, ids in enumerate([(0, 4), (1, 2), (4, 7, 9)])
    ]
    host = cocotb.start_soon(host_task(one, lambda: not all(task.done() for task in tasks)))
    known = [await task for task in tasks]
    known.append(await host)
    assert min(known) > 500, known
    assert int(dut.forwards_o.value) > 100
    # All of it, in bursts as long as a page has room for.
    for at in range(0, BYTES, 512):
        response = await one.axi.read(at, 512, arid=3)
        assert response.data == one.content[at : at + 512]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def long_bursts_store_and_load_whole_lines(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=True)
    stop: list[int] = []
    host = cocotb.start_soon(host_reads(one, lambda: not stop))
    for _ in range(40):
        length = one.rng.randint(1, BYTES)
        at = one.rng.randrange(BYTES - length + 1)
        data = one.rng.randbytes(length)
        size = one.rng.choice([None, None, one.width.bit_length() - 2])
        one.begin(at, data)
        await one.axi.write(at, data, awid=5, size=size)
        one.end(at, data)
        response = await one.axi.read(at, length, arid=6, size=size)
        assert response.data == data
    stop.append(1)
    await host


async def host_reads(one: Bench, running: Callable[[], bool]) -> None:
    while running():
        line = one.rng.randrange(LINES)
        before = one.versions(LINE * line, LINE)
        op = one.rng.choice([LOAD, LOAD, EVICT])
        got = (await one.host(op, line)).to_bytes(LINE, "little")
        if op == LOAD:
            one.compare(LINE * line, got, before, "the host's load")


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def wrapping_and_fixed_bursts_have_the_bytes_that_axi_says(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=False)
    one.content[:] = one.rng.randbytes(BYTES)
    await one.axi.write(0, bytes(one.content))
    for beats in (2, 4, 8, 16):
        block = beats * one.width
        for _ in range(3):
            base = one.rng.randrange(BYTES // block) * block
            at = base + one.rng.randrange(beats) * one.width
            want = bytes(one.content[at : base + block] + one.content[base:at])
            response = await one.axi.read(at, block, burst=AxiBurstType.WRAP)
            assert response.data == want, (beats, at)
            data = one.rng.randbytes(block)
            one.content[at : base + block] = data[: base + block - at]
            one.content[base:at] = data[base + block - at :]
            await one.axi.write(at, data, burst=AxiBurstType.WRAP)
            response = await one.axi.read(base, block)
            assert response.data == bytes(one.content[base : base + block])
    at = 3 * one.width
    word = bytes(one.content[at : at + one.width])
    response = await one.axi.read(at, 4 * one.width, burst=AxiBurstType.FIXED)
    assert response.data == 4 * word
    data = one.rng.randbytes(3 * one.width)
    await one.axi.write(at, data, burst=AxiBurstType.FIXED)
    response = await one.axi.read(at, one.width)
    assert response.data == data[-one.width :]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_refused_burst_has_all_its_beats_and_no_effect(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=False)
    for at, expected in ((BAD + 40, AxiResp.SLVERR), (REACH + 40, AxiResp.DECERR)):
        for length in (4, 300):
            response = await one.axi.read(at, length)
            assert (response.resp, len(response.data)) == (expected, length)
            written = await one.axi.write(at, bytes([1]) * length)
            assert written.resp == expected
    # A wrapping burst of three beats.
    response = await one.axi.read(0, 3 * one.width, burst=AxiBurstType.WRAP)
    assert response.resp == AxiResp.SLVERR
    written = await one.axi.write(0, bytes([1]) * 3 * one.width, burst=AxiBurstType.WRAP)
    assert written.resp == AxiResp.SLVERR
    response = await one.axi.read(0, 400)
    assert (response.resp, response.data) == (AxiResp.OKAY, bytes(400))


async def result(event: Any) -> Any:
    await event.wait()
    return event.data


async def clocked(dut: Any, count: int, seen: Callable[[int], None]) -> None:
    for cycle in range(count):
        await FallingEdge(dut.clk_i)
        seen(cycle)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_hit_takes_five_cycles_and_hits_one_each(dut: Any) -> None:
    """Measured at the pins: the address is on AR in its cycle, the data is on R five later."""
    one = Bench(dut)
    await one.start(pause=False)
    await hits(one, 4 * LINE)
    # A write, from its last beat to B.
    asked: list[int] = []
    came: list[int] = []

    def watch_write(cycle: int) -> None:
        if int(dut.s_axi_wvalid.value) and int(dut.s_axi_wready.value):
            asked.append(cycle)
        if int(dut.s_axi_bvalid.value):
            came.append(cycle)

    watcher = cocotb.start_soon(clocked(dut, 40, watch_write))
    await one.axi.write(8, bytes(4))
    await watcher
    assert came[0] - asked[0] == 7


async def hits(one: Bench, size: int, base: int = 0, cycles: int = 5) -> None:
    """64 reads of bytes from `base` on, which the cache has: from AR to R, and how they follow each other."""
    dut = one.dut
    line = one.rng.randbytes(size)
    await one.axi.write(base, line)
    await one.axi.read(base, size)
    asked: list[int] = []
    came: list[int] = []

    def watch(cycle: int) -> None:
        if int(dut.s_axi_arvalid.value) and int(dut.s_axi_arready.value):
            asked.append(cycle)
        if int(dut.s_axi_rvalid.value) and int(dut.s_axi_rready.value):
            came.append(cycle)

    watcher = cocotb.start_soon(clocked(dut, 200, watch))
    places = [one.rng.randrange(size // one.width) * one.width for _ in range(64)]
    events = [one.axi.init_read(base + at, one.width, arid=k % 16) for k, at in enumerate(places)]
    for at, event in zip(places, events, strict=True):
        assert (await result(event)).data == line[at : at + one.width]
    await watcher
    assert [end - begin for begin, end in zip(asked, came, strict=True)] == [cycles] * 64
    dut._log.warning(
        "64 hits: %d cycles from AR to R, %d cycles in all", came[0] - asked[0], came[-1] - came[0] + 1
    )
    assert came[-1] - came[0] == 63, "one a cycle"


def signed(value: int, size: int) -> int:
    return value - (1 << 8 * size) if value >> 8 * size - 1 else value


def changed(old: int, operand: int, new: int, what: int, size: int) -> int:
    """What AXI5 says that a location has afterwards."""
    if what == SWAP:
        return operand
    if what == COMPARE:
        return new if old == operand else old
    mine, other = signed(old, size), signed(operand, size)
    results = {
        ADD: old + operand,
        CLEAR: old & ~operand,
        XOR: old ^ operand,
        SET: old | operand,
        SMAX: max(mine, other),
        SMIN: min(mine, other),
        UMAX: max(old, operand),
        UMIN: min(old, operand),
    }
    return results[what & 7] & (1 << 8 * size) - 1


async def atomic(one: Bench, at: int, what: int, size: int, operand: int, new: int, ident: int) -> int:
    """The old value; an atomic without one answers 0."""
    response, old = await tried(one, at, what, size, operand, new, ident)
    assert response == AxiResp.OKAY
    return old


async def tried(
    one: Bench, at: int, what: int, size: int, operand: int, new: int, ident: int
) -> tuple[AxiResp, int]:
    """The response, which is R's too, and the old value."""
    data = operand.to_bytes(size, "little")
    start, burst = at, AxiBurstType.INCR
    if what == COMPARE:
        both = [data, new.to_bytes(size, "little")]
        if 2 * size > one.width:
            # From the operand on, around the block.
            burst = AxiBurstType.WRAP
            payload, beat = b"".join(both), one.width
        else:
            payload, beat = b"".join(both if at % (2 * size) == 0 else both[::-1]), 2 * size
            start = at // (2 * size) * (2 * size)
    else:
        payload, beat = data, size
    one.old.pop(ident, None)
    response = await write_atomic(one, at, start, payload, beat, burst, what, ident)
    if what & 0b110000 == ATOMIC_STORE:
        assert ident not in one.old
        return response, 0
    want = max(1, size // one.width)
    while len(one.old.get(ident, [])) < want:
        await RisingEdge(one.dut.clk_i)
    beats = one.old.pop(ident)
    assert [last for _, _, last in beats] == [0] * (want - 1) + [1]
    assert all(resp == response for _, resp, _ in beats)
    whole = sum(value << 8 * one.width * k for k, (value, _, _) in enumerate(beats))
    return response, whole >> 8 * (at % one.width) & (1 << 8 * size) - 1


async def write_atomic(
    one: Bench, at: int, start: int, payload: bytes, beat: int, burst: AxiBurstType, what: int, ident: int
) -> AxiResp:
    """The master's own write, but for the address: an atomic's is that of its operand."""
    write = one.axi.write_if

    async def corrected(address: Any) -> None:
        if address.awid == ident:
            address.awaddr = at
        await send(address)

    async with one.lock:
        send = write.aw_channel.send
        write.aw_channel.send = corrected
        log2 = beat.bit_length() - 1
        done = write.init_write(start, payload, awid=ident, burst=burst, size=log2, user=what)
        while not write.active_id[ident]:
            await RisingEdge(one.dut.clk_i)
        write.aw_channel.send = send
    return AxiResp((await result(done)).resp)


COUNTER = 5 * LINE + 64 + 16 * 2
"""A word that two tasks count up; its line is the host's, too."""


async def count_task(one: Bench, ident: int, times: int) -> list[int]:
    return [await atomic(one, COUNTER, ATOMIC_LOAD | ADD, 8, 3, 0, ident) for _ in range(times)]


async def change_task(one: Bench, owner: int, ident: int, count: int) -> set[tuple[int, int]]:
    """Any atomics on the owner's words, each compared with what AXI5 says of it."""
    rng, seen = random.Random(one.rng.random()), set()
    changes = [ATOMIC_LOAD | fn for fn in range(8)] + [ATOMIC_STORE | fn for fn in range(8)] + [SWAP]
    for _ in range(count):
        compares = rng.random() < 0.3
        what = COMPARE if compares else rng.choice(changes)
        size = 1 << rng.randrange(5 if compares else 4)
        at = owned(rng.randrange(BYTES), owner) + rng.randrange(16 // size) * size
        if size == 16 and owner != 0:
            # Its new value is in the other half of 32 bytes.
            what, size = SWAP, 8
        old = int.from_bytes(one.content[at : at + size], "little")
        operand, new = rng.getrandbits(8 * size), rng.getrandbits(8 * size)
        if rng.random() < 0.5 and what == COMPARE:
            operand = old
        after = changed(old, operand, new, what, size).to_bytes(size, "little")
        one.begin(at, after)
        got = await atomic(one, at, what, size, operand, new, ident)
        one.end(at, after)
        assert what & 0b110000 == ATOMIC_STORE or got == old, (hex(at), bin(what), size)
        seen.add((what, size))
    return seen


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_atomic_changes_its_word_at_once_whoever_else_wants_the_line(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=True)
    if not int(dut.Atomics.value):
        written = await one.axi.write(0, bytes(8), awid=OLD_ID, size=3, user=SWAP)
        assert written.resp == AxiResp.SLVERR
        assert [resp for _, resp, _ in one.old[OLD_ID]] == [AxiResp.SLVERR]
        return
    one.begin(COUNTER, bytes(8))
    counts = [cocotb.start_soon(count_task(one, OLD_ID + k, 40)) for k in range(2)]
    changes = [cocotb.start_soon(change_task(one, k, OLD_ID + 2 + k, 150)) for k in range(2)]
    host = cocotb.start_soon(host_task(one, lambda: not all(task.done() for task in counts + changes)))
    reads = [cocotb.start_soon(axi_task(one, 2, (k, 4 + k), 120, writes=0.0)) for k in range(4)]
    olds = [await task for task in counts]
    assert sorted(olds[0] + olds[1]) == list(range(0, 3 * 80, 3)), "each count sees another value"
    seen: set[tuple[int, int]] = set()
    for task in changes:
        seen |= await task
    for reader in reads:
        assert await reader > 300
    await host
    assert {(COMPARE, 16), (COMPARE, 1)} <= seen
    assert any(what & 0b110000 == ATOMIC_STORE for what, _ in seen)
    assert len(seen) > 50
    at = LINE * LINES // 2 + 1
    for what, size, where in ((SWAP, 3, at), (ATOMIC_LOAD | 8, 2, 0)):
        written = await one.axi.write(where, bytes(1), awid=OLD_ID, size=size, user=what)
        assert written.resp == AxiResp.SLVERR, "unaligned; big-endian"
    response = await one.axi.read(COUNTER, 8)
    assert int.from_bytes(response.data, "little") == 240


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_stuck_reader_does_not_stop_writes_nor_a_stuck_writer_reads(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=False)
    one.axi.read_if.r_channel.pause = True
    reads = [one.axi.init_read(LINE * (k % LINES), 2 * LINE if k % 3 else 8, arid=k) for k in range(20)]
    for k in range(20):
        assert (await one.axi.write(LINE * (k % LINES) + k, b"x", awid=k)).resp == AxiResp.OKAY
    assert not any(event.is_set() for event in reads)
    one.axi.read_if.r_channel.pause = False
    for event in reads:
        await event.wait()
    one.axi.write_if.b_channel.pause = True
    writes = [one.axi.init_write(LINE * (k % LINES), b"y", awid=k) for k in range(20)]
    for k in range(20):
        assert (await one.axi.read(LINE * (k % LINES) + 64, 8, arid=k)).resp == AxiResp.OKAY
    one.axi.write_if.b_channel.pause = False
    for event in writes:
        await event.wait()
