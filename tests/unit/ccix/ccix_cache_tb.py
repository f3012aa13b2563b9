# SPDX-License-Identifier: Apache-2.0
"""The agent with a cache against a home in the bench, which takes lines away and shares them at random."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

COMP, COMP_DATA, CREDIT, REQUEST, RESPONSE, SNOOP = 4, 5, 6, 12, 13, 14
FSHR, FINV, PEMD, PACK = 10, 11, 13, 16
RLDS, RLDX, RUPG = 0, 5, 6
VICD, VICC, VICS, HAKD, HAKO, HAKI, HAKS, HAKV, GACK = 0, 1, 2, 4, 5, 6, 7, 8, 15
WITH_LINE = (VICD, HAKD, HAKO)
LINES = 24
WORD = (1 << 64) - 1
PLACES = int(os.environ.get("CCIX_PLACES", "0"))


class Home:
    """A directory, one transaction a line; memory is what the host would see."""

    def __init__(self, rng: random.Random, lines: Sequence[int] = range(LINES)) -> None:
        self.rng, self.lines = rng, lines
        self.memory = {line: rng.getrandbits(512) for line in lines}
        self.state = dict.fromkeys(lines, "I")
        self.snooped = True
        self.busy: dict[int, str] = {}
        self.waiting: list[tuple[int, int, int]] = []
        self.out: list[tuple[int, int]] = []
        self.snoops = 0
        self.seen: dict[int, int] = {}
        self.grants = True

    def message(self, words: int, message: int) -> None:
        header, inner, data = message & WORD, message >> 64 & WORD, message >> 128 & (1 << 512) - 1
        kind, opcode, line = header >> 60, inner >> 59, inner >> 7 & (1 << 33) - 1
        assert header >> 56 & 0xF == words == (10 if kind == RESPONSE and opcode in WITH_LINE else 2)
        self.seen[opcode | (kind == RESPONSE) << 5] = self.seen.get(opcode | (kind == RESPONSE) << 5, 0) + 1
        if kind == REQUEST:
            assert opcode in (RLDS, RLDX, RUPG)
            self.waiting.append((line, opcode, header >> 48 & 0xFF))
            return
        assert kind == RESPONSE
        if opcode in WITH_LINE:
            self.memory[line] = data
        busy = self.busy.get(line, "")
        if opcode == GACK:
            assert self.busy.pop(line) == "grant"
        elif opcode in (VICD, VICC, VICS):
            assert self.state[line] != "I"
            self.state[line] = "I"
            if busy == "victim":
                del self.busy[line]
            elif busy in (str(FSHR), str(FINV)):
                self.busy[line] = f"gone {busy}"
        else:
            assert busy.split()[-1] in (str(FSHR), str(FINV)), busy
            gone = busy.startswith("gone")
            del self.busy[line]
            if opcode == HAKV and not gone:
                self.busy[line] = "victim"
            elif not gone:
                self.state[line] = {HAKD: "I", HAKI: "I", HAKO: "O", HAKS: "S"}[opcode]

    def step(self, snoop: bool = True) -> None:
        for one in list(self.waiting):
            line, opcode, ident = one
            upgrade = opcode == RUPG and self.state[line] in "SO"
            free = line not in self.busy and (self.state[line] == "I" or upgrade)
            if not (self.grants and free) or self.rng.random() > 0.3:
                continue
            self.waiting.remove(one)
            self.busy[line] = "grant"
            self.state[line] = "E"
            if upgrade:
                self.out.append((COMP << 60 | 1 << 56 | ident << 48 | PACK, 0))
            else:
                self.out.append((COMP_DATA << 60 | 9 << 56 | ident << 48 | PEMD, self.memory[line]))
        line = self.rng.choice(self.lines)
        if (
            snoop
            and self.snooped
            and line not in self.busy
            and self.state[line] != "I"
            and self.rng.random() < 0.1
        ):
            what = FSHR if self.state[line] in "EO" and self.rng.random() < 0.5 else FINV
            self.busy[line] = str(what)
            self.snoops += 1
            self.out.append((SNOOP << 60 | 1 << 56 | what << 48 | line, 0))


class Bench:
    """The port of requests, and what each line must have."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        self.home = Home(self.rng)
        self.content = dict(self.home.memory)
        self.tags = list(range(256))
        self.open: dict[int, tuple[bool, int, int]] = {}
        self.line: dict[int, int] = {}
        self.cycle = 0
        self.latency: list[int] = []

    async def start(self) -> None:
        dut = self.dut
        cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
        for pin in ("req_valid_i", "req_evict_i", "req_atomic_i", "msg_ready_i", "ans_valid_i", "rst_ni"):
            getattr(dut, pin).value = 0
        for _ in range(4):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1

    def storing(self) -> set[int]:
        """Lines with a store that is not answered: a load may still find the line as it was."""
        return {self.line[tag] for tag, one in self.open.items() if one[0]}

    async def step(
        self, request: tuple[int, bool] | None, ready: float = 0.8, snoop: bool = True, evict: bool = False
    ) -> bool:
        """`evict`: the request's line is given up; its bytes are not answered."""
        dut, rng = self.dut, self.rng
        request = request if self.tags else None
        if request is not None and not request[1] and request[0] in self.storing():
            request = None
        dut.req_valid_i.value, dut.req_evict_i.value = int(request is not None), int(evict)
        mask, data = rng.choice([rng.getrandbits(64), (1 << 64) - 1]), rng.getrandbits(512)
        if request is not None:
            dut.req_index_i.value, dut.req_write_i.value = request[0], int(request[1])
            dut.req_tag_i.value, dut.req_mask_i.value, dut.req_data_i.value = self.tags[0], mask, data
        dut.msg_ready_i.value = int(rng.random() < ready)
        self.home.step(snoop)
        dut.ans_valid_i.value = int(bool(self.home.out))
        if self.home.out:
            dut.ans_header_i.value, dut.ans_data_i.value = self.home.out.pop(0)
        await RisingEdge(dut.clk_i)
        self.cycle += 1
        assert not int(dut.stray_o.value)
        assert not int(dut.fail_o.value)
        if int(dut.rsp_valid_o.value):
            tag = int(dut.rsp_tag_o.value)
            write, expected, begin = self.open.pop(tag)
            self.tags.append(tag)
            self.latency.append(self.cycle - begin)
            assert write or int(dut.rsp_data_o.value) == expected
        taken = request is not None and bool(int(dut.req_ready_o.value))
        if taken:
            assert request is not None
            line, write = request
            if write and not evict:
                bits = sum(0xFF << 8 * byte for byte in range(64) if mask >> byte & 1)
                self.content[line] = self.content[line] & ~bits | data & bits
            self.line[self.tags[0]] = line
            self.open[self.tags.pop(0)] = (write or evict, self.content[line], self.cycle)
        if int(dut.msg_valid_o.value) and int(dut.msg_ready_i.value):
            self.home.message(int(dut.msg_words_o.value), int(dut.msg_o.value))
        await FallingEdge(dut.clk_i)
        return taken

    async def settle(self) -> None:
        for _ in range(3_000):
            if not (self.open or self.home.busy or self.home.out or self.home.waiting):
                break
            await self.step(None)
        assert not self.open


@cocotb.test()
async def every_load_has_the_bytes_of_the_last_store(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    for _ in range(8_000):
        hot = one.rng.random() < 0.5
        line = one.rng.randrange(3 if hot else LINES)
        request = (line, one.rng.random() < 0.5) if one.rng.random() < 0.7 else None
        await one.step(request, evict=one.rng.random() < 0.1)
    await one.settle()
    assert one.home.snoops > 100
    responses = {code & 31 for code in one.home.seen if code & 32}
    assert responses >= {VICD, VICC, HAKD, HAKO, HAKI, HAKS, GACK}
    assert {code for code in one.home.seen if not code & 32} == {RLDS, RLDX, RUPG}


@cocotb.test()
async def a_hit_takes_four_cycles_and_hits_one_each(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    while not await one.step((5, False), ready=1.0, snoop=False):
        pass
    for _ in range(60):
        await one.step(None, ready=1.0, snoop=False)
    assert len(one.latency) == 1
    one.latency.clear()
    begin, taken = one.cycle, 0
    while taken < 64:
        taken += await one.step((5, False), ready=1.0, snoop=False)
    assert one.cycle - begin == 64
    for _ in range(8):
        await one.step(None, ready=1.0, snoop=False)
    assert one.latency == [4] * 64


@cocotb.test()
async def what_is_evicted_is_in_memory_and_what_is_not_there_is_answered_too(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    for _ in range(200):
        await one.step((one.rng.randrange(LINES), True), snoop=False)
    await one.settle()
    assert any(state != "I" for state in one.home.state.values())
    for _ in range(2):
        for line in range(LINES):
            while not await one.step((line, False), snoop=False, evict=True):
                pass
        await one.settle()
        for _ in range(40):
            await one.step(None, snoop=False)
        assert set(one.home.state.values()) == {"I"}
        assert one.home.memory == one.content
    assert max(one.latency[-LINES:]) == 4


@cocotb.test()
async def others_pass_a_store_that_waits_for_its_line(dut: Any) -> None:
    """With places hits do at once; what misses meanwhile asks when the line has come, all together."""
    one = Bench(dut)
    await one.start()
    while not await one.step((5, False), snoop=False):
        pass
    await one.settle()
    one.home.grants = False
    one.latency.clear()
    for line in (6, 6, 5, 7, 8, 5):
        for _ in range(20):
            if await one.step((line, line != 5), ready=1.0, snoop=False):
                break
    for _ in range(20):
        await one.step(None, ready=1.0, snoop=False)
    # In their order what follows the second store waits, and there is no place for the last hit.
    assert one.latency == ([4, 4] if PLACES else [])
    assert len(one.open) == (4 if PLACES else 5)
    assert [line for line, _, _ in one.home.waiting] == [6]
    one.home.grants = True
    while one.home.waiting:
        await one.step(None, ready=1.0, snoop=False)
    one.home.grants = False
    for _ in range(40):
        await one.step(None, ready=1.0, snoop=False)
    assert {line for line, _, _ in one.home.waiting} == {7, 8}
    one.home.grants = True
    await one.settle()
    assert one.home.seen[RLDX] == 3
