# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("width", [32, 64])
def test_etherbone_core(width: int) -> None:
    run("isthmus:etherbone:etherbone", "etherbone_core", "etherbone_core_tb", parameters={"Width": width})
