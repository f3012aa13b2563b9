# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_gray_counter() -> None:
    run("isthmus:prim:prim", "gray_counter", "gray_counter_tb", parameters={"Width": 6})
