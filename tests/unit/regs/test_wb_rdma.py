# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run


def test_registers_of_rdma() -> None:
    run(
        "isthmus:regs:regs",
        "wb_rdma_bench",
        "wb_rdma_tb",
        extra_sources=[Path(__file__).parent / "wb_rdma_bench.sv"],
    )
