# SPDX-License-Identifier: Apache-2.0
"""axi_atomic against a memory that adds, sets and swaps, with back-pressure on every channel.

cocotbext-axi has no AWATOP; the memory here answers B and R in any order, as AXI5 has it.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

WORDS = 32
MASK = (1 << 64) - 1
STORE_ADD, STORE_SET, LOAD_ADD, LOAD_SET, SWAP = 0b010000, 0b010011, 0b100000, 0b100011, 0b110000
CODES = (STORE_ADD, STORE_SET, LOAD_ADD, LOAD_SET, SWAP)


class Memory:
    """A subordinate; its state is what the atomics so far have made."""

    def __init__(self, dut: Any, rng: random.Random, eager: float) -> None:
        self.dut, self.rng, self.eager = dut, rng, eager
        self.width = len(dut.wstrb_o)
        self.words = [rng.getrandbits(64) for _ in range(WORDS)]
        self.error = ""
        """The channel, b or r, that answers with an error."""
        self.changes = 0
        self.served: Any = None

    def go(self) -> bool:
        return self.rng.random() < self.eager

    async def serve(self) -> None:
        d = self.dut
        address = beat = None
        answers: dict[str, int] = {}
        while True:
            # What is on the pins here is what the edge takes.
            await FallingEdge(d.clk_i)
            d.awready_i.value = int(address is None and self.go())
            d.wready_i.value = int(beat is None and self.go())
            for name in ("b", "r"):
                shown = name in answers and (bool(getattr(d, f"{name}valid_i").value) or self.go())
                getattr(d, f"{name}valid_i").value = int(shown)
            d.rdata_i.value = self.on_bus(answers.get("r", 0))
            d.bresp_i.value, d.rresp_i.value = (2 if self.error == name else 0 for name in ("b", "r"))
            await RisingEdge(d.clk_i)
            if d.awvalid_o.value and d.awready_i.value:
                assert address is None
                address = (int(d.aw_o.value), int(d.awatop_o.value))
            if d.wvalid_o.value and d.wready_i.value:
                assert beat is None
                beat = (int(d.wdata_o.value), int(d.wstrb_o.value))
            for name in ("b", "r"):
                if getattr(d, f"{name}valid_i").value and getattr(d, f"{name}ready_o").value:
                    del answers[name]
            if address is not None and beat is not None and not answers:
                answers = self.change(*address, *beat)
                address = beat = None

    def on_bus(self, word: int) -> int:
        self.lane = getattr(self, "lane", 0)
        noise = self.rng.getrandbits(8 * self.width) & ~(MASK << 8 * self.lane)
        return noise | word << 8 * self.lane

    def change(self, aw: int, code: int, data: int, strobes: int) -> dict[str, int]:
        addr, length, size, burst = aw >> 13, aw >> 5 & 0xFF, aw >> 2 & 7, aw & 3
        assert (length, size, burst) == (0, 3, 1)
        self.lane = addr % self.width
        assert strobes == 0xFF << self.lane
        operand = data >> 8 * self.lane & MASK
        old = self.words[addr // 8]
        new = {0: old + operand, 3: old | operand}.get(code & 7, 0) & MASK if code != SWAP else operand
        self.words[addr // 8] = new
        self.changes += 1
        return {"b": 0} | ({"r": old} if code & 0b100000 else {})


async def start(dut: Any, eager: float) -> Memory:
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    for name in ("req_valid", "awready", "wready", "bvalid", "rvalid", "bresp", "rresp"):
        getattr(dut, f"{name}_i").value = 0
    dut.rst_ni.value = 0
    memory = Memory(dut, random.Random(cocotb.RANDOM_SEED), eager)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    memory.served = cocotb.start_soon(memory.serve())
    return memory


async def atomic(dut: Any, code: int, word: int, operand: int) -> tuple[int, int]:
    """What the word was, as the core says; cycles from the request to its end."""
    await FallingEdge(dut.clk_i)
    dut.req_valid_i.value = 1
    dut.req_code_i.value = code
    dut.req_address_i.value = 8 * word
    dut.req_operand_i.value = operand
    assert dut.req_ready_o.value
    cycles = 0
    while True:
        await FallingEdge(dut.clk_i)
        dut.req_valid_i.value = 0
        cycles += 1
        if dut.done_o.value:
            return int(dut.old_o.value), cycles
        assert cycles < 1000, "no end"


@cocotb.test()
async def every_atomic_is_done_once_and_gives_what_the_word_was(dut: Any) -> None:
    memory = await start(dut, 1.0)
    model = list(memory.words)
    for number in range(600):
        memory.eager = 1.0 if number < 300 else 0.3
        code = memory.rng.choice(CODES)
        word, operand = memory.rng.randrange(WORDS), memory.rng.getrandbits(64)
        old, _ = await atomic(dut, code, word, operand)
        if code & 0b100000:
            assert old == model[word]
        kind = "swap" if code == SWAP else code & 7
        model[word] = {"swap": operand, 0: model[word] + operand & MASK, 3: model[word] | operand}[kind]
        assert memory.words == model
        assert memory.changes == number + 1
        assert not dut.lost_o.value


@cocotb.test()
async def one_takes_the_memorys_time_and_two_cycles(dut: Any) -> None:
    memory = await start(dut, 1.0)
    cycles = {(await atomic(dut, code, 3, 1))[1] for code in CODES}
    # Offered and taken in one cycle, answered in the next one.
    assert cycles == {3}
    assert memory.changes == len(CODES)


@cocotb.test()
async def an_error_of_either_answer_comes_with_its_end(dut: Any) -> None:
    for channel in ("b", "r"):
        memory = await start(dut, 1.0)
        for wrong in (False, True, False):
            memory.error = channel if wrong else ""
            await atomic(dut, LOAD_ADD, 3, 1)
            assert bool(dut.lost_o.value) == wrong, channel
        memory.served.cancel()
