# SPDX-License-Identifier: Apache-2.0
"""Random traffic of several sources with losses, doubles, refusals, failing memory; what must come of it.

Each flow is followed in the order of its numbers: acts (records, notifications) come in that order and none
is missing; when one is seen, or an ACK, all that it speaks of is in memory. No beat is written that nobody
sent there.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge
from rdma_rx_host import (
    NOTIFY,
    Host,
    Packet,
    control,
)
from rdma_words import (
    ACK,
    BOUNDS,
    BROKEN,
    FULL,
    KEY,
    LOST,
    MESSAGE,
    PROBE,
    QUEUE,
    SHORT,
    WRITE,
)

SOURCES = (0, 1, 2, 5, 7)
SESSION = 0x5A
SHARED = 0x77_0000_0000
SPAN = 0x40_0000
PACKED, SMALL, LARGE, BELL = 3, 13, 131, 255
QUEUES = {  # base, beats, slot code
    PACKED: (0x88_0000_0F80, 70, 0),
    SMALL: (0x88_0001_0000, 32, 1),
    LARGE: (0x88_0002_0000, 256, 4),
    BELL: (0x88_0003_0000, 8192, 1),
}
NONCE = {20: 0x123456, 21: 0xFFFFFF}
MARK = 0x51C0 << 48


@dataclass
class Sent:
    packet: Packet
    code: int = 0  # what comes of it for certain; FULL is found out
    bell: bool = False  # its notification goes to a queue
    verified: bool = False


@dataclass
class Flow:
    src: int
    first: int
    sent: dict[int, Sent] = field(default_factory=dict)
    next: int = 0
    acked: int = 0
    walk: int = 0  # the next packet whose acts are due
    step: int = 0  # acts of it that were seen
    fail: bool = False
    notified: int = 0
    refusals: Counter[tuple[int, int]] = field(default_factory=Counter)
    more: int = 0


class Traffic:
    def __init__(
        self, h: Host, ring: int, ring_log2: int, words: int, transfers: int, damage: float, stored: bool
    ) -> None:
        self.h, self.rng, self.stored = h, h.rng, stored
        self.ring, self.ring_log2, self.words = ring, ring_log2, words
        self.transfers, self.damage = transfers, damage
        self.flows = {src: Flow(src, self.rng.randrange(1 << 16)) for src in SOURCES}
        self.expected: dict[int, int] = {}  # beat by address, of regions
        self.cursor = dict.fromkeys((*SOURCES, 20, 21), 0)
        self.messages: dict[tuple[int, int], Sent] = {}
        self.heads = dict.fromkeys(QUEUES, 0)  # messages seen, slotted; beats, packed
        self.freed: dict[int, deque[int]] = {q: deque() for q in QUEUES}
        self.records = 0
        self.low = 0
        self.seen: Counter[str] = Counter()
        self.done = 0
        self.sending = True

    def base(self, region: int) -> int:
        return 0x1000_0000 * (region + 1) if region < 8 else SHARED + 2 * SPAN * (region - 20)

    # ---------------------------------------------------------------- set up
    async def run(self) -> None:
        h = self.h
        for src in SOURCES:
            await h.region(src, self.base(src), SPAN, 1 << src)
            await h.address(NOTIFY + src, self.words + 8 * src)
        await h.region(20, self.base(20), SPAN, 0b10100111, NONCE[20])
        await h.region(21, self.base(21), SPAN, 0b10100111, NONCE[21], queue=BELL)
        for q, (base, wrap, slot) in QUEUES.items():
            await h.queue(q, base, wrap, slot)
        h.poison = [range(self.base(r) + SPAN // 2, self.base(r) + SPAN) for r in (*SOURCES, 20, 21)]
        h.early_range = self._early
        h.on_write = self._written
        h.slave.delay = lambda: self.rng.choice((0, 0, 1, 2, 30))
        h.gaps = 0.03
        h.ctl_ready = lambda: self.rng.random() < 0.7
        slow = iter(lambda: self.rng.random() < 0.2, None)
        h.slave.w_channel.set_pause_generator(slow)
        h.slave.aw_channel.set_pause_generator(slow)
        tasks = [cocotb.start_soon(self._source(flow)) for flow in self.flows.values()]
        helpers = [cocotb.start_soon(task) for task in (self._acks(), self._consumer())]
        send_side = cocotb.start_soon(self._send_side())
        for task in tasks:
            await task
        # An event that is offered stays until it is taken.
        self.sending = False
        await send_side
        for helper in helpers:
            helper.cancel()
        h.ctl_ready = lambda: True
        await h.rest()
        self._check_end()

    # ---------------------------------------------------------------- sources
    def _room(self, region: int, beats: int, poisoned: bool) -> int:
        """A place of its own for a transfer."""
        at = self.cursor[region] + 8 * self.rng.choice((0, 0, 1, 3, 500))
        self.cursor[region] = at + 8 * beats
        return self.base(region) + (SPAN // 2 if poisoned else 0) + at

    def _transfer(self, flow: Flow) -> list[Sent]:
        rng, src = self.rng, flow.src
        kind = rng.choice(("short", "short", "key", "bell", "packed", "small", "large"))
        flags = {"notify": rng.random() < 0.5, "irq": rng.random() < 0.2, "completion": rng.random() < 0.3}
        wrong = rng.random() < 0.12
        if kind in ("short", "key", "bell"):
            beats = rng.choice((1, 2, 8, 64, 65, rng.randrange(1, 200)))
            region = {"short": src, "key": 20, "bell": 21}[kind]
            broken = not wrong and rng.random() < 0.1
            code = BROKEN if broken else 0
            address = self._room(region, beats, broken)
            key = None if kind == "short" else region | NONCE[region] << 8 | rng.getrandbits(32) << 32
            if wrong and key is not None and rng.random() < 0.5:
                key, code = key ^ 1 << rng.randrange(6, 32), KEY
            elif wrong:
                # every packet of it ends behind the region
                address, code = self.base(region) + SPAN - 8 * rng.randrange(min(beats, 64)), BOUNDS
            pieces = []
            for begin in range(0, beats, 64):
                payload = [rng.getrandbits(64) for _ in range(min(64, beats - begin))]
                p = Packet(src, 0, SESSION, WRITE, payload, address + 8 * begin, key, last=False)
                if code in (0, BROKEN):
                    for n, word in enumerate(payload):
                        self.expected[p.second + 8 * n] = word
                pieces.append(Sent(p, code, kind == "bell" and code in (0, BROKEN)))
        else:
            q = {"packed": PACKED, "small": SMALL, "large": LARGE}[kind]
            most = {PACKED: 30, SMALL: 7, LARGE: 63}[q]
            beats = rng.randrange(1, most + 1)
            code = 0
            if wrong:
                if kind == "small":
                    beats, code = rng.randrange(8, 20), BOUNDS
                else:
                    q, code = rng.choice((9, 77)), QUEUE
            payload = [rng.getrandbits(64) for _ in range(beats)]
            pieces = [Sent(Packet(src, 0, SESSION, MESSAGE, payload, q), code)]
        last = pieces[-1].packet
        last.last, last.notify, last.irq, last.completion = True, *flags.values()
        return pieces

    async def _source(self, flow: Flow) -> None:
        h, rng = self.h, self.rng
        flow.next = flow.acked = flow.walk = flow.first
        await h.open(flow.src, SESSION, flow.first)
        # Each fault comes at least once, whatever the seed.
        wanted = [KEY, BOUNDS, QUEUE, BROKEN] if flow.src == SOURCES[0] else []
        for number in range(self.transfers):
            pieces = self._transfer(flow)
            while number < len(wanted) and pieces[0].code != wanted[number]:
                pieces = self._transfer(flow)
            for sent in pieces:
                await self._window(flow, 63)
                p = sent.packet
                p.seq, p.tag = flow.next & 0xFFFF, flow.next & 0xFF
                if p.message:
                    name = flow.next << 3 & 0xFFFFFFFF | flow.src
                    p.payload[0] = MARK | name
                    self.messages[name, p.second] = sent
                    if p.second < 16 and rng.random() < 0.5:
                        p.kind = SHORT
                    elif rng.random() < 0.8:
                        p.second |= name << 32
                flow.sent[flow.next] = sent
                flow.next += 1
                dice = 0.0 if flow.src != SOURCES[0] and flow.next == flow.first + 10 else rng.random()
                if number < len(wanted):
                    dice = 0.5  # a fault of its own is enough
                if dice < self.damage:
                    never_sent = p.message or rng.random() < 0.5
                    if not never_sent:
                        h.send(p.beats(), rng.randrange(8), end="edb")
                    # Without a whole packet in store a header is refused before its end shows it bad.
                    if never_sent or self.stored or sent.code in (0, BROKEN):
                        sent.code = LOST
                    continue
                h.send(p.beats(), rng.randrange(8))
                if dice > 1 - self.damage:
                    h.send(p.beats(), rng.randrange(8))
            if rng.random() < 0.2:
                await h.clocks(rng.randrange(600))
        await self._window(flow, 0)
        self.done += 1

    async def _window(self, flow: Flow, left: int) -> None:
        quiet = 0
        while flow.next - flow.acked > left:
            await RisingEdge(self.h.dut.clk_i)
            quiet += 1
            if quiet % 3000 == 0:
                self.h.send(control(flow.src, PROBE, SESSION, flow.next))
            assert quiet < 200_000, (flow.src, flow.next, flow.acked)

    async def _send_side(self) -> None:
        """Words of the send half go between."""
        count = 0
        while self.sending:
            await self.h.clocks(self.rng.randrange(50, 400))
            count += 1
            await self.h.tell("done", flow=6, word=count)

    # ---------------------------------------------------------------- control packets
    async def _acks(self) -> None:
        at = 0
        while True:
            await RisingEdge(self.h.dut.clk_i)
            while at < len(self.h.ctl):
                what, dst, session, number, code, tag, more = self.h.ctl[at]
                at += 1
                flow = self.flows[dst]
                assert session == SESSION
                ahead = (number - flow.acked) & 0xFFFF
                if what == ACK:
                    assert code == 1
                else:
                    flow.refusals[code, tag] += 1
                flow.more += more
                if ahead < 0x8000:
                    assert ahead <= flow.next - flow.acked
                    for n in range(flow.acked, flow.acked + ahead):
                        self._verify(flow, n)
                    if what == ACK:
                        flow.acked += ahead

    # ---------------------------------------------------------------- memory
    def _early(self, address: int) -> bool:
        if self.words <= address < self.words + 256 or self.ring <= address < self.ring + (
            16 << self.ring_log2
        ):
            return True
        for base, wrap, slot in QUEUES.values():
            if slot and base <= address < base + 8 * wrap:
                return (address - base) % (32 << slot) == 0
        return False

    def _written(self, address: int, word: int) -> None:
        self.seen["beats"] += 1
        if self.ring <= address < self.ring + (16 << self.ring_log2):
            if address % 16 == 0:
                self.low = word
            else:
                assert address == self.ring + 16 * (self.records % (1 << self.ring_log2)) + 8
                assert self.low >> 63 == 1 - (self.records >> self.ring_log2 & 1)
                assert self.low >> 23 & 0x1FFF == 1
                self.records += 1
                self.h.dut.err_tail_i.value = self.records & 0xFFFF
                self._act(self.low >> 16 & 0x7F, "record", self.low & 0xFF, self.low >> 8 & 0xFF)
        elif self.words <= address < self.words + 256:
            n = (address - self.words) // 8
            if n < 8:
                self._act(n, "notify", word, 0)
        elif address in self.expected:
            assert word == self.expected[address], hex(address)
        else:
            self._queued(address, word)

    def _queued(self, address: int, word: int) -> None:
        for q, (base, wrap, slot) in QUEUES.items():
            if not base <= address < base + 8 * wrap:
                continue
            size = 4 << slot
            if slot == 0 or (address - base) % (8 * size):
                return
            count = self.heads[q]
            assert (address - base) // (8 * size) == count % (wrap // size)
            assert word & 1 == 1 - (count // (wrap // size)) % 2
            assert word >> 16 & 0xFFFF == (count + 1) & 0xFFFF
            self.heads[q] = count + 1
            src, beats = word >> 8 & 0x7F, word >> 1 & 0x7F
            if q == BELL:
                assert word >> 15 & 1
                self._act(src, "bell", word, 0)
            else:
                mark = self.h.get(address + 8, 1)[0]
                assert mark is not None
                sent = self.messages[mark & 0xFFFFFFFF, q]
                assert word >> 32 == sent.packet.second >> 32
                assert word >> 15 & 1 == 0
                assert (sent.packet.src, len(sent.packet.payload)) == (src, beats)
                assert self.h.get(address + 8, beats) == sent.packet.payload
                sent.verified = True
            self.freed[q].append((count + 1) * size % wrap)
            self.seen[f"queue {q}"] += 1
            return
        raise AssertionError(f"nobody sent {word:#x} to {address:#x}")

    def _packed(self) -> None:
        """Messages that have come to the packed queue."""
        base, wrap, _ = QUEUES[PACKED]
        while True:
            at = self.heads[PACKED] % wrap
            word = self.h.memory.get(base + 8 * at, 0)
            sent = self.messages.get((word & 0xFFFFFFFF, PACKED)) if word >> 48 == MARK >> 48 else None
            if sent is None or sent.verified:
                return
            places = [base + 8 * ((at + n) % wrap) for n in range(len(sent.packet.payload))]
            if [self.h.memory.get(place) for place in places] != sent.packet.payload:
                return
            sent.verified = True
            self.heads[PACKED] += len(places)
            self.freed[PACKED].append(self.heads[PACKED] % wrap)
            self.seen["queue packed"] += 1

    async def _consumer(self) -> None:
        while True:
            await self.h.clocks(self.rng.choice((20, 60, 100, 1500)))
            self._packed()
            for q, tails in self.freed.items():
                if tails and self.rng.random() < 0.7:
                    for _ in range(self.rng.randrange(len(tails))):
                        tails.popleft()
                    await self.h.tail(q, tails.popleft())

    # ---------------------------------------------------------------- order
    def _verify(self, flow: Flow, n: int) -> None:
        """All of packet n is in memory, or it was refused or lost."""
        sent = flow.sent[n]
        p = sent.packet
        if sent.code or sent.verified:
            return
        if p.kind == WRITE:
            assert self.h.get(p.second, len(p.payload)) == p.payload, (
                f"packet {n} of {flow.src} is not in memory"
            )
            sent.verified = True
            return
        self._packed()
        if not sent.verified:
            # found no room: its record has come or will; a notification never comes before it
            assert p.message
            assert flow.walk <= n, f"message {n} of {flow.src} is not in memory"

    def _act(self, src: int, kind: str, value: int, tag: int) -> None:
        """The next act of a flow: it must be the next one due."""
        flow = self.flows[src]
        self.seen[kind] += 1
        while True:
            sent = flow.sent[flow.walk]
            p = sent.packet
            if kind == "record" and value == FULL and p.message and not sent.code and tag == p.tag:
                assert flow.step == 0
                sent.code = FULL
            due = ["record"] if sent.code else []
            if p.notify and sent.code != LOST:
                due.append("bell" if sent.bell else "notify")
            self._verify(flow, flow.walk)
            if flow.step == len(due):
                assert sent.code or sent.verified, f"{kind} {value:#x} before message {flow.walk} of {src}"
                flow.walk, flow.step = flow.walk + 1, 0
                continue
            break
        assert due[flow.step] == kind, (src, flow.walk, due, flow.step, kind, hex(value))
        flow.step += 1
        if kind == "record":
            assert (value, tag) == (sent.code, 0 if sent.code == LOST else p.tag), (src, flow.walk)
            flow.fail = True
            return
        if kind == "notify":
            flow.notified += 1
            assert value >> 48 & 0x7FFF == flow.notified
            assert value >> 63 == flow.fail
            if p.kind == WRITE:
                assert value & (1 << 48) - 1 == p.second + 8 * (len(p.payload) - 1)
        else:
            assert p.third is not None
            assert value >> 32 == p.third >> 32
            assert value >> 1 & 0x7F == flow.fail
        flow.fail = False

    def _check_end(self) -> None:
        h = self.h
        self._packed()
        codes: Counter[int] = Counter()
        for flow in self.flows.values():
            expected: Counter[tuple[int, int]] = Counter()
            for n, sent in flow.sent.items():
                self._verify(flow, n)
                codes[sent.code] += 1
                if sent.code:
                    expected[sent.code, 0 if sent.code == LOST else sent.packet.tag] += 1
            # nothing is due any more
            for n in range(flow.walk, flow.next):
                sent = flow.sent[n]
                due = bool(sent.code) + (sent.packet.notify and sent.code != LOST)
                assert due == (flow.step if n == flow.walk else 0), (flow.src, n, sent)
                assert sent.code or sent.verified
            extra = flow.refusals - expected
            assert not extra, (flow.src, extra)
            assert flow.refusals.total() + flow.more == expected.total(), (flow.src, flow.more)
        count = sum(len(flow.sent) for flow in self.flows.values())
        assert h.events["retired"] == count
        assert h.events["lost"] == codes[LOST]
        assert h.events["taken"] + h.events["refused"] >= count - codes[LOST]
        assert h.events["beyond"] == h.events["not_open"] == h.events["overflow"] == 0
        self.codes = codes

    def report(self) -> None:
        cocotb.log.info(
            "packets by code %s, seen %s, %s", dict(self.codes), dict(self.seen), dict(self.h.events)
        )
        for code in (0, KEY, BOUNDS, QUEUE, FULL, BROKEN, LOST):
            assert self.codes[code], f"no packet with code {code}: a longer run"
