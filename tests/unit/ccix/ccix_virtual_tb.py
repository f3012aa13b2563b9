# SPDX-License-Identifier: Apache-2.0
"""Translation in front of the cache: pages move, and their frames are given to other pages at once.

A page that leaves its frame is copied, and its frame has other bytes and soon another page. So an access by
an old translation reads or changes what is another page's.

With direct reads the host walks for a read whose page is in no store, and loads its line as one of its own,
with a snoop where the FPGA's cache may have changed it.
"""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from ccix_cache_tb import COMP, COMP_DATA, CREDIT, FINV, FSHR, WORD, Home
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

TRANSLATE, FAULT, INVALIDATED, TRANSLATED, INVALIDATE, REQUEST = 7, 8, 9, 10, 11, 12
PAGES_LOG2 = int(os.environ.get("CCIX_PAGES_LOG2", "0"))
DIRECT = os.environ.get("CCIX_DIRECT") == "1"
# More pages than translations fit, so that reads go direct whose lines are in the cache.
FIRST, PAGES, OFFSETS = 0x7F_4000, int(os.environ.get("CCIX_PAGES", "12")), 3
FRAMES = PAGES + (6 if DIRECT else 4)
"""Virtual pages, the frames that they share, and lines of a page that are used."""


def lines_of(frame: int) -> list[int]:
    return [frame << 6 | offset for offset in range(OFFSETS)]


class DirectReads:
    """The host's side of them: a walk, a load of the line, an answer."""

    PLACES = 4

    def __init__(self, rng: random.Random, home: Home, pages: dict[int, int]) -> None:
        self.rng, self.home, self.pages = rng, home, pages
        self.free = self.PLACES
        # Those whose walk is under way, with its end; those whose line is known; their answers.
        self.walks: list[tuple[int, int, int]] = []
        self.loads: list[tuple[int, int]] = []
        self.answers: list[tuple[int, int, int]] = []
        self.count = {"ok": 0, "fault": 0, "snoop": 0, "away": 0}

    def message(self, cycle: int, message: int) -> None:
        header, address = message & WORD, message >> 64
        assert header >> 56 == 0x12
        assert address & 63 == 1
        self.free -= 1
        assert self.free >= 0, "no place"
        self.walks.append((cycle + self.rng.randint(2, 40), header >> 48 & 0xFF, address >> 6))

    def uses(self, frame: int) -> bool:
        """A load of this frame is not done: the host does not give it away."""
        return any(line >> 6 == frame for _, line in self.loads)

    def step(self, cycle: int) -> None:
        home = self.home
        for walk in [walk for walk in self.walks if walk[0] <= cycle]:
            self.walks.remove(walk)
            _, number, virtual = walk
            frame = self.pages.get(virtual >> 6)
            if frame is None:
                self.count["fault"] += 1
                self.answer(cycle, COMP << 60 | 1 << 56 | number << 48 | 1 << 40 | 1 << 31, 0)
            else:
                line = frame << 6 | virtual & 63
                self.loads.append((number, line))
                self.count["away"] += home.state[line] != "I" or line in home.busy
        for load in list(self.loads):
            txn, line = load
            if line in home.busy:
                continue
            if home.state[line] == "E":
                home.busy[line] = str(FSHR)
                home.out.append((14 << 60 | 1 << 56 | FSHR << 48 | line, 0))
                self.count["snoop"] += 1
                continue
            self.loads.remove(load)
            self.count["ok"] += 1
            self.answer(cycle, COMP_DATA << 60 | 9 << 56 | txn << 48 | 1 << 40, home.memory[line])
        for answer in [answer for answer in self.answers if answer[0] <= cycle]:
            self.answers.remove(answer)
            self.free += 1
            home.out.append(answer[1:])

    def answer(self, cycle: int, header: int, data: int) -> None:
        self.answers.append((cycle + self.rng.randint(2, 40), header, data))

    def is_idle(self) -> bool:
        return not (self.walks or self.loads or self.answers)


class Bench:
    """Requester, host with its page tables, and home of a translation stage with a cache."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        frames = range(0x100, 0x100 + FRAMES)
        self.home = Home(self.rng, [line for frame in frames for line in lines_of(frame)])
        self.free = list(frames)
        self.pages = {page: self.free.pop(0) for page in range(FIRST, FIRST + PAGES)}
        self.content = {
            (page, offset): self.home.memory[frame << 6 | offset]
            for page, frame in self.pages.items()
            for offset in range(OFFSETS)
        }
        # Pages on their way: their frames, before and behind the device's completion.
        self.leaving: dict[int, int] = {}
        self.left: dict[int, int] = {}
        self.tags = list(range(256))
        self.open: dict[int, tuple[int, int, bool, int, int]] = {}
        self.uses: dict[int, int] = {}
        self.direct = DirectReads(self.rng, self.home, self.pages)
        self.directs: set[int] = set()
        self.asks: list[tuple[int, int, int]] = []
        self.inbox: list[int] = []
        self.cycle = 0
        self.latency: list[int] = []
        self.count = {"ok": 0, "fault": 0, "moved": 0, "in use": 0, "cached": 0}

    async def start(self) -> None:
        dut = self.dut
        cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
        for pin in ("req_valid_i", "trn_ready_i", "in_valid_i", "msg_ready_i", "ans_valid_i", "rst_ni"):
            getattr(dut, pin).value = 0
        dut.dir_ready_i.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for _ in range(140):  # the stores empty themselves
            await FallingEdge(dut.clk_i)
        if DIRECT:
            self.home.out.append((CREDIT << 60 | 1 << 56 | self.direct.PLACES << 40, 0))

    def move(self, page: int) -> None:
        frame = self.pages.pop(page)
        self.leaving[page] = frame
        self.count["in use"] += frame in self.uses.values()
        self.inbox.append(INVALIDATE << 60 | 1 << 56 | page - FIRST << 48 | page)

    def translated(self, ident: int, vpn: int) -> list[int]:
        head = TRANSLATED << 60 | 1 << 56 | ident << 48
        words = [
            head | 3 << 43 | page << 40 | self.pages[vpn + page]
            for page in range(1 << PAGES_LOG2)
            if vpn + page in self.pages
        ]
        words = words or [head]
        words[-1] |= 1 << 47
        return words

    def message(self, message: int) -> None:
        header, address = message & WORD, message >> 64
        kind, ident = header >> 60, header >> 48 & 0xFF
        if kind == TRANSLATE:
            self.asks.append((self.cycle + self.rng.randint(5, 60), ident, address >> 12))
        elif kind == INVALIDATED:
            page = FIRST + ident
            frame = self.leaving.pop(page)
            assert frame not in self.uses.values(), "still in use"
            self.count["cached"] += any(self.home.state[line] in "EO" for line in lines_of(frame))
            self.left[page] = frame
        else:
            assert kind == FAULT

    def take_back(self) -> None:
        """The host takes what the cache has of the frames, copies it, and gives the frames to others."""
        home = self.home
        for page, frame in list(self.left.items()):
            lines = lines_of(frame)
            for line in lines:
                if home.state[line] != "I" and line not in home.busy:
                    home.busy[line] = str(FINV)
                    home.out.append((14 << 60 | 1 << 56 | FINV << 48 | line, 0))
            if any(home.state[line] != "I" or line in home.busy for line in lines) or self.direct.uses(frame):
                continue
            del self.left[page]
            self.free.append(frame)
            to = self.free.pop(self.rng.randrange(len(self.free) - 1))
            for line, new in zip(lines, lines_of(to), strict=True):
                home.memory[new] = home.memory[line]
                home.memory[line] = self.rng.getrandbits(512)
            self.pages[page] = to
            self.count["moved"] += 1

    async def step(self, request: tuple[int, int, bool] | None, ready: float = 0.8) -> bool:
        """One cycle; `request`: page, line of it, and whether it is written. Whether it was taken."""
        dut, rng = self.dut, self.rng
        busy = {one[:2] for one in self.open.values()}
        request = request if self.tags and request is not None and request[:2] not in busy else None
        mask, data = rng.choice([rng.getrandbits(64), (1 << 64) - 1]), rng.getrandbits(512)
        dut.req_valid_i.value = int(request is not None)
        if request is not None:
            dut.req_index_i.value = request[0] << 6 | request[1]
            dut.req_write_i.value, dut.req_tag_i.value = int(request[2]), self.tags[0]
            dut.req_mask_i.value, dut.req_data_i.value = mask, data
        for pin in (dut.trn_ready_i, dut.msg_ready_i, dut.dir_ready_i):
            pin.value = int(rng.random() < ready)
        for ask in [ask for ask in self.asks if ask[0] <= self.cycle]:
            self.asks.remove(ask)
            self.inbox += self.translated(ask[1], ask[2])
        self.take_back()
        self.home.step()
        self.direct.step(self.cycle)
        dut.in_valid_i.value = int(bool(self.inbox))
        if self.inbox:
            dut.in_word_i.value = self.inbox.pop(0)
        dut.ans_valid_i.value = int(bool(self.home.out))
        if self.home.out:
            dut.ans_header_i.value, dut.ans_data_i.value = self.home.out.pop(0)
        await RisingEdge(dut.clk_i)
        self.cycle += 1
        assert not int(dut.stray_o.value)
        assert not int(dut.fail_o.value)
        # A response ends the use in this cycle.
        if int(dut.rsp_valid_o.value):
            self.response(int(dut.rsp_tag_o.value), bool(int(dut.rsp_fault_o.value)))
        if int(dut.trn_valid_o.value) and int(dut.trn_ready_i.value):
            self.message(int(dut.trn_o.value))
        taken = request is not None and bool(int(dut.req_ready_o.value))
        if taken:
            assert request is not None
            page, offset, write = request
            bits = sum(0xFF << 8 * byte for byte in range(64) if mask >> byte & 1)
            before = self.content[page, offset]
            value = before & ~bits | data & bits if write else before
            self.open[self.tags.pop(0)] = (page, offset, write, value, self.cycle)
        if int(dut.phys_valid_o.value) and int(dut.phys_ready_o.value):
            tag, index = int(dut.phys_tag_o.value), int(dut.phys_index_o.value)
            page, offset, write = self.open[tag][:3]
            if int(dut.phys_direct_o.value):
                assert DIRECT
                assert not write
                assert index == page << 6 | offset
                self.directs.add(tag)
        if int(dut.phys_valid_o.value) and int(dut.phys_ready_o.value) and tag not in self.directs:
            frames = {table[page] for table in (self.pages, self.leaving) if page in table}
            assert index & 63 == offset
            assert index >> 6 in frames, f"page {page:#x}: not its frame"
            self.uses[tag] = index >> 6
        if int(dut.dir_valid_o.value) and int(dut.dir_ready_i.value):
            self.direct.message(self.cycle, int(dut.dir_o.value))
        if int(dut.msg_valid_o.value) and int(dut.msg_ready_i.value):
            message = int(dut.msg_o.value)
            if message >> 60 & 15 == REQUEST:
                frame = (message >> 71 & (1 << 33) - 1) >> 6
                assert frame in (*self.pages.values(), *self.leaving.values()), "a line of no page"
            self.home.message(int(dut.msg_words_o.value), message)
        await FallingEdge(dut.clk_i)
        return taken

    def response(self, tag: int, fault: bool) -> None:
        page, offset, write, value, begin = self.open.pop(tag)
        self.tags.append(tag)
        self.latency.append(self.cycle - begin)
        self.count["fault" if fault else "ok"] += 1
        if fault:
            assert tag not in self.uses
            self.directs.discard(tag)
            return
        if tag in self.directs:
            self.directs.remove(tag)
        else:
            del self.uses[tag]
        if write:
            self.content[page, offset] = value
        else:
            assert int(self.dut.rsp_data_o.value) == value

    async def settle(self) -> None:
        home = self.home
        for _ in range(4_000):
            still = (self.open, self.asks, self.inbox, self.leaving, self.left, home.busy, home.out)
            if not any(still) and not home.waiting and self.direct.is_idle():
                break
            await self.step(None)
        assert not self.open
        assert not self.leaving


@cocotb.test()
async def every_page_has_its_bytes_while_frames_change_hands(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    rng = one.rng
    for _ in range(12_000):
        if len(one.leaving) + len(one.left) < 3 and rng.random() < 0.02:
            # Often a page that is in use.
            used = [page for page, frame in one.pages.items() if frame in one.uses.values()]
            one.move(rng.choice(used if used and rng.random() < 0.7 else list(one.pages)))
        page = FIRST + rng.randrange(3 if rng.random() < 0.5 else PAGES)
        away = [*one.leaving, *one.left]
        if away and rng.random() < 0.1:
            page = rng.choice(away)
        await one.step((page, rng.randrange(OFFSETS), rng.random() < 0.5) if rng.random() < 0.7 else None)
    await one.settle()
    while any(state != "I" for state in one.home.state.values()):  # all lines come home
        await one.step(None)
        for line, state in one.home.state.items():
            if state != "I" and line not in one.home.busy and len(one.home.out) < 4:
                one.home.busy[line] = str(FINV)
                one.home.out.append((14 << 60 | 1 << 56 | FINV << 48 | line, 0))
    found = {
        (page, offset): one.home.memory[frame << 6 | offset]
        for page, frame in one.pages.items()
        for offset in range(OFFSETS)
    }
    assert found == one.content
    dut._log.info(f"{one.count}")
    assert one.count["ok"] > 2_000
    assert one.count["fault"] > (15 if DIRECT else 50)
    assert one.count["moved"] > 100
    assert one.count["in use"] > 50
    assert one.count["cached"] > 50
    if DIRECT:
        dut._log.info(f"{one.direct.count}")
        assert one.direct.count["ok"] > 50
        assert one.direct.count["away"] > 10
        assert one.direct.count["snoop"] > 10
        assert one.direct.count["fault"] > 2


@cocotb.test(skip=not DIRECT)
async def a_read_of_an_unknown_page_finds_what_only_the_cache_of_its_own_fpga_has(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    one.home.snooped = False

    async def access(page: int, offset: int, write: bool) -> None:
        while not await one.step((page, offset, write)):
            pass
        await one.settle()

    await access(FIRST, 0, True)
    line = one.pages[FIRST] << 6
    assert one.home.state[line] == "E"
    assert one.content[FIRST, 0] != one.home.memory[line]
    assert not one.direct.count["ok"], "a write waits for its page"
    # Lines of another set: that of the first page stays in the cache, and its translation does not.
    for page in range(FIRST + 1, FIRST + PAGES):
        await access(page, 1, True)
    found = one.direct.count.copy()
    await access(FIRST, 0, False)
    assert one.direct.count["ok"] == found["ok"] + 1
    assert one.direct.count["snoop"] == found["snoop"] + 1
    # It stays there, and memory has it.
    assert one.home.state[line] == "O"
    assert one.content[FIRST, 0] == one.home.memory[line]
    # A line that the cache does not have is in no cache behind a direct read.
    await access(FIRST + PAGES // 2, 2, False)
    assert one.direct.count["ok"] == found["ok"] + 2
    assert one.home.state[one.pages[FIRST + PAGES // 2] << 6 | 2] == "I"


@cocotb.test(skip=not DIRECT)
async def a_direct_read_goes_as_early_as_a_hit_and_is_answered_a_clock_behind_its_line(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    one.home.snooped = False
    await one.step(None)
    begin, asked, answered = one.cycle, 0, 0
    assert await one.step((FIRST, 0, False), ready=1.0)
    for _ in range(200):
        if one.direct.walks and not asked:
            asked = one.cycle
        if int(dut.ans_valid_i.value):
            answered = one.cycle
        if not one.open:
            break
        await one.step(None, ready=1.0)
    # Lookup, memory, message; and a cycle behind its line.
    assert (asked - begin, one.cycle - answered) == (4, 1)


@cocotb.test()
async def a_translation_that_hits_costs_a_hit_one_cycle(dut: Any) -> None:
    one = Bench(dut)
    await one.start()
    one.home.snooped = False
    for _ in range(2):
        while not await one.step((FIRST, 0, False), ready=1.0):
            pass
        await one.settle()
    for _ in range(100):
        await one.step(None, ready=1.0)
    one.latency.clear()
    for number in range(8):
        assert await one.step((FIRST, 0, bool(number & 1)), ready=1.0)
        await one.settle()
    # Four of the cache (ccix_cache_tb), one of the translation.
    assert one.latency == [5] * 8
    one.latency.clear()
    for offset in range(OFFSETS):
        assert await one.step((FIRST, offset, False), ready=1.0)
    await one.settle()
    one.latency.clear()
    for offset in range(OFFSETS):
        assert await one.step((FIRST, offset, False), ready=1.0)
    await one.settle()
    assert one.latency == [5] * OFFSETS
