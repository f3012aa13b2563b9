# SPDX-License-Identifier: Apache-2.0
"""ccix_handover against lists: grants leave in their order, those with a line behind it; accesses go by."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

DEPTH = 16
EVICT = 0x40


def message(lock: int, owner: int) -> int:
    return 15 << 60 | 1 << 56 | owner << 48 | 1 << 47 | 1 << 43 | lock << 16 | owner


def access(write: int, index: int, tag: int, data: int, width: int) -> int:
    """The struct access_t, with all bytes."""
    return ((write << width | index) << 8 | tag) << 576 | (1 << 64) - 1 << 512 | data


async def start(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    for pin in ("rst_ni", "grant_valid_i", "msg_ready_i", "req_valid_i", "line_ready_i", "line_rsp_valid_i"):
        getattr(dut, pin).value = 0
    for pin in ("grant_line_i", "grant_i", "req_i", "line_rsp_tag_i"):
        getattr(dut, pin).value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


@cocotb.test()
async def a_grant_waits_for_its_line_and_accesses_for_nothing_else(dut: Any) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    await start(dut)
    width = len(dut.req_i) - 585
    due: deque[tuple[int, bool]] = deque()
    lines: deque[int] = deque()
    cache: deque[tuple[int, int]] = deque()
    # Lines that have left, by the cycle from which their grants may.
    left: deque[int] = deque()
    offered: tuple[int, int] | None = None
    request: int | None = None
    own: list[int] = []
    seen = dict.fromkeys(("grants", "lines", "accesses", "waits", "held", "back"), 0)
    for cycle in range(12_000):
        await FallingEdge(dut.clk_i)
        slow = cycle // 500 % 3
        grant = len(due) < DEPTH - 1 and rng.random() < (0.1, 0.4, 0.9)[slow]
        with_line, lock = rng.random() < 0.6, rng.randrange(1024)
        dut.grant_valid_i.value, dut.grant_line_i.value = int(grant), int(with_line)
        dut.grant_i.value = message(lock, cycle & 0x7F)
        if request is None and rng.random() < 0.5:
            tag = rng.randrange(64) | rng.randrange(2) << 7
            request = access(tag >> 7, rng.randrange(1024), tag, rng.getrandbits(512), width)
        dut.req_valid_i.value = int(request is not None)
        if request is not None:
            dut.req_i.value = request
        ready, line_ready = rng.random() < 0.7, rng.random() < (0.9, 0.5, 0.7)[slow]
        dut.msg_ready_i.value, dut.line_ready_i.value = int(ready), int(line_ready)
        # The cache answers in order, some cycles later.
        answer = cache.popleft()[1] if cache and cache[0][0] <= cycle and rng.random() < 0.8 else None
        dut.line_rsp_valid_i.value = int(answer is not None)
        dut.line_rsp_tag_i.value = answer or 0
        await cocotb.triggers.ReadOnly()
        # Messages.
        ok = bool(due) and (not due[0][1] or bool(left and left[0] <= cycle))
        assert int(dut.msg_valid_o.value) == ok, cycle
        seen["waits"] += bool(due) and not ok
        if ok:
            assert int(dut.msg_o.value) == due[0][0]
        if ok and ready:
            if due.popleft()[1]:
                left.popleft()
            seen["grants"] += 1
        # The cache is offered evictions first, and what it was offered again.
        evict, valid = int(dut.line_evict_o.value), int(dut.line_valid_o.value)
        found = int(dut.line_o.value)
        if offered is not None:
            assert valid
            assert (evict, found) == offered
            seen["held"] += 1
        else:
            assert evict == int(bool(lines))
            assert valid == int(bool(lines) or request is not None)
        if evict:
            assert found == access(0, lines[0], EVICT, 0, width) & ~((1 << 64) - 1 << 512)
        elif valid:
            assert found == request
        assert int(dut.req_ready_o.value) == int(line_ready and not evict)
        offered = None if not valid or line_ready else (evict, found)
        if valid and line_ready:
            tag = EVICT if evict else found >> 576 & 0xFF
            cache.append((cycle + rng.randrange(4, 12), tag))
            if evict:
                lines.popleft()
                seen["lines"] += 1
            else:
                own.append(tag)
                request = None
                seen["accesses"] += 1
        # Answers.
        assert int(dut.rsp_valid_o.value) == int(answer is not None and answer != EVICT)
        if answer == EVICT:
            left.append(cycle + 2)
        elif answer is not None:
            assert own.pop(0) == answer
            seen["back"] += 1
        if grant:
            due.append((message(lock, cycle & 0x7F), with_line))
            if with_line:
                lines.append(lock)
        assert not int(dut.fail_o.value)
    print(seen)
    assert min(seen.values()) > 100


@cocotb.test()
async def one_too_many_and_an_answer_to_nothing_are_said(dut: Any) -> None:
    await start(dut)
    dut.grant_valid_i.value = 1
    for _ in range(DEPTH + 1):
        assert not int(dut.fail_o.value)
        await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    assert int(dut.fail_o.value)
    dut.grant_valid_i.value = 0
    await start(dut)
    dut.line_rsp_valid_i.value, dut.line_rsp_tag_i.value = 1, EVICT
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    assert int(dut.fail_o.value)
