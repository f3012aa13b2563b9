# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("silent", [0, 1])
def test_pcie_etherbone(silent: int) -> None:
    run(
        "isthmus:board:pcie_etherbone",
        "pcie_etherbone",
        "pcie_etherbone_tb",
        parameters={"Timeout": 500, "SilentSlave": silent},
    )
