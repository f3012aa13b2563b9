# SPDX-License-Identifier: Apache-2.0
"""crc32_d8 against zlib's CRC-32."""

import random
import struct
import zlib

import cocotb
from cocotb.triggers import Timer

RESIDUE = 0xDEBB20E3


async def step(dut: object, crc: int, byte: int) -> int:
    dut.crc_i.value = crc
    dut.data_i.value = byte
    await Timer(1, "ns")
    return int(dut.crc_o.value)


@cocotb.test()
async def agrees_with_zlib_on_random_messages(dut: object) -> None:
    for length in [1, 2, 3, 4, 60, *(random.randrange(1, 100) for _ in range(20))]:
        message = random.randbytes(length)
        crc = 0xFFFFFFFF
        for byte in message:
            crc = await step(dut, crc, byte)
        assert crc ^ 0xFFFFFFFF == zlib.crc32(message)
        for byte in struct.pack("<I", crc ^ 0xFFFFFFFF):
            crc = await step(dut, crc, byte)
        assert crc == RESIDUE


@cocotb.test()
async def every_input_bit_reaches_the_outputs_that_zlib_says(dut: object) -> None:
    """The step is linear over GF(2): its 40 unit vectors determine it."""
    zero = await step(dut, 0, 0)
    assert zero == 0
    for bit in range(8):
        want = zlib.crc32(bytes([1 << bit])) ^ zlib.crc32(b"\0")
        assert await step(dut, 0, 1 << bit) == want
        assert await step(dut, 1 << bit, 0) == want
    for bit in range(8, 32):
        assert await step(dut, 1 << bit, 0) == 1 << (bit - 8)
