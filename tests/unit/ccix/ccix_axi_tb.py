# SPDX-License-Identifier: Apache-2.0
"""An AXI master of cocotbext-axi over the agent with a cache; a home takes the lines away and writes them.

The tasks are those of `coherence_axi_tb`; the host's stores are done where the home has the line for itself.
"""

from __future__ import annotations

import random
from typing import Any

import ccix_cache_tb
import cocotb
import coherence_axi_tb as axi
from cocotb.triggers import FallingEdge, RisingEdge

LINE = 64


class Bench(axi.Bench):
    async def start(self, pause: bool) -> None:
        self.home, self.stores = ccix_cache_tb.Home(self.rng), 0
        self.home.memory = dict.fromkeys(self.home.memory, 0)
        await self.wake("msg_ready_i", "ans_valid_i", "ans_header_i", "ans_data_i")
        cocotb.start_soon(self.clocks(pause))

    def store(self) -> None:
        """The host's program writes its block of a line that the device has not."""
        line = self.rng.randrange(len(self.home.memory))
        if self.home.state[line] == "I" and line not in self.home.busy:
            at, data = axi.owned(LINE * line, 3), self.rng.randbytes(16)
            self.begin(at, data)
            self.end(at, data)
            self.stores += 1
            keep = self.home.memory[line] & (1 << 8 * 48) - 1
            self.home.memory[line] = keep | int.from_bytes(data, "little") << 8 * 48

    async def clocks(self, pause: bool) -> None:
        dut, home = self.dut, self.home
        while True:
            await FallingEdge(dut.clk_i)
            dut.msg_ready_i.value = int(not pause or self.rng.random() < 0.8)
            home.step()
            self.store()
            dut.ans_valid_i.value = int(bool(home.out))
            if home.out:
                dut.ans_header_i.value, dut.ans_data_i.value = home.out.pop(0)
            await RisingEdge(dut.clk_i)
            assert not int(dut.stray_o.value)
            assert not int(dut.fail_o.value)
            if int(dut.msg_valid_o.value) and int(dut.msg_ready_i.value):
                home.message(int(dut.msg_words_o.value), int(dut.msg_o.value))


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def reads_writes_and_atomics_are_those_of_the_lines_whatever_the_host_does(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=True)
    one.pauses()
    one.begin(axi.COUNTER, bytes(8))
    tasks = [
        cocotb.start_soon(axi.axi_task(one, owner, ids, 80)) for owner, ids in enumerate([(0, 4), (1, 2)])
    ]
    known = [await task for task in tasks]
    assert min(known) > 150, known
    counts = [cocotb.start_soon(axi.count_task(one, axi.OLD_ID + k, 40)) for k in range(2)]
    changes = cocotb.start_soon(axi.change_task(one, 0, axi.OLD_ID + 2, 100))
    olds = [await task for task in counts]
    assert sorted(olds[0] + olds[1]) == list(range(0, 3 * 80, 3)), "each count sees another value"
    assert len(await changes) > 25
    assert one.home.snoops > 50
    assert one.stores > 500


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_hit_takes_five_cycles_here_too(dut: Any) -> None:
    one = Bench(dut)
    await one.start(pause=False)
    one.rng = one.home.rng = Still()
    await axi.hits(one, LINE)


class Still(random.Random):
    """The home takes nothing away."""

    def random(self) -> float:
        return 0.2
