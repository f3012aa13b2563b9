# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

CASES = {"stored": {"NumLinks": 2, "StoreForward": 1}, "published": {"NumLinks": 1, "StoreForward": 0}}


@pytest.mark.parametrize("case", CASES)
def test_rdma_rx(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDMA_LINKS", str(CASES[case]["NumLinks"]))
    monkeypatch.setenv("RDMA_STORED", str(CASES[case]["StoreForward"]))
    run(
        "isthmus:rdma:rdma",
        "rdma_rx_bench",
        "rdma_rx_tb",
        parameters={"NumHosts": 8, **CASES[case]},
        extra_sources=[Path(__file__).parent / "rdma_rx_bench.sv"],
    )
