# SPDX-License-Identifier: Apache-2.0
"""A pair of link_ports against the model of the wire, with every kind of fault on the line.

One loop looks at both ends and drives them once a clock. It holds each word and flit against
`link_model.Framing`, each packet that leaves a buffer against those that were sent, and each sender's
words against the credit rules.
"""

from __future__ import annotations

import os
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from link_model import (
    ALIGN,
    CHECK,
    CREDIT,
    EDB,
    EOP,
    IDLE,
    INIT,
    K_DATA,
    K_EOP,
    K_SOP,
    SOP,
    Framing,
    control,
    crc24,
    fielded,
    parse,
)

IDS = int(os.environ["LINK_IDS"])
DEPTH = int(os.environ["LINK_DEPTH"])
MAX_WORDS = int(os.environ["LINK_MAX_WORDS"])
DELAY = int(os.environ["LINK_DELAY"])
INIT_WORDS = int(os.environ["LINK_INIT_WORDS"])
IN_PACKET = int(os.environ["LINK_IN_PACKET"])
READY = fielded(INIT, 1, 0)
STROBES = ("crc_bad", "poisoned", "invalid", "cut", "credit_bad", "dropped")


M10, M32, M34, M36 = ((1 << width) - 1 for width in (10, 32, 34, 36))
MID = (1 << IDS) - 1


class Seen:
    """One end in one cycle: the bench's vector, lowest fields first. What few want is taken out on demand."""

    __slots__ = (
        "data",
        "high",
        "ident",
        "idle",
        "kind",
        "out_valid",
        "ready",
        "refused",
        "rx",
        "strobes",
        "takes",
        "tx",
        "up",
        "valid",
    )

    def __init__(self, value: int) -> None:
        self.tx = value & M36
        self.rx = value >> 36 & M36
        low = value >> 72 & (1 << 51) - 1
        self.valid = bool(low & 1)
        self.data = low >> 1 & M32
        self.kind = low >> 33 & 3
        self.ident = low >> 35 & 63
        self.ready = bool(low >> 41 & 1)
        self.up = bool(low >> 42 & 1)
        self.idle = bool(low >> 43 & 1)
        self.takes = bool(low >> 44 & 1)
        self.strobes = low >> 45
        self.high = high = value >> 123
        self.refused = high & MID
        self.out_valid = high >> 35 * IDS & MID

    def flit(self, ident: int) -> tuple[int, int]:
        """Kind and data at a buffer's output."""
        flit = self.high >> IDS + 34 * ident & M34
        return flit >> 32, flit & M32

    @property
    def stored(self) -> list[int]:
        return [self.high >> 36 * IDS + 10 * i & M10 for i in range(IDS)]

    @property
    def room(self) -> list[int]:
        return [self.high >> 46 * IDS + 10 * i & M10 for i in range(IDS)]


@dataclass
class End:
    """One end's sender, its buffers' readers and what they have seen."""

    rng: random.Random
    send: float = 1.0  # chance that a packet is begun when one may be
    gap: float = 0.0  # chance that a word of a packet is not there
    read: float = 1.0  # chance that a word of a buffer is read in a cycle
    spoil: float = 0.0  # chance that a word on the line gets wrong bits
    lengths: tuple[int, int] = (1, MAX_WORDS)
    ids: tuple[int, ...] = tuple(range(IDS))
    blocked: frozenset[int] = frozenset()  # buffers that nobody reads
    limit: int | None = None  # packets that may still be begun
    flits: deque[tuple[int, int]] = field(default_factory=deque)
    sent: list[deque[list[int]]] = field(default_factory=lambda: [deque() for _ in range(IDS)])
    got: list[list[int]] = field(default_factory=lambda: [[] for _ in range(IDS)])
    good: int = 0
    bad: int = 0
    missing: int = 0
    begun: int = 0
    words: int = 0
    serial: int = 0
    refused: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STROBES, 0))
    symbols: dict[int | str, int] = field(default_factory=dict)
    # The sender's side as the line shows it.
    line_inside: bool = False
    line_id: int = 0
    line_left: int = 0
    inner_credits: int = 0  # CREDITs inside packets
    line_sent: list[int] = field(default_factory=lambda: [0] * IDS)


class Pair:
    """Both ends. `check_lost`: a packet that does not arrive is an error."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.ends = [End(random.Random(seed + 1)), End(random.Random(seed + 2))]
        self.cycle = 0
        self.clean = True  # nothing has been spoilt: nothing may be lost
        self.framing = [Framing(IDS, MAX_WORDS), Framing(IDS, MAX_WORDS)]
        self.before: list[list[int]] = [[], []]  # words at the receiver
        self.live: list[list[tuple[bool, bool]]] = [[], []]
        self.now: list[Seen] = []
        self.reset = [False, False]
        self.signal = [True, True]
        self.bench = False
        self.no_ready = False  # of end 0 no READY arrives
        self.deaf = False  # of end 0 nothing arrives
        self.alien = 0  # a word that end 0 seems to send next, in the place of IDLE

    async def start(self, up: bool = True) -> None:
        d = self.dut
        cocotb.start_soon(Clock(d.clk_i, 10, "ns").start())
        d.rst_ni.value = 0
        d.signal_i.value = 0b11
        d.bench_i.value = 0
        for e in (0, 1):
            d.spoil_i[e].value = 0
            d.loss_i[e].value = 0
            d.tx_valid_i[e].value = 0
            d.tx_flit_i[e].value = 0
            d.pop_i[e].value = 0
        for _ in range(DELAY + 4):  # the lines' registers have no reset
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 0b11
        if not up:
            return
        await self.until(lambda: all(seen.up for seen in self.now), 2 * INIT_WORDS + 6 * DELAY + 40)

    def up(self) -> bool:
        return all(seen.up for seen in self.now)

    async def until(self, done: Any, limit: int) -> int:
        """Run until `done()`; cycles it took. More than `limit` is an error."""
        for cycles in range(limit):
            await self.step()
            if done():
                return cycles
        raise AssertionError(f"not within {limit} cycles; counters {[e.counts for e in self.ends]}")

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()

    async def step(self) -> None:
        """One clock: look at both ends, compare, drive."""
        d = self.dut
        await FallingEdge(d.clk_i)
        self.cycle += 1
        self.now = [Seen(d.seen_o[e].value.to_unsigned()) for e in (0, 1)]
        for e in (0, 1):
            self._receive(e)
            self._line(e)
            self._read(e)
        for e in (0, 1):
            self._send(e)

    def _receive(self, e: int) -> None:
        """The flit at the outputs is what the model makes of the word two cycles ago."""
        seen, end = self.now[e], self.ends[e]
        words, live = self.before[e], self.live[e]
        if self.reset[e]:
            self.framing[e].inside = False
            words.clear()
            live.clear()
            end.got = [[] for _ in range(IDS)]
        elif len(words) == 2:
            # A word is taken when it came with a signal and, a cycle later, the end has left INIT.
            expected = self.framing[e].step(words[0], words[1], live[0][0] and live[1][1])
            data = seen.data & 63 if seen.kind == K_SOP else seen.data
            got = (seen.kind, seen.ident, data) if seen.valid else None
            assert got == expected, (self.cycle, e, got, expected, hex(words[0]), hex(words[1]))
        words.append(seen.rx)
        live.append((self.signal[e], seen.takes))
        del words[:-2], live[:-2]
        for bit, name in enumerate(STROBES):
            end.counts[name] += seen.strobes >> bit & 1
        end.refused += seen.refused.bit_count()
        if self.clean:
            assert (seen.refused, seen.strobes) == (0, 0), (self.cycle, e)

    def _line(self, e: int) -> None:
        """What an end sends is a legal sequence, and never more than the far end has room for."""
        end, word = self.ends[e], parse(self.now[e].tx)
        if self.reset[e]:
            end.line_inside, end.line_sent = False, [0] * IDS
        end.symbols[word.kind] = end.symbols.get(word.kind, 0) + 1
        assert word.kind != "invalid", (self.cycle, e, hex(self.now[e].tx))
        if word.kind == SOP:
            assert not end.line_inside
            assert word.count == end.line_sent[word.ident] % 1024, (self.cycle, e, word, end.line_sent)
            end.line_inside, end.line_id, end.line_left = True, word.ident, 0
        elif word.kind == "data":
            assert end.line_inside
            end.line_left += 1
            end.line_sent[end.line_id] += 1
            assert end.line_left <= MAX_WORDS
        elif word.kind in (EOP, EDB):
            assert end.line_inside
            assert end.line_left > 0
            end.line_inside = False
            end.line_sent[end.line_id] += 1
        elif word.kind == CREDIT:
            end.inner_credits += end.line_inside
        elif word.kind == CHECK:
            assert not end.line_inside
            assert word.count == end.line_sent[word.ident] % 1024
        elif word.kind in (IDLE, ALIGN, INIT):
            if word.kind != INIT:
                assert not end.line_inside
            else:
                end.line_inside = False
                end.line_sent = [0] * IDS

    def _read(self, e: int) -> None:
        """Words leave the buffers; a good packet is one that was sent, unchanged and in order."""
        seen, end = self.now[e], self.ends[e]
        pop = 0
        for i in range(IDS):
            if i in end.blocked or end.rng.random() >= end.read:
                continue
            pop |= 1 << i
            if not seen.out_valid >> i & 1:
                continue
            kind, data = seen.flit(i)
            packet = end.got[i]
            assert kind != K_SOP
            if kind == K_DATA:
                packet.append(data)
                assert len(packet) <= MAX_WORDS
                continue
            assert packet, "an end without a word"
            if kind == K_EOP:
                self._good(e, i, packet, data & 0xFFFFFF)
            else:
                end.bad += 1
                assert not self.clean, (self.cycle, e, i, packet)
            end.got[i] = []
        self.dut.pop_i[e].value = pop

    def _good(self, e: int, i: int, packet: list[int], check: int) -> None:
        end, sent = self.ends[e], self.ends[1 - e].sent[i]
        end.good += 1
        assert check == crc24(packet, self.bench)
        while sent:
            if sent.popleft() == packet:
                return
            end.missing += 1
            assert not self.clean, (self.cycle, e, i)
        raise AssertionError(f"cycle {self.cycle}: end {e} id {i}: a good packet that was never sent")

    def _send(self, e: int) -> None:
        seen, end, d = self.now[e], self.ends[e], self.dut
        if not seen.ready:
            pass  # what is offered stays
        else:
            if not end.flits:
                self._begin(e)
            if end.flits and (end.flits[0][0] == K_SOP or end.rng.random() >= end.gap):
                kind, data = end.flits.popleft()
                d.tx_valid_i[e].value = 1
                d.tx_flit_i[e].value = kind << 32 | data
            else:
                d.tx_valid_i[e].value = 0
        self._offered(e)
        spoil = 0
        if end.spoil and end.rng.random() < end.spoil:
            self.clean = False
            way = end.rng.randrange(4)
            if way == 0:
                spoil = 1 << end.rng.randrange(36)
            elif way == 1:
                spoil = end.rng.getrandbits(36)
            elif way == 2:
                spoil = self.now[e].tx ^ control(
                    end.rng.choice((SOP, EOP, EDB, IDLE)), end.rng.getrandbits(24)
                )
            else:
                spoil = self.now[e].tx ^ end.rng.getrandbits(32)  # becomes a data word
        if e == 0 and (self.deaf or (self.no_ready and self.now[0].tx == READY)):
            spoil, self.clean = self.now[0].tx, False
        if self.alien and e == 0:
            spoil, self.alien = self.now[0].tx ^ self.alien, 0
        d.spoil_i[e].value = spoil

    def _offered(self, e: int) -> None:
        """A hook for tests that watch what is offered."""

    def _begin(self, e: int) -> None:
        seen, end = self.now[e], self.ends[e]
        if not seen.up or end.limit == 0 or end.rng.random() >= end.send:
            return
        ident = end.rng.choice(end.ids)
        size = end.rng.randint(*end.lengths)
        if seen.room[ident] < size + 1:
            return
        if end.limit is not None:
            end.limit -= 1
        end.serial += 1
        words = [
            e << 28 | ident << 20 | end.serial & 0xFFFFF,
            *(end.rng.getrandbits(32) for _ in range(size - 1)),
        ]
        end.sent[ident].append(words)
        end.begun += 1
        end.words += size
        end.flits.append((K_SOP, ident))
        end.flits.extend((K_DATA, word) for word in words)
        end.flits.append((K_EOP, crc24(words, self.bench)))

    def quiet(self) -> None:
        """No more faults, no more packets, everything is read."""
        for e, end in enumerate(self.ends):
            end.limit, end.spoil, end.gap, end.read, end.blocked = 0, 0.0, 0.0, 1.0, frozenset()
            self.dut.loss_i[e].value = 0

    async def rest(self) -> int:
        """Everything comes to rest: all credit home, buffers empty, both ends idle. Cycles it took."""
        self.quiet()
        limit = 130 * 2 * 64 * IDS // 2 + DEPTH * 2 + MAX_WORDS + 20 * DELAY + INIT_WORDS * 4 + 2000

        def done() -> bool:
            return all(
                seen.idle and seen.up and seen.room == [DEPTH] * IDS and not any(seen.stored)
                for seen in self.now
            ) and not any(end.flits for end in self.ends)

        took = await self.until(done, limit)
        for e, end in enumerate(self.ends):
            assert not any(end.got), "a packet in a buffer has no end"
            end.missing += sum(len(q) for q in self.ends[1 - e].sent)
            if self.clean:
                assert not any(self.ends[1 - e].sent), "a packet did not arrive"
            for q in self.ends[1 - e].sent:
                q.clear()
        await self.run(2 * DELAY + 50)  # answers may still be on the line
        for _ in range(200):  # and it stays so
            await self.step()
            assert done()
        return took


async def made(dut: Any) -> Pair:
    pair = Pair(dut, cocotb.RANDOM_SEED)
    await pair.start()
    return pair


@cocotb.test()
async def all_packets_arrive(dut: Any) -> None:
    """Nothing is lost without faults, whatever the lengths, gaps and readers."""
    pair = await made(dut)
    for gap, read, lengths in (
        (0.0, 1.0, (1, MAX_WORDS)),
        (0.1, 0.5, (1, min(8, MAX_WORDS))),
        (0.02, 0.2, (MAX_WORDS, MAX_WORDS)),
    ):
        for end in pair.ends:
            end.limit, end.gap, end.read, end.lengths = None, gap, read, lengths
        await pair.run(2000)
        await pair.rest()
        if not gap:
            # Packets without gaps: a credit word is inside one only where it may make it wait.
            assert all(bool(end.inner_credits) == bool(IN_PACKET) for end in pair.ends)
    for end in pair.ends:
        assert end.good > 80
        assert end.bad == end.missing == 0
        assert end.symbols[CREDIT] > 0


@cocotb.test()
async def credit_words_are_lost(dut: Any) -> None:
    """From one credit word in a thousand to one in two: what is outside a packet costs nothing but time."""
    pair = await made(dut)
    # A wrong check inside a packet ends it; outside, a lost credit word is made good by the next.
    pair.clean = IN_PACKET == 0
    strict = pair.clean
    for loss in (0.001, 0.01, 0.1, 0.5):
        for e, end in enumerate(pair.ends):
            end.limit, end.read, end.lengths = None, 0.7, (1, MAX_WORDS)
            dut.loss_i[e].value = round(loss * 65536)
        pair.clean = False
        before = [end.good for end in pair.ends]
        await pair.run(2000)
        await pair.rest()
        for e, end in enumerate(pair.ends):
            assert end.good - before[e] > 4, (loss, end.good)
            if strict:
                assert end.missing == 0
                assert end.bad == 0
                assert end.refused == 0
    assert sum(end.counts["invalid"] + end.counts["cut"] for end in pair.ends) > 4


@cocotb.test()
async def any_word_is_spoilt(dut: Any) -> None:
    """Wrong bits in any word: no wrong word as good, every packet has an end, all credit comes home."""
    pair = await made(dut)
    for spoil in (0.0005, 0.005, 0.05, 0.5):
        for end in pair.ends:
            end.limit, end.spoil, end.gap, end.read = None, spoil, 0.02, 0.8
        await pair.run(2500)
        await pair.rest()
    for end in pair.ends:
        assert end.good > 10
        assert end.missing > 10
        assert end.counts["crc_bad"]
        assert end.counts["invalid"]
        assert end.counts["cut"]
        assert end.counts["poisoned"]


@cocotb.test()
async def either_end_starts_over(dut: Any) -> None:
    """A reset of either end, or a loss of signal, at any moment: both come up again and nothing leaks."""
    pair = await made(dut)

    def lost() -> int:
        return sum(end.counts["dropped"] + end.counts["cut"] for end in pair.ends)

    # Often nothing is on the way when a link goes down: rounds until packets have been cut.
    rounds = 0
    while rounds < 10 or (lost() <= 5 and rounds < 40):
        rounds += 1
        for end in pair.ends:
            end.limit, end.read, end.gap = None, 0.4, 0.05
        await pair.run(pair.rng.randint(1, 600))
        pair.clean = False
        who = pair.rng.choice((1, 2, 3))
        length = pair.rng.choice((1, 2, 40, 3 * DELAY))
        if pair.rng.random() < 0.5:
            dut.rst_ni.value = 3 & ~who
            pair.reset = [bool(who & 1), bool(who & 2)]
            await pair.run(length)
            dut.rst_ni.value = 3
            pair.reset = [False, False]
        else:
            dut.signal_i.value = 3 & ~who
            pair.signal = [not who & 1, not who & 2]
            await pair.run(length)
            dut.signal_i.value = 3
        pair.signal = [True, True]
        await pair.run(2 * DELAY + 10)
        await pair.until(pair.up, 3 * INIT_WORDS + 10 * DELAY + 40)
    good = [end.good for end in pair.ends]
    await pair.run(600)
    await pair.rest()
    assert lost() > 5
    assert all(end.good > before for end, before in zip(pair.ends, good, strict=True))


@cocotb.test()
async def a_full_buffer_stops_its_id_alone(dut: Any) -> None:
    """Virtual channels: an id that nobody reads fills its buffer; the others go on at full rate."""
    if IDS < 2:
        return
    pair = await made(dut)
    sender, reader = pair.ends
    pair.ends[1].limit = 0
    reader.blocked = frozenset({0})
    # No longest packet fits any more. Of IDS ids, each as likely: some times what one buffer holds, for each.
    await pair.until(lambda: pair.now[1].stored[0] > DEPTH - MAX_WORDS - 1, IDS * (3 * DEPTH + 20 * DELAY))
    assert pair.now[1].stored[0] <= DEPTH
    sender.ids = tuple(range(1, IDS))
    sender.lengths = (MAX_WORDS, MAX_WORDS)
    words, cycles = sender.words, 2600
    await pair.run(cycles)
    rate = (sender.words - words) / cycles
    if DEPTH >= 2 * MAX_WORDS + 4 * DELAY + 40:
        assert rate > 0.95 * MAX_WORDS / (MAX_WORDS + 2), rate
    assert pair.now[0].room[0] < MAX_WORDS + 1
    await pair.rest()
    assert reader.bad == 0
    assert reader.missing == 0


@cocotb.test()
async def time_stamps_do_not_count(dut: Any) -> None:
    """With bench set, words 4 and 5 may change on the way and the packet is still good; others may not."""
    pair = await made(dut)
    pair.bench = True
    dut.bench_i.value = 1
    for framing in pair.framing:
        framing.bench = True
    sender = pair.ends[0]
    pair.ends[1].limit = 0
    sender.lengths = (MAX_WORDS, MAX_WORDS)
    await pair.run(1000)
    await pair.rest()
    assert pair.ends[1].good > 3


@cocotb.test()
async def the_first_word_takes_one_cycle_out_and_two_in(dut: Any) -> None:
    """Sop offered to SOP at the pins: 1 cycle; word at the pins to flit: 2 cycles (held at every word)."""
    pair = await made(dut)
    await pair.rest()
    sender = pair.ends[0]
    sender.limit, sender.lengths, sender.read = 1, (5, 5), 1.0
    offered: int | None = None
    while offered is None:
        await pair.step()
        if int(dut.tx_valid_i[0].value) or sender.flits:
            offered = pair.cycle
    for _ in range(10):
        await pair.step()
        if parse(pair.now[0].tx).kind == SOP:
            break
    # Offered in this cycle, taken at its end into the pins' register.
    assert pair.cycle - offered == 1
    arrived = await pair.until(lambda: pair.now[1].valid, 2 * DELAY + 10)
    assert arrived + 1 == DELAY + 2


@cocotb.test()
async def one_flow_at_full_rate(dut: Any) -> None:
    """One id alone, packets of MaxWords: full rate as long as its buffer covers the credit round trip."""
    pair = await made(dut)
    sender = pair.ends[0]
    pair.ends[1].limit = 0
    sender.ids, sender.lengths = (0,), (MAX_WORDS, MAX_WORDS)
    await pair.run(2 * DELAY + 600)
    words, cycles = sender.words, 16 * (MAX_WORDS + 2)
    await pair.run(cycles)
    rate = (sender.words - words) / cycles
    # Word to flit to buffer to its reader, and the credit back: what the pipelines add to two delays.
    trip = 2 * DELAY + PIPELINE + IDS
    full = MAX_WORDS / (MAX_WORDS + 2)
    if trip * (MAX_WORDS + 1) <= (DEPTH - MAX_WORDS - 1) * (MAX_WORDS + 2):
        assert rate > 0.995 * full, (rate, trip)
    else:
        assert rate < 0.995 * full, (rate, trip)


PIPELINE = 14
"""Cycles of a credit round trip that the two ends and the buffer take, besides the lines and the scan."""


@cocotb.test()
async def at_rest_the_line_is_silent(dut: Any) -> None:
    """With all credit home both ends send IDLE alone; INIT comes before, for the time it must."""
    pair = await made(dut)
    await pair.rest()
    for end in pair.ends:
        assert end.symbols[INIT] >= INIT_WORDS
        end.symbols.clear()
    await pair.run(1500)
    for end in pair.ends:
        assert set(end.symbols) == {IDLE}


@cocotb.test()
async def an_end_that_hears_no_ready_comes_up_by_what_follows(dut: Any) -> None:
    """All READY of end 0 spoilt: end 1 is up with the first valid word of the running link."""
    pair = Pair(dut, cocotb.RANDOM_SEED)
    pair.no_ready = True
    await pair.start()
    pair.no_ready = False
    assert pair.ends[1].counts["invalid"] > 0, "the spoilt words"
    await pair.run(300)
    await pair.rest()
    assert all(end.good for end in pair.ends)


@cocotb.test()
async def an_end_that_hears_nothing_says_init_alone(dut: Any) -> None:
    """READY says that the far end has been heard."""
    pair = Pair(dut, cocotb.RANDOM_SEED)
    pair.deaf = True
    await pair.start(up=False)
    for _ in range(3 * INIT_WORDS):
        await pair.step()
        assert pair.now[1].tx == fielded(INIT, 0, 0)
    pair.deaf = False
    await pair.until(pair.up, 3 * INIT_WORDS + 10 * DELAY + 40)
    await pair.rest()


@cocotb.test()
async def foreign_words(dut: Any) -> None:
    """Ids out of range, counts that cannot be true, and words of no kind are counted and change nothing."""
    pair = await made(dut)
    await pair.rest()
    pair.clean = False
    end = pair.ends[1]

    for word, name in (
        (fielded(SOP, IDS, 0), "invalid"),
        (fielded(CHECK, 63, 0), "invalid"),
        (fielded(CREDIT, IDS, 0), "invalid"),
        (fielded(CREDIT, 0, 1), "credit_bad"),
        (fielded(CREDIT, 0, 1023), "credit_bad"),
        (control(IDLE, 1), "invalid"),
        (control(EOP, 5), "invalid"),
        (0x1_0000_0000, "invalid"),
        (0x0_1234_5678, "invalid"),
    ):
        await pair.run(3)
        count = end.counts[name]
        room = list(pair.now[1].room)
        pair.alien = word
        await pair.run(DELAY + 8)
        assert end.counts[name] == count + 1, (hex(word), name, end.counts)
        assert pair.now[1].room == room
    await pair.rest()
