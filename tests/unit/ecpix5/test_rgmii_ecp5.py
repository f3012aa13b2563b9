# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run
from isthmus.paths import ROOT

HERE = Path(__file__).parent


def test_rgmii_ecp5() -> None:
    run(
        "isthmus:prim:prim",
        "rgmii_ecp5",
        "rgmii_ecp5_tb",
        extra_sources=[HERE / "ecp5_cells_model.sv", ROOT / "boards/ecpix5/rgmii_ecp5.sv"],
    )
