# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run


@pytest.mark.parametrize(
    ("nodes", "depth", "link"),
    [((2, 2, 1), 8, 1), ((5, 1, 1), 8, 2), ((3, 2, 2), 4, 0)],
    ids=["2x2", "ring-5", "3x2x2"],
)
def test_torus_router(nodes: tuple[int, int, int], depth: int, link: int) -> None:
    x, y, z = nodes
    run(
        "isthmus:torus:torus",
        "torus_bench",
        "torus_router_tb",
        parameters={"X": x, "Y": y, "Z": z, "Width": 32, "Depth": depth, "LinkCycles": link},
        extra_sources=[Path(__file__).parent / "torus_bench.sv"],
    )
