# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("stored", [1, 0], ids=["stored", "published"])
def test_rdma_link_rx(stored: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDMA_STORED", str(stored))
    run("isthmus:rdma:rdma", "rdma_link_rx", "rdma_link_rx_tb", parameters={"StoreForward": stored})
