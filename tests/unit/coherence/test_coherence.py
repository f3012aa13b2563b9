# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run

HERE = Path(__file__).parent
SCORE = [HERE / "coherence_score_pkg.sv", HERE / "coherence_score.sv"]


# Two links also carry lines in tests/system/test_coherent_link.py, in every run.
@pytest.mark.parametrize(("transactions", "links"), [(64, 1), pytest.param(64, 2, marks=pytest.mark.release)])
def test_coherence_pair(transactions: int, links: int) -> None:
    run(
        "isthmus:coherence:coherence",
        "coherence_pair_bench",
        "coherence_pair_tb",
        parameters={"NumTbe": transactions, "NumLinks": links},
        extra_sources=[HERE / "coherence_pair_bench.sv"],
    )


@pytest.mark.parametrize("ways", [2])
def test_coherence_agents(ways: int) -> None:
    run(
        "isthmus:coherence:coherence",
        "coherence_agents_bench",
        "coherence_agents_tb",
        parameters={"Ways": ways},
        extra_sources=[*SCORE, HERE / "coherence_agents_bench.sv"],
    )


def test_coherence_join() -> None:
    run(
        "isthmus:coherence:coherence",
        "coherence_join_bench",
        "coherence_join_tb",
        extra_sources=[HERE / "coherence_join_bench.sv"],
    )


def test_coherence_io() -> None:
    run(
        "isthmus:coherence:coherence",
        "coherence_io_bench",
        "coherence_io_tb",
        extra_sources=[HERE / "coherence_io_bench.sv"],
    )


@pytest.mark.parametrize("links", [1, pytest.param(2, marks=pytest.mark.release)])
def test_coherence_trace(links: int) -> None:
    run(
        "isthmus:coherence:coherence",
        "coherence_trace",
        "coherence_trace_tb",
        parameters={"NumLinks": links, "Depth": 16},
    )


@pytest.mark.parametrize(("width", "streams"), [(64, 4), pytest.param(512, 1, marks=pytest.mark.release)])
def test_coherence_axi(width: int, streams: int) -> None:
    run(
        "isthmus:coherence:coherence",
        "coherence_axi_bench",
        "coherence_axi_tb",
        parameters={"DataWidth": width, "Streams": streams},
        extra_sources=[HERE / "coherence_axi_bench.sv"],
    )


# Benchmarks with more messages: benchmarks/coherence_agents.py.
@pytest.mark.parametrize("links", [2, pytest.param(1, marks=pytest.mark.release)])
def test_coherence_linked(links: int) -> None:
    run(
        "isthmus:board:eci_peer",
        "coherence_linked_bench",
        "coherence_linked_tb",
        parameters={"NumLinks": links},
        extra_sources=[*SCORE, HERE / "blocklink_score.sv", HERE / "coherence_linked_bench.sv"],
    )
