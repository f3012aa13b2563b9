# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(("depth", "stages"), [(16, 2), (64, 3)])
def test_async_block_fifo(depth: int, stages: int) -> None:
    run(
        "isthmus:prim:prim",
        "async_block_fifo",
        "async_block_fifo_tb",
        parameters={"Width": 512, "Depth": depth, "SyncStages": stages},
    )
