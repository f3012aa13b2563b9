# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_etherbone_udp() -> None:
    run("isthmus:etherbone:udp", "etherbone_udp", "etherbone_udp_tb", parameters={"Timeout": 200})


def test_etherbone_lite() -> None:
    """The same service in LiteEth's dialect."""
    run("isthmus:etherbone:udp", "etherbone_udp", "etherbone_lite_tb", parameters={"Timeout": 200})
