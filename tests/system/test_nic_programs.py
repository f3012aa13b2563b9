# SPDX-License-Identifier: Apache-2.0
"""The program that receives UDP streams: over the gateware, and what it says where there is no board."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from isthmus import bootstrap, platforms
from isthmus.bench.runner import model
from isthmus.paths import ROOT
from isthmus.roads.nanet.bench import Stream, parameters, scenario
from isthmus.roads.nanet.platform import top

pytestmark = pytest.mark.deterministic

Start = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def start() -> Start:
    """Runs an example of a crate with these arguments."""
    cargo = bootstrap.find_cargo()
    assert cargo is not None
    built: dict[str, str] = {}

    def run(example: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        if example not in built:
            # As cargo test builds it: linked for a release it would take a minute, more than it then saves.
            command = [cargo, "build", "--locked", "--quiet", "--workspace"]
            command += ["--example", example, "--message-format", "json"]
            made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
            lines = [json.loads(line) for line in made.stdout.splitlines()]
            [built[example]] = [line["executable"] for line in lines if line.get("executable")]
        return subprocess.run([built[example], *arguments], check=False, capture_output=True, text=True)

    return run


def _scenario(tmp_path: Path, ports: int, **changes: object) -> str:
    platform = platforms.load("nanet")
    stream = Stream(1024, ports=ports)
    made = scenario(platform, "isthmus", stream, model(top(platform), parameters(platform, "isthmus", ports)))
    for key, value in changes.items():
        made["workload"][key] = value
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(made))
    return str(path)


@pytest.mark.parametrize("ports", [1, 2])
def test_the_program_of_a_board_receives_every_datagram_over_the_gateware(
    start: Start, tmp_path: Path, ports: int
) -> None:
    done = start("nic_on_gateware", _scenario(tmp_path, ports))
    assert done.returncode == 0, done.stderr
    *found, last = done.stdout.splitlines()
    assert found == [f"port {port}: 200 datagrams of 1024 bytes, 0 lost" for port in range(ports)]
    end = re.fullmatch(r"0 wrong, after ([\d.]+) ms", last)
    assert end is not None, last
    # 200 of them, 10 us apart, and the last one's way.
    assert 1.99 < float(end[1]) < 2.05


def test_a_scenario_of_another_program_is_refused(start: Start, tmp_path: Path) -> None:
    done = start("nic_on_gateware", _scenario(tmp_path, 1, memory="gpu"))
    assert done.returncode != 0
    assert "workload.memory" in done.stderr


def test_the_program_of_a_board_says_what_is_wrong_in_one_line(start: Start) -> None:
    done = start("nic_receive", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: nic_receive [OPTIONS] ADDRESS" in done.stdout
    for arguments, expected in [
        (["fffffff0:00:00.0"], "no PCI function fffffff0:00:00.0: lspci -D lists what there is"),
        (["--ports", "5", "01:00.0"], '--ports "5": expected 1 to 4'),
        (["--port", "1"], "--port: no such option; see --help"),
        ([], "no PCI address; see --help"),
    ]:
        done = start("nic_receive", *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"nic_receive: {expected}\n"
