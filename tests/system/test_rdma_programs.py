# SPDX-License-Identifier: Apache-2.0
"""Host programs over the gateware, each of which holds one promise of the RDMA interface.

The programs are in `crates/isthmus-road/examples/rdma_programs`; they count, this says what must come out.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isthmus import bootstrap, platforms
from isthmus.paths import ROOT
from isthmus.platforms import Profile
from isthmus.roads.rdma.bench import Transfers, models, scenario

Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program on so many hosts and links; `faults` go to the scenario, the rest to the program."""
    cargo = bootstrap.find_cargo()
    assert cargo is not None
    command = [cargo, "build", "--release", "--locked", "--quiet", "-p", "isthmus-road"]
    command += ["--example", "rdma_programs", "--message-format", "json"]
    built = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    lines = [json.loads(line) for line in built.stdout.splitlines()]
    [program] = [line["executable"] for line in lines if line.get("executable")]
    folder = tmp_path_factory.mktemp("programs")

    def start(
        name: str,
        hosts: int = 3,
        links: int = 2,
        platform: str = "forth-rdma",
        profile: Profile = "isthmus",
        faults: dict[str, Any] | None = None,
        **settings: int,
    ) -> dict[str, Any]:
        loaded = platforms.load(platform)
        made = models(loaded, profile, links, hosts)
        transfers = Transfers("sort", size=4096, hosts=hosts, links=links)
        text = scenario(loaded, profile, transfers, made["rdma_ni"], made["link_switch"], faults=faults or {})
        path = Path(folder / "scenario.json")
        path.write_text(json.dumps(text))
        words = [f"{key}={value}" for key, value in settings.items()]
        done = subprocess.run([program, str(path), name, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return start


@pytest.mark.parametrize("links", (1, 2))
@pytest.mark.parametrize("profile", ("isthmus", "as-published"))
def test_a_fence_ends_when_all_is_in_the_far_memory_although_its_bus_is_busy(
    run: Run, profile: Profile, links: int
) -> None:
    found = run("fence", profile=profile, links=links, rounds=100)
    assert found["early"] == 0, found
    # The other host's blocks are in the way: else nothing would be shown.
    assert found["fence_ps"][1] > 1.3 * run("fence", profile=profile, links=links, rounds=10, idle=1)["fence_ps"][1]


def test_a_fence_ends_when_all_is_in_the_far_memory_over_pci_express_too(run: Run) -> None:
    assert run("fence", platform="rdma-pcie", rounds=100)["early"] == 0
