# SPDX-License-Identifier: Apache-2.0
"""Models on both sides of an address translation cache: a host with page tables, a user with accesses.

The host walks its tables at some time between a request and its completion, and changes them as it likes; it
uses a frame again once the invalidation of its page is complete. The user's accesses stay open for a while.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

BASE, BIG, HUGE = 0, 1, 2
SHIFT = (0, 9, 18)
OK, UNMAPPED, DENIED = range(3)
LATE = 600
"""Cycles: older facts than this explain no answer."""


@dataclass(frozen=True)
class Page:
    """A mapped page; numbers are those of pages of 4 KiB. Its frame is used by no other page."""

    vpn: int
    size: int
    ppn: int
    read: bool
    write: bool

    def frame(self, vpn: int) -> int:
        return self.ppn + vpn - self.vpn

    def allows(self, write: bool) -> bool:
        return self.write if write else self.read


@dataclass
class Use:
    """An access with an address: `page` gave it, in `epoch`; over at cycle `end`."""

    page: Page
    epoch: int
    end: int


@dataclass
class Lookup:
    vpn: int
    write: bool
    taken: int


@dataclass
class Ask:
    """A request of the cache; `beats` is what the walk found, at cycle `walk`; complete at `due`."""

    block: int
    walk: int
    due: int
    beats: list[tuple[int, Page | None]] | None = None


@dataclass
class Invalidation:
    pages: list[Page]
    vpn: int
    log2: int
    due: int


@dataclass
class Bench:
    """One cycle at a time: `step`. What it does not hold with fails an assertion."""

    dut: Any
    rng: random.Random
    pages_log2: int
    misses: int
    tags: int
    walk: tuple[int, int] = (1, 40)
    use: tuple[int, int] = (1, 40)
    cycle: int = 0
    mapped: dict[int, Page] = field(default_factory=dict)
    """By the number of every page of 4 KiB (of larger pages: by the multiple of their size)."""
    dying: list[Page] = field(default_factory=list)
    history: dict[int, list[tuple[int, Page | None]]] = field(default_factory=dict)
    asks: dict[int, Ask] = field(default_factory=dict)
    sending: int | None = None
    lookups: dict[int, Lookup] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    invalidations: dict[int, Invalidation] = field(default_factory=dict)
    unsent: list[int] = field(default_factory=list)
    answered: list[tuple[int, int, int]] = field(default_factory=list)
    """Cycle, tag and status of each answer."""
    asked: int = 0
    faults: list[tuple[int, bool]] = field(default_factory=list)
    completed: int = 0
    patience: float = 1.0

    async def start(self) -> None:
        import cocotb

        cocotb.start_soon(Clock(self.dut.clk_i, 4, "ns").start())
        for name in ("req_valid_i", "done_valid_i", "cpl_valid_i", "inv_valid_i", "rst_ni"):
            getattr(self.dut, name).value = 0
        self.dut.done_epoch_i.value = 0
        self.dut.ask_ready_i.value = self.dut.complete_ready_i.value = self.dut.fault_ready_i.value = 1
        await FallingEdge(self.dut.clk_i)
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        # The stores are swept.
        while not int(self.dut.req_ready_o.value):
            await FallingEdge(self.dut.clk_i)

    # ------------------------------------------------------------ page tables
    def find(self, vpn: int) -> Page | None:
        for size in (BASE, BIG, HUGE):
            page = self.mapped.get(vpn >> SHIFT[size] << SHIFT[size])
            if page is not None and page.size == size:
                return page
        return None

    def map(self, page: Page) -> None:
        assert self.find(page.vpn) is None
        self.mapped[page.vpn] = page
        self._note(page.vpn, page)

    def upgrade(self, vpn: int) -> None:
        """Allow more, which needs no invalidation."""
        old = self.mapped[vpn]
        self.mapped[vpn] = Page(old.vpn, old.size, old.ppn, True, True)
        self._note(vpn, self.mapped[vpn])

    def unmap(self, pages: list[Page], vpn: int, log2: int, delay: int) -> int:
        """Take pages out and send an invalidation; its tag."""
        tag = next(tag for tag in range(32) if tag not in self.invalidations)
        for page in pages:
            del self.mapped[page.vpn]
            self._note(page.vpn, None)
        self.dying += pages
        self.invalidations[tag] = Invalidation(pages, vpn, log2, self.cycle + delay)
        self.unsent.append(tag)
        return tag

    def _note(self, vpn: int, page: Page | None) -> None:
        self.history.setdefault(vpn, [(-1, None)]).append((self.cycle, page))

    def _faulted(self, look: Lookup, denied: bool) -> bool:
        """Whether at some time lately this lookup had to fault as it did."""
        since = look.taken - LATE
        for size in (BASE, BIG, HUGE):
            entries = self.history.get(look.vpn >> SHIFT[size] << SHIFT[size], [(-1, None)])
            ends = [cycle for cycle, _ in entries[1:]] + [self.cycle]
            for until, (_, page) in zip(ends, entries, strict=True):
                here = denied and until >= since and page is not None and page.size == size
                if here and page is not None and not page.allows(look.write):
                    return True
        if denied:
            return False
        changed = [
            cycle
            for size in (BASE, BIG, HUGE)
            for cycle, _ in self.history.get(look.vpn >> SHIFT[size] << SHIFT[size], [])
        ]
        now = self.find(look.vpn)
        # A page that allows nothing is as good as none.
        return now is None or not (now.read or now.write) or any(cycle >= since for cycle in changed)

    # ------------------------------------------------------------ one cycle
    async def step(self, lookup: tuple[int, bool] | None = None) -> int | None:
        """Offer a lookup (page, write) for one cycle; its tag if it is taken."""
        dut, rng = self.dut, self.rng
        self.cycle += 1
        if int(dut.rsp_valid_o.value):
            self._answer(int(dut.rsp_tag_o.value), int(dut.rsp_status_o.value))
        self._complete()
        self._asks()
        self._completions()
        self._invalidate()
        ready = rng.random() < self.patience
        dut.fault_ready_i.value = int(ready)
        if ready and int(dut.fault_valid_o.value):
            self.faults.append((int(dut.fault_vpn_o.value), bool(int(dut.fault_write_o.value))))
        over = [use for use in self.uses if use.end <= self.cycle]
        dut.done_valid_i.value = int(bool(over))
        if over:
            use = rng.choice(over)
            self.uses.remove(use)
            dut.done_epoch_i.value = use.epoch
        tag = None
        dut.req_valid_i.value = 0
        free = [tag for tag in range(self.tags) if tag not in self.lookups]
        if lookup is not None and free:
            chosen = rng.choice(free)
            dut.req_valid_i.value, dut.req_tag_i.value = 1, chosen
            dut.req_vpn_i.value, dut.req_write_i.value = lookup[0], int(lookup[1])
            if int(dut.req_ready_o.value):
                tag = chosen
                self.lookups[tag] = Lookup(lookup[0], lookup[1], self.cycle)
        await FallingEdge(dut.clk_i)
        return tag

    def _answer(self, tag: int, status: int) -> None:
        look = self.lookups.pop(tag)
        self.answered.append((self.cycle, tag, status))
        if status != OK:
            assert self._faulted(look, status == DENIED), f"page {look.vpn:#x} does not fault"
            return
        frame = int(self.dut.rsp_ppn_o.value)
        now = self.find(look.vpn)
        pages = [page for page in [*self.dying, now] if page is not None]
        good = [p for p in pages if p.vpn <= look.vpn < p.vpn + (1 << SHIFT[p.size])]
        good = [p for p in good if p.frame(look.vpn) == frame]
        assert good, f"page {look.vpn:#x} at frame {frame:#x}: not, or not any more"
        assert any(page.allows(look.write) for page in good), f"page {look.vpn:#x}: not allowed"
        end = self.cycle + self.rng.randint(*self.use)
        self.uses.append(Use(good[0], int(self.dut.rsp_epoch_o.value), end))

    def _complete(self) -> None:
        ready = self.rng.random() < self.patience
        self.dut.complete_ready_i.value = int(ready)
        if not (ready and int(self.dut.complete_valid_o.value)):
            return
        gone = self.invalidations.pop(int(self.dut.complete_tag_o.value))
        self.completed += 1
        for page in gone.pages:
            self.dying.remove(page)
            assert all((use.page.vpn, use.page.ppn) != (page.vpn, page.ppn) for use in self.uses), "in use"

    def _asks(self) -> None:
        ready = self.rng.random() < self.patience
        self.dut.ask_ready_i.value = int(ready)
        if ready and int(self.dut.ask_valid_o.value):
            number = int(self.dut.ask_id_o.value)
            assert number not in self.asks, "asked twice"
            assert len(self.asks) < self.misses
            walk = self.cycle + self.rng.randint(*self.walk)
            block = int(self.dut.ask_vpn_o.value)
            assert block % (1 << self.pages_log2) == 0
            self.asks[number] = Ask(block, walk, walk + self.rng.randint(*self.walk))
            self.asked += 1

    def _completions(self) -> None:
        dut = self.dut
        for ask in self.asks.values():
            if ask.beats is None and self.cycle >= ask.walk:
                ask.beats = self._beats(ask.block)
        dut.cpl_valid_i.value = 0
        if self.sending is None:
            due = [number for number, ask in self.asks.items() if ask.beats and self.cycle >= ask.due]
            self.sending = self.rng.choice(due) if due else None
        if self.sending is None or self.rng.random() >= self.patience:
            return
        beats = self.asks[self.sending].beats
        assert beats is not None
        index, page = beats.pop(0)
        dut.cpl_valid_i.value, dut.cpl_id_i.value = 1, self.sending
        dut.cpl_last_i.value = int(not beats)
        dut.cpl_page_i.value = index
        dut.cpl_size_i.value = page.size if page else BASE
        low = (1 << SHIFT[page.size]) - 1 if page else 0
        junk = self.rng.getrandbits(36) & low
        dut.cpl_ppn_i.value = (page.ppn & ~low | junk) if page else junk
        dut.cpl_read_i.value = int(page.read) if page else 0
        dut.cpl_write_i.value = int(page.write) if page else 0
        if not beats:
            del self.asks[self.sending]
        self.sending = None

    def _beats(self, block: int) -> list[tuple[int, Page | None]]:
        first = self.find(block)
        if first is not None and first.size != BASE:
            return [(0, first)]
        found = [(index, self.find(block + index)) for index in range(1 << self.pages_log2)]
        self.rng.shuffle(found)
        # What is not mapped may have a beat, or none.
        kept = [one for one in found if one[1] is not None or self.rng.random() < 0.5]
        return kept or found[:1]

    def _invalidate(self) -> None:
        dut = self.dut
        dut.inv_valid_i.value = 0
        if not self.unsent:
            return
        tag = self.unsent[0]
        inv = self.invalidations[tag]
        if inv.due > self.cycle:
            return
        dut.inv_valid_i.value, dut.inv_tag_i.value = 1, tag
        dut.inv_vpn_i.value, dut.inv_log2_i.value = inv.vpn, inv.log2
        assert int(dut.inv_ready_o.value), "an invalidation waits"
        self.unsent.pop(0)

    async def settle(self, cycles: int = 3000) -> None:
        for _ in range(cycles):
            if not (self.lookups or self.uses or self.invalidations):
                break
            await self.step()
        assert not self.lookups, f"without an answer: {self.lookups}"
        assert not self.uses
        assert not self.invalidations, "an invalidation does not complete"
        for _ in range(300):
            await self.step()
        assert int(self.dut.idle_o.value) == 1
