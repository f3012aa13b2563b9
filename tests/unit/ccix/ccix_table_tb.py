# SPDX-License-Identifier: Apache-2.0
"""The near-data unit with the lock table, where records share locks: no transaction waits in a circle."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
from ccix_update_tb import LOCK_WIDTH, RECORDS, Bench, Locks, started


class Mirror(Locks):
    """The same locks as those of the table, whose fences stay 0."""

    def grant(self, lock: int, slot: int, exclusive: bool) -> None:
        self.fences[lock] = 0
        super().grant(lock, slot, exclusive)


class Pairs(Bench):
    """All pairs of records, one after the other in many slots."""

    locks_of = Mirror

    def __init__(self, dut: Any, seed: int) -> None:
        super().__init__(dut, seed)
        self.pairs = list(itertools.product(range(RECORDS), repeat=2))
        self.rng.shuffle(self.pairs)

    def steps(self) -> list[tuple[int, int, int]]:
        if not self.pairs:
            return super().steps()
        return [(0, self.rng.getrandbits(1), record) for record in self.pairs.pop()]


@cocotb.test()
async def transactions_whose_records_share_locks_end(dut: Any) -> None:
    bench = Pairs(dut, await started(dut))
    pairs = len(bench.pairs)
    assert RECORDS > 2 << LOCK_WIDTH
    await bench.run(pairs + 400)
    assert not bench.pairs
    bench.replay()
    assert not dut.fail_o.value
    assert len(bench.serial) > pairs // 2
    assert bench.aborted + bench.refused > 20
    assert bench.aborted + bench.refused + len(bench.serial) == pairs + 400
