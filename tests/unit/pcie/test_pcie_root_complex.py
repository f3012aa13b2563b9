# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run

BOARD = Path(__file__).parents[1] / "board"


def test_pcie_root_complex() -> None:
    run(
        "isthmus:board:pcie_etherbone",
        "pcie_etherbone_bench",
        "pcie_root_complex_tb",
        parameters={"Timeout": 500, "SilentSlave": 0},
        extra_sources=[BOARD / "pcie_etherbone_bench.sv"],
    )
