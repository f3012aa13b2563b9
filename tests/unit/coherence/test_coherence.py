# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent


@pytest.mark.parametrize("transactions", [64])
def test_coherence_pair(transactions: int) -> None:
    run(
        "isthmus:coherence:coherence",
        "coherence_pair_bench",
        "coherence_pair_tb",
        parameters={"NumTbe": transactions},
        extra_sources=[HERE / "coherence_pair_bench.sv"],
    )
