# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(
    ("top", "parameters"),
    [
        ("nanet_guard", {}),
        ("nanet_store", {}),
        ("nanet_pack", {"DataWidth": 64}),
        ("nanet_pack", {"DataWidth": 512}),
    ],
    ids=["guard", "store", "pack-64", "pack-512"],
)
def test_stages_behind_a_port(top: str, parameters: dict[str, int]) -> None:
    run("isthmus:nanet:nanet", top, "nanet_stages_tb", parameters=parameters)


@pytest.mark.parametrize(("width", "word", "stores"), [(64, 32, 0), (128, 32, 1), (256, 64, 2)])
def test_nanet_queue(width: int, word: int, stores: int) -> None:
    parameters = {"DataWidth": width, "WordWidth": word, "Depth": 64, "Stores": stores}
    run("isthmus:nanet:nanet", "nanet_queue", "nanet_queue_tb", parameters=parameters)


def test_nanet_ends() -> None:
    run("isthmus:nanet:nanet", "nanet_ends", "nanet_ends_tb", parameters={"Width": 16, "UnderWay": 8})


@pytest.mark.parametrize(("width", "slots", "lines"), [(24, 4096, 4), (6, 16, 1), (11, 512, 8)])
def test_nanet_calendar(width: int, slots: int, lines: int) -> None:
    parameters = {"TimeWidth": width, "Slots": slots, "Lines": lines}
    run("isthmus:nanet:nanet", "nanet_calendar", "nanet_calendar_tb", parameters=parameters)


def test_nanet_release() -> None:
    run("isthmus:nanet:nanet", "nanet_release", "nanet_release_tb", parameters={"Slots": 512})


def test_nanet_buffers() -> None:
    run("isthmus:nanet:nanet", "nanet_buffers", "nanet_buffers_tb")


def test_nanet_memory() -> None:
    parameters = {"NumLists": 2, "DataWidth": 256}
    run("isthmus:nanet:nanet", "nanet_memory", "nanet_memory_tb", parameters=parameters)


@pytest.mark.parametrize(("ports", "width", "window"), [(4, 128, 1024), (2, 64, 512), (3, 512, 512)])
def test_nanet_merge(ports: int, width: int, window: int) -> None:
    parameters = {"NumPorts": ports, "DataWidth": width, "UsageW": 10, "Window": window}
    run("isthmus:nanet:nanet", "nanet_merge", "nanet_merge_tb", parameters=parameters)
