# SPDX-License-Identifier: Apache-2.0
"""GMII frames through the RGMII pins, against the independent models of cocotbext-eth on both sides."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource, RgmiiSink, RgmiiSource

FRAMES = 40


async def begin(dut: Any) -> None:
    for clock in (dut.clk_i, dut.rgmii_rx_clk_i):
        cocotb.start_soon(Clock(clock, 8, "ns").start())
    for pin in (dut.rgmii_rx_ctl_i, dut.rgmii_rxd_i, dut.gmii_txd_i, dut.gmii_tx_en_i, dut.gmii_tx_er_i):
        pin.value = 0
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 4)


def frames() -> list[GmiiFrame]:
    """Random frames; every third has bytes that are marked as errors."""
    made = []
    for number in range(FRAMES):
        frame = GmiiFrame.from_payload(random.randbytes(random.randint(46, 200)))
        if number % 3 == 2:
            frame.error = [0] * len(frame.data)
            for place in random.sample(range(20, len(frame.data)), 3):
                frame.error[place] = 1
        made.append(frame)
    return made


async def compare(source: Any, sink: Any) -> None:
    sent = frames()
    for frame in sent:
        await source.send(GmiiFrame(frame))
    for frame in sent:
        assert behind_preamble(await sink.recv()) == behind_preamble(frame)


def behind_preamble(frame: GmiiFrame) -> tuple[bytes, list[int]]:
    """Bytes and their marks from the start of frame on: the sinks begin somewhere in the preamble."""
    begin = frame.data.index(0xD5)
    return bytes(frame.data[begin:]), list(frame.error or [0] * len(frame.data))[begin:]


@cocotb.test()
async def what_is_sent_leaves_low_nibble_first_at_the_rising_edge(dut: Any) -> None:
    source = GmiiSource(dut.gmii_txd_i, dut.gmii_tx_er_i, dut.gmii_tx_en_i, dut.clk_i)
    sink = RgmiiSink(dut.rgmii_txd_o, dut.rgmii_tx_ctl_o, dut.rgmii_tx_clk_o)
    await begin(dut)
    await compare(source, sink)


@cocotb.test()
async def what_arrives_is_whole_bytes_with_their_errors(dut: Any) -> None:
    source = RgmiiSource(dut.rgmii_rxd_i, dut.rgmii_rx_ctl_i, dut.rgmii_rx_clk_i)
    sink = GmiiSink(dut.gmii_rxd_o, dut.gmii_rx_er_o, dut.gmii_rx_dv_o, dut.gmii_rx_clk_o)
    await begin(dut)
    await compare(source, sink)
