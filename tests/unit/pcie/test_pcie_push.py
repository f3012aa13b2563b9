# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_pcie_push() -> None:
    run("isthmus:pcie:pcie", "pcie_push", "pcie_push_tb", parameters={"RoomW": 9, "IdWidth": 4})
