# SPDX-License-Identifier: Apache-2.0
"""A program at each end of a coherent link, over the gateware: what the host library promises of it.

The programs are in `crates/isthmus-road/examples/coherent_programs.rs`; they compare every byte, and stop
at the first wrong one.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import bootstrap
from isthmus.paths import ROOT
from isthmus.roads.eci import bench

pytestmark = pytest.mark.deterministic

Run = Callable[..., list[str]]
UPDATES, ROUNDS, ATOMICS, COUNTS = 200, 50, 200, 200
"""As the programs have them."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs both programs, and gives the lines that they print."""
    cargo = bootstrap.find_cargo()
    assert cargo is not None
    command = [cargo, "build", "--locked", "--quiet", "--workspace"]
    command += ["--example", "coherent_programs", "--message-format", "json"]
    built = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    lines = [json.loads(line) for line in built.stdout.splitlines()]
    [program] = [line["executable"] for line in lines if line.get("executable")]
    folder = tmp_path_factory.mktemp("coherent")

    def start(
        links: int = 1,
        policy: str = "balance",
        faults: dict[str, Any] | None = None,
        operation: bench.Operation = "device-read",
        homes: str = "one",
    ) -> list[str]:
        transfers = bench.Transfers(operation, driver="cached", links=links, policy=policy, homes=homes)
        point = bench.Point(transfers, "isthmus", bench.loaded())
        models = bench.models(point.platform, "isthmus", cached=True, links=links, homes=homes)
        path: Path = folder / "scenario.json"
        path.write_text(json.dumps(bench.scenario(point, models, faults=faults or {})))
        done = subprocess.run([program, str(path)], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return start


def check(said: list[str]) -> dict[str, str]:
    """What holds whatever the link does; the rest as words to their values."""
    assert "home: after a flush 0x6000" in said
    # The agent counted to 200, of which no store of the home to the same line undid one; then it swapped.
    assert "home: counter 999" in said
    assert f"home: beside it {UPDATES - 1}" in said
    assert f"agent: old values {UPDATES - 1} {UPDATES} {UPDATES} 1000" in said
    assert "home: atomic: this node has no atomics of such a region" in said
    # Its atomics of one word, while the home stored to the word beside it.
    assert f"home: sum {ATOMICS * (ATOMICS + 1) // 2}" in said
    assert f"home: beside the sum {ATOMICS - 1}" in said
    assert "home: seen before its end true" in said
    # Both ends counted in the same words: with the agent's cache and without, and each change is there.
    assert f"home: together {2 * COUNTS}" in said
    assert f"home: together, not cached {2 * COUNTS}" in said
    assert f"home: old values {2 * COUNTS} {2 * COUNTS} 1000" in said
    assert "home: together in the end 1000" in said
    assert "agent: changed to 123" in said
    # Bytes 3 and 4 were stored alone.
    assert "home: register 0x112233bbaa667788" in said
    assert "agent: register 9" in said
    assert "agent: store cut off true" in said
    assert f"agent: rounds {ROUNDS}" in said
    assert "home: interrupts left None" in said
    assert "agent: 128 bytes at 0x40: whole lines of 128 bytes below 0x80000 expected" in said
    found = {name: value for name, _, value in (line.rpartition(" ") for line in said)}
    # The ends met: where the home loaded and stored instead, changes were lost.
    assert COUNTS <= int(found["home: by a load and a store"]) < 2 * COUNTS
    return found


def test_memory_words_registers_and_interrupts_are_shared(run: Run) -> None:
    found = check(run())
    assert int(found["bad blocks:"]) == 0
    # A line that the agent has given up comes without a round trip to it.
    assert int(found["home: flushed ns"]) < 100 < int(found["home: kept ns"])
    # A word of a line that the agent has needs no link; of another, the line comes first.
    assert int(found["agent: atomic of an own line ns"]) < 40
    assert 100 < int(found["agent: atomic of a line of the home ns"]) < 250
    assert int(found["home: update of an own line ns"]) < 100
    # Two interrupts of 68 ns, two lines dirty at the other side of 140 ns each, two stores to them.
    assert 300 < int(found["home: round ns"]) < 1000


def test_the_fpgas_memory_is_shared_with_the_hosts_cache(run: Run) -> None:
    found = check(run(operation="host-read"))
    # The host's words of a line in its cache need no link: a core's way twice, and the cache.
    assert 2 * 10 < int(found["agent: atomic of an own line ns"]) < 60
    # 90 ns of memory at the FPGA, and a core's way, are more than what the host's memory needs.
    assert 200 < int(found["agent: atomic of a line of the home ns"]) < 350


@pytest.mark.parametrize("operation", ["device-read", "host-read"])
@pytest.mark.parametrize("policy", bench.POLICIES)
def test_they_are_over_two_links_with_bad_blocks(run: Run, policy: str, operation: bench.Operation) -> None:
    faults = {
        f"{way}{link}.block_error": {"rate": 0.01} for way in ("to_host", "to_fpga") for link in ("", "_1")
    }
    found = check(run(links=2, policy=policy, faults=faults, operation=operation))
    assert int(found["bad blocks:"]) > 10


@pytest.mark.parametrize(
    ("links", "policy"),
    [(1, "balance"), *(pytest.param(2, policy, marks=pytest.mark.release) for policy in bench.POLICIES)],
)
def test_both_ends_access_both_memories_at_random_with_bad_blocks(run: Run, links: int, policy: str) -> None:
    """No word is older than its last store that was answered, newer than the last one made, or undone."""
    faults = {
        f"{way}{link}.block_error": {"rate": 0.01}
        for way in ("to_host", "to_fpga")
        for link in ("", "_1")[:links]
    }
    said = run(homes="both", faults=faults, links=links, policy=policy)
    found = {name: int(value) for name, _, value in (line.rpartition(" ") for line in said)}
    assert found["bad blocks:"] > 10
    # The other end stored to the same lines meanwhile.
    assert found["of them raced:"] > 300
    assert found["words checked:"] > 10_000
    for end in ("host", "fpga"):
        assert all(
            found[f"{end}: {what}"] > 100
            for what in ("load", "store", "flush", "atomic", "update", "together")
        )
