# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent


def ends(test: str, monkeypatch: pytest.MonkeyPatch, **values: int) -> None:
    """Two ends face to face; the bench's parameters and what the test knows of them are the same."""
    names = ("Depth", "MaxWords", "Delay", "AlignWords", "InitWords")
    for name, value in values.items():
        monkeypatch.setenv(f"TORUS_{name.upper()}", str(int(value)))
    given = dict(zip(names, (values["depth"], values["max_words"], values["delay"]), strict=False))
    run(
        "isthmus:torus:link",
        "torus_link_bench",
        test,
        parameters={**given, "AlignWords": values["align_words"], "InitWords": values["init_words"]},
        extra_sources=[HERE / "torus_link_bench.sv"],
    )


@pytest.mark.parametrize(
    ("words", "delay"),
    [(63, 6), pytest.param(5, 3, marks=pytest.mark.release)],
    ids=["64", "short-chunks"],
)
def test_torus_link(words: int, delay: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ends(
        "torus_link_tb",
        monkeypatch,
        depth=64,
        max_words=words,
        delay=delay,
        align_words=128,
        init_words=512,
    )


@pytest.mark.parametrize(
    ("depth", "enough"),
    [
        (512, True),
        pytest.param(128, True, marks=pytest.mark.release),
        pytest.param(64, False, marks=pytest.mark.release),
    ],
    ids=["512", "128", "64"],
)
def test_what_a_torus_link_carries(depth: int, enough: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line of the platforms, 19 clocks, and the module's own defaults."""
    ends(
        "torus_link_rates_tb",
        monkeypatch,
        depth=depth,
        max_words=min(depth - 1, 258),
        delay=19,
        align_words=512,
        init_words=2048,
        enough=enough,
    )


@pytest.mark.parametrize(
    ("x", "y"),
    [(4, 1), pytest.param(3, 2, marks=pytest.mark.release)],
    ids=["ring-4", "3x2"],
)
def test_torus_links(x: int, y: int) -> None:
    """A network of real routers over real link ends."""
    run(
        "isthmus:board:torus_link_node",
        "torus_links_bench",
        "torus_links_tb",
        parameters={"X": x, "Y": y},
        extra_sources=[HERE / "torus_links_bench.sv"],
    )
