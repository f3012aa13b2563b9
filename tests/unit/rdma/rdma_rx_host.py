# SPDX-License-Identifier: Apache-2.0
"""The two sides of rdma_rx in a bench: links that send packets, and a host with memory and tables.

Formats from docs/explanation/cores/rdma.md; nothing here is taken from the RTL.
"""

from __future__ import annotations

import logging
import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotbext.axi import AxiBus, AxiSlaveRead, AxiSlaveWrite
from rdma_words import ACK, CONTROL, MESSAGE, OPEN, REFUSED, SESSION, SHORT, header

HOST = 3
"""This host's number."""
FAR = 1 << 13
"""A number that is told to be in memory is no further behind the one that is told to be taken."""
NOTIFY, COMPLETE = 16, 24
"""First entries of the address table of sources and of completions."""

COUNTERS = (
    "ctl", "rxctl", "taken", "refused", "known", "beyond", "not_open", "malformed", "retired", "lost",
    "opened", "overflow",
)  # fmt: skip


def fields(*parts: tuple[int, int]) -> int:
    """(value, lowest bit) pairs as one word."""
    return sum(value << bit for value, bit in parts)


@dataclass
class Packet:
    """A packet as its source makes it."""

    src: int
    seq: int
    session: int
    kind: int
    payload: list[int]
    second: int
    third: int | None = None
    last: bool = True
    notify: bool = False
    irq: bool = False
    completion: bool = False
    tag: int = 0
    dst: int = HOST

    @property
    def message(self) -> bool:
        return self.kind in (MESSAGE, SHORT)

    def beats(self) -> list[int]:
        """A short message's queue, `second`, stands in its first beat."""
        flags = fields(
            (self.last, 47),
            (self.notify, 48),
            (self.irq, 49),
            (self.completion, 50),
            (self.third is not None, 51),
        )
        first = flags | fields(
            (self.seq & 0xFFFF, 0), (self.session, 16), (self.src, 24), (self.dst, 31),
            (len(self.payload), 38), (self.kind, 45), (self.tag, 52),
        )  # fmt: skip
        if self.kind == SHORT:
            assert self.second < 16
            return [first | self.second << 60, *self.payload]
        return [first, self.second, *([] if self.third is None else [self.third]), *self.payload]


def control(src: int, what: int, session: int, number: int = 0, rest: int = 0) -> list[int]:
    """Beats of a control packet; `rest` lies above its kind."""
    return [header(number & 0xFFFF, session, src, HOST), what | rest << 4]


@dataclass
class Burst:
    address: int
    data: list[int]
    strobes: list[int]
    follow: int
    cycle: int


class Slave(AxiSlaveWrite):  # type: ignore[misc]
    """Host memory at the AXI master. What is not told early is in memory only when it is answered."""

    def __init__(self, bus: Any, clock: Any, host: Host) -> None:
        self.host = host
        self.limit = 24
        self.delay: Callable[[], int] = lambda: 3
        self.hold = False
        self.waiting: deque[Burst] = deque()
        super().__init__(bus, clock)
        cocotb.start_soon(self._answer())

    async def _process_write(self) -> None:
        while True:
            aw = await self.aw_channel.recv()
            address, beats = int(aw.awaddr), int(aw.awlen) + 1
            assert address % 8 == 0
            assert address // 4096 == (address + 8 * beats - 1) // 4096, hex(address)
            burst = Burst(address, [], [], int(aw.awuser), self.host.cycle)
            assert 8 * beats <= burst.follow <= 512, burst.follow
            for n in range(beats):
                w = await self.w_channel.recv()
                assert int(w.wlast) == (n == beats - 1)
                burst.data.append(int(w.wdata))
                burst.strobes.append(int(w.wstrb))
            self.host.bursts.append(burst)
            if self.host.early(burst):
                self.host.apply(burst)
            self.waiting.append(burst)
            while len(self.waiting) >= self.limit:
                await RisingEdge(self.clock)

    async def _answer(self) -> None:
        while True:
            await RisingEdge(self.clock)
            while self.waiting and not self.hold:
                burst = self.waiting[0]
                if wait := self.delay():
                    await Timer(10 * wait, "ns")
                while self.hold:
                    await RisingEdge(self.clock)
                if self.host.lazy:
                    self.host.posted.append(burst)
                elif not self.host.early(burst):
                    self.host.apply(burst)
                b = self.b_channel._transaction_obj()
                b.bid, b.bresp = 0, 2 if self.host.poisoned(burst) else 0
                await self.b_channel.send(b)
                self.waiting.popleft()


class Reads(AxiSlaveRead):  # type: ignore[misc]
    """The same for reads: one pushes what was answered before it into memory."""

    def __init__(self, bus: Any, clock: Any, host: Host) -> None:
        self.host = host
        self.delay: Callable[[], int] = lambda: 20
        self.hold = False
        super().__init__(bus, clock)

    async def _process_read(self) -> None:
        while True:
            ar = await self.ar_channel.recv()
            host, address = self.host, int(ar.araddr)
            assert int(ar.arlen) == 0
            assert any(address in ok for ok in host.legal), f"read of {address:#x}"
            before, host.posted = host.posted, []
            for _ in range(self.delay()):
                await RisingEdge(self.clock)
            while self.hold:
                await RisingEdge(self.clock)
            for burst in before:
                host.apply(burst)
            host.flushes += 1
            r = self.r_channel._transaction_obj()
            r.rid, r.rdata, r.rlast, r.rresp = 0, host.rng.getrandbits(64), 1, 2 * host.flush_fails
            await self.r_channel.send(r)


class Host:
    """One rdma_rx with its links, its memory and its driver."""

    def __init__(self, dut: Any, links: int, rng: random.Random) -> None:
        self.dut, self.links, self.rng = dut, links, rng
        self.cycle = 0
        self.memory: dict[int, int] = {}  # beats by address
        self.legal: list[range] = []
        self.poison: list[range] = []
        self.bursts: list[Burst] = []
        self.events: Counter[str] = Counter()
        self.irqs = [0] * 8
        self.sent: list[deque[tuple[list[int], str]]] = [deque() for _ in range(links)]
        self.ctl: list[tuple[int, int, int, int, int, int, int]] = []
        self.counts: dict[tuple[int, int], int] = {}  # of refusals, as last told
        self.pending: dict[int, bool] = {}  # as last told
        self.stored: dict[int, int] = {}  # the number before which all is in memory, as last told
        self.flushes = 0
        self.flush_fails = False
        self.posted: list[Burst] = []  # answered and on its way to memory
        self.lazy = False  # what is answered is in memory only when a read comes behind it
        self.rxctl: list[tuple[int, int]] = []
        self.on_write: Callable[[int, int], None] = lambda address, data: None
        self.early_range: Callable[[int], bool] = lambda address: False
        self.ctl_ready: Callable[[], bool] = lambda: True
        self.gaps = 0.0
        self.rx_valid = 0
        self.fair = True  # links keep to their credits

    # ---------------------------------------------------------------- start
    async def start(self, lost: int = 4000, ring: tuple[int, int] = (0, 0)) -> None:
        d = self.dut
        logging.getLogger(f"cocotb.{d._name}.axi").setLevel(logging.WARNING)
        for name in (
            "rst_ni", "enable_i", "rx_valid_i", "rx_flit0_i", "rx_flit1_i", "table_we_i", "table_re_i",
            "table_raddr_i", "ctl_ready_i", "local_valid_i", "local_flow_i", "local_message_i",
            "local_count_i", "done_valid_i", "done_flow_i", "done_word_i", "err_valid_i", "err_beat0_i",
            "err_beat1_i", "err_tail_i",
        ):  # fmt: skip
            getattr(d, name).value = 0
        # Nobody writes: what stands there is anything.
        d.table_addr_i.value, d.table_data_i.value = self.rng.getrandbits(16), self.rng.getrandbits(64)
        d.host_id_i.value = HOST
        d.lost_cycles_i.value = lost
        d.ctl_room_i.value = 0xFF
        d.err_base_i.value, d.err_size_i.value = ring
        bus = AxiBus.from_prefix(d, "axi")
        self.slave = Slave(bus.write, d.clk_i, self)
        self.reads = Reads(bus.read, d.clk_i, self)
        cocotb.start_soon(Clock(d.clk_i, 10, "ns").start())
        cocotb.start_soon(Clock(d.link_clk_i, 12.8, "ns").start())
        for _ in range(4):
            await FallingEdge(d.link_clk_i)
        d.rst_ni.value = 1
        for link in range(self.links):
            cocotb.start_soon(self._link(link))
        cocotb.start_soon(self._watch())
        while not d.ready_o.value:
            await RisingEdge(d.clk_i)
        d.enable_i.value = 1

    async def _watch(self) -> None:
        """Control packets, counters, interrupts."""
        d = self.dut
        clk, events, ready = d.clk_i, d.events_o, d.ctl_ready_i
        offered = -1
        while True:
            await FallingEdge(clk)
            allow = int(self.ctl_ready())
            if allow != offered:
                ready.value = offered = allow
            await RisingEdge(clk)
            self.cycle += 1
            seen = int(events.value)
            if not seen:
                continue
            for bit, name in enumerate(COUNTERS):
                self.events[name] += seen >> bit & 1
            if seen & 1:
                self.ctl.append(self._control(int(d.ctl_header_o.value), int(d.ctl_o.value)))
            if seen & 2:
                self.rxctl.append((int(d.rxctl_header_o.value), int(d.rxctl_o.value)))
            self.events["write_error"] += seen >> 20 & 1
            for src in range(8):
                self.irqs[src] += seen >> (12 + src) & 1

    def _control(self, header: int, word: int) -> tuple[int, int, int, int, int, int, int]:
        """(what, dst, session, number, code, tag, more); everything else must be as the page says.

        `more`: what its count has beyond the last one to this host, but for the one that it itemises.
        """
        assert header >> 24 & 0x7F == HOST
        assert header >> 38 == CONTROL << 7
        assert word >> 49 == 0
        what, code, count = word & 15, word >> 4 & 0xFF, word >> 20 & 0xFFF
        dst, session = header >> 31 & 0x7F, header >> 16 & 0xFF
        number = header & 0xFFFF
        more = count
        if (what, code) != (REFUSED, SESSION):
            # The first of a session, an ACK, says from where it counts.
            more = count - self.counts.get((dst, session), count) - (what == REFUSED) & 0xFFF
            self.counts[dst, session] = count
            self.pending[dst] = bool(word >> 32 & 1)
            self.stored[dst] = word >> 33
            assert number - self.stored[dst] & 0xFFFF < FAR, "in memory before it was taken, or long not"
        return what, dst, session, number, code, word >> 12 & 0xFF, more

    # ---------------------------------------------------------------- links
    async def _link(self, link: int) -> None:
        d = self.dut
        flit, stored = (d.rx_flit0_i, d.stored0_o) if link == 0 else (d.rx_flit1_i, d.stored1_o)
        queue = self.sent[link]
        valid = 1 << link
        while True:
            await FallingEdge(d.link_clk_i)
            if not queue:
                continue
            words, end = queue[0]
            if self.fair and int(stored.value) + len(words) + 1 > 512:
                continue
            for value in (0, *((1 << 32 | word) for word in words), (3 if end == "edb" else 2) << 32):
                while self.gaps and self.rng.random() < self.gaps:
                    await FallingEdge(d.link_clk_i)
                flit.value = value
                self.rx_valid |= valid
                d.rx_valid_i.value = self.rx_valid
                await FallingEdge(d.link_clk_i)
                self.rx_valid &= ~valid
                d.rx_valid_i.value = self.rx_valid
            queue.popleft()

    def send(self, beats: Sequence[int], link: int = 0, end: str = "eop", odd: bool = False) -> None:
        words = [half for beat in beats for half in (beat & 0xFFFFFFFF, beat >> 32)]
        if odd:
            words.pop()
        self.sent[link % self.links].append((words, end))

    async def open(self, src: int, session: int, number: int = 0) -> None:
        """Open a flow as its source does, and see the ACK."""
        before = len(self.ctl)
        self.send(control(src, OPEN, session, number))
        await self.until(lambda: (ACK, src, session, number, 1, 0, 0) in self.ctl[before:], "ACK of OPEN")

    # ---------------------------------------------------------------- tables
    async def table(self, offset: int, value: int) -> None:
        d = self.dut
        await FallingEdge(d.clk_i)
        d.table_we_i.value, d.table_addr_i.value, d.table_data_i.value = 1, offset, value
        await FallingEdge(d.clk_i)
        d.table_we_i.value = 0

    async def read(self, offset: int) -> int:
        d = self.dut
        await FallingEdge(d.clk_i)
        d.table_re_i.value, d.table_raddr_i.value = 1, offset
        await FallingEdge(d.clk_i)
        d.table_re_i.value = 0
        for _ in range(200):
            if d.table_rvalid_o.value:
                return int(d.table_rdata_o.value)
            await FallingEdge(d.clk_i)
        raise AssertionError("no answer to a read")

    async def region(
        self,
        n: int,
        base: int,
        size: int,
        sources: int,
        nonce: int = 0,
        queue: int | None = None,
        valid: bool = True,
    ) -> None:
        at = 0xE000 + 32 * n
        await self.table(at, base)
        await self.table(at + 8, base + size)
        flags = fields((valid, 0), (sources, 1), (queue is not None, 9), (queue or 0, 10), (nonce, 32))
        await self.table(at + 16, flags)
        if valid and size:
            self.legal.append(range(base, base + size))

    async def queue(
        self, q: int, base: int, wrap: int, slot: int, sources: int = 0xFF, head: int = 0
    ) -> None:
        at = 0xC000 + 16 * q
        await self.table(at, base)
        await self.table(0xD000 + 8 * q, head)
        await self.table(at + 8, fields((head, 0), (wrap, 17), (slot, 34), (sources, 37), (1, 45)))
        self.legal.append(range(base, base + 8 * wrap))

    async def tail(self, q: int, value: int) -> None:
        await self.table(0xD000 + 8 * q, value)

    async def address(self, n: int, value: int) -> None:
        await self.table(0xF000 + 8 * n, value)
        if value:
            self.legal.append(range(value, value + 8))

    # ---------------------------------------------------------------- memory
    def early(self, burst: Burst) -> bool:
        return self.early_range(burst.address)

    def poisoned(self, burst: Burst) -> bool:
        return any(
            a in bad
            for bad in self.poison
            for a in range(burst.address, burst.address + 8 * len(burst.data), 8)
        )

    def apply(self, burst: Burst) -> None:
        for n, (data, strobes) in enumerate(zip(burst.data, burst.strobes, strict=True)):
            address = burst.address + 8 * n
            assert strobes in (0, 0xFF)
            if not strobes:
                continue
            assert any(address in ok for ok in self.legal), f"write to {address:#x}"
            self.memory[address] = data
            self.on_write(address, data)

    def errors(self) -> int:
        return self.events["write_error"]

    def get(self, address: int, beats: int) -> list[int | None]:
        return [self.memory.get(address + 8 * n) for n in range(beats)]

    # ---------------------------------------------------------------- the send half's words
    async def tell(self, port: str, **values: int) -> None:
        """One event of the send half: its values, until it is taken."""
        d = self.dut
        await FallingEdge(d.clk_i)
        for name, value in values.items():
            getattr(d, f"{port}_{name}_i").value = value
        getattr(d, f"{port}_valid_i").value = 1
        ready = getattr(d, f"{port}_ready_o")
        while True:
            await RisingEdge(d.clk_i)
            if ready.value:
                break
        await FallingEdge(d.clk_i)
        getattr(d, f"{port}_valid_i").value = 0

    # ---------------------------------------------------------------- time
    async def clocks(self, n: int) -> None:
        for _ in range(n):
            await RisingEdge(self.dut.clk_i)

    async def until(self, done: Callable[[], Any], what: str, limit: int = 4000) -> None:
        for _ in range(limit):
            if done():
                return
            await RisingEdge(self.dut.clk_i)
        raise AssertionError(f"{what} does not come")

    async def rest(self, limit: int = 60_000) -> None:
        """Until all that was sent is dealt with."""
        calm = 0
        for _ in range(limit):
            calm = calm + 1 if not any(self.sent) and self.dut.idle_o.value and not self.slave.waiting else 0
            if calm == 40:
                assert not any(self.pending.values()), "who hears that there is more hears it"
                return
            await RisingEdge(self.dut.clk_i)
        raise AssertionError("does not come to rest")
