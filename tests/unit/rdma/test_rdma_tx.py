# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import ROOT, run

CASES = {
    "published": {"NumHosts": 8, "NumLinks": 1, "Outstanding": 1},
    "two-links": {"NumHosts": 3, "NumLinks": 2, "Outstanding": 2},
    "four-links": {"NumHosts": 8, "NumLinks": 4, "Outstanding": 4},
}


LONG = {"published", "two-links"}
"""Run before a release; the published one also in tests/system, in every run."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.release) if case in LONG else case for case in CASES]
)
def test_rdma_tx(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = CASES[case]
    for name, value in parameters.items():
        monkeypatch.setenv(f"RDMA_{name.removeprefix('Num').upper()}", str(value))
    here = Path(__file__).parent
    run(
        "isthmus:rdma:rdma",
        "rdma_tx_bench",
        "rdma_tx_tb",
        parameters=parameters,
        extra_sources=[ROOT / "rtl/pcie/pcie_axi_wb.sv", here / "rdma_tx_bench.sv"],
    )
