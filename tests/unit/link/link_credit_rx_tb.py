# SPDX-License-Identifier: Apache-2.0
"""link_credit_rx: what is reported of which buffer, when a packet waits for it, and when a CHECK is due.

The model counts words received and stored of each id, as the far end and the buffer would, and keeps a
history of what was freed. It does not know where the scan is: an offer must carry what was free LATENCY
clocks before, come within a round of the ids, and have a reason.
"""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

IDS = int(os.environ["CREDIT_IDS"])
CREDIT_WORDS = 8
REFRESH = 16
LONG = 16 * REFRESH
RANGE = 1024
LATENCY = 4
ROUND = LATENCY + IDS
"""Clocks in which the scan has come to each id and what it read there has come to the offer."""
NEVER_TOLD = RANGE // 2 - 1


@dataclass
class Offer:
    """The CREDIT that is offered now."""

    id: int
    count: int
    began: int
    answer: bool | None
    """To a CHECK; None: not known, the CHECK came while it was offered."""


@dataclass
class Refresh:
    """When a CHECK is due, of which id, and whether the long time is over."""

    timer: int = 0
    due: bool = False
    late: bool = False
    id: int = 0

    def step(self, whole: list[bool], asked: bool, check: bool, answered: bool) -> None:
        if all(whole) and not asked:
            self.timer, self.due, self.late, self.id = 0, False, False, 0
            return
        came = self.timer % REFRESH == REFRESH - 1
        self.due = not check and not all(whole) and (self.due or came)
        self.late = not (check or answered) if self.late else self.timer % LONG == LONG - 1
        if check or whole[self.id]:
            self.id = (self.id + 1) % IDS
        self.timer += 1


@dataclass
class Inputs:
    """Of one clock."""

    word: int | None = None
    keep: bool = True
    sync: tuple[int, int] | None = None
    ask: int | None = None
    reads: list[int] = field(default_factory=list)
    take_credit: bool = False
    take_check: bool = False


class Receiver:
    """The module, its inputs in step, and all checks."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.received = [0] * IDS
        self.stored = [0] * IDS
        self.told = [NEVER_TOLD] * IDS
        self.freed: list[list[int]] = []
        self.stale = [True]
        self.busy = self.busy_before = False
        self.whole = [True] * IDS
        self.whole_before = [True] * IDS
        self.asked: int | None = None
        self.asked_sure = True
        self.asked_at = 0
        self.offer: Offer | None = None
        self.refresh = Refresh()
        self.idle_before: tuple[int, ...] | None = None
        self.taken: list[tuple[int, int]] = []
        self.checks: list[tuple[int, int]] = []
        self.calm = 0
        self.waiting = [0] * IDS
        self.pressed_late = [0] * IDS

    async def start(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 10, "ns").start())
        self.dut.rst_ni.value = 0
        self.dut.clear_i.value = 1
        self._drive(Inputs())
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        await self.clear()

    async def clear(self) -> None:
        """Both ends begin anew."""
        self.dut.clear_i.value = 1
        self._drive(Inputs())
        for _ in range(IDS + 4):
            await FallingEdge(self.dut.clk_i)
        await Timer(1, "ns")
        assert not int(self.dut.offer_valid_o.value)
        assert not int(self.dut.check_o.value)
        assert int(self.dut.idle_o.value)
        self.dut.clear_i.value = 0
        self.received, self.stored, self.told = [0] * IDS, [0] * IDS, [NEVER_TOLD] * IDS
        self.freed, self.stale, self.asked, self.asked_sure = [], [True], None, True
        self.offer, self.refresh, self.idle_before, self.calm = None, Refresh(), None, 0
        self.waiting, self.pressed_late = [0] * IDS, [0] * IDS

    def untold(self, id_: int, back: int = 0) -> int:
        """Words freed of an id, `back` clocks ago, and not reported until now."""
        return (self.freed[-1 - back][id_] - self.told[id_]) % RANGE

    def _drive(self, now: Inputs) -> None:
        dut = self.dut
        dut.word_i.value = now.word is not None
        dut.word_id_i.value = random.randrange(IDS) if now.word is None else now.word
        dut.sync_i.value = now.sync is not None
        dut.sync_id_i.value, dut.sync_count_i.value = now.sync or (
            random.randrange(IDS),
            random.randrange(RANGE),
        )
        dut.ask_i.value = now.ask is not None
        dut.ask_id_i.value = random.randrange(IDS) if now.ask is None else now.ask
        dut.stored_i.value = sum(stored << 10 * i for i, stored in enumerate(self.stored))
        dut.busy_i.value = self.busy
        dut.whole_i.value = sum(whole << i for i, whole in enumerate(self.whole))
        dut.take_credit_i.value = now.take_credit
        dut.take_check_i.value = now.take_check

    async def step(self, now: Inputs | None = None, credit: float = 0.0, check: float = 0.0) -> None:
        """One clock; an offer is taken with probability `credit`, a CHECK that is due with `check`."""
        now = now or Inputs()
        self.freed.append([(self.received[i] - self.stored[i]) % RANGE for i in range(IDS)])
        self._drive(now)
        await Timer(1, "ns")
        dut = self.dut
        self._look_at_offer(len(self.freed) - 1)
        known = self.offer is not None and self.offer.answer is not None
        # As link_tx does: one word a clock.
        if known and random.random() < credit:
            now.take_credit = True
        elif int(dut.check_o.value) and random.random() < check:
            now.take_check = True
        dut.take_credit_i.value, dut.take_check_i.value = now.take_credit, now.take_check
        await Timer(1, "ns")
        self._look(now)
        self._advance(now)
        await FallingEdge(dut.clk_i)

    def _look(self, now: Inputs) -> None:
        dut = self.dut
        offer, refresh = self.offer, self.refresh
        due = refresh.due and not self.whole[refresh.id]
        assert int(dut.check_o.value) == due
        assert int(dut.check_first_o.value) == (due and refresh.late)
        if due:
            assert int(dut.check_id_o.value) == refresh.id
        first = due and refresh.late
        if offer is None:
            assert int(dut.pressing_o.value) == first
        elif (offer.count - self.told[offer.id]) % RANGE >= CREDIT_WORDS:
            assert int(dut.pressing_o.value)
        elif offer.answer is not None:
            assert int(dut.pressing_o.value) == (first or (offer.answer and refresh.late))
        self._look_at_waiting(now)
        self._look_at_rest(now)

    def _look_at_offer(self, time: int) -> None:
        dut = self.dut
        if not int(dut.offer_valid_o.value):
            assert self.offer is None, "an offer is withdrawn"
            return
        id_, count = int(dut.offer_id_o.value), int(dut.offer_count_o.value)
        if self.offer is not None and id_ == self.offer.id:
            # It may have moved on, to what was free within the last round.
            if count != self.offer.count:
                assert count == self.freed[time - LATENCY][id_]
                self.offer.count = count
            elif not any(self.stale[-ROUND:]):
                assert count in [self.freed[time - LATENCY - back][id_] for back in range(IDS)]
            if self.offer.answer is None and time - self.asked_at > ROUND and not any(self.stale[-ROUND:]):
                self.offer.answer = self.asked == id_
            return
        assert count == self.freed[time - LATENCY][id_]
        assert not any(self.stale[-LATENCY:]), "it was read before the last one was taken, or a CHECK came"
        untold = (count - self.told[id_]) % RANGE
        answer = self.asked == id_
        if self.offer is not None:
            before = (self.offer.count - self.told[self.offer.id]) % RANGE
            assert before < CREDIT_WORDS, "one that is worth waiting for gives way"
            assert untold >= CREDIT_WORDS or answer or not self.asked_sure
        elif self.asked_sure and not answer:
            assert untold >= (CREDIT_WORDS if self.busy_before else 1)
        self.offer = Offer(id_, count, time, answer if self.asked_sure else None)

    def _look_at_waiting(self, now: Inputs) -> None:
        """What has a reason to be offered is, within a round."""
        stale = now.ask is not None or now.take_credit
        for i in range(IDS):
            # Of what the scan has brought now.
            untold = self.untold(i, min(LATENCY, len(self.freed)) - 1)
            reason = (
                untold >= CREDIT_WORDS or (self.asked == i and self.asked_sure) or (untold and not self.busy)
            )
            self.waiting[i] = self.waiting[i] + 1 if reason and self.offer is None and not stale else 0
            assert self.waiting[i] <= ROUND, f"id {i} is not offered"
            late = untold >= CREDIT_WORDS and not int(self.dut.pressing_o.value) and not stale
            self.pressed_late[i] = self.pressed_late[i] + 1 if late else 0
            assert self.pressed_late[i] <= ROUND, f"id {i} has much to report and packets do not wait"

    def _look_at_rest(self, now: Inputs) -> None:
        dut = self.dut
        shown = tuple(
            int(pin.value)
            for pin in (dut.offer_valid_o, dut.pressing_o, dut.check_o, dut.check_first_o, dut.idle_o)
        )
        event = now.word is not None or now.sync is not None or now.ask is not None or now.take_credit
        event = event or self.whole != self.whole_before
        if now.word is not None or now.sync is not None:
            assert not int(dut.idle_o.value)
        if self.idle_before is not None and not event:
            assert shown == self.idle_before, "not at rest although it said so"
        work = any(self.untold(i) or self.stored[i] for i in range(IDS))
        work = work or event or not all(self.whole) or self.offer is not None or self.asked is not None
        self.calm = 0 if work else self.calm + 1
        if self.calm > 3 * IDS + 16:
            assert int(dut.idle_o.value), "nothing to do and no rest"
        if work and int(dut.idle_o.value):
            # Words that came in this clock's edge are not seen before the next.
            assert not any(self.untold(i, back) for i in range(IDS) for back in (0, 1) if len(self.freed) > 1)
        self.idle_before = shown if int(dut.idle_o.value) and all(self.whole) else None

    def _advance(self, now: Inputs) -> None:
        answered, asked = False, self.asked is not None
        if now.take_credit:
            assert self.offer is not None
            self.told[self.offer.id] = self.offer.count
            self.taken.append((self.offer.id, self.offer.count))
            answered = bool(self.offer.answer)
            if self.offer.answer is None:
                self.asked_sure = False
            elif self.offer.answer:
                self.asked = None
            self.offer = None
        self.stale.append(now.ask is not None or now.take_credit)
        if now.take_check:
            self.checks.append((len(self.freed), self.refresh.id))
        self.refresh.step(self.whole, asked, now.take_check, answered)
        if now.ask is not None:
            self.asked, self.asked_sure, self.asked_at = now.ask, True, len(self.freed) - 1
            if self.offer is not None:
                self.offer.answer = None if self.offer.id == now.ask else False
        if now.sync is not None:
            id_, count = now.sync
            self.received[id_] = count
        elif now.word is not None:
            self.received[now.word] = (self.received[now.word] + 1) % RANGE
            self.stored[now.word] += now.keep
        for id_ in now.reads:
            self.stored[id_] -= 1
        self.busy_before = self.busy
        self.whole_before = list(self.whole)


async def made(dut: Any) -> Receiver:
    receiver = Receiver(dut)
    await receiver.start()
    return receiver


async def told(receiver: Receiver) -> None:
    """Run until all is reported."""
    for _ in range(8 * ROUND):
        await receiver.step(credit=1.0)
    assert not any(receiver.untold(i) for i in range(IDS))


@cocotb.test()
async def test_every_id_is_reported_at_the_start_in_turn(dut: Any) -> None:
    receiver = await made(dut)
    receiver.busy = True
    await told(receiver)
    assert receiver.taken == [(i, 0) for i in range(IDS)]
    await receiver.step(Inputs(word=0, keep=False))
    receiver.busy = False
    await told(receiver)
    await receiver.clear()
    receiver.taken.clear()
    await told(receiver)
    assert receiver.taken == [(i, 0) for i in range(IDS)]


@cocotb.test()
async def test_a_word_that_is_freed_is_reported_at_once_unless_packets_wait(dut: Any) -> None:
    receiver = await made(dut)
    await told(receiver)
    for id_ in range(IDS):
        receiver.taken.clear()
        receiver.busy = True
        for _ in range(CREDIT_WORDS - 1):
            await receiver.step(Inputs(word=id_, keep=False))
        for _ in range(8 * ROUND):
            await receiver.step(credit=1.0)
        assert not receiver.taken
        await receiver.step(Inputs(word=id_, keep=False))
        for _ in range(2 * ROUND):
            await receiver.step(credit=1.0)
        assert [of for of, _ in receiver.taken] == [id_]
        receiver.busy = False
        await receiver.step(Inputs(word=id_, keep=False))
        for _ in range(2 * ROUND):
            await receiver.step(credit=1.0)
        assert [of for of, _ in receiver.taken] == [id_, id_]


@cocotb.test()
async def test_ids_that_always_have_much_to_report_take_turns(dut: Any) -> None:
    receiver = await made(dut)
    await told(receiver)
    receiver.taken.clear()
    counts = [0] * IDS
    for time in range(60 * ROUND):
        # Each id gets its words in one: a SOP says that they were lost.
        id_ = time % IDS
        counts[id_] = (counts[id_] + CREDIT_WORDS) % RANGE
        await receiver.step(Inputs(sync=(id_, counts[id_])), credit=1.0)
    order = [of for of, _ in receiver.taken]
    assert len(order) >= 30
    assert order == [(order[0] + i) % IDS for i in range(len(order))]


@cocotb.test()
async def test_an_offer_that_is_worth_waiting_for_takes_the_place_of_another(dut: Any) -> None:
    receiver = await made(dut)
    await told(receiver)
    for small in range(IDS):
        for much in set(range(IDS)) - {small}:
            await receiver.step(Inputs(word=small, keep=False))
            for _ in range(2 * ROUND):
                await receiver.step()
            assert receiver.offer is not None
            assert receiver.offer.id == small
            for _ in range(CREDIT_WORDS):
                await receiver.step(Inputs(word=much, keep=False))
            for _ in range(2 * ROUND):
                await receiver.step()
            assert receiver.offer is not None
            assert receiver.offer.id == much
            await told(receiver)


@cocotb.test()
async def test_an_id_is_reported_when_a_check_asks_for_it_once(dut: Any) -> None:
    receiver = await made(dut)
    await told(receiver)
    for busy in (False, True):
        receiver.busy = busy
        for id_ in range(IDS):
            receiver.taken.clear()
            await receiver.step(Inputs(ask=id_))
            for _ in range(3 * ROUND):
                await receiver.step(credit=1.0)
            assert [of for of, _ in receiver.taken] == [id_]


@cocotb.test()
async def test_the_newest_check_is_answered_when_an_older_answer_is_sent_late(dut: Any) -> None:
    receiver = await made(dut)
    await told(receiver)
    for wait in range(2 * ROUND):
        receiver.taken.clear()
        await receiver.step(Inputs(ask=0))
        for _ in range(2 * ROUND):
            await receiver.step()
        assert receiver.offer is not None
        assert receiver.offer.answer
        await receiver.step(Inputs(ask=IDS - 1))
        for _ in range(wait):
            await receiver.step()
        for _ in range(4 * ROUND):
            await receiver.step(credit=1.0)
        assert receiver.taken[-1][0] == IDS - 1


@cocotb.test()
async def test_checks_are_due_in_time_and_in_turn_while_something_is_missing(dut: Any) -> None:
    receiver = await made(dut)
    await told(receiver)
    for missing in range(1, 1 << IDS):
        receiver.whole = [not missing >> i & 1 for i in range(IDS)]
        receiver.checks.clear()
        for _ in range(12 * REFRESH):
            await receiver.step(check=1.0)
        times, ids = zip(*receiver.checks, strict=True)
        assert all(after - before >= REFRESH for before, after in itertools.pairwise(times))
        assert len(times) in (11, 12)
        wanted = [i for i in range(IDS) if missing >> i & 1]
        first = wanted.index(ids[0])
        assert list(ids) == [wanted[(first + n) % len(wanted)] for n in range(len(ids))]
        receiver.whole = [True] * IDS
        await receiver.step()


@cocotb.test()
async def test_packets_wait_for_a_check_or_its_answer_once_in_the_long_time(dut: Any) -> None:
    receiver = await made(dut)
    await told(receiver)
    receiver.busy = True
    receiver.whole[-1] = False
    for answers in (False, True):
        pressed = 0
        for time in range(6 * LONG):
            ask = Inputs(ask=0) if answers and time % 40 == 0 else None
            # Packets go on: only what presses is sent.
            press = int(dut.pressing_o.value)
            pressed += press
            await receiver.step(ask, credit=float(press), check=float(press))
        assert 5 <= pressed <= 6 + 6 * 2, pressed


@cocotb.test()
async def test_any_words_reads_losses_checks_and_pauses(dut: Any) -> None:
    receiver = await made(dut)
    for _ in range(40):
        rate, loss, reads, credit = (random.choice((0.02, 0.3, 0.9)) for _ in range(4))
        asks = random.choice((0.0, 0.01, 0.2))
        for _ in range(400):
            now = Inputs()
            if random.random() < rate:
                now.word = random.randrange(IDS)
                now.keep = random.random() >= loss and sum(receiver.stored) < 200
            elif random.random() < 0.1:
                id_ = random.randrange(IDS)
                count = (receiver.received[id_] + random.choice((0, 0, 1, 5))) % RANGE
                now.sync = (id_, count)
                if random.random() < asks * 5:
                    now.ask = id_
            now.reads = [i for i in range(IDS) if receiver.stored[i] and random.random() < reads]
            if random.random() < 0.05:
                receiver.busy = not receiver.busy
            if random.random() < 0.02:
                receiver.whole[random.randrange(IDS)] = random.random() < 0.6
            # More than half of the range unreported is more than any buffer has.
            full = max(receiver.untold(i) for i in range(IDS)) > 300 if receiver.freed else False
            await receiver.step(now, credit=1.0 if full else credit, check=0.5)
        if random.random() < 0.5:
            receiver.whole = [True] * IDS
            for _ in range(30 * ROUND):
                busy_reads = [i for i in range(IDS) if receiver.stored[i]]
                receiver.busy = False
                await receiver.step(Inputs(reads=busy_reads), credit=1.0, check=1.0)
        if random.random() < 0.3:
            receiver.whole = [True] * IDS
            await receiver.clear()
