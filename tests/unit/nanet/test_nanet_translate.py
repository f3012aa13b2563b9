# SPDX-License-Identifier: Apache-2.0
import pytest
from nanet_bench import translate


@pytest.mark.parametrize(
    ("width", "stalls"), [(64, True), (128, False), (512, True)], ids=["64", "128-no-stalls", "512"]
)
def test_addresses_of_registered_memory(width: int, stalls: bool) -> None:
    translate(width=width, stalls=stalls, commands=10_000)
