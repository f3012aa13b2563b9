# SPDX-License-Identifier: Apache-2.0
"""An AXI master of cocotbext-axi with a program's addresses: port, translation, cache, and the host of both.

Pages move, and their frames are given to other pages at once; some may not be written. Each 16 bytes of a
line belong to a writer, as in `coherence_axi_tb`: tasks of the AXI side, or the host. Bytes are counted page
after page, `GROUP` of each.
"""

from __future__ import annotations

import random
from typing import Any

import ccix_virtual_tb as virtual
import cocotb
import coherence_axi_tb as axi
from ccix_cache_tb import CREDIT, FINV
from ccix_virtual_tb import DIRECT, FAULT, FIRST, OFFSETS, PAGES, TRANSLATED, lines_of
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiResp

LINE = 64
GROUP = LINE * OFFSETS
PROTECTED = FIRST + 2
"""A page that may not be written."""
OLD_WALK = 400
"""Cycles from a walk of the host to the last answer that it may give."""
HOST, CHANGES = 3, 2
"""Owners: the host, and the task of atomics, whose first block has the counter instead."""
COUNTER = 16 * CHANGES


def address(at: int) -> int:
    page, inside = divmod(at, GROUP)
    return FIRST + page << 12 | inside


def block(rng: random.Random, owner: int) -> int:
    """The first byte of one of the owner's blocks."""
    return rng.randrange(PAGES * OFFSETS) * LINE + 16 * owner


class Host(virtual.Bench):
    """Page tables and home; pages may be protected, and stay away for a while."""

    def __init__(self, dut: Any) -> None:
        super().__init__(dut)
        self.protected = {PROTECTED}
        self.faults: set[tuple[int, bool]] = set()
        self.gone = dict.fromkeys(range(FIRST, FIRST + PAGES), -OLD_WALK - 1)
        """When a page was last not mapped,"""
        self.here = dict.fromkeys(range(FIRST, FIRST + PAGES), 0)
        """and when it could be used."""
        self.back = 0.05

    def translated(self, ident: int, vpn: int) -> list[int]:
        words = super().translated(ident, vpn)
        number = 1 << virtual.PAGES_LOG2
        pages = [vpn + page for page in range(number) if vpn + page in self.pages]
        for place, page in enumerate(pages):
            if page in self.protected:
                words[place] &= ~(1 << 43)
        assert all(word >> 60 == TRANSLATED for word in words)
        return words

    def message(self, message: int) -> None:
        if message >> 60 & 15 == FAULT:
            self.faults.add((message >> 76 & (1 << 36) - 1, bool(message >> 64 & 1)))
        else:
            super().message(message)

    def pass_time(self) -> None:
        self.cycle += 1
        for page in self.gone:
            if page not in self.pages:
                self.gone[page] = self.cycle
            if page in self.pages or page in self.leaving:
                self.here[page] = self.cycle


class Bench(axi.Bench):
    def __init__(self, dut: Any) -> None:
        super().__init__(dut)
        self.host = Host(dut)
        self.content = bytearray(
            b"".join(
                self.host.content[page, offset].to_bytes(LINE, "little")
                for page in range(FIRST, FIRST + PAGES)
                for offset in range(OFFSETS)
            )
        )
        self.changing = [0] * len(self.content)
        self.asked: dict[int, int] = {}
        self.stored = 0
        self.moving = self.storing = self.draining = False
        self.count = {"ok": 0, "fault": 0}

    async def start(self, pause: bool) -> None:
        await self.wake(
            "trn_ready_i", "in_valid_i", "msg_ready_i", "dir_ready_i",
            "ans_valid_i", "ans_header_i", "ans_data_i",
        )  # fmt: skip
        for _ in range(140):  # the stores empty themselves
            await RisingEdge(self.dut.clk_i)
        if DIRECT:
            self.host.home.out.append((CREDIT << 60 | 1 << 56 | self.host.direct.PLACES << 40, 0))
        cocotb.start_soon(self.clocks(pause))

    def store(self) -> None:
        """The host's program writes a number, larger each time, to its block of a line that it has."""
        host = self.host
        page = self.rng.choice(list(host.pages))
        offset = self.rng.randrange(OFFSETS)
        line = host.pages[page] << 6 | offset
        if host.home.state[line] != "I" or line in host.home.busy or page in host.left:
            return
        self.stored += 1
        at, data = (page - FIRST) * GROUP + LINE * offset + 16 * HOST, self.stored.to_bytes(16, "little")
        self.begin(at, data)
        self.end(at, data)
        keep = host.home.memory[line] & (1 << 8 * 16 * HOST) - 1
        host.home.memory[line] = keep | self.stored << 8 * 16 * HOST

    def take_home(self) -> None:
        """All lines that the cache has go to the home."""
        home = self.host.home
        for line, state in home.state.items():
            if state != "I" and line not in home.busy and len(home.out) < 4:
                home.busy[line] = str(FINV)
                home.out.append((14 << 60 | 1 << 56 | FINV << 48 | line, 0))

    def drive(self, pause: bool) -> None:
        dut, host, rng = self.dut, self.host, self.rng
        if self.moving and len(host.leaving) + len(host.left) < 3 and rng.random() < 0.01:
            used = [page for page, frame in host.pages.items() if frame in host.uses.values()]
            host.move(rng.choice(used if used and rng.random() < 0.7 else list(host.pages)))
        for ask in [ask for ask in host.asks if ask[0] <= host.cycle]:
            host.asks.remove(ask)
            host.inbox += host.translated(ask[1], ask[2])
        if rng.random() < host.back:
            host.take_back()
        host.home.step()
        host.direct.step(host.cycle)
        if self.storing:
            self.store()
        if self.draining:
            self.take_home()
        dut.trn_ready_i.value = int(not pause or rng.random() < 0.8)
        dut.msg_ready_i.value = int(not pause or rng.random() < 0.8)
        dut.dir_ready_i.value = int(not pause or rng.random() < 0.8)
        dut.in_valid_i.value = int(bool(host.inbox))
        if host.inbox:
            dut.in_word_i.value = host.inbox.pop(0)
        dut.ans_valid_i.value = int(bool(host.home.out))
        if host.home.out:
            dut.ans_header_i.value, dut.ans_data_i.value = host.home.out.pop(0)

    async def clocks(self, pause: bool) -> None:
        dut, host = self.dut, self.host
        while True:
            await FallingEdge(dut.clk_i)
            self.drive(pause)
            await RisingEdge(dut.clk_i)
            host.pass_time()
            assert not int(dut.stray_o.value)
            assert not int(dut.fail_o.value)
            # A response ends the use in this cycle.
            if int(dut.virt_rsp_valid_o.value):
                host.uses.pop(int(dut.virt_rsp_tag_o.value), None)
            if int(dut.trn_valid_o.value) and int(dut.trn_ready_i.value):
                host.message(int(dut.trn_o.value))
            if int(dut.virt_valid_o.value) and int(dut.virt_ready_o.value):
                self.asked[int(dut.virt_tag_o.value)] = int(dut.virt_index_o.value)
            if int(dut.phys_valid_o.value) and int(dut.phys_ready_o.value):
                if int(dut.phys_direct_o.value):
                    assert int(dut.phys_index_o.value) == self.asked[int(dut.phys_tag_o.value)]
                else:
                    self.physical(int(dut.phys_tag_o.value), int(dut.phys_index_o.value))
            if int(dut.dir_valid_o.value) and int(dut.dir_ready_i.value):
                host.direct.message(host.cycle, int(dut.dir_o.value))
            if int(dut.msg_valid_o.value) and int(dut.msg_ready_i.value):
                message = int(dut.msg_o.value)
                if message >> 60 & 15 == virtual.REQUEST:
                    frame = (message >> 71 & (1 << 33) - 1) >> 6
                    assert frame in (*host.pages.values(), *host.leaving.values()), "a line of no page"
                host.home.message(int(dut.msg_words_o.value), message)

    def physical(self, tag: int, index: int) -> None:
        host, line = self.host, self.asked[tag]
        page = line >> 6
        frames = {table[page] for table in (host.pages, host.leaving) if page in table}
        assert index & 63 == line & 63
        assert index >> 6 in frames, f"page {page:#x}: not its frame"
        host.uses[tag] = index >> 6

    def allowed(self, at: int, write: bool, since: int, response: AxiResp) -> bool:
        """Whether it is OKAY, which must be right for the page of byte `at` from then until now."""
        host, page = self.host, FIRST + at // GROUP
        refused = write and page in host.protected
        if response == AxiResp.OKAY:
            assert host.here[page] >= since, f"page {page:#x} was not mapped"
            assert not refused
        else:
            assert response == AxiResp.SLVERR
            assert refused or host.gone[page] > since - OLD_WALK, f"page {page:#x} was mapped"
        self.count["ok" if response == AxiResp.OKAY else "fault"] += 1
        return bool(response == AxiResp.OKAY)

    def cancel(self, at: int, size: int) -> None:
        """What was begun is not written."""
        self.end(at, bytes(self.content[at : at + size]))

    async def finish(self) -> None:
        """Memory has what the model has, when all pages and lines are where they belong."""
        host, home = self.host, self.host.home
        self.moving = self.storing = False
        self.draining, host.back = True, 1.0
        for _ in range(4_000):
            await RisingEdge(self.dut.clk_i)
            open_ones = (host.leaving, host.left, home.busy, home.waiting, home.out)
            if not any(open_ones) and all(state == "I" for state in home.state.values()):
                break
        found = b"".join(
            home.memory[line].to_bytes(LINE, "little")
            for page in range(FIRST, FIRST + PAGES)
            for line in lines_of(host.pages[page])
        )
        assert found == self.content


async def transfers(one: Bench, owner: int, ids: tuple[int, ...], count: int) -> int:
    """Writes of the owner's bytes, and reads of up to a page's lines; how many bytes were compared."""
    rng, known = random.Random(one.rng.random()), 0
    top = one.width.bit_length() - 1
    for _ in range(count):
        size, since = rng.randint(0, top), one.host.cycle
        if rng.random() < 0.5:
            first = rng.randrange(16)
            data, at = rng.randbytes(rng.randint(1, 16 - first)), block(rng, owner) + first
            one.begin(at, data)
            response = await one.axi.write(address(at), data, awid=rng.choice(ids), size=size)
            if one.allowed(at, True, since, response.resp):
                one.end(at, data)
            else:
                one.cancel(at, len(data))
        else:
            inside = rng.randrange(GROUP)
            length = rng.randint(1, min(GROUP - inside, rng.choice([8, 32, GROUP])))
            at = rng.randrange(PAGES) * GROUP + inside
            before = one.versions(at, length)
            response = await one.axi.read(address(at), length, arid=rng.choice(ids), size=size)
            if one.allowed(at, False, since, response.resp):
                known += one.compare(at, response.data, before, "read")
    return known


async def counts(one: Bench, ident: int, times: int) -> list[int]:
    """Adds 3 to the counter; a refused one is tried again."""
    olds, at = [], COUNTER
    for _ in range(times):
        while True:
            since = one.host.cycle
            response, old = await axi.tried(one, address(at), axi.ATOMIC_LOAD | axi.ADD, 8, 3, 0, ident)
            if one.allowed(at, True, since, response):
                break
        olds.append(old)
    return olds


async def changes(one: Bench, ident: int, times: int) -> dict[str, int]:
    """Any atomics on words of their owner, each as AXI5 says; or refused, and no change."""
    rng, seen = random.Random(one.rng.random()), {"ok": 0, "fault": 0}
    loads = [axi.ATOMIC_LOAD | fn for fn in range(8)]
    stores = [axi.ATOMIC_STORE | fn for fn in range(8)]
    for _ in range(times):
        what = axi.COMPARE if rng.random() < 0.3 else rng.choice([*loads, *stores, axi.SWAP])
        size = 1 << rng.randrange(4)
        at = rng.randrange(1, PAGES * OFFSETS) * LINE + COUNTER + rng.randrange(16 // size) * size
        old = int.from_bytes(one.content[at : at + size], "little")
        operand, new = rng.getrandbits(8 * size), rng.getrandbits(8 * size)
        if rng.random() < 0.5 and what == axi.COMPARE:
            operand = old
        after = axi.changed(old, operand, new, what, size).to_bytes(size, "little")
        since = one.host.cycle
        one.begin(at, after)
        response, got = await axi.tried(one, address(at), what, size, operand, new, ident)
        if one.allowed(at, True, since, response):
            one.end(at, after)
            assert what & 0b110000 == axi.ATOMIC_STORE or got == old, (hex(at), bin(what), size)
            seen["ok"] += 1
        else:
            one.cancel(at, size)
            seen["fault"] += 1
    return seen


async def ordered(one: Bench, owner: int, ident: int, times: int) -> int:
    """Writes of one id to the owner's bytes of one line, none of which waits: the last remains."""
    rng, overlaps = random.Random(one.rng.random()), 0
    for _ in range(times):
        at, since = block(rng, owner), one.host.cycle
        value = bytearray(one.content[at : at + 16])
        one.begin(at, bytes(value))
        wanted = []
        for _ in range(rng.randint(2, 5)):
            first = rng.randrange(12)
            data = rng.randbytes(rng.randint(4, 16 - first))
            wanted.append((first, data, one.axi.init_write(address(at + first), data, awid=ident)))
        for first, data, event in wanted:
            if one.allowed(at, True, since, (await axi.result(event)).resp):
                value[first : first + len(data)] = data
                overlaps += 1
        one.end(at, bytes(value))
        since = one.host.cycle
        response = await one.axi.read(address(at), 16, arid=ident)
        if one.allowed(at, False, since, response.resp):
            assert response.data == value, f"the order of writes to {at:#x}"
    return overlaps


async def never_older(one: Bench, ident: int, times: int) -> int:
    """Reads of one id of a word that the host writes: none has an older number than the one before."""
    rng, grown = random.Random(one.rng.random()), 0
    for _ in range(times):
        at, since = block(rng, HOST), one.host.cycle
        events = [one.axi.init_read(address(at), 8, arid=ident) for _ in range(rng.randint(2, 4))]
        found = []
        for event in events:
            response = await axi.result(event)
            if one.allowed(at, False, since, response.resp):
                found.append(int.from_bytes(response.data, "little"))
        numbers = [one_found for one_found in found if one_found <= one.stored]
        assert numbers == sorted(numbers), f"reads of {at:#x}: {numbers}"
        grown += len(set(numbers)) > 1
    return grown


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def reads_writes_and_atomics_by_virtual_addresses_are_right_while_pages_move(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=True)
    one.pauses()
    one.begin(COUNTER, bytes(8))
    assert (await one.axi.write(address(COUNTER), bytes(8))).resp == AxiResp.OKAY
    one.moving = one.storing = True
    tasks = [cocotb.start_soon(transfers(one, owner, ids, 250)) for owner, ids in enumerate([(0, 4), (1, 2)])]
    counted = [cocotb.start_soon(counts(one, axi.OLD_ID + k, 40)) for k in range(2)]
    changed = cocotb.start_soon(changes(one, axi.OLD_ID + 2, 200))
    known = [await task for task in tasks]
    olds = [await task for task in counted]
    seen = await changed
    assert sorted(olds[0] + olds[1]) == list(range(0, 3 * 80, 3)), "each count sees another value"
    one.end(COUNTER, (240).to_bytes(8, "little"))
    await one.finish()
    dut._log.warning(f"seed {cocotb.RANDOM_SEED}: {one.count} {one.host.count} {seen} bytes {known}")
    assert min(known) > 500
    assert one.count["fault"] > 15
    assert min(seen.values()) > 3
    assert one.host.count["moved"] > 30
    assert one.host.count["in use"] > 10
    assert one.host.count["cached"] > 10
    if DIRECT:
        dut._log.warning(f"direct reads: {one.host.direct.count}")
        assert min(one.host.direct.count.values()) > 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def accesses_of_one_id_to_one_line_keep_their_order_whatever_its_page_does(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=True)
    one.moving = one.storing = True
    writes = [cocotb.start_soon(ordered(one, owner, owner, 150)) for owner in range(2)]
    reads = [cocotb.start_soon(never_older(one, 4 + k, 200)) for k in range(2)]
    overlaps = [await task for task in writes]
    grown = [await task for task in reads]
    await one.finish()
    dut._log.warning(f"seed {cocotb.RANDOM_SEED}: {one.count} {one.host.count} {overlaps} {grown}")
    assert min(overlaps) > 200
    assert sum(grown) > 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_fault_is_an_error_of_its_burst_alone_and_the_host_is_notified(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=False)
    host, away = one.host, FIRST + 1
    frame = host.pages.pop(away)
    good, bad, closed = 0, GROUP, 2 * GROUP
    # One id, and none waits for another.
    wanted = []
    for k, at in enumerate([good, bad, good + 64, closed, good + 128]):
        data = bytes([k + 1]) * 16
        wanted.append((at, data, one.axi.init_write(address(at), data, awid=3)))
    for at, data, event in wanted:
        response = (await axi.result(event)).resp
        assert response == (AxiResp.OKAY if at < GROUP else AxiResp.SLVERR), at
        if at < GROUP:
            one.content[at : at + 16] = data
    events = [one.axi.init_read(address(at), GROUP, arid=3) for at in (good, bad, closed, good)]
    for at, event in zip((good, bad, closed, good), events, strict=True):
        response = await axi.result(event)
        assert response.resp == (AxiResp.SLVERR if at == bad else AxiResp.OKAY)
        assert response.data == (bytes(GROUP) if at == bad else one.content[at : at + GROUP])
    # A burst of all its lines; atomics with an answer and without.
    for at in (bad, closed):
        written = await one.axi.write(address(at), bytes(GROUP), awid=5)
        assert written.resp == AxiResp.SLVERR
        for what in (axi.SWAP, axi.ATOMIC_STORE | axi.ADD, axi.COMPARE):
            response, old = await axi.tried(one, address(at), what, 8, 1, 2, axi.OLD_ID)
            assert (response, old) == (AxiResp.SLVERR, 0)
    response, old = await axi.tried(one, address(good + 8), axi.SWAP, 8, 1, 2, axi.OLD_ID)
    assert (response, old) == (AxiResp.OKAY, int.from_bytes(one.content[8:16], "little"))
    one.content[8:16] = (1).to_bytes(8, "little")
    # Of a direct read the host itself finds the fault.
    reported = {(away, True), (away, False), (PROTECTED, True)}
    assert host.faults | ({(away, False)} if DIRECT else set()) == reported
    assert bool(host.direct.count["fault"]) == DIRECT
    # The host maps the page, and the accesses are made.
    host.pages[away] = frame
    read = await one.axi.read(address(bad), GROUP, arid=3)
    assert (read.resp, read.data) == (AxiResp.OKAY, one.content[bad : bad + GROUP])
    await one.finish()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_hit_takes_six_cycles_from_ar_to_r_and_hits_one_each(dut: Any) -> None:
    """One more than with physical addresses; of a write from its last beat to B eight."""
    one = Bench(dut)
    await one.start(pause=False)
    one.rng = one.host.rng = one.host.home.rng = Still()
    await axi.hits(one, LINE, address(0), 6)
    asked: list[int] = []
    came: list[int] = []

    def watch(cycle: int) -> None:
        if int(dut.s_axi_wvalid.value) and int(dut.s_axi_wready.value):
            asked.append(cycle)
        if int(dut.s_axi_bvalid.value):
            came.append(cycle)

    watcher = cocotb.start_soon(axi.clocked(dut, 40, watch))
    await one.axi.write(address(8), bytes(4))
    await watcher
    assert came[0] - asked[0] == 8


class Still(random.Random):
    """The home takes nothing away."""

    def random(self) -> float:
        return 0.2
