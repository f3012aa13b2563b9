# SPDX-License-Identifier: Apache-2.0
"""The check equations of a block against division bit by bit."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer

POLYNOMIAL, BITS = 0x328B63, 512


def crc(data: int) -> int:
    """CRC-24 of 512 bits, most significant first; begins with all ones, complemented."""
    value = 0xFFFFFF
    for bit in reversed(range(BITS)):
        top = value >> 23 ^ data >> bit & 1
        value = (value << 1 & 0xFFFFFF) ^ (POLYNOMIAL if top else 0)
    return value ^ 0xFFFFFF


@cocotb.test()
async def equations(dut: Any) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    # One bit each shows every term of every sum; random blocks the sums together.
    blocks = [0, *(1 << i for i in range(BITS)), *(rng.getrandbits(BITS) for _ in range(200))]
    for data in blocks:
        dut.data_i.value = data
        await Timer(1, "ns")
        assert int(dut.crc_o.value) == crc(data), hex(data)
