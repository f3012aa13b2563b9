# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("width", [pytest.param(8, marks=pytest.mark.release), 16])
def test_fx2_stream(width: int) -> None:
    run(
        "isthmus:usb:usb",
        "fx2_stream",
        "fx2_stream_tb",
        parameters={"FdWidth": width, "ZlpCycles": 400, "StaleCycles": 900},
    )
