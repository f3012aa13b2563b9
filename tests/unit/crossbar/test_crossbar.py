# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run


def test_crossbar() -> None:
    run(
        "isthmus:crossbar:crossbar",
        "crossbar_bench",
        "crossbar_tb",
        extra_sources=[Path(__file__).parent / "crossbar_bench.sv"],
    )
