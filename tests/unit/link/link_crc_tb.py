# SPDX-License-Identifier: Apache-2.0
"""The check equations against division bit by bit."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer
from link_model import crc, crc8


@cocotb.test()
async def equations(dut: Any) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    # One bit each shows every term of every sum; random words the sums together.
    ones = [(0, 1 << i) for i in range(32)] + [(1 << i, 0) for i in range(24)]
    if hasattr(dut, "crc_i"):
        for start, data in [*ones, *((rng.getrandbits(24), rng.getrandbits(32)) for _ in range(500))]:
            dut.crc_i.value, dut.data_i.value = start, data
            await Timer(1, "ns")
            assert int(dut.crc_o.value) == crc(data, 32, 0x328B63, 24, start)
    else:
        for data in [*(1 << i for i in range(24)), 0, *(rng.getrandbits(24) for _ in range(500))]:
            dut.data_i.value = data
            await Timer(1, "ns")
            assert int(dut.crc_o.value) == crc8(data)
