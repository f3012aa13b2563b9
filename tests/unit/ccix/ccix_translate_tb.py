# SPDX-License-Identifier: Apache-2.0
"""Requests with virtual addresses against a host that moves, unmaps and protects their pages."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

TRANSLATE, FAULT, INVALIDATED, TRANSLATED, INVALIDATE = 7, 8, 9, 10, 11
PAGES_LOG2 = int(os.environ["CCIX_PAGES_LOG2"])
DIRECT = int(os.environ["CCIX_DIRECT"])
EARLY = int(os.environ["CCIX_EARLY"])
FIRST, PAGES = 0x7F_4000, 24
"""Pages of 4 KiB; a page of 2 MiB lies behind them."""
BIG = 0x7F_4200
WORD = (1 << 64) - 1


@dataclass
class Use:
    """A request that the agent has: where it goes, and from when on it may be answered.

    A direct one has the number of its page as its frame: the host translates it at its end.
    """

    tag: int
    frame: int
    due: int
    direct: bool = False
    refused: bool = False


class Bench:
    """Requester, agent and host of a translation stage."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        self.cycle = 0
        # Page to its frame and whether it may be written.
        self.pages: dict[int, tuple[int, bool]] = {}
        self.dying: dict[int, list[int]] = {}
        self.frames = 0x100
        self.tags = list(range(256))
        self.open: dict[int, tuple[int, bool, int, int]] = {}
        self.uses: list[Use] = []
        self.asks: list[tuple[int, int, int]] = []
        self.inbox: list[int] = []
        self.responses = {"ok": 0, "fault": 0}
        self.directs = {"ok": 0, "fault": 0}
        self.reported: set[tuple[int, bool]] = set()
        self.completed = 0
        self.moved: list[int] = []
        self.delays = (5, 60)
        self.ready = 0.8

    async def start(self) -> None:
        dut = self.dut
        cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
        for pin in ("req_valid_i", "phys_ready_i", "phys_rsp_valid_i", "msg_ready_i", "in_valid_i", "rst_ni"):
            getattr(dut, pin).value = 0
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for _ in range(140):  # the stores empty themselves
            await FallingEdge(dut.clk_i)

    def map(self, page: int, write: bool = True) -> None:
        self.frames += 0x400
        self.pages[page] = (self.frames if page != BIG else self.frames << 9, write)

    def move(self, page: int, again: bool = True) -> None:
        """Unmaps a page, and maps it elsewhere when the device has completed the invalidation."""
        tag = next(tag for tag in range(32) if tag not in self.dying)
        self.dying[tag] = [page, self.pages.pop(page)[0], int(again)]
        log2 = 9 if page == BIG else 0
        self.inbox.append(INVALIDATE << 60 | 1 << 56 | tag << 48 | log2 << 42 | page)

    def frame_of(self, page: int) -> set[int]:
        """Frames that an access to the page may reach now: its own, and those on their way out."""
        base, size = (BIG, 512) if BIG <= page < BIG + 512 else (page, 1)
        found = {self.pages[base][0]} if base in self.pages else set()
        found |= {frame for one, frame, _ in self.dying.values() if one == base}
        return {frame + page - base for frame in found if size}

    def allows(self, page: int, write: bool) -> bool:
        """Whether the page tables have the page now, for such an access."""
        base = BIG if BIG <= page < BIG + 512 else page
        return base in self.pages and (self.pages[base][1] or not write)

    def translated(self, ident: int, vpn: int) -> list[int]:
        head = TRANSLATED << 60 | 1 << 56 | ident << 48
        if BIG in self.pages and BIG <= vpn < BIG + 512:
            frame, write = self.pages[BIG]
            return [head | 1 << 47 | 1 << 45 | 1 << 44 | int(write) << 43 | frame]
        words = []
        for page in range(1 << PAGES_LOG2):
            if vpn + page in self.pages:
                frame, write = self.pages[vpn + page]
                words.append(head | 1 << 44 | int(write) << 43 | page << 40 | frame)
        words = words or [head]
        words[-1] |= 1 << 47
        return words

    def message(self, words: int, message: int) -> None:
        header, address = message & WORD, message >> 64
        kind, ident = header >> 60, header >> 48 & 0xFF
        assert header >> 56 & 0xF == words == (1 if kind == INVALIDATED else 2)
        if kind == TRANSLATE:
            assert address >> 1 & 7 == PAGES_LOG2
            page = address >> 12
            assert page % (1 << PAGES_LOG2) == 0
            self.asks.append((self.cycle + self.rng.randint(*self.delays), ident, page))
        elif kind == FAULT:
            self.reported.add((address >> 12, bool(address & 1)))
        else:
            assert kind == INVALIDATED
            page, frame, again = self.dying.pop(ident)
            self.completed += 1
            size = 512 if page == BIG else 1
            uses = [use for use in self.uses if not use.direct]
            assert not [use for use in uses if frame <= use.frame < frame + size], "still in use"
            if again:
                self.map(page)

    async def step(self, request: tuple[int, bool] | None) -> bool:
        """One cycle; `request`: a line and whether it is written. Whether it was taken."""
        dut, rng = self.dut, self.rng
        if request is not None and self.tags:
            line, write = request
            tag, mask, data = self.tags[0], rng.getrandbits(64), rng.getrandbits(512)
            dut.req_valid_i.value, dut.req_write_i.value = 1, int(write)
            dut.req_index_i.value, dut.req_tag_i.value = line, tag
            dut.req_mask_i.value, dut.req_data_i.value = mask, data
        else:
            request = None
            dut.req_valid_i.value = 0
        ready = rng.random() < self.ready
        dut.phys_ready_i.value, dut.msg_ready_i.value = int(ready), int(rng.random() < self.ready)
        due = [use for use in self.uses if use.due <= self.cycle]
        answer = rng.choice(due) if due else None
        dut.phys_rsp_valid_i.value = int(answer is not None)
        if answer is not None:
            dut.phys_rsp_tag_i.value, dut.phys_rsp_data_i.value = answer.tag, answer.tag * 0x0101
            answer.refused = answer.direct and not self.allows(answer.frame, self.open[answer.tag][1])
        dut.phys_rsp_fault_i.value = int(answer is not None and answer.refused)
        for ask in [ask for ask in self.asks if ask[0] <= self.cycle]:
            self.asks.remove(ask)
            self.inbox += self.translated(ask[1], ask[2])
        dut.in_valid_i.value = int(bool(self.inbox))
        if self.inbox:
            dut.in_word_i.value = self.inbox.pop(0)
        await RisingEdge(dut.clk_i)
        self.cycle += 1
        taken = request is not None and bool(int(dut.req_ready_o.value))
        if taken:
            assert request is not None
            self.open[self.tags.pop(0)] = (request[0], request[1], mask, data)
        # The agent's response ends the use in this cycle.
        if int(dut.rsp_valid_o.value):
            self.response(int(dut.rsp_tag_o.value), bool(int(dut.rsp_fault_o.value)), answer)
        elif answer is not None:
            raise AssertionError("a response was lost")
        if int(dut.phys_valid_o.value) and ready:
            tag = int(dut.phys_tag_o.value)
            line, write, mask, data = self.open[tag]
            index = int(dut.phys_index_o.value)
            direct = bool(int(dut.phys_direct_o.value))
            assert int(dut.phys_key_o.value) == line
            if direct:
                assert DIRECT
                assert index == line
            else:
                assert index & 63 == line & 63
                assert index >> 6 in self.frame_of(line >> 6), f"page {line >> 6:#x}"
            assert int(dut.phys_write_o.value) == int(write)
            assert int(dut.phys_mask_o.value) == mask
            assert int(dut.phys_data_o.value) == data
            self.uses.append(Use(tag, index >> 6, self.cycle + rng.randint(1, 40), direct))
        if int(dut.msg_valid_o.value) and int(dut.msg_ready_i.value):
            self.message(int(dut.msg_words_o.value), int(dut.msg_o.value))
        assert not int(dut.fail_o.value)
        await FallingEdge(dut.clk_i)
        return taken

    def response(self, tag: int, fault: bool, answer: Use | None) -> None:
        line, write, _, _ = self.open.pop(tag)
        self.tags.append(tag)
        if answer is not None and answer.direct:
            assert answer.tag == tag
            assert fault == answer.refused
            self.directs["fault" if fault else "ok"] += 1
            self.uses.remove(answer)
            return
        if not fault:
            assert answer is not None
            assert answer.tag == tag
            assert int(self.dut.rsp_data_o.value) == tag * 0x0101
            self.uses.remove(answer)
            self.responses["ok"] += 1
            return
        assert answer is None, "a fault in the place of a response"
        page = line >> 6
        base = BIG if BIG <= page < BIG + 512 else page
        once = base in self.moved or base not in self.pages
        assert once or (write and not self.pages[base][1]), f"page {page:#x} is mapped"
        self.responses["fault"] += 1

    async def settle(self) -> None:
        for _ in range(4_000):
            if not (self.open or self.asks or self.inbox or self.dying):
                break
            await self.step(None)
        assert not (self.open)
        assert not (self.dying)


@cocotb.test()
async def requests_reach_their_frames_while_pages_move(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    rng = one.rng
    for page in range(FIRST, FIRST + PAGES):
        if page % 7:
            one.map(page, page % 5 != 0)
    one.map(BIG)
    for _ in range(6_000):
        if len(one.dying) < 4 and rng.random() < 0.02:
            page = rng.choice(list(one.pages))
            one.moved.append(page)
            one.move(page)
        page = BIG + rng.randrange(512) if rng.random() < 0.2 else FIRST + rng.randrange(PAGES)
        request = (page << 6 | rng.randrange(64), rng.random() < 0.5)
        await one.step(request if rng.random() < 0.6 else None)
    await one.settle()
    assert one.completed > 50
    assert one.responses["ok"] > 1_000
    assert one.responses["fault"] > (20 if DIRECT else 100)
    assert one.reported
    assert (min(one.directs.values()) > 30) == bool(DIRECT)


@cocotb.test()
async def a_stream_of_hits_is_a_request_a_cycle_and_as_late_as_it_says(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    one.ready = 1.0
    one.map(FIRST)
    one.map(FIRST + 1)
    assert await one.step((FIRST << 6, False))
    await one.settle()
    for _ in range(10):  # what comes of a direct request's translation is stored
        await one.step(None)
    # A lookup in one cycle, its request in the memory in the next, or with it.
    assert await one.step((FIRST << 6 | 1, False))
    assert not one.uses
    await one.step(None)
    assert len(one.uses) == EARLY
    await one.step(None)
    assert len(one.uses) == 1
    await one.settle()
    begin, taken = one.cycle, 0
    while taken < 200:
        taken += await one.step((FIRST << 6 | taken & 63, bool(taken & 1)))
    assert one.cycle - begin <= 200
    await one.settle()
    assert sum(one.directs.values()) == DIRECT
    assert one.responses == {"ok": 202 - one.directs["ok"], "fault": 0}


@cocotb.test()
async def a_fault_is_a_response_and_a_message_and_no_access(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    one.map(FIRST, write=False)
    for line, write in ((FIRST << 6, True), ((FIRST + 9) << 6, False)):
        while not await one.step((line, write)):
            pass
        await one.settle()
    for _ in range(50):
        await one.step(None)
    if DIRECT:  # the host itself finds the faults
        assert one.directs == {"ok": 0, "fault": 2}
        assert not one.reported
    else:
        assert one.responses == {"ok": 0, "fault": 2}
        assert one.reported == {(FIRST, True), (FIRST + 9, False)}


@cocotb.test(skip=not DIRECT)
async def what_begins_a_translation_goes_on_and_what_follows_waits_for_it(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    one.ready, one.delays = 1.0, (200, 200)
    one.map(FIRST)
    assert await one.step((FIRST << 6, False))
    assert await one.step((FIRST << 6 | 1, False))
    await one.step(None)
    # As late as a hit, and its translation is requested beside it.
    assert [(use.tag, use.direct) for use in one.uses] == [(0, True)]
    for _ in range(100):
        await one.step(None)
    assert one.directs == {"ok": 1, "fault": 0}
    assert len(one.asks) == 1
    assert not one.uses
    await one.settle()
    assert one.responses == {"ok": 1, "fault": 0}
    assert await one.step((FIRST << 6 | 2, True))
    await one.settle()
    assert one.responses == {"ok": 2, "fault": 0}
