# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent


def test_blocklink_crc() -> None:
    run("isthmus:blocklink:blocklink", "blocklink_crc24", "blocklink_crc_tb")


@pytest.mark.parametrize(
    ("data", "rest", "window"), [(32, 16, 16), pytest.param(128, 32, 64, marks=pytest.mark.release)]
)
def test_blocklink_pair(data: int, rest: int, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCKLINK_DATA", str(data))
    run(
        "isthmus:blocklink:blocklink",
        "blocklink_pair_bench",
        "blocklink_pair_tb",
        parameters={"DataDepth": data, "RestDepth": rest, "Window": window},
        extra_sources=[HERE / "blocklink_pair_bench.sv"],
    )
