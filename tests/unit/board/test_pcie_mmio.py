# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent


@pytest.mark.parametrize("silent", [0, 1])
def test_pcie_mmio(silent: int) -> None:
    run(
        "isthmus:board:pcie_mmio",
        "pcie_mmio_bench",
        "pcie_mmio_tb",
        parameters={"Timeout": 500, "SilentSlave": silent},
        extra_sources=[HERE / "pcie_mmio_bench.sv"],
    )
