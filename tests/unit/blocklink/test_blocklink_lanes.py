# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent
WORDS = os.environ.get("ISTHMUS_LANE_WORDS", "4000")
"""Of each lane in the run with two oscillators; benchmarks/block_lanes.py takes 420 000."""


@pytest.mark.parametrize(("metaframe", "skew"), [(64, 3), pytest.param(2048, 0, marks=pytest.mark.release)])
def test_blocklink_lanes(metaframe: int, skew: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCKLINK_METAFRAME", str(metaframe))
    monkeypatch.setenv("BLOCKLINK_SKEW", str(skew))
    monkeypatch.setenv("BLOCKLINK_WORDS", WORDS)
    run(
        "isthmus:blocklink:blocklink",
        "blocklink_lanes_bench",
        "blocklink_lanes_tb",
        parameters={"MetaframeWords": metaframe, "Skew": skew},
        extra_sources=[HERE / "lane_line.sv", HERE / "blocklink_lanes_bench.sv"],
    )


def test_blocklink_lane_rx() -> None:
    run(
        "isthmus:blocklink:blocklink",
        "blocklink_lane_rx",
        "blocklink_lane_rx_tb",
        parameters={"MetaframeWords": 16},
    )
