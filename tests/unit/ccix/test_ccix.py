# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent


@pytest.mark.parametrize(("words", "messages"), [(32, 31), (16, 1)])
def test_ccix_agent(words: int, messages: int) -> None:
    run(
        "isthmus:ccix:ccix",
        "ccix_agent_bench",
        "ccix_agent_tb",
        parameters={"NumTxns": 16, "MaxWords": words, "MaxMessages": messages},
        extra_sources=[HERE / "ccix_agent_bench.sv"],
    )


def test_ccix_traffic() -> None:
    run("isthmus:ccix:ccix", "ccix_traffic", "ccix_traffic_tb")
