# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_pcie_root_complex() -> None:
    run(
        "isthmus:board:pcie_etherbone",
        "pcie_etherbone",
        "pcie_root_complex_tb",
        parameters={"Timeout": 500, "SilentSlave": 0},
    )
