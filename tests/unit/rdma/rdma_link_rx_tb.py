# SPDX-License-Identifier: Apache-2.0
"""rdma_link_rx against a list of packets: what is shown and when, what is stored, what is lost.

A packet is Sop, n data words, Eop or Edb. Stored, it is shown if n is even, its end good and there was room;
shown at once, all its beats are, and the last says whether it was good.
"""

import os
import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time

STORED = os.environ.get("RDMA_STORED") == "1"
LINK_PS = 12800
SOP, DATA, EOP, EDB = range(4)
WORDS = 512
MAX_WORDS = 134

Beat = tuple[int, bool, bool]
"""A beat, whether it is the last of its packet, and whether that was bad."""


@dataclass
class Sent:
    """What has gone into the buffer so far."""

    packets: list[list[Beat]] = field(default_factory=list)  # of each packet what is to come out
    overrun: list[bool] = field(default_factory=list)
    words: int = 0  # of beats that are to be read, and of those under way
    open_words: int = 0  # of the packet under way
    ends_ps: list[int] = field(default_factory=list)


class Bench:
    def __init__(self, dut: object, host_ps: int) -> None:
        self.dut = dut
        self.host_ps = host_ps
        self.sent = Sent()
        self.got: list[Beat] = []
        self.got_ps: list[int] = []
        self.valid_ps: int | None = None
        self.ready_rate = 1.0
        self.overflows = 0

    async def start(self) -> None:
        dut = self.dut
        dut.link_rst_ni.value = 0
        dut.rst_ni.value = 0
        dut.rx_valid_i.value = 0
        dut.rx_flit_i.value = 0
        dut.ready_i.value = 0
        cocotb.start_soon(Clock(dut.link_clk_i, LINK_PS, "ps").start())
        await Timer(random.randrange(2, LINK_PS, 2), "ps")
        cocotb.start_soon(Clock(dut.clk_i, self.host_ps, "ps").start())
        await self.release()
        cocotb.start_soon(self.read())
        cocotb.start_soon(self.watch())

    async def release(self) -> None:
        for _ in range(4):
            await FallingEdge(self.dut.link_clk_i)
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.link_clk_i)
        self.dut.link_rst_ni.value = 1

    async def read(self) -> None:
        """Takes beats; what is offered stays until it is taken."""
        dut = self.dut
        offered: tuple[int, int, int] | None = None
        shown: int | None = None  # what stood there a cycle ago, valid or not
        taken = False  # and whether it was taken
        while True:
            await FallingEdge(dut.clk_i)
            dut.ready_i.value = random.random() < self.ready_rate
            await RisingEdge(dut.clk_i)
            if not dut.rst_ni.value:
                offered, shown, taken = None, None, False
                continue
            before, shown = shown, int(dut.beat_o.value)
            stood = before == shown or taken
            taken = bool(dut.valid_o.value and dut.ready_i.value)
            if not dut.valid_o.value:
                assert offered is None, "a beat that was offered is gone"
                self.valid_ps = None
                continue
            if self.valid_ps is None:
                self.valid_ps = int(get_sim_time("ps")) - self.host_ps
            beat = (int(dut.beat_o.value), int(dut.last_o.value), int(dut.bad_o.value))
            assert offered in (None, beat), "a beat that was offered has changed"
            assert stood, "a beat did not stand there a cycle before it was valid"
            offered = beat
            if dut.ready_i.value:
                self.got.append((beat[0], bool(beat[1]), bool(beat[1] and beat[2])))
                self.got_ps.append(int(get_sim_time("ps")))
                offered = None

    async def watch(self) -> None:
        """stored_o: never less than what is there, and what was read is gone from it three link edges on."""
        dut = self.dut
        taken: deque[int] = deque([0] * 4, maxlen=4)
        while True:
            await FallingEdge(dut.link_clk_i)
            if not dut.link_rst_ni.value:
                taken = deque([0] * 4, maxlen=4)
                continue
            self.overflows += int(dut.overflow_o.value)
            words = self.sent.words + self.sent.open_words
            stored = int(dut.stored_o.value)
            assert words - 2 * len(self.got) <= stored <= words - 2 * taken[0], (stored, words, len(self.got))
            taken.append(len(self.got))

    async def flit(self, kind: int, data: int) -> None:
        """One flit, and what it changes at the edge behind it."""
        await FallingEdge(self.dut.link_clk_i)
        self.dut.rx_valid_i.value = 1
        self.dut.rx_flit_i.value = kind << 32 | data
        await RisingEdge(self.dut.link_clk_i)

    async def pause(self) -> None:
        await FallingEdge(self.dut.link_clk_i)
        self.dut.rx_valid_i.value = 0
        self.dut.rx_flit_i.value = random.getrandbits(34)

    async def packet(self, words: int, good: bool, gap: float = 0.0) -> None:
        """Sends a packet; one that overruns the buffer is known by its strobe."""
        sent = self.sent
        await self.flit(SOP, 0)
        sent_words = [random.getrandbits(32) for _ in range(words)]
        fitted = 0
        for word in sent_words:
            while random.random() < gap:
                await self.pause()
            await self.flit(DATA, word)
            await Timer(1, "ps")
            if self.dut.overflow_o.value:
                break
            fitted += 1
            sent.open_words += 1
        lost = fitted < words
        if lost:
            # What is left of it changes nothing, whatever it is.
            shown = self.shown(fitted)
            sent.open_words = 2 * shown
            await self.flit(DATA, random.getrandbits(32))
        while random.random() < gap:
            await self.pause()
        await self.flit(EOP if good else EDB, random.getrandbits(24))
        beats = [
            (sent_words[i + 1] << 32 | sent_words[i], i + 2 >= fitted, False) for i in range(0, fitted - 1, 2)
        ]
        if lost:
            beats = beats[: self.shown(fitted)]
            if beats:
                beats[-1] = (beats[-1][0], True, True)
        elif not good or words % 2:
            if STORED:
                beats = []
            elif beats or words:
                if words % 2:
                    # The odd word's beat has no high word: whatever it shows, it is bad.
                    beats = [(beat, False, False) for beat, _, _ in beats] + [(sent_words[-1], True, True)]
                else:
                    beats[-1] = (beats[-1][0], True, True)
        sent.packets.append(beats)
        sent.overrun.append(lost)
        sent.ends_ps.append(int(get_sim_time("ps")))
        sent.open_words = 0
        sent.words += 2 * len(beats)
        await self.pause_if_no_more()

    def shown(self, fitted: int) -> int:
        """Beats of a packet that was cut off behind `fitted` words."""
        return 0 if STORED or fitted <= 2 else fitted // 2

    async def pause_if_no_more(self) -> None:
        await Timer(1, "ps")
        self.dut.rx_valid_i.value = 0

    def room(self, words: int) -> bool:
        return int(self.dut.stored_o.value) + words + 1 <= WORDS

    async def settle(self) -> None:
        """All is read, and the buffer says so."""
        self.ready_rate = 1.0
        await self.pause()
        for _ in range(2 * WORDS):
            await FallingEdge(self.dut.clk_i)
        for _ in range(8):
            await FallingEdge(self.dut.link_clk_i)
        expected = [beat for packet in self.sent.packets for beat in packet]
        assert len(self.got) == len(expected)
        for got, want in zip(self.got, expected, strict=True):
            low = 0xFFFFFFFF if want[2] else (1 << 64) - 1
            assert (got[0] & low, *got[1:]) == (want[0] & low, *want[1:])
        assert int(self.dut.stored_o.value) == 0
        assert self.dut.idle_o.value == 1


def lengths() -> int:
    return random.choice([1, 2, 2, 3, 4, 5, 6, 8, 16, MAX_WORDS - 1, MAX_WORDS])


@cocotb.test()
@cocotb.parametrize(
    (("host_ps", "ready", "gap"), [(10000, 1.0, 0.0), (8000, 0.7, 0.3), (10000, 0.3, 0.0), (40000, 0.6, 0.0)])
)
async def every_good_packet_comes_out_once_and_whole(
    dut: object, host_ps: int, ready: float, gap: float
) -> None:
    bench = Bench(dut, host_ps)
    await bench.start()
    bench.ready_rate = ready
    for _ in range(150):
        words = lengths()
        while not bench.room(words):
            await bench.pause()
        await bench.packet(words, random.random() < 0.8, gap)
        for _ in range(random.choice([0, 0, 1, 5])):
            await bench.pause()
    await bench.settle()
    assert bench.overflows == 0, "a sender with credit overran the buffer"
    assert bench.got


@cocotb.test()
@cocotb.parametrize((("host_ps", "ready"), [(10000, 0.05), (10000, 0.1), (8000, 0.0)]))
async def who_overruns_it_loses_packets_and_no_more(dut: object, host_ps: int, ready: float) -> None:
    bench = Bench(dut, host_ps)
    await bench.start()
    for _ in range(4):
        bench.ready_rate = ready
        before = len(bench.sent.overrun)
        # How soon a sender overruns a reader that is slow, chance says.
        while not any(bench.sent.overrun[before:]) or len(bench.sent.overrun) < before + 60:
            assert len(bench.sent.overrun) < before + 2000, "nobody overran it"
            await bench.packet(lengths(), random.random() < 0.9)
        await bench.settle()
    assert bench.overflows == sum(bench.sent.overrun)
    assert not all(bench.sent.overrun)


@cocotb.test()
@cocotb.parametrize(host_ps=[10000, 8000])
async def an_end_is_shown_after_its_edge_and_two_of_the_host(dut: object, host_ps: int) -> None:
    bench = Bench(dut, host_ps)
    await bench.start()
    for _ in range(60):
        words = 2 * random.randrange(1, 9)
        await bench.packet(words, True)
        came = bench.sent.ends_ps[-1]
        for _ in range(40):
            await bench.pause()
        assert len(bench.got_ps) == bench.sent.words // 2
        first = bench.got_ps[-(words // 2)] - host_ps  # the edge from which it was offered
        if STORED:
            assert host_ps < first - came + 2 <= 2 * host_ps + 2, (first, came)
        # And then one beat in each cycle.
        if STORED:
            assert bench.got_ps[-1] - first == words // 2 * host_ps
    await bench.settle()


@cocotb.test()
@cocotb.parametrize(host_ps=[10000, 8000])
async def what_has_waited_is_read_one_beat_a_cycle(dut: object, host_ps: int) -> None:
    """Packets of one beat, more than the words across can be: none may make the reader pause."""
    bench = Bench(dut, host_ps)
    await bench.start()
    for packets in (7, 8, 9, 10, 40, 120):
        bench.ready_rate = 0.0
        before = len(bench.got)
        for _ in range(packets):
            await bench.packet(2, True)
        for _ in range(20):
            await bench.pause()
        bench.ready_rate = 1.0
        for _ in range(packets + 20):
            await FallingEdge(dut.clk_i)
        times = bench.got_ps[before:]
        assert len(times) == packets
        assert times[-1] - times[0] == (packets - 1) * host_ps
    await bench.settle()


@cocotb.test()
async def a_reset_of_both_sides_leaves_nothing_behind(dut: object) -> None:
    bench = Bench(dut, 10000)
    await bench.start()
    for _ in range(6):
        bench.ready_rate = 0.2
        for _ in range(random.randrange(1, 12)):
            words = lengths()
            if bench.room(words):
                await bench.packet(words, True)
        await bench.flit(SOP, 0)
        for _ in range(random.randrange(4)):
            await bench.flit(DATA, random.getrandbits(32))
            bench.sent.open_words += 1
        await bench.pause()
        dut.link_rst_ni.value = 0
        dut.rst_ni.value = 0
        await Timer(1, "ps")
        bench.sent = Sent()
        bench.got, bench.got_ps = [], []
        await bench.release()
        for _ in range(6):
            await FallingEdge(dut.link_clk_i)
            assert dut.valid_o.value == 0
            assert int(dut.stored_o.value) == 0
        bench.ready_rate = 1.0
        await bench.packet(8, True)
        await bench.settle()
