# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent


@pytest.mark.parametrize("silent", [0, 1])
def test_pcie_etherbone(silent: int) -> None:
    run(
        "isthmus:board:pcie_etherbone",
        "pcie_etherbone_bench",
        "pcie_etherbone_tb",
        parameters={"Timeout": 500, "SilentSlave": silent},
        extra_sources=[HERE / "pcie_etherbone_bench.sv"],
    )
