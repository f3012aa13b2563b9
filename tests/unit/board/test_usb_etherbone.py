# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("width", [pytest.param(8, marks=pytest.mark.release), 16])
def test_usb_etherbone(width: int) -> None:
    run(
        "isthmus:board:usb_etherbone",
        "usb_etherbone",
        "usb_etherbone_tb",
        parameters={"Timeout": 500, "SilentSlave": 1, "FdWidth": width},
    )
