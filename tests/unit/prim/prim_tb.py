# SPDX-License-Identifier: Apache-2.0
"""fifo, block_fifo, arb_rr, arb_fixed and ram_1r1w against reference models."""

import random
from collections import deque
from collections.abc import AsyncIterator

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly


async def reset(dut: object) -> None:
    for name in dir(dut):
        if name.endswith("_i") and name != "clk_i":
            getattr(dut, name).value = 0
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


async def cycles(dut: object, count: int) -> AsyncIterator[int]:
    """Each turn starts where inputs may be driven; the body ends it with `settled`."""
    for cycle in range(count):
        await FallingEdge(dut.clk_i)
        yield cycle


settled = ReadOnly


async def fifo_traffic(dut: object, prefix: str, depth: int, fill: float, drain: float) -> int:
    port = {
        n: getattr(dut, f"{prefix}_{n}")
        for n in ("clear_i", "valid_i", "ready_i", "data_i", "ready_o", "valid_o", "data_o", "usage_o")
    }
    model: deque[int] = deque()
    moved = 0
    async for cycle in cycles(dut, 1500):
        word, clear = random.getrandbits(32), random.random() < 0.01 or cycle == 1499
        port["valid_i"].value = random.random() < fill
        port["ready_i"].value = random.random() < drain
        port["data_i"].value = word
        port["clear_i"].value = clear
        await settled()
        assert int(port["usage_o"].value) == len(model)
        assert bool(port["ready_o"].value) == (len(model) < depth)
        assert bool(port["valid_o"].value) == (len(model) > 0)
        if model:
            assert int(port["data_o"].value) == model[0]
        takes = bool(port["valid_i"].value) and len(model) < depth
        if model and port["ready_i"].value:
            model.popleft()
            moved += 1
        if takes:
            model.append(word)
        if clear:
            model.clear()
    return moved


@cocotb.test()
async def fifo_equals_a_queue_at_every_cycle(dut: object) -> None:
    await reset(dut)
    for prefix, depth in (("f16", 16), ("f2", 2)):
        for fill, drain in ((0.5, 0.5), (0.9, 0.3), (0.3, 0.9)):
            assert await fifo_traffic(dut, prefix, depth, fill, drain) > 300


@cocotb.test()
@cocotb.parametrize(("prefix", ["f2", "b4"]))
async def a_fifo_takes_one_cycle_and_passes_one_word_a_cycle(dut: object, prefix: str) -> None:
    await reset(dut)
    port = {n: getattr(dut, f"{prefix}_{n}") for n in ("valid_i", "ready_i", "data_i", "ready_o", "valid_o")}
    out = []
    async for cycle in cycles(dut, 200):
        port["valid_i"].value = 1
        port["ready_i"].value = 1
        port["data_i"].value = cycle
        await settled()
        assert port["ready_o"].value
        if port["valid_o"].value:
            out.append((cycle, int(getattr(dut, f"{prefix}_data_o").value)))
    assert out == [(n + 1, n) for n in range(199)]


@cocotb.test()
async def block_fifo_equals_a_queue_at_every_cycle(dut: object) -> None:
    await reset(dut)
    for fill, drain in ((0.5, 0.5), (0.9, 0.3), (0.3, 0.9)):
        inside: deque[int] = deque()  # the one at the output and those in the memory
        out, moved, full = False, 0, 0
        async for cycle in cycles(dut, 1500):
            word = random.getrandbits(32)
            dut.b4_valid_i.value = random.random() < fill and cycle < 1480
            dut.b4_ready_i.value = random.random() < drain or cycle >= 1480
            dut.b4_data_i.value = word
            await settled()
            stored = len(inside) - int(out)
            assert bool(dut.b4_ready_o.value) == (stored < 4)
            assert bool(dut.b4_valid_o.value) == out
            full += stored == 4
            if out:
                assert int(dut.b4_data_o.value) == inside[0]
            takes = bool(dut.b4_valid_i.value) and stored < 4
            if out and dut.b4_ready_i.value:
                inside.popleft()
                moved += 1
                out = False
            # A free output takes what stood in the memory; an empty queue takes a word at once.
            out = out or stored > 0 or takes
            if takes:
                inside.append(word)
        assert not inside
        assert moved > 300
        # Of 1500 cycles; a queue as often filled as drained stands full now and then.
        assert full > (500 if fill > drain else 0) or fill < drain


@cocotb.test()
async def arb_rr_serves_in_turn_and_holds_to_the_last_word(dut: object) -> None:
    await reset(dut)
    before, owner = 4, None
    waiting = [0] * 5
    served = [0] * 5
    async for cycle in cycles(dut, 4000):
        busy = cycle > 2000
        request = random.choices(range(32), weights=[0.2] + [1] * 30 + ([60] if busy else [1]))[0]
        last = random.random() < 0.5
        dut.rr_req_i.value = request
        dut.rr_last_i.value = last
        await settled()
        if owner is None:
            turn = [(before + 1 + n) % 5 for n in range(5)]
            owner = next((i for i in turn if request >> i & 1), None)
        expected = 0 if owner is None else 1 << owner
        assert int(dut.rr_gnt_o.value) == expected
        if owner is None:
            continue
        assert int(dut.rr_idx_o.value) == owner
        before = owner
        for i in range(5):
            waits = request >> i & 1 and i != owner
            waiting[i] = waiting[i] + int(last) if waits else 0
            assert waiting[i] <= 4, "a request waited for more than NumReq-1 packets"
        if last:
            served[owner] += 1
            owner = None
    assert min(served) > 100


@cocotb.test()
async def arb_rr_has_no_dead_cycle_between_packets(dut: object) -> None:
    await reset(dut)
    grants = []
    async for _ in cycles(dut, 50):
        dut.rr_req_i.value = 0b10110
        dut.rr_last_i.value = 1
        await settled()
        grants.append(int(dut.rr_idx_o.value))
    assert grants == [[1, 2, 4][n % 3] for n in range(50)]


@cocotb.test()
async def arb_fixed_grants_the_lowest_request(dut: object) -> None:
    await reset(dut)
    async for request in cycles(dut, 128):
        dut.fixed_req_i.value = request
        await settled()
        assert int(dut.fixed_gnt_o.value) == request & -request


@cocotb.test()
async def ram_equals_an_array_and_reads_the_old_word_on_a_collision(dut: object) -> None:
    await reset(dut)
    memory: dict[int, int] = {}
    async for address in cycles(dut, 48):
        memory[address] = random.getrandbits(32)
        dut.ram_we_i.value = 0xF
        dut.ram_waddr_i.value = address
        dut.ram_wdata_i.value = memory[address]
    expected, collisions, differ = None, 0, 0
    known = 0
    async for _ in cycles(dut, 3000):
        await settled()
        if expected is not None:
            assert int(dut.ram_rdata_o.value) == expected
            # The other one says anything about the lanes of a collision, and of no others.
            other = int(dut.any_rdata_o.value)
            assert other & known == expected & known
            differ += other != expected
        await FallingEdge(dut.clk_i)
        lanes, write, word = random.getrandbits(4), random.randrange(48), random.getrandbits(32)
        read = write if random.random() < 0.2 else random.randrange(48)
        enable = random.random() < 0.8
        dut.ram_we_i.value, dut.ram_waddr_i.value, dut.ram_wdata_i.value = lanes, write, word
        dut.ram_re_i.value, dut.ram_raddr_i.value = enable, read
        if enable:
            expected = memory[read]
            collisions += read == write and lanes != 0
        mask = sum(0xFF << 8 * lane for lane in range(4) if lanes >> lane & 1)
        if enable:
            known = 0xFFFFFFFF & ~mask if read == write else 0xFFFFFFFF
        memory[write] = memory[write] & ~mask | word & mask
        # A second cycle without an operation: the output holds.
        await settled()
        await FallingEdge(dut.clk_i)
        dut.ram_we_i.value = 0
        dut.ram_re_i.value = 0
        dut.ram_raddr_i.value = random.randrange(48)
    assert collisions > 100
    assert differ > 100
