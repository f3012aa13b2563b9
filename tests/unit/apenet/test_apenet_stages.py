# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(("width", "firmware"), [(128, 0), (256, 1)])
def test_apenet_write(width: int, firmware: int) -> None:
    parameters = {"DataWidth": width, "Pending": 3, "Firmware": firmware}
    run("isthmus:apenet:apenet", "apenet_write", "apenet_write_tb", parameters=parameters)


@pytest.mark.parametrize("place_bits", [1, 2])
def test_apenet_puts(place_bits: int) -> None:
    parameters = {"PlaceBits": place_bits, "Pending": 4}
    run("isthmus:apenet:apenet", "apenet_puts", "apenet_puts_tb", parameters=parameters)
