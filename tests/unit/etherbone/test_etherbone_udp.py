# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_etherbone_udp() -> None:
    run("isthmus:etherbone:udp", "etherbone_udp", "etherbone_udp_tb", parameters={"Timeout": 200})
