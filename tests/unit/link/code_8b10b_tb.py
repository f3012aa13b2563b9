# SPDX-License-Identifier: Apache-2.0
"""The model of 8b/10b coding: what the code promises of its line, and some codes as they are printed."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import Timer

K_CODES = [y << 5 | 28 for y in range(8)] + [7 << 5 | x for x in (23, 27, 29, 30)]
SYMBOLS = [(0, data) for data in range(256)] + [(1, data) for data in K_CODES]
PRINTED = {
    # abcdei fghj of K28.5, K28.1, K27.7, D21.5, D0.0, D7.3, D17.7, D11.7, both disparities
    (1, 0xBC): ("0011111010", "1100000101"),
    (1, 0x3C): ("0011111001", "1100000110"),
    (1, 0xFB): ("1101101000", "0010010111"),
    (0, 0xB5): ("1010101010", "1010101010"),
    (0, 0x00): ("1001110100", "0110001011"),
    (0, 0x67): ("1110001100", "0001110011"),
    (0, 0xF1): ("1000110111", "1000110001"),
    (0, 0xEB): ("1101001110", "1101001000"),
}


async def coded(dut: Any, disparity: int, k: int, data: int) -> tuple[str, int]:
    """A code's bits in the order of the line, and the disparity behind it."""
    dut.disparity_i.value, dut.k_i.value, dut.data_i.value = disparity, k, data
    await Timer(1, "ns")
    assert dut.decoded_o.value.to_unsigned() == 1 << 9 | k << 8 | data
    return f"{dut.code_o.value.to_unsigned():010b}"[::-1], int(dut.disparity_o.value)


@cocotb.test()
async def every_symbol_has_two_codes_that_balance(dut: Any) -> None:
    codes: dict[str, tuple[int, int]] = {}
    for k, data in SYMBOLS:
        for disparity in (0, 1):
            bits, behind = await coded(dut, disparity, k, data)
            assert codes.setdefault(bits, (k, data)) == (k, data)
            ones = bits.count("1")
            assert (ones - 5, behind) in (
                ((0, disparity),) if ones == 5 else ((1 - 2 * disparity, 1 - disparity),)
            )


@cocotb.test()
async def some_codes_are_those_of_the_books(dut: Any) -> None:
    for (k, data), printed in PRINTED.items():
        for disparity in (0, 1):
            assert (await coded(dut, disparity, k, data))[0] == printed[disparity]


@cocotb.test()
async def a_line_has_runs_of_five_and_commas_where_they_belong(dut: Any) -> None:
    line, places, disparity = "", set(), 0
    for _ in range(4000):
        k, data = random.choice(SYMBOLS)
        if k and data == 0xFC:
            continue  # K28.7: the only one that makes commas with its neighbours
        if k and data & 0x1F == 28 and data in (0x3C, 0xBC):
            places.add(len(line))
        bits, disparity = await coded(dut, disparity, k, data)
        line += bits
    assert "000000" not in line
    assert "111111" not in line
    found = {i for i in range(len(line) - 6) if line[i : i + 7] in ("0011111", "1100000")}
    assert found == places
