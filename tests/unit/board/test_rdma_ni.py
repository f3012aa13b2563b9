# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent


@pytest.mark.parametrize("links", [1, 2])
def test_rdma_ni(links: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDMA_LINKS", str(links))
    run(
        "isthmus:board:rdma_ni",
        "rdma_pair_bench",
        "rdma_ni_tb",
        parameters={"NumLinks": links},
        extra_sources=[HERE / "rdma_pair_bench.sv"],
        more_cores=["isthmus:board:link_switch"],
    )
