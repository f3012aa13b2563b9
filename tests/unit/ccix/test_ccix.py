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


@pytest.mark.parametrize(
    ("pages_log2", "ahead", "misses", "direct", "early"),
    [(0, 0, 4, 0, 0), (3, 6, 8, 0, 0), (0, 0, 4, 1, 0), (3, 6, 8, 1, 0), (3, 6, 8, 0, 1), (0, 0, 4, 1, 1)],
)
def test_ccix_translate(
    monkeypatch: pytest.MonkeyPatch, pages_log2: int, ahead: int, misses: int, direct: int, early: int
) -> None:
    monkeypatch.setenv("CCIX_PAGES_LOG2", str(pages_log2))
    monkeypatch.setenv("CCIX_DIRECT", str(direct))
    monkeypatch.setenv("CCIX_EARLY", str(early))
    run(
        "isthmus:ccix:ccix",
        "ccix_translate",
        "ccix_translate_tb",
        parameters={
            "NumMiss": misses,
            "PagesLog2": pages_log2,
            "Ahead": ahead,
            "Direct": direct,
            "Early": early,
        },
    )


@pytest.mark.parametrize(("pages_log2", "ahead", "direct"), [(0, 0, 0), (3, 6, 0), (0, 0, 1), (3, 6, 1)])
def test_ccix_virtual(monkeypatch: pytest.MonkeyPatch, pages_log2: int, ahead: int, direct: int) -> None:
    monkeypatch.setenv("CCIX_PAGES_LOG2", str(pages_log2))
    monkeypatch.setenv("CCIX_DIRECT", str(direct))
    monkeypatch.setenv("CCIX_PAGES", "16" if direct else "12")
    few = {"BaseSets": 2, "Direct": 1} if direct else {}
    run(
        "isthmus:ccix:ccix",
        "ccix_virtual_bench",
        "ccix_virtual_tb",
        parameters={"PagesLog2": pages_log2, "Ahead": ahead, **few},
        extra_sources=[HERE / "ccix_cached_bench.sv", HERE / "ccix_virtual_bench.sv"],
    )


@pytest.mark.parametrize("places", [0, 8])
def test_ccix_cache(monkeypatch: pytest.MonkeyPatch, places: int) -> None:
    monkeypatch.setenv("CCIX_PLACES", str(places))
    run(
        "isthmus:ccix:ccix",
        "ccix_cache",
        "ccix_cache_tb",
        parameters={"Sets": 2, "Ways": 4, "NumMshr": 4, "Places": places},
    )


@pytest.mark.parametrize(("posted", "lock_width"), [(0, 16), (1, 16), (0, 2)])
def test_ccix_update(monkeypatch: pytest.MonkeyPatch, posted: int, lock_width: int) -> None:
    monkeypatch.setenv("CCIX_LOCK_WIDTH", str(lock_width))
    run(
        "isthmus:ccix:ccix",
        "ccix_update",
        "ccix_update_tb",
        parameters={"Slots": 8, "Posted": posted, "LockWidth": lock_width},
    )


@pytest.mark.parametrize("posted", [0, 1])
def test_ccix_update_with_lock_table(monkeypatch: pytest.MonkeyPatch, posted: int) -> None:
    monkeypatch.setenv("CCIX_LOCK_WIDTH", "2")
    run(
        "isthmus:ccix:ccix",
        "ccix_table_bench",
        "ccix_table_tb",
        parameters={"Posted": posted, "LockWidth": 2},
        extra_sources=[HERE / "ccix_table_bench.sv"],
    )


@pytest.mark.parametrize(("posted", "lock_width"), [(0, 16), (1, 16), (1, 2)])
def test_ccix_lease(monkeypatch: pytest.MonkeyPatch, posted: int, lock_width: int) -> None:
    monkeypatch.setenv("CCIX_LOCK_WIDTH", str(lock_width))
    run(
        "isthmus:ccix:ccix",
        "ccix_lease_bench",
        "ccix_lease_tb",
        parameters={"Posted": posted, "LockWidth": lock_width},
        extra_sources=[HERE / "ccix_lease_bench.sv"],
    )


def test_ccix_cas() -> None:
    run("isthmus:ccix:ccix", "ccix_cas", "ccix_cas_tb", parameters={"Entries": 16})


@pytest.mark.parametrize("places", [0, 16])
def test_ccix_axi(places: int) -> None:
    run(
        "isthmus:ccix:ccix",
        "ccix_axi_bench",
        "ccix_axi_tb",
        parameters={"Places": places},
        extra_sources=[HERE / "ccix_cached_bench.sv", HERE / "ccix_axi_bench.sv"],
    )


@pytest.mark.parametrize(("pages_log2", "ahead", "direct"), [(0, 0, 0), (3, 6, 0), (0, 0, 1), (3, 6, 1)])
def test_ccix_axi_virtual(monkeypatch: pytest.MonkeyPatch, pages_log2: int, ahead: int, direct: int) -> None:
    monkeypatch.setenv("CCIX_PAGES_LOG2", str(pages_log2))
    monkeypatch.setenv("CCIX_DIRECT", str(direct))
    few = {"BaseSets": 2, "Direct": 1} if direct else {}
    run(
        "isthmus:ccix:ccix",
        "ccix_axi_bench",
        "ccix_axi_virtual_tb",
        parameters={"Places": 16, "Virtual": 1, "PagesLog2": pages_log2, "Ahead": ahead, **few},
        extra_sources=[HERE / "ccix_cached_bench.sv", HERE / "ccix_axi_bench.sv"],
    )


def test_ccix_log() -> None:
    run("isthmus:ccix:ccix", "ccix_log", "ccix_log_tb", parameters={"Slots": 8, "Depth": 16})


def test_ccix_handover() -> None:
    run("isthmus:ccix:ccix", "ccix_handover", "ccix_handover_tb", parameters={"Depth": 16})


@pytest.mark.parametrize("tries", [15, 2])
def test_ccix_retry(monkeypatch: pytest.MonkeyPatch, tries: int) -> None:
    monkeypatch.setenv("CCIX_TRIES", str(tries))
    run(
        "isthmus:ccix:ccix",
        "ccix_retry_bench",
        "ccix_retry_tb",
        parameters={"Tries": tries, "Wait": 20 if tries > 2 else 400},
        extra_sources=[HERE / "ccix_retry_bench.sv"],
    )
