# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

CASES = {
    "switch": {"NumIds": 2, "Depth": 512, "MaxWords": 128, "CreditInPacket": 0, "Delay": 25},
    "one-id": {"NumIds": 1, "Depth": 130, "MaxWords": 128, "CreditInPacket": 0, "Delay": 3},
    "eight-ids": {"NumIds": 8, "Depth": 512, "MaxWords": 128, "CreditInPacket": 1, "Delay": 60},
    # As the network interface takes it: flits a cycle earlier.
    "direct": {
        "NumIds": 1,
        "Depth": 512,
        "MaxWords": 134,
        "CreditInPacket": 0,
        "Delay": 25,
        "FlitRegister": 0,
    },
    "small": {"NumIds": 3, "Depth": 20, "MaxWords": 6, "CreditInPacket": 1, "Delay": 9},
}


@pytest.mark.parametrize("case", CASES)
def test_link_port(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    p = {**CASES[case], "InitWords": 256, "CreditWords": 8 if case == "small" else 64}
    for name, key in (
        ("IDS", "NumIds"),
        ("DEPTH", "Depth"),
        ("MAX_WORDS", "MaxWords"),
        ("DELAY", "Delay"),
        ("INIT_WORDS", "InitWords"),
        ("IN_PACKET", "CreditInPacket"),
    ):
        monkeypatch.setenv(f"LINK_{name}", str(p[key]))
    run(
        "isthmus:link:link",
        "link_pair_bench",
        "link_pair_tb",
        parameters=p,
        extra_sources=[Path(__file__).parent / "link_pair_bench.sv"],
    )
