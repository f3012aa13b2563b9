# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({"DataWidth": 128}, marks=pytest.mark.release),
        {"DataWidth": 64},
        pytest.param({"DataWidth": 512}, marks=pytest.mark.release),
        {"Stores": 2, "Firmware": 1},
    ],
    ids=["128", "64", "512", "as-published"],
)
def test_udp_into_memory(parameters: dict[str, int]) -> None:
    run(
        "isthmus:board:nanet_nic",
        "nanet_nic",
        "nanet_nic_tb",
        parameters={"Echo": 1, **parameters},
    )


@pytest.mark.parametrize(
    "parameters",
    [{"DataWidth": 128}, pytest.param({"DataWidth": 512}, marks=pytest.mark.release)],
    ids=["128", "512"],
)
def test_udp_into_memory_from_10_gigabit(parameters: dict[str, int]) -> None:
    run(
        "isthmus:board:nanet_nic_10g",
        "nanet_nic_10g",
        "nanet_nic_tb",
        parameters=parameters,
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"DataWidth": 128},
        pytest.param({"DataWidth": 64}, marks=pytest.mark.release),
        pytest.param({"DataWidth": 512}, marks=pytest.mark.release),
        pytest.param({"DataWidth": 128, "Regions": 16}, marks=pytest.mark.release),
    ],
    ids=["128", "64", "512", "regions"],
)
def test_udp_of_a_program(parameters: dict[str, int]) -> None:
    run("isthmus:board:nanet_nic", "nanet_nic", "nanet_send_tb", parameters={"Send": 1, **parameters})


@pytest.mark.parametrize(
    "parameters",
    [
        {"DataWidth": 128},
        pytest.param({"DataWidth": 512, "Regions": 16}, marks=pytest.mark.release),
    ],
    ids=["128", "512-regions"],
)
def test_udp_of_a_program_at_10_gigabit(parameters: dict[str, int]) -> None:
    run("isthmus:board:nanet_nic_10g", "nanet_nic_10g", "nanet_send_tb", parameters={"Send": 1, **parameters})


def test_udp_both_ways_behind_pcie() -> None:
    run("isthmus:board:nanet_nic", "nanet_nic", "nanet_nic_pcie_tb", parameters={"Send": 1, "DataWidth": 64})


def test_pairs_of_events_and_candidates() -> None:
    run("isthmus:board:nanet_nic", "nanet_nic", "nanet_pairs_tb", parameters={"Search": 1, "DataWidth": 128})
