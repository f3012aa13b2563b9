# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run


def test_fifo_arbiters_and_memory() -> None:
    run(
        "isthmus:prim:prim",
        "prim_bench",
        "prim_tb",
        extra_sources=[Path(__file__).parent / "prim_bench.sv"],
    )


def test_synchronisers() -> None:
    run(
        "isthmus:prim:prim",
        "sync_bench",
        "sync_tb",
        extra_sources=[Path(__file__).parent / "sync_bench.sv"],
    )
