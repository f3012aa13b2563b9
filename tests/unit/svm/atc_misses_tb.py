# SPDX-License-Identifier: Apache-2.0
"""atc_misses beside a model: translations are requested, come, are invalidated, fail, at random.

Every output is compared in each clock.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

OK, UNMAPPED, DENIED = range(3)
BASE, BIG, HUGE = range(3)
Reach = Literal["free", "ask", "wait", "done"]


class Page(NamedTuple):
    """What a completion says of a page; its number in the block, of a larger page 0."""

    size: int
    number: int
    ppn: int
    read: bool
    write: bool


class Completion(NamedTuple):
    miss: int
    last: bool
    page: Page


class Look(NamedTuple):
    vpn: int
    write: bool


@dataclass
class Miss:
    state: Reach = "free"
    block: int = 0
    write: bool = False
    large: Page | None = None
    pages: dict[int, Page] = field(default_factory=dict)
    stale: set[int] = field(default_factory=set)
    fault: Look | None = None
    awaited: bool = False
    asked: bool = False
    """Of the bench: the host owes an answer."""


@dataclass
class Turns:
    """A round-robin arbiter: a grant is held until it is taken."""

    owner: int | None = None
    after: int = -1

    def winner(self, wanted: list[bool]) -> int | None:
        if self.owner is not None:
            return self.owner
        ones = [number for number, want in enumerate(wanted) if want]
        return next((number for number in ones if number > self.after), ones[0] if ones else None)

    def step(self, winner: int | None, taken: bool) -> None:
        if winner is not None:
            self.owner, self.after = None if taken else winner, winner


@dataclass
class Inputs:
    completion: Completion | None
    invalid: tuple[int, int] | None
    """First page and log2 of the pages."""
    look: Look
    alloc: bool
    drain: int | None
    ask_ready: bool
    fault_ready: bool


@dataclass
class Bench:
    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    completion: Completion | None = None
    asks: Turns = field(default_factory=Turns)
    faults: Turns = field(default_factory=Turns)
    seen: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        d = self.dut
        self.vpn_bits = int(d.VpnWidth.value)
        self.ppn_bits = int(d.PpnWidth.value)
        self.pages_log2 = int(d.PagesLog2.value)
        self.log2 = (self.pages_log2, int(d.BigLog2.value), int(d.HugeLog2.value))
        self.misses = [Miss() for _ in range(int(d.NumMiss.value))]

    def count(self, what: str) -> None:
        self.seen[what] = self.seen.get(what, 0) + 1

    def block_of(self, vpn: int) -> int:
        return vpn >> self.pages_log2 << self.pages_log2

    # ------------------------------------------------------------ what goes in

    def near(self) -> int:
        """A page of a block that is in flight, or any."""
        rng = self.rng
        blocks = [miss.block for miss in self.misses if miss.state != "free"]
        if blocks and rng.random() < 0.7:
            return rng.choice(blocks) | rng.randrange(1 << self.pages_log2)
        return rng.randrange(1 << self.vpn_bits)

    def answer(self) -> Completion | None:
        """A page of a translation that the host owes an answer; a larger one is the only one."""
        rng = self.rng
        owed = [number for number, miss in enumerate(self.misses) if miss.asked]
        if not owed or rng.random() < 0.4:
            return None
        number = rng.choice(owed)
        miss = self.misses[number]
        begun = bool(miss.pages) or (self.completion is not None and self.completion.miss == number)
        rights = rng.choice(((True, True), (True, True), (True, False), (False, True), (False, False)))
        size = BASE if begun or rng.random() < 0.6 else rng.choice((BIG, HUGE))
        place = rng.randrange(1 << self.pages_log2) if size == BASE else 0
        page = Page(size, place, rng.randrange(1 << self.ppn_bits), *rights)
        last = size != BASE or rng.random() < 0.5
        miss.asked = not last
        return Completion(number, last, page)

    def inputs(self) -> Inputs:
        rng = self.rng
        done = [number for number, miss in enumerate(self.misses) if miss.state == "done"]
        look = Look(self.near(), rng.random() < 0.4)
        drain = None
        alloc = False
        if done and rng.random() < 0.5:
            drain = rng.choice(done)
            block = self.misses[drain].block
            look = Look(block | rng.randrange(1 << self.pages_log2), look.write)
        elif self.match(look) is None and any(miss.state == "free" for miss in self.misses):
            alloc = rng.random() < 0.3
        for miss in self.misses:
            # A lookup may wait for a translation only while that is in flight.
            if miss.state == "free":
                miss.awaited = False
            elif miss.state == "done":
                miss.awaited = miss.awaited and rng.random() < 0.8
            elif rng.random() < 0.1:
                miss.awaited = not miss.awaited
        invalid = (self.near(), rng.randrange(self.vpn_bits + 1)) if rng.random() < 0.1 else None
        return Inputs(self.answer(), invalid, look, alloc, drain, rng.random() < 0.5, rng.random() < 0.3)

    def drive(self, given: Inputs) -> None:
        d, rng = self.dut, self.rng
        come = given.completion
        page = come.page if come else Page(rng.randrange(3), 0, 0, True, True)
        d.cpl_valid_i.value = come is not None
        d.cpl_id_i.value = come.miss if come else rng.randrange(len(self.misses))
        d.cpl_last_i.value = come.last if come else rng.getrandbits(1)
        d.cpl_page_i.value = page.size << 2 | page.read << 1 | page.write
        # A larger page has no number: whatever is there is not looked at.
        number = page.number if come and page.size == BASE else rng.randrange(1 << self.pages_log2)
        d.cpl_number_i.value = number
        d.cpl_ppn_i.value = page.ppn if come else rng.getrandbits(self.ppn_bits)
        d.inv_start_i.value = given.invalid is not None
        d.inv_vpn_i.value, d.inv_log2_i.value = given.invalid or (self.near(), rng.randrange(4))
        d.look_vpn_i.value, d.look_write_i.value = given.look.vpn, given.look.write
        d.alloc_i.value = given.alloc
        d.awaited_i.value = sum(miss.awaited << number for number, miss in enumerate(self.misses))
        d.drain_i.value = given.drain is not None
        d.drain_miss_i.value = rng.randrange(len(self.misses)) if given.drain is None else given.drain
        d.ask_ready_i.value, d.fault_ready_i.value = given.ask_ready, given.fault_ready

    # ------------------------------------------------------------ what must come out

    def match(self, look: Look) -> int | None:
        for number, miss in enumerate(self.misses):
            fits = miss.block == self.block_of(look.vpn) and (miss.write or not look.write)
            if miss.state in ("ask", "wait") and fits:
                return number
        return None

    def first_free(self) -> int | None:
        return next((n for n, miss in enumerate(self.misses) if miss.state == "free"), None)

    def kept(self) -> Page | None:
        """What the completion of the clock before gives the stores."""
        come = self.completion
        if come is None or come.page.size in self.misses[come.miss].stale:
            return None
        return come.page if come.page.read or come.page.write else None

    def outcome(self, miss: Miss, look: Look) -> tuple[int, int | None]:
        page = miss.large or miss.pages.get(look.vpn & (1 << self.pages_log2) - 1)
        if page is None:
            return UNMAPPED, None
        if not (page.write if look.write else page.read):
            return DENIED, None
        low = (1 << self.log2[page.size]) - 1 if page.size != BASE else 0
        return OK, page.ppn & ~low | look.vpn & low

    def compare(self, given: Inputs) -> None:
        d = self.dut
        page = self.kept()
        assert bool(d.cpl_o.value) == (self.completion is not None)
        assert bool(d.fill_o.value) == (page is not None)
        if page is not None and self.completion is not None:
            assert int(d.fill_page_o.value) == page.size << 2 | page.read << 1 | page.write
            assert int(d.fill_vpn_o.value) == self.misses[self.completion.miss].block | page.number
            assert int(d.fill_ppn_o.value) == page.ppn
        match, free = self.match(given.look), self.first_free()
        assert bool(d.match_some_o.value) == (match is not None)
        if match is not None:
            self.count("match")
            assert int(d.match_miss_o.value) == match
        states = [miss.state for miss in self.misses]
        assert int(d.free_o.value) == sum((s == "free") << n for n, s in enumerate(states))
        assert int(d.done_o.value) == sum((s == "done") << n for n, s in enumerate(states))
        if free is not None:
            assert int(d.free_miss_o.value) == free
        if given.drain is not None:
            status, ppn = self.outcome(self.misses[given.drain], given.look)
            self.count(f"drain {status}")
            assert int(d.drain_status_o.value) == status
            if ppn is not None:
                assert int(d.drain_ppn_o.value) == ppn
        asked, failed = self.asked(), self.failed()
        assert bool(d.ask_valid_o.value) == (asked is not None)
        if asked is not None:
            assert int(d.ask_id_o.value) == asked
            miss = self.misses[asked]
            assert (int(d.ask_vpn_o.value), bool(d.ask_write_o.value)) == (miss.block, miss.write)
        assert bool(d.fault_valid_o.value) == (failed is not None)
        if failed is not None:
            fault = Look(int(d.fault_vpn_o.value), bool(d.fault_write_o.value))
            assert fault == self.misses[failed].fault

    def asked(self) -> int | None:
        return self.asks.winner([miss.state == "ask" for miss in self.misses])

    def failed(self) -> int | None:
        return self.faults.winner([miss.fault is not None for miss in self.misses])

    # ------------------------------------------------------------ what becomes of it

    def step(self, given: Inputs) -> None:
        page, come = self.kept(), self.completion
        allocated = self.first_free() if given.alloc else None
        asked, failed = self.asked(), self.failed()
        self.asks.step(asked, given.ask_ready)
        self.faults.step(failed, given.fault_ready)
        waited = [miss.awaited or miss.fault is not None for miss in self.misses]
        wrong = None
        if given.drain is not None and self.outcome(self.misses[given.drain], given.look)[0] != OK:
            wrong = given.drain
        if failed is not None and given.fault_ready:
            self.count("fault")
            self.misses[failed].fault = None
        # The first fault of a translation is the one that is reported.
        if wrong is not None and self.misses[wrong].fault is None:
            self.misses[wrong].fault = given.look
        for number, miss in enumerate(self.misses):
            mine = come if come is not None and come.miss == number else None
            again = waited[number]
            hit = {size for size in (BASE, BIG, HUGE) if self.hits(given.invalid, miss.block, size)}
            if miss.state == "free" and number == allocated:
                self.count("alloc")
                look = given.look
                block = self.block_of(look.vpn)
                self.misses[number] = Miss("ask", block, look.write, fault=miss.fault, awaited=True)
                continue
            if miss.state == "ask":
                miss.pages, miss.large, miss.stale = {}, None, set()
                if asked == number and given.ask_ready:
                    miss.state, miss.asked = "wait", True
                continue
            before = set(miss.stale)
            miss.stale |= hit
            if miss.state == "wait" and mine is not None:
                if page is not None and page.size == BASE:
                    miss.pages[page.number] = page
                elif page is not None:
                    miss.large = page
                if mine.last and mine.page.size in before | hit:
                    self.count("stale")
                    miss.state = "ask" if again else "free"
                elif mine.last:
                    miss.state = "done"
            elif miss.state == "done":
                if not again:
                    miss.state = "free"
                elif (HUGE if miss.large else BASE) in hit:
                    self.count("done, then invalid")
                    miss.state = "ask"
        self.completion = given.completion

    def hits(self, invalid: tuple[int, int] | None, block: int, size: int) -> bool:
        """Whether the invalidation has a page in common with the page of this size around the block."""
        if invalid is None:
            return False
        vpn, log2 = invalid
        return (vpn ^ block) >> max(log2, self.log2[size]) == 0


@cocotb.test()
async def translations_are_asked_for_kept_and_dropped_as_the_model_has_it(dut: Any) -> None:
    bench = Bench(dut)
    dut.rst_ni.value = 0
    bench.drive(Inputs(None, None, Look(0, False), False, None, False, False))
    cocotb.start_soon(Clock(dut.clk_i, 5, "ns").start())
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for _ in range(12_000):
        given = bench.inputs()
        bench.drive(given)
        await ReadOnly()
        bench.compare(given)
        bench.step(given)
        await FallingEdge(dut.clk_i)
    for what in ("match", "alloc", "drain 0", "drain 1", "drain 2", "fault", "stale", "done, then invalid"):
        assert bench.seen.get(what, 0) > 50, f"{what}: {bench.seen}"
