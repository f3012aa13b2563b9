# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(("pages_log2", "ahead"), [(0, 6), (2, 0), (3, 6)])
def test_atc(pages_log2: int, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATC_PAGES_LOG2", str(pages_log2))
    monkeypatch.setenv("ATC_AHEAD", str(ahead))
    run(
        "isthmus:svm:svm",
        "atc",
        "atc_tb",
        parameters={
            "BaseSets": 8, "BaseWays": 4, "BigSets": 2, "BigWays": 2, "HugeWays": 1, "NumWait": 16,
            "PagesLog2": pages_log2, "Ahead": ahead,
        },
    )  # fmt: skip


@pytest.mark.parametrize("pages_log2", [0, 3])
def test_atc_misses(pages_log2: int) -> None:
    parameters = {"VpnWidth": 14, "PpnWidth": 13, "BigLog2": 5, "HugeLog2": 9, "NumMiss": 8}
    run(
        "isthmus:svm:svm",
        "atc_misses",
        "atc_misses_tb",
        parameters={**parameters, "PagesLog2": pages_log2},
    )
