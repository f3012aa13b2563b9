# SPDX-License-Identifier: Apache-2.0
"""axi_atomic before a port whose pages are away now and then: each atomic is made once, or is an error."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

TRIES = int(os.environ.get("AXI_TRIES", "3"))
WAIT = 8
NEW, ADD, XOR, SET, SWAP, COMPARE = 0, 0b100000, 0b100010, 0b100011, 0b110000, 0b110001
OKAY, SLVERR = 0, 2
WORD = (1 << 64) - 1


def changed(code: int, old: int, operand: int, new: int) -> int:
    match code:
        case 0b100000:
            return old + operand & WORD
        case 0b100010:
            return old ^ operand
        case 0b100011:
            return old | operand
        case 0b110000:
            return operand
        case _:
            return new if old == operand else old


class Port:
    """One atomic at a time; `away` refuses it."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        self.memory = {8 * k: self.rng.getrandbits(64) for k in range(16)}
        self.away = 0.0
        self.address: tuple[int, int, int] | None = None
        self.data: tuple[int, int] | None = None
        self.answers: dict[str, int] = {}
        self.tried: list[int] = []
        self.cycle = 0
        for pin in ("rst_ni", "req_valid_i", "awready_i", "wready_i", "bvalid_i", "rvalid_i"):
            getattr(dut, pin).value = 0

    async def step(self) -> None:
        """To the next falling edge; what is offered at it is taken at the edge behind it."""
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        self.cycle += 1
        dut.awready_i.value = aw = int(rng.random() < 0.6)
        dut.wready_i.value = w = int(rng.random() < 0.6)
        for name in ("b", "r"):
            valid = int(name in self.answers and rng.random() < 0.5)
            getattr(dut, f"{name}valid_i").value = valid
            getattr(dut, f"{name}resp_i").value = self.answers.get(name, 0)
            if valid:
                assert int(getattr(dut, f"{name}ready_o").value)
                del self.answers[name]
        if aw and int(dut.awvalid_o.value):
            assert self.address is None
            word = int(dut.aw_o.value)
            self.address = (word >> 13, word >> 2 & 7, int(dut.awatop_o.value))
            assert word >> 5 & 255 == 0
        if w and int(dut.wvalid_o.value):
            assert self.data is None
            self.data = int(dut.wdata_o.value), int(dut.wstrb_o.value)
        if self.address and self.data:
            self.make(*self.address, *self.data)
            self.address = self.data = None

    def make(self, at: int, size: int, code: int, data: int, strobes: int) -> None:
        self.tried.append(self.cycle)
        lane = at % 64
        compare = code == COMPARE
        assert size == (4 if compare else 3)
        assert strobes == (0xFFFF << at // 16 * 16 % 64 if compare else 0xFF << lane)
        response = SLVERR if self.rng.random() < self.away else OKAY
        old = self.memory[at]
        if response == OKAY:
            operand, new = data >> 8 * lane & WORD, data >> 8 * (lane ^ 8) & WORD
            self.memory[at] = changed(code, old, operand, new)
        self.answers = {"b": response, "r": response}
        self.dut.rdata_i.value = old << 8 * lane if response == OKAY else 0

    async def request(self, code: int, at: int, operand: int) -> tuple[int, bool]:
        """The old word, and whether it was refused."""
        dut = self.dut
        dut.req_code_i.value, dut.req_address_i.value, dut.req_operand_i.value = code, at, operand
        dut.req_valid_i.value = 1
        assert int(dut.req_ready_o.value)
        self.tried.clear()
        await self.step()
        dut.req_valid_i.value = 0
        while not int(dut.done_o.value):
            await self.step()
        return int(dut.old_o.value), bool(int(dut.lost_o.value))


async def start(dut: Any) -> Port:
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    port = Port(dut)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await port.step()
    return port


@cocotb.test()
async def each_atomic_is_made_once_however_often_its_page_is_away(dut: Any) -> None:
    port = await start(dut)
    port.away = 0.4
    model = dict(port.memory)
    seen = dict.fromkeys(("made", "lost", "again", "swapped", "kept"), 0)
    for _ in range(600):
        rng = port.rng
        code, at = rng.choice([ADD, XOR, SET, SWAP, COMPARE]), 8 * rng.randrange(16)
        operand, new = rng.getrandbits(64), rng.getrandbits(64)
        if code == COMPARE:
            operand = model[at] if rng.random() < 0.6 else operand
            assert await port.request(NEW, 0, new) == (int(dut.old_o.value), False)
            assert port.tried == []
        old, lost = await port.request(code, at, operand)
        assert len(port.tried) <= TRIES + 1
        assert all(b - a >= WAIT for a, b in zip(port.tried, port.tried[1:], strict=False))
        if lost:
            assert len(port.tried) == TRIES + 1
            seen["lost"] += 1
        else:
            assert old == model[at]
            after = changed(code, old, operand, new)
            if code == COMPARE:
                seen["swapped" if old == operand else "kept"] += 1
            model[at] = after
            seen["made"] += 1
            seen["again"] += len(port.tried) > 1
        assert port.memory == model
    assert min(seen.values()) >= (10 if TRIES else 0), seen
