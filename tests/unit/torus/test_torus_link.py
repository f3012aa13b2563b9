# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("depth", "words", "delay"),
    [(64, 63, 6), pytest.param(64, 5, 3, marks=pytest.mark.release)],
    ids=["64", "short-chunks"],
)
def test_torus_link(depth: int, words: int, delay: int, monkeypatch: pytest.MonkeyPatch) -> None:
    align, init = 128, 512
    for name, value in (
        ("DEPTH", depth),
        ("MAX_WORDS", words),
        ("DELAY", delay),
        ("ALIGN_WORDS", align),
        ("INIT_WORDS", init),
    ):
        monkeypatch.setenv(f"TORUS_{name}", str(value))
    run(
        "isthmus:torus:link",
        "torus_link_bench",
        "torus_link_tb",
        parameters={
            "Depth": depth,
            "MaxWords": words,
            "Delay": delay,
            "AlignWords": align,
            "InitWords": init,
        },
        extra_sources=[HERE / "torus_link_bench.sv"],
    )


@pytest.mark.parametrize(
    ("x", "y"),
    [(4, 1), pytest.param(3, 2, marks=pytest.mark.release)],
    ids=["ring-4", "3x2"],
)
def test_torus_links(x: int, y: int) -> None:
    """A network of real routers over real link ends."""
    run(
        "isthmus:torus:link",
        "torus_links_bench",
        "torus_links_tb",
        parameters={"X": x, "Y": y},
        extra_sources=[HERE / "torus_links_bench.sv"],
        more_cores=["isthmus:board:torus_node"],
    )
