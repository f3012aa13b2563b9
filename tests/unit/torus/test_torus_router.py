# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run


@pytest.mark.parametrize(
    ("nodes", "depth", "link", "pins"),
    [
        ((2, 2, 1), 8, 1, False),
        ((2, 2, 1), 8, 1, True),
        pytest.param((5, 1, 1), 8, 2, False, marks=pytest.mark.release),
        pytest.param((3, 2, 2), 4, 0, False, marks=pytest.mark.release),
    ],
    ids=["2x2", "2x2-nodes", "ring-5", "3x2x2"],
)
def test_torus_router(nodes: tuple[int, int, int], depth: int, link: int, pins: bool) -> None:
    x, y, z = nodes
    run(
        "isthmus:torus:torus",
        "torus_bench",
        "torus_router_tb",
        parameters={
            "X": x,
            "Y": y,
            "Z": z,
            "Width": 32,
            "Depth": depth,
            "LinkCycles": link,
            "Pins": int(pins),
        },
        extra_sources=[Path(__file__).parent / "torus_bench.sv"],
        more_cores=["isthmus:board:torus_node"],
    )
