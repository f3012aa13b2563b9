# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from bench import run


@pytest.mark.parametrize(
    "parameters",
    [
        {"DataWidth": 256},
        pytest.param({"DataWidth": 128}, marks=pytest.mark.release),
        pytest.param({"DataWidth": 512}, marks=pytest.mark.release),
        pytest.param({"DataWidth": 256, "Firmware": 1}, marks=pytest.mark.release),
    ],
    ids=["256", "128", "512", "as-published"],
)
def test_puts_between_nodes(parameters: dict[str, int]) -> None:
    run("isthmus:board:apenet_node", "apenet_node", "apenet_node_tb", parameters={"Dims": 1, **parameters})


@pytest.mark.parametrize(
    "width", [256, pytest.param(128, marks=pytest.mark.release), pytest.param(512, marks=pytest.mark.release)]
)
def test_messages_into_a_list(width: int) -> None:
    parameters = {"Dims": 1, "DataWidth": width}
    run("isthmus:board:apenet_node", "apenet_node", "apenet_list_tb", parameters=parameters)


def test_puts_over_real_links() -> None:
    run(
        "isthmus:board:apenet_node",
        "apenet_links_bench",
        "apenet_links_tb",
        extra_sources=[Path(__file__).parent / "apenet_links_bench.sv"],
        more_cores=["isthmus:torus:link"],
    )


@pytest.mark.parametrize(
    "width", [256, pytest.param(128, marks=pytest.mark.release), pytest.param(512, marks=pytest.mark.release)]
)
def test_puts_that_bring_their_payload(width: int) -> None:
    parameters = {"Dims": 1, "DataWidth": width}
    run("isthmus:board:apenet_node", "apenet_node", "apenet_inline_tb", parameters=parameters)
