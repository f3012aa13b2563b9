# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("width", [32, 64])
def test_etherbone_core(width: int) -> None:
    run("isthmus:etherbone:etherbone", "etherbone_core", "etherbone_core_tb", parameters={"Width": width})


@pytest.mark.parametrize("width", [32, 64])
def test_etherbone_slave(width: int) -> None:
    """The guard in front of the bus adds no cycle: the same tests, the same cycles."""
    parameters = {"Width": width, "Timeout": 5000}
    run("isthmus:etherbone:etherbone", "etherbone_slave", "etherbone_core_tb", parameters=parameters)
