# SPDX-License-Identifier: Apache-2.0
"""crc32_undo against zlib's CRC-32."""

import random
import zlib

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def zero_bytes_at_the_end_are_taken_back(dut: object) -> None:
    count = int(dut.Bytes.value)
    for _ in range(200):
        message = random.randbytes(random.randrange(1, 40))
        before, behind = (~zlib.crc32(one) & 0xFFFFFFFF for one in (message, message + bytes(count)))
        for undo, want in ((1, before), (0, behind)):
            dut.undo_i.value = undo
            dut.crc_i.value = behind
            await Timer(1, "ns")
            assert int(dut.crc_o.value) == want


@cocotb.test()
async def each_bit_alone_goes_back_to_what_the_crc_makes_it_of(dut: object) -> None:
    """The step is linear over GF(2): its 32 unit vectors determine it."""
    count = int(dut.Bytes.value)
    for bit in range(32):
        state = 1 << bit
        for _ in range(8 * count):
            state = state >> 1 ^ (0xEDB88320 if state & 1 else 0)
        dut.undo_i.value = 1
        dut.crc_i.value = state
        await Timer(1, "ns")
        assert int(dut.crc_o.value) == 1 << bit
