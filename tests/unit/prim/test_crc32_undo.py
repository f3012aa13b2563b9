# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("count", [1, 2, 4])
def test_crc32_undo(count: int) -> None:
    run("isthmus:prim:prim", "crc32_undo", "crc32_undo_tb", parameters={"Bytes": count})
