# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("depth", [16, 64])
def test_pcie_word_buffer(depth: int) -> None:
    run("isthmus:pcie:pcie", "pcie_word_buffer", "pcie_word_buffer_tb", parameters={"Depth": depth})
