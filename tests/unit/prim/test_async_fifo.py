# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(
    ("depth", "stages", "early"), [(8, 2, 0), (16, 2, 1), (16, 3, 1)], ids=["plain", "early", "early-3"]
)
def test_async_fifo(depth: int, stages: int, early: int) -> None:
    run(
        "isthmus:prim:prim",
        "async_fifo",
        "async_fifo_tb",
        parameters={"Width": 16, "Depth": depth, "SyncStages": stages, "EarlyPointer": early},
    )
