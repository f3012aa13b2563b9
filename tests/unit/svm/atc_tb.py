# SPDX-License-Identifier: Apache-2.0
"""Translations against a host that changes its page tables under the device, and what each thing costs."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from atc_model import BASE, BIG, DENIED, HUGE, OK, SHIFT, UNMAPPED, Bench, Page

PAGES_LOG2, AHEAD = int(os.environ["ATC_PAGES_LOG2"]), int(os.environ["ATC_AHEAD"])
MISSES, INVALIDATIONS = 8, 8
LINK = 12.145e9 / 64 / 300e6
"""Lookups of 64 bytes in a cycle of 300 MHz on a full link."""
REGIONS = ((0x1000, BASE, 48), (0x80000, BIG, 6), (0x400_0000, HUGE, 3))
"""First page, size and number of the pages of each size that are mapped and unmapped."""


def bench(dut: Any, walk: tuple[int, int] = (1, 40), use: tuple[int, int] = (1, 40)) -> Bench:
    return Bench(dut, random.Random(cocotb.RANDOM_SEED), PAGES_LOG2, MISSES, tags=64, walk=walk, use=use)


class Frames:
    """Frames of each size; one is free again when its page's invalidation is complete."""

    def __init__(self, one: Bench) -> None:
        self.one = one
        self.pools = {size: [number << SHIFT[size] for number in range(8, 8 + 60)] for size in (0, 1, 2)}

    def take(self, size: int) -> int | None:
        # Frames of larger sizes lie apart: bit 34 and 35.
        held = {page.ppn for page in [*self.one.mapped.values(), *self.one.dying]}
        free = [ppn | size << 34 for ppn in self.pools[size] if ppn | size << 34 not in held]
        return free[0] if free else None


async def live(one: Bench, cycles: int, rate: float, change: float, regions: Any = REGIONS) -> None:
    """Random lookups while pages come, go, and are allowed more."""
    rng, frames = one.rng, Frames(one)
    for _ in range(cycles):
        if rng.random() < change:
            start, size, count = rng.choice(regions)
            vpn = start + (rng.randrange(count) << SHIFT[size])
            page = one.find(vpn)
            if page is None:
                frame = frames.take(size)
                if frame is not None:
                    write = rng.random() < 0.6
                    one.map(Page(vpn, size, frame, write or rng.random() < 0.8, write))
            elif not page.write and rng.random() < 0.3:
                one.upgrade(vpn)
            elif len(one.invalidations) < INVALIDATIONS:
                # Often one page, at times an aligned range of them, more than there are sets.
                log2 = SHIFT[size] + rng.choice([0, 0, 0, 1, 2, 3, 5])
                first = vpn >> log2 << log2
                gone = [page for page in one.mapped.values() if first <= page.vpn < first + (1 << log2)]
                one.unmap(gone, first, log2, rng.randint(0, 20))
        lookup = None
        if rng.random() < rate:
            start, size, count = rng.choice(regions)
            lookup = (start + rng.randrange(count << SHIFT[size]), rng.random() < 0.5)
        await one.step(lookup)
    await one.settle()


@cocotb.test()
async def no_access_through_a_page_that_is_gone(dut: Any) -> None:
    one = bench(dut)
    one.patience = 0.8
    await one.start()
    await live(one, 6000, rate=0.9, change=0.15)
    assert one.completed > 100
    status = [status for _, _, status in one.answered]
    assert min(status.count(OK), status.count(UNMAPPED)) > 100
    assert status.count(DENIED) > 20
    assert len(one.faults) > 20


@cocotb.test()
async def few_pages_that_change_all_the_time(dut: Any) -> None:
    one = bench(dut, walk=(1, 12), use=(1, 80))
    await one.start()
    await live(one, 4000, rate=1.0, change=0.3, regions=((0x1000, BASE, 4), (0x80000, BIG, 2)))
    assert one.completed > 100


@cocotb.test()
async def a_hit_takes_a_cycle_and_one_a_cycle(dut: Any) -> None:
    one = bench(dut, use=(1, 1))
    await one.start()
    for index in range(4):
        one.map(Page(0x1000 + 7 * index, BASE, 0x100 + 3 * index, True, True))
    for index in range(4):
        await one.step((0x1000 + 7 * index, False))
        await one.settle()
    one.answered.clear()
    first = one.cycle
    for index in range(40):
        assert await one.step((0x1000 + 7 * (index // 10), index % 2 == 1)) is not None
    await one.step()
    assert [cycle for cycle, _, _ in one.answered] == list(range(first + 2, first + 42))
    await one.settle()


@cocotb.test()
async def hits_pass_eight_misses(dut: Any) -> None:
    one = bench(dut, walk=(300, 301), use=(1, 1))
    await one.start()
    one.map(Page(0x1000, BASE, 0x100, True, True))
    for index in range(12):
        one.map(Page(0x2000 + 64 * index, BASE, 0x200 + index, True, True))
    await one.step((0x1000, False))
    await one.settle()
    one.answered.clear()
    # Twelve pages that miss: eight are asked for, four wait for one of them.
    for index in range(12):
        assert await one.step((0x2000 + 64 * index, False)) is not None
    for _ in range(60):
        assert await one.step((0x1000, False)) is not None
    await one.step()
    assert len(one.asks) == MISSES
    assert len(one.answered) == 60
    await one.settle()


@cocotb.test()
async def a_stream_of_pages_does_not_wait(dut: Any) -> None:
    """300 cycles a translation, a microsecond; lookups as often as a link of 12.145 GB/s carries 64 bytes."""
    one = bench(dut, walk=(140, 150), use=(1, 1))
    await one.start()
    for index in range(64):
        one.map(Page(0x1000 + index, BASE, 0x9000 + 5 * index, True, True))
    taken, begun, due = [0] * 60, one.cycle, 0.0
    for page in range(60):
        left = 64
        while left:
            # A lookup that waits for its turn does not put off the next: at most a page of them.
            due = min(due + LINK, 64.0)
            got = due >= 1 and await one.step((0x1000 + page, False)) is not None
            if due < 1:
                await one.step()
            left -= got
            due -= got
            assert one.cycle < begun + 60_000
        taken[page] = one.cycle
    rate = 64 * 40 / (taken[59] - taken[19]) / LINK
    print(f"a stream: {rate:.4f} of the link's rate, translations asked for: {one.asked}")
    await one.settle()
    # Without a look ahead a block of pages ends in a wait for the next.
    if AHEAD:
        assert rate >= 0.97
    else:
        assert rate < 0.8


@cocotb.test()
async def an_invalidation_waits_for_uses_alone(dut: Any) -> None:
    one = bench(dut, walk=(1, 1), use=(10**6, 10**6))
    await one.start()
    page, other = Page(0x1000, BASE, 0x100, True, True), Page(0x1100, BASE, 0x200, True, True)
    one.map(page)
    one.map(other)
    await one.step((0x1000, True))
    while not one.uses:
        await one.step()
        assert one.cycle < 100
    # A translation that never comes, and ten lookups for it.
    one.walk = (10**6, 10**6)
    for _ in range(10):
        await one.step((0x5000, False))
    one.unmap([page], 0x1000, 0, 0)
    for _ in range(200):
        await one.step((0x1100, False))
    assert one.completed == 0, "the use is still open"
    one.uses[0].end = one.cycle
    start = one.cycle
    while not one.completed:
        await one.step()
        assert one.cycle < start + 6
    # With no use open: the look-up of its page, the end of the epoch, the completion.
    for ask in one.asks.values():
        ask.walk = ask.due = one.cycle
    one.walk = one.use = (1, 1)
    for use in one.uses:
        use.end = one.cycle
    await one.settle()
    done = one.completed
    one.unmap([other], 0x1100, 0, 0)
    start = one.cycle
    while one.completed == done:
        await one.step()
        assert one.cycle < start + 20
    print(f"an invalidation of a page without uses: {one.cycle - start} cycles")
    assert one.cycle - start <= 6
    await one.settle()


@cocotb.test()
async def an_invalidation_of_a_range_leaves_pages_around_it(dut: Any) -> None:
    """As many pages as there are sets: one a cycle. Pages beside them are still there."""
    one = bench(dut, use=(1, 1))
    await one.start()
    pages = [Page(0x1000 + index, BASE, 0x100 + index, True, True) for index in range(6)]
    big = Page(0x80000, BIG, 0x4000, True, False)
    for page in [*pages, big]:
        one.map(page)
        await one.step((page.vpn, False))
        await one.settle()
    asked = one.asked
    one.unmap(pages[:4], 0x1000, 2, 0)
    await one.settle()
    for vpn in (0x1004, 0x1005, 0x80003):
        await one.step((vpn, False))
        await one.settle()
    assert one.asked == asked, "pages beside it were asked for again"
    await one.step((0x1002, False))
    await one.settle()
    assert one.answered[-1][2] == UNMAPPED
    # A write to what may not be written asks again, then faults; allowed more, it passes.
    await one.step((0x80005, True))
    await one.settle()
    assert one.answered[-1][2] == DENIED
    assert one.faults[-1] == (0x80005, True)
    one.upgrade(0x80000)
    await one.step((0x80005, True))
    await one.settle()
    assert one.answered[-1][2] == OK


@cocotb.test()
async def a_page_that_is_mapped_later_is_found(dut: Any) -> None:
    """Lookups of it every cycle, before and after: nothing is said longer than a translation takes."""
    one = bench(dut, walk=(10, 20), use=(1, 1))
    await one.start()
    for _ in range(300):
        await one.step((0x1000, False))
    assert {status for _, _, status in one.answered} == {UNMAPPED}
    one.map(Page(0x1000, BASE, 0x100, True, True))
    for _ in range(200):
        await one.step((0x1000, False))
    assert {status for _, _, status in one.answered[-20:]} == {OK}
    await one.settle()
