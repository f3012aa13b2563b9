# SPDX-License-Identifier: Apache-2.0
"""The echo alone: payload of every length, its sum, what gets no reply, and a full memory."""

from __future__ import annotations

import random
import struct
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

DEPTH = 512
LARGEST = 1472
FRAME_WORDS = 369  # that a stack pushes of a frame of 1518 bytes whose header says more: its FCS too
ROUNDS = 250


def meta(length: int, tag: int) -> int:
    """`udp_meta_t` as bits: MAC, IP and port from the tag."""
    return (
        (0x02_0000_0000_00 + tag) << 72
        | (0xC0A8_0000 + tag) << 40
        | 4000 + tag << 24
        | length << 8
        | tag & 255
    )


def ones_sum(payload: bytes) -> int:
    data = payload + b"\0" * (len(payload) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Bench:
    """Sends datagrams as the stack does, and takes replies as its sender does."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.expected: list[tuple[int, bytes]] = []

    async def start(self) -> None:
        d = self.dut
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        for pin in (
            d.rx_start_i,
            d.rx_valid_i,
            d.rx_end_i,
            d.rx_good_i,
            d.rx_soon_i,
            d.rx_broadcast_i,
            d.tx_ready_i,
            d.tx_next_i,
        ):
            pin.value = 0
        d.rx_meta_i.value = 0
        d.rx_data_i.value = 0
        d.rst_ni.value = 0
        for _ in range(4):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        await FallingEdge(d.clk_i)

    async def send(self, payload: bytes, tag: int, *, good: bool = True, broadcast: bool = False) -> None:
        """One datagram. Behind its payload the last word has what came next on the wire."""
        d = self.dut
        taken = not int(d.full_o.value)
        d.rx_start_i.value, d.rx_broadcast_i.value = 1, int(broadcast)
        d.rx_meta_i.value = meta(len(payload), tag)
        await FallingEdge(d.clk_i)
        d.rx_start_i.value = d.rx_broadcast_i.value = 0
        whole = payload + random.randbytes(-len(payload) % 4)
        for at in range(0, len(whole), 4):
            d.rx_valid_i.value = 1
            d.rx_data_i.value = int.from_bytes(whole[at : at + 4], "big")
            await FallingEdge(d.clk_i)
            d.rx_valid_i.value = 0
            for _ in range(random.choice((0, 0, 3))):
                await FallingEdge(d.clk_i)
        d.rx_soon_i.value = 1
        await FallingEdge(d.clk_i)
        assert int(d.tx_soon_o.value) == (taken and not broadcast)
        d.rx_soon_i.value = 0
        await FallingEdge(d.clk_i)
        d.rx_end_i.value, d.rx_good_i.value = 1, int(good)
        await FallingEdge(d.clk_i)
        d.rx_end_i.value = d.rx_good_i.value = 0
        if taken and good and not broadcast:
            self.expected.append((tag, payload))

    async def reply(self) -> None:
        """Takes one reply and compares it."""
        d = self.dut
        for _ in range(20):
            if int(d.tx_valid_o.value):
                break
            await FallingEdge(d.clk_i)
        tag, payload = self.expected.pop(0)
        assert int(d.tx_valid_o.value)
        assert int(d.tx_meta_o.value) == meta(len(payload), tag)
        assert int(d.tx_sum_o.value) % 0xFFFF == ones_sum(payload) % 0xFFFF
        d.tx_ready_i.value = 1
        await FallingEdge(d.clk_i)
        d.tx_ready_i.value = 0
        got = b""
        for _ in range(0, len(payload), 4):
            got += int(d.tx_data_o.value).to_bytes(4, "big")
            d.tx_next_i.value = 1
            await FallingEdge(d.clk_i)
            d.tx_next_i.value = 0
            await FallingEdge(d.clk_i)
        assert got[: len(payload)] == payload


@cocotb.test()
async def every_length_comes_back_with_its_sum(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    lengths = [*range(1, 24), LARGEST - 1, LARGEST, *(random.randint(1, 300) for _ in range(ROUNDS))]
    for tag, length in enumerate(lengths):
        await bench.send(random.randbytes(length), tag)
        await bench.reply()
    assert int(dut.idle_o.value)


@cocotb.test()
async def bad_and_broadcast_datagrams_get_no_reply(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for tag in range(ROUNDS):
        payload = random.randbytes(random.randint(1, 60))
        kind = random.choice(("whole", "bad", "broadcast"))
        await bench.send(payload, tag, good=kind != "bad", broadcast=kind == "broadcast")
        while bench.expected:
            await bench.reply()
        assert not int(dut.tx_valid_o.value)
    assert int(dut.idle_o.value)


@cocotb.test()
async def a_full_memory_takes_no_datagram_and_says_so(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    lost = 0
    for tag in range(ROUNDS):
        dut.rx_start_i.value = 0
        full = bool(int(dut.full_o.value))
        lost += full
        await bench.send(random.randbytes(random.randint(200, 400)), tag)
        if random.random() < 0.4 and bench.expected:
            await bench.reply()
    assert lost > 10
    while bench.expected:
        await bench.reply()
    assert int(dut.idle_o.value)


@cocotb.test()
async def a_datagram_cut_by_its_frame_changes_no_reply_that_waits(dut: Any) -> None:
    """Its length is that of a larger frame. The stack pushes all that there is, and says bad at the end."""
    bench = Bench(dut)
    await bench.start()
    refused = 0
    for waiting in range(DEPTH - FRAME_WORDS - 3, DEPTH - FRAME_WORDS + 4):
        await bench.send(random.randbytes(4 * waiting), 1)
        await FallingEdge(dut.clk_i)
        refused += int(dut.full_o.value)
        await bench.send(random.randbytes(4 * FRAME_WORDS), 2, good=False)
        await bench.reply()
        assert not int(dut.tx_valid_o.value)
    assert refused == 3
    assert int(dut.idle_o.value)
