# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_ram_2clk() -> None:
    run("isthmus:prim:prim", "ram_2clk", "ram_2clk_tb", parameters={"Width": 32, "Depth": 48})
