# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run
from isthmus.paths import ROOT

FOLDER = Path(__file__).parent
CASES = {
    "three": {"NumIds": 3, "Depth": 96, "MaxWords": 16},
    # No Sop from the sources: link_buffers have none.
    "bare": {"NumIds": 2, "Depth": 96, "MaxWords": 8, "Bare": 1},
    "one": {"NumIds": 1, "Depth": 96, "MaxWords": 16},
}


@pytest.mark.parametrize(
    "case", [*(c for c in CASES if c != "one"), pytest.param("one", marks=pytest.mark.release)]
)
def test_link_channels(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = CASES[case]
    monkeypatch.setenv("LINK_IDS", str(parameters["NumIds"]))
    run(
        "isthmus:link:link",
        "link_channels_bench",
        "link_channels_tb",
        parameters=parameters,
        extra_sources=[ROOT / "boards/ecpix5_link/link_traffic.sv", FOLDER / "link_channels_bench.sv"],
    )
