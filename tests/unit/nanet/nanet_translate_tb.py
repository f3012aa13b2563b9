# SPDX-License-Identifier: Apache-2.0
"""nanet_translate: random pages of three sizes, and commands that must not get through. The bench's top
drives and compares every cycle; here its counts are held against each other and the limit."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout

READ_SPREAD = 128
OVERHEAD = 7
"""Cycles of a miss beside those of the memory's read: its look-up, address, word, second look-up."""


@cocotb.test()
async def only_what_is_registered_is_written_and_a_miss_is_one_read(dut: Any) -> None:
    stalls = bool(int(dut.Stalls.value))
    dut.seed_i.value = random.Random(cocotb.RANDOM_SEED).getrandbits(64)
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 5, "ns").start())
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    await with_timeout(RisingEdge(dut.ended_o), 10, "sec")
    await ClockCycles(dut.clk_i, 4)

    def count(name: str) -> int:
        return int(getattr(dut, f"{name}_o").value)

    assert not count("wrong")
    sent, legal, reads = count("sent"), count("legal"), count("reads")
    assert sent == int(dut.Commands.value) == count("answered")
    assert count("refused") == sent - legal
    assert count("refusals") == (sent - legal) % 65536
    assert reads == count("walks")
    assert 0 < reads < sent
    # Direct commands are legal, and not translated.
    assert 0.85 * legal < count("translated") < legal
    assert count("hits") > 0.1 * sent
    most = int(dut.ReadMin.value) + READ_SPREAD
    if not stalls:
        assert count("worst") <= most + OVERHEAD
        assert count("longest") <= most + 2
    figures = {
        "commands": sent,
        "refused": sent - legal,
        "reads": reads,
        "worst": count("worst"),
        "longest_read": count("longest"),
        "above_read": count("worst") - most,
    }
    out = os.environ.get("ISTHMUS_NANET_FIGURES")
    if out is not None:
        Path(out).write_text(json.dumps(figures))
