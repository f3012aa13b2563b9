# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest
from bench import run

FOLDER = Path(__file__).parent
WORDS = os.environ.get("ISTHMUS_LINK_WORDS", "120000")
"""Of each run with two oscillators: 24 words of drift; benchmarks/link_line.py takes 10 million."""


@pytest.mark.parametrize("align_words", [1024, 256])
def test_link_line(align_words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINK_ALIGN_WORDS", str(align_words))
    monkeypatch.setenv("LINK_MAX_WORDS", "128")
    monkeypatch.setenv("LINK_LONG_WORDS", WORDS)
    run(
        "isthmus:link:link",
        "link_line_bench",
        "link_line_tb",
        parameters={"AlignWords": align_words, "MaxWords": 128},
        extra_sources=[FOLDER / "serdes_model.sv", FOLDER / "link_line_bench.sv"],
    )
