# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_strobe_cross() -> None:
    run("isthmus:prim:prim", "strobe_cross", "strobe_cross_tb")
