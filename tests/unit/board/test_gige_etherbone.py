# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(("admission", "silent"), [(0, 0), (1, 1), (2, 0)])
def test_gige_etherbone(admission: int, silent: int) -> None:
    run(
        "isthmus:board:gige_etherbone",
        "gige_etherbone",
        "gige_etherbone_tb",
        parameters={"Timeout": 500, "SilentSlave": silent, "Admission": admission},
    )
