# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("silent", [0, 1])
def test_pcie_mmio(silent: int) -> None:
    run(
        "isthmus:board:pcie_mmio",
        "pcie_mmio",
        "pcie_mmio_tb",
        parameters={"Timeout": 500, "SilentSlave": silent},
    )
