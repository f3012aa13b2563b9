# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent
LINKS = 2
"""Packets of one flow go over two switches. One link passes the same tests; its build costs as much again."""


@pytest.mark.parametrize("bus", ["axi", "pcie"])
def test_rdma_ni(monkeypatch: pytest.MonkeyPatch, bus: str) -> None:
    monkeypatch.setenv("RDMA_LINKS", str(LINKS))
    run(
        "isthmus:board:rdma_ni",
        "rdma_pair_bench",
        {"axi": "rdma_ni_tb", "pcie": "rdma_ni_pcie_tb"}[bus],
        parameters={"NumLinks": LINKS},
        extra_sources=[HERE / "rdma_pair_bench.sv"],
        more_cores=["isthmus:board:link_switch"],
    )
