# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_crc32_d64() -> None:
    run("isthmus:prim:prim", "crc32_d64", "crc32_d64_tb")
