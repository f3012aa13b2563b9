# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run


@pytest.mark.parametrize("width", [64, 128, 512])
def test_write_engine_and_event_queue(width: int) -> None:
    run(
        "isthmus:axi:axi",
        "axi_bench",
        "axi_tb",
        parameters={"DataWidth": width},
        extra_sources=[Path(__file__).parent / "axi_bench.sv"],
    )
