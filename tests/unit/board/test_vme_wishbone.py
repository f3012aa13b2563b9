# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_vme_wishbone() -> None:
    parameters = {"Timeout": 200, "SilentSlave": 1}
    run("isthmus:board:vme_wishbone", "vme_wishbone", "vme_wishbone_tb", parameters=parameters)
