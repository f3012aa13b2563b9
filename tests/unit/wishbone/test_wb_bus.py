# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run


def test_crossbar_and_timeout() -> None:
    run(
        "isthmus:wishbone:wishbone",
        "wb_bus_bench",
        "wb_bus_tb",
        extra_sources=[Path(__file__).parent / "wb_bus_bench.sv"],
    )
