# SPDX-License-Identifier: Apache-2.0
"""nanet_nic with the search, pins to pins: each buffer of two begins with its datagram of events,
whenever the list is enabled.

The memories of the search are not loaded: a datagram of candidates has a word an event.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from nanet_nic_tb import CONTROL, DELIVERED, HOLD, NO_BUFFER, Bench, stop


def packet(bench: Bench, number: int, events: int, hits: int) -> bytes:
    """A packet of NA62's events."""
    body = b""
    for at in range(events):
        ids = b"".join(bench.rng.randrange(976).to_bytes(2, "little") for _ in range(hits))
        body += (8 + len(ids)).to_bytes(2, "little") + bytes([at, 0, 1, 2, 3, 4]) + ids
    return bytes([number, 9, 9, 0x1C]) + (8 + len(body)).to_bytes(2, "little") + bytes([events, 0]) + body


async def begin(dut: Any) -> Bench:
    for name in ("search_we_i", "search_memory_i", "search_addr_i", "search_data_i"):
        getattr(dut, name).value = 0
    cocotb.start_soon(Clock(dut.search_clk_i, 4, "ns").start())
    bench = Bench(dut, buffers=4, size=3072, datagrams=2, policy=HOLD)
    await bench.start()
    return bench


async def pairs(bench: Bench, sent: list[bytes], events: int) -> None:
    """They are in memory, each with its candidates."""
    await bench.source.wait()
    for _ in range(200):
        await ClockCycles(bench.dut.clk_i, 100)
        if bench.dut.idle_o.value:
            break
    taken = bench.take()
    assert [one.datagrams for one in taken] == [2] * len(sent)
    for one, payload in zip(taken, sent, strict=True):
        data = bench.data(one)
        assert data[: len(payload)] == payload
        assert len(data) == -(-len(payload) // 64) * 64 + 4 * events


@cocotb.test()
@cocotb.parametrize(clocks=[10, 1000, 1900, 2000])
async def a_list_that_is_enabled_under_live_traffic_has_pairs(dut: Any, clocks: int) -> None:
    """Enabled while the first of three datagrams comes, or its events are searched."""
    bench = await begin(dut)
    await stop(bench)
    sent = [packet(bench, number, 30, 14) for number in range(3)]
    for payload in sent:
        await bench.send(payload)
    await ClockCycles(dut.clk_i, clocks)
    await bench.write(CONTROL, 1)
    await bench.source.wait()
    closed = await bench.read(NO_BUFFER) & 0xFFFF
    # Datagrams and their candidates are dropped together.
    assert closed in (0, 2, 4)
    await pairs(bench, sent[closed // 2 :], 30)
    assert await bench.read(DELIVERED) == 6 - closed


@cocotb.test()
async def candidates_of_the_run_before_do_not_begin_a_buffer(dut: Any) -> None:
    bench = await begin(dut)
    # Its events are whole, and their search takes longer than the restart.
    await bench.send(packet(bench, 1, 140, 1))
    await bench.source.wait()
    await ClockCycles(dut.clk_i, 60)
    await stop(bench)
    await bench.configure()
    sent = [packet(bench, number, 140, 1) for number in (2, 3)]
    for payload in sent:
        await bench.send(payload)
    await pairs(bench, sent, 140)
