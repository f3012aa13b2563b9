# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

ALIGN_WORDS = 60


@pytest.mark.parametrize(("lanes", "skew"), [(1, 1), (3, 4), (4, 8)])
def test_link_bundle(lanes: int, skew: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINK_LANES", str(lanes))
    monkeypatch.setenv("LINK_MAX_SKEW", str(skew))
    monkeypatch.setenv("LINK_ALIGN_WORDS", str(ALIGN_WORDS))
    run(
        "isthmus:link:link",
        "link_bundle_bench",
        "link_bundle_tb",
        parameters={"Lanes": lanes, "MaxSkew": skew, "AlignWords": ALIGN_WORDS},
        extra_sources=[Path(__file__).parent / "link_bundle_bench.sv"],
    )


@pytest.mark.parametrize(("links", "dests"), [(3, 2), pytest.param(5, 1, marks=pytest.mark.release)])
def test_link_spread(links: int, dests: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPREAD_LINKS", str(links))
    monkeypatch.setenv("SPREAD_DESTS", str(dests))
    run(
        "isthmus:link:link",
        "link_spread_bench",
        "link_spread_tb",
        parameters={"NumLinks": links, "NumDests": dests},
        extra_sources=[Path(__file__).parent / "link_spread_bench.sv"],
    )
