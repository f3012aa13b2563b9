# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run


def test_slaves() -> None:
    run(
        "isthmus:wishbone:wishbone",
        "wb_slaves_bench",
        "wb_slaves_tb",
        extra_sources=[Path(__file__).parent / "wb_slaves_bench.sv"],
        inner_signals=True,
    )
