# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run
from isthmus.paths import ROOT

FOLDER = Path(__file__).parent
SOURCES = [
    FOLDER / "code_8b10b.sv",
    FOLDER / "line_8b10b.sv",
    ROOT / "boards/ecpix5_link/link_traffic.sv",
    FOLDER / "link_gear_bench.sv",
]


def gear(monkeypatch: pytest.MonkeyPatch, words: int) -> None:
    monkeypatch.setenv("LINK_GEAR_WORDS", str(words))
    run(
        "isthmus:link:link",
        "link_gear_bench",
        "link_gear_tb",
        parameters={"AlignWords": 64},
        extra_sources=SOURCES,
    )


def test_link_gear(monkeypatch: pytest.MonkeyPatch) -> None:
    gear(monkeypatch, 60_000)


@pytest.mark.release
def test_link_gear_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    gear(monkeypatch, 1_000_000)


def test_8b10b_model() -> None:
    run(
        "isthmus:link:link",
        "code_8b10b_bench",
        "code_8b10b_tb",
        extra_sources=[FOLDER / "code_8b10b.sv", FOLDER / "code_8b10b_bench.sv"],
    )
