# SPDX-License-Identifier: Apache-2.0
"""The events of nanet_memory: two lists offer at any time, one of them only while the queue is not full."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

# list_request_t: write_t, event_valid, event_t; list_response_t; dma_i from its highest bit.
EVENT, REQUEST, RESPONSE = 255, 1 + 16 + 64 + 12 + 3 + 1 + 255, 5
READY = 1 << 9 | 1 << 8
ANSWER = 1 << 7
# control_t: enable, irq_enable, irq_gap, queue_base, queue_size, queue_taken, and what is below.
TAKEN = 268 + 1 + 2 + 6 + 98 + 1 + 4 + 108 + 1 + 32
SIZE, ENABLE = TAKEN + 16, TAKEN + 16 + 4 + 64 + 32 + 1
# request_t: the address and its valid at the top.
AWVALID = 1 + 77 + 3 + 1 + 77


@cocotb.test()
async def an_event_that_the_full_queue_drops_is_counted_once(dut: Any) -> None:
    """List 0 has policy newest: what it offers to a full queue is dropped. List 1 has policy hold."""
    d = dut
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
    for name in (
        "list_i", "data_i", "send_event_valid_i", "send_event_i", "read_valid_i", "read_i", "dma_i",
        "dma_rdata_i", "control_i",
    ):  # fmt: skip
        getattr(d, name).value = 0
    d.rst_ni.value = 0
    for _ in range(4):
        await FallingEdge(d.clk_i)
    d.rst_ni.value = 1
    owed = dropped = taken = 0
    wants = [False, False]
    for cycle in range(6000):
        await FallingEdge(d.clk_i)
        if cycle % 50 == 0:
            # The program leaves the queue full, or a place in it.
            taken = max(0, int(d.written_o.value) - rng.choice((16, 16, 15)))
        d.control_i.value = 1 << ENABLE | 4 << SIZE | taken << TAKEN
        wants = [want or rng.random() < 0.2 for want in wants]
        held = wants[1] and not d.full_o.value
        d.list_i.value = wants[0] << EVENT | held << REQUEST + EVENT
        answer = owed > 0 and rng.random() < 0.5
        d.dma_i.value = READY | (ANSWER if answer else 0)
        await ReadOnly()
        ready = [int(d.list_o.value) >> RESPONSE * n + 2 & 1 for n in range(2)]
        full = bool(d.full_o.value)
        dropped += bool(wants[0] and ready[0] and full)
        wants = [wants[0] and not ready[0], wants[1] and not (held and ready[1])]
        owed += (int(d.dma_o.value) >> AWVALID & 1) - answer
        await RisingEdge(d.clk_i)
    assert int(d.written_o.value) > 20
    assert dropped > 100
    assert int(d.lost_o.value) == dropped
