# SPDX-License-Identifier: Apache-2.0
"""A near-data unit that is reset and held in mid-run: each transaction is made whole or not at all."""

from __future__ import annotations

from typing import Any

import cocotb
from ccix_update_tb import Bench, started

LEASE, LONGEST = 60, 400
"""Clocks: the bench's lease; from the end of a unit until the last of its transactions is lost, here."""


class Leased(Bench):
    """Resets the unit, or holds it for less or more than its lease."""

    def __init__(self, dut: Any, seed: int) -> None:
        super().__init__(dut, seed)
        self.lost = self.whole = self.stale = self.resets = self.holds = 0
        self.left = 0
        self.clock = self.since = self.longest = 0
        self.dead: set[int] = set()

    def sampled(self) -> None:
        dut = self.dut
        self.clock += 1
        self.stale += int(dut.stale_o.value)
        if dut.lost_o.value:
            slot = int(dut.lost_slot_o.value)
            ident, _ = self.open.pop(slot)
            held = [lock for lock, holders in self.locks.holders.items() if slot in holders]
            assert not held, f"slot {slot} is lost with the locks {held}"
            assert all(slot not in [one for one, _ in queue] for queue in self.locks.waiting.values())
            whole = bool(dut.lost_whole_o.value)
            assert not whole or slot in self.locked
            if not whole:
                self.serial = [one for one in self.serial if one[0] != ident]
            self.locked.discard(slot)
            self.lost += not whole
            self.whole += whole
            self.dead.discard(slot)
            self.longest = max(self.longest, self.clock - self.since)

    def driven(self) -> bool:
        """A reset or a hold now and then, of a few clocks or of more than a lease."""
        dut = self.dut
        if self.left:
            self.left -= 1
        elif not self.dead and self.rng.random() < 0.004:
            reset = self.rng.random() < 0.5
            self.left = (
                self.rng.randint(1, 20) if self.rng.random() < 0.5 else LEASE + self.rng.randint(20, 60)
            )
            self.resets += reset
            self.holds += not reset
            if reset or self.left > LEASE:
                self.dead, self.since = set(self.open), self.clock
            dut.reset_i.value, dut.hold_i.value = int(reset), int(not reset)
        if not self.left:
            dut.reset_i.value, dut.hold_i.value = 0, 0
            self.dead &= set(self.open)
        return bool(dut.task_ready_o.value) and not self.left


@cocotb.test()
async def a_transaction_of_a_unit_that_is_gone_was_made_whole_or_not_at_all(dut: Any) -> None:
    bench = Leased(dut, await started(dut, "reset_i", "hold_i"))
    await bench.run(2500)
    bench.replay()
    assert not dut.fail_o.value
    assert min(bench.resets, bench.holds) > 5
    assert bench.lost > 50
    assert bench.whole > 0
    assert bench.stale > 4
    assert bench.longest < LONGEST
    assert len(bench.serial) > 800
