# SPDX-License-Identifier: Apache-2.0
"""crc32_d64 against zlib's CRC-32."""

import random
import zlib

import cocotb
from cocotb.triggers import Timer


async def step(dut: object, crc: int, word: int) -> int:
    dut.crc_i.value = crc
    dut.data_i.value = word
    await Timer(1, "ns")
    return int(dut.crc_o.value)


@cocotb.test()
async def agrees_with_zlib_on_random_messages_of_whole_words(dut: object) -> None:
    for words in [1, 2, 8, *(random.randrange(1, 30) for _ in range(20))]:
        message = random.randbytes(8 * words)
        crc = 0xFFFFFFFF
        for at in range(0, len(message), 8):
            crc = await step(dut, crc, int.from_bytes(message[at : at + 8], "little"))
        assert crc ^ 0xFFFFFFFF == zlib.crc32(message)


@cocotb.test()
async def every_input_bit_reaches_the_outputs_that_zlib_says(dut: object) -> None:
    """The step is linear over GF(2): its 96 unit vectors determine it."""
    assert await step(dut, 0, 0) == 0
    for bit in range(64):
        one = (1 << bit).to_bytes(8, "little")
        want = zlib.crc32(one) ^ zlib.crc32(bytes(8))
        assert await step(dut, 0, 1 << bit) == want
        if bit < 32:
            assert await step(dut, 1 << bit, 0) == want
