# SPDX-License-Identifier: Apache-2.0
"""Frames of Ethernet into a SoC of LiteX: its RAM and identifier answer through isthmus' bridge."""

from __future__ import annotations

import os
import random
import struct
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource
from gige_etherbone_tb import frame, payload_of
from litex_soc_map import IDENT, RAM, RAM_BYTES

HEADER = (0x4E6F1044, 0)
NOWHERE = 0x4000_0000
ROUNDS = 30


class Master:
    """One datagram there, one back, in LiteEth's dialect."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.ident = 0
        pins = dut.gmii_rx_data, dut.gmii_rx_er, dut.gmii_rx_dv, dut.gmii_rx_clk
        self.source = GmiiSource(*pins)
        self.sink = GmiiSink(dut.gmii_tx_data, dut.gmii_tx_er, dut.gmii_tx_en, dut.sys_clk)

    async def start(self) -> None:
        for clock in (self.dut.sys_clk, self.dut.gmii_rx_clk):
            cocotb.start_soon(Clock(clock, 8, "ns").start())
        self.dut.sys_rst.value = 1
        await ClockCycles(self.dut.sys_clk, 8)
        self.dut.sys_rst.value = 0
        await ClockCycles(self.dut.sys_clk, 8)

    async def send(self, *words: int) -> None:
        self.ident += 1
        wire = frame(struct.pack(f">{2 + len(words)}I", *HEADER, *words), self.ident)
        await self.source.send(GmiiFrame.from_raw_payload(wire))

    async def read(self, *addresses: int) -> list[int]:
        await self.send(0x000F0000 | len(addresses), 0x1234, *addresses)
        got = await with_timeout(self.sink.recv(), 300, "us")
        begin = got.data.index(0xD5)
        payload = payload_of(b"\x55" * 7 + bytes(got.data[begin:]))
        words = struct.unpack(f">{len(payload) // 4}I", payload)
        assert words[:2] == HEADER
        assert words[2:4] == (0x000F0000 | len(addresses) << 8, 0x1234)
        return list(words[4:])

    async def write(self, address: int, *values: int) -> None:
        await self.send(0x000F0000 | len(values) << 8, address, *values)


@cocotb.test()
async def the_identifier_of_the_soc_is_read(dut: Any) -> None:
    master = Master(dut)
    await master.start()
    base = int(os.environ["LITEX_IDENT"])
    values = await master.read(*(base + 4 * place for place in range(len(IDENT))))
    assert bytes(value & 0xFF for value in values).decode() == IDENT


@cocotb.test()
async def what_is_written_to_its_ram_is_read_back(dut: Any) -> None:
    master = Master(dut)
    await master.start()
    memory: dict[int, int] = {}
    for _ in range(ROUNDS):
        count = random.randint(1, 16)
        at = RAM + 4 * random.randrange(RAM_BYTES // 4 - count)
        values = [random.getrandbits(32) for _ in range(count)]
        await master.write(at, *values)
        memory |= {at + 4 * place: value for place, value in enumerate(values)}
        asked = random.sample(sorted(memory), min(len(memory), 20))
        assert await master.read(*asked) == [memory[address] for address in asked]


@cocotb.test()
async def an_address_without_a_device_does_not_stop_the_bridge(dut: Any) -> None:
    # The bus of LiteX answers after its timeout of 10^6 clocks; the bridge gives up before.
    master = Master(dut)
    await master.start()
    await master.read(NOWHERE)
    await master.write(RAM, 0xC0FFEE)
    assert await master.read(RAM) == [0xC0FFEE]
