# SPDX-License-Identifier: Apache-2.0
"""A soak of hours that was stopped goes on where it was, and on no other soak's account."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Self

import pytest
from isthmus.errors import UserError


@pytest.fixture(scope="module")
def network(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("rdma_network")


class Here:
    """A pool that runs what it is given at once, one at a time."""

    def __init__(self, jobs: int) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: object) -> None: ...

    map = staticmethod(map)

    def shutdown(self, cancel_futures: bool) -> None: ...


@pytest.fixture
def seeds(network: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Seeds of the parts that ran; each sends 400 000 packets, the third is stopped once."""
    ran: list[int] = []

    def run_part(scenario: dict[str, int]) -> dict[str, int]:
        ran.append(scenario["seed"])
        if ran == [1, 2, 3]:
            raise KeyboardInterrupt
        return {"packets_sent": 400_000, "packets_lost": scenario["seed"]}

    monkeypatch.setattr(network, "run_part", run_part)
    monkeypatch.setattr(network, "part", lambda packets, clean, seed: {"packets": packets, "seed": seed})
    monkeypatch.setattr(network, "ProcessPoolExecutor", Here)
    return ran


def test_a_stopped_soak_goes_on_behind_the_parts_that_ended(
    network: ModuleType, seeds: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "soak.json"
    with pytest.raises(KeyboardInterrupt):
        network.soak(1_500_000, False, 1, kept)
    network.soak(1_500_000, False, 1, kept)
    # What three parts of 400 000 lack of 1 500 000 is sent by a fourth.
    assert seeds == [1, 2, 3, 3, 4]
    assert '"packets_sent": 1600000' in capsys.readouterr().out


def test_a_soak_that_has_ended_runs_nothing_again(
    network: ModuleType, seeds: list[int], tmp_path: Path
) -> None:
    seeds.append(0)
    for _ in range(2):
        network.soak(800_000, False, 1, tmp_path / "soak.json")
    assert seeds == [0, 1, 2]


def test_the_account_of_another_soak_is_refused(
    network: ModuleType, seeds: list[int], tmp_path: Path
) -> None:
    kept = tmp_path / "soak.json"
    network.soak(400_000, False, 1, kept)
    with pytest.raises(UserError, match="other packets, faults or models; name another file"):
        network.soak(400_001, False, 1, kept)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"soak": "", "seeds": 3, "counters": {}}', "\x00"])
def test_a_file_that_is_no_account_is_refused(
    network: ModuleType, seeds: list[int], text: str, tmp_path: Path
) -> None:
    kept = tmp_path / "soak.json"
    kept.write_text(text)
    with pytest.raises(UserError, match=r"soak.json: not the account of a soak"):
        network.soak(400_000, False, 1, kept)
    assert seeds == []
