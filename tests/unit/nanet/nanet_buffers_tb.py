# SPDX-License-Identifier: Apache-2.0
"""nanet_buffers as nanet_stream drives it, with policy oldest, beyond the end of its numbers."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

NEWEST, OLDEST = range(2)
BUFFERS = 4
FIELDS = (
    ("enable", 1),
    ("buffers", 7),
    ("datagrams", 8),
    ("policy", 2),
    ("echo", 1),
    ("flush", 32),
    ("returned", 16),
)


def settings(**values: int) -> int:
    word = 0
    for name, width in FIELDS:
        word = word << width | values.get(name, 0)
    return word


@cocotb.test()
@cocotb.parametrize((("every", "fills"), [(0, 66_000), (50, 3000)]))
async def buffers_that_are_given_up_are_counted_beyond_2_to_the_16(dut: Any, every: int, fills: int) -> None:
    """`every`: so often the program gives back, all but the last `BUFFERS` then; 0: never."""
    d = dut
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
    for name in (
        "table_we_i", "table_index_i", "table_i", "count_i", "index_i", "filled_i", "datagrams_i",
        "give_up_i",
    ):  # fmt: skip
        getattr(d, name).value = 0
    kind = {"buffers": BUFFERS, "datagrams": 1, "policy": OLDEST}
    d.list_i.value = settings(**kind)
    d.rst_ni.value = 0
    for _ in range(3):
        await FallingEdge(d.clk_i)
    d.rst_ni.value = 1
    d.list_i.value = settings(enable=1, **kind)
    d.datagrams_i.value = 1
    back = overwritten = 0
    for count in range(1, fills + 1):
        for _ in range(3):
            await FallingEdge(d.clk_i)
        full = count - 1 - back == BUFFERS
        assert bool(d.free_o.value) != full, (count, back)
        if full:
            d.give_up_i.value = 1
            await FallingEdge(d.clk_i)
            d.give_up_i.value = 0
            back += 1
            overwritten += 1
        d.filled_i.value = 1
        await FallingEdge(d.clk_i)
        d.filled_i.value = 0
        d.count_i.value = count & 0xFFFF
        d.index_i.value = count % BUFFERS
        if every and count % every == 0:
            await FallingEdge(d.clk_i)
            returned = count - rng.randrange(2 * BUFFERS)
            d.list_i.value = settings(enable=1, returned=returned & 0xFFFF, **kind)
            back = max(back, returned)
    assert int(d.overwritten_o.value) == overwritten & 0xFFFF
