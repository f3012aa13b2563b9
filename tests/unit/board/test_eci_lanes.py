# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent
CYCLES = os.environ.get("ISTHMUS_ECI_CYCLES", "4000")
"""Of clk_i under load; benchmarks/block_lanes.py takes more."""


@pytest.mark.release
@pytest.mark.parametrize(
    ("lanes", "metaframe"), [(1, 64), (1, 2048), (0, 2048)], ids=["lanes", "lanes-2048", "constants"]
)
def test_eci_lanes(lanes: int, metaframe: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECI_LANES", str(lanes))
    monkeypatch.setenv("ECI_METAFRAME", str(metaframe))
    monkeypatch.setenv("ECI_CYCLES", CYCLES)
    run(
        "isthmus:board:eci_fpga",
        "eci_lanes_bench",
        "eci_lanes_tb",
        parameters={"WithLanes": lanes, "MetaframeWords": metaframe},
        more_cores=["isthmus:board:eci_host"],
        extra_sources=[HERE.parent / "blocklink" / "lane_line.sv", HERE / "eci_lanes_bench.sv"],
    )
