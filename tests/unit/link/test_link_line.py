# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest
from bench import run

FOLDER = Path(__file__).parent
WORDS = os.environ.get("ISTHMUS_LINK_WORDS", "120000")
"""Of each run with two oscillators: 24 words of drift; benchmarks/link_line.py takes 10 million."""


CASES = {
    "1024": {"AlignWords": 1024, "MaxWords": 128},
    "256": {"AlignWords": 256, "MaxWords": 128},
    # Packets of 4 KB, buffers of two: counts of 12 bits.
    "deep": {"AlignWords": 1024, "MaxWords": 1000, "Depth": 2048, "CountWidth": 12},
}


@pytest.mark.parametrize("case", CASES)
def test_link_line(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = CASES[case]
    monkeypatch.setenv("LINK_ALIGN_WORDS", str(parameters["AlignWords"]))
    monkeypatch.setenv("LINK_MAX_WORDS", str(parameters["MaxWords"]))
    monkeypatch.setenv("LINK_LONG_WORDS", WORDS)
    run(
        "isthmus:link:link",
        "link_line_bench",
        "link_line_tb",
        parameters=parameters,
        extra_sources=[FOLDER / "serdes_model.sv", FOLDER / "link_line_bench.sv"],
    )
