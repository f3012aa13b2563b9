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


@pytest.mark.parametrize(
    ("width", "granule", "reserve", "bursts"), [(64, 1, 0, 2), (64, 4, 1, 8), (512, 64, 0, 8), (256, 2, 1, 2)]
)
def test_read_engine(width: int, granule: int, reserve: int, bursts: int) -> None:
    run(
        "isthmus:axi:axi",
        "axi_read_bench",
        "axi_read_tb",
        parameters={"DataWidth": width, "Granule": granule, "Reserve": reserve, "MaxBursts": bursts},
        extra_sources=[Path(__file__).parent / "axi_read_bench.sv"],
    )


@pytest.mark.parametrize("width", [64, 512])
def test_atomic(width: int) -> None:
    run("isthmus:axi:axi", "axi_atomic", "axi_atomic_tb", parameters={"DataWidth": width})


@pytest.mark.parametrize("tries", [3, 0])
def test_atomic_is_tried_again(monkeypatch: pytest.MonkeyPatch, tries: int) -> None:
    monkeypatch.setenv("AXI_TRIES", str(tries))
    run("isthmus:axi:axi", "axi_atomic", "axi_atomic_retry_tb", parameters={"Tries": tries, "Wait": 8})
