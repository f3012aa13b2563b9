# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("width", [32, 37])
def test_skid_buffer(width: int) -> None:
    run("isthmus:prim:prim", "skid_buffer", "skid_buffer_tb", parameters={"Width": width})
