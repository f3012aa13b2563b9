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

pytestmark = pytest.mark.deterministic

Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program on so many hosts and links; `faults` go to the scenario, the rest to the program."""
    cargo = bootstrap.find_cargo()
    assert cargo is not None
    # As cargo test builds it: linked for a release it would take a minute, more than it then saves.
    command = [cargo, "build", "--locked", "--quiet", "--workspace"]
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
        wait_us: float | None = None,
        **settings: int,
    ) -> dict[str, Any]:
        loaded = platforms.load(platform)
        made = models(loaded, profile, links, hosts)
        transfers = Transfers("sort", size=4096, hosts=hosts, links=links)
        text = scenario(loaded, profile, transfers, made["rdma_ni"], made["link_switch"], faults=faults or {})
        if wait_us is not None:
            text["interface"] |= {"probe_us": wait_us, "lost_us": wait_us}
        path = Path(folder / "scenario.json")
        path.write_text(json.dumps(text))
        words = [f"{key}={value}" for key, value in settings.items()]
        command = [program, str(path), name, *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return start


@pytest.mark.parametrize(("profile", "links"), [("isthmus", 2), ("as-published", 1)])
def test_a_fence_ends_when_all_is_in_the_far_memory_although_its_bus_is_busy(
    run: Run, profile: Profile, links: int
) -> None:
    found = run("fence", profile=profile, links=links, rounds=100)
    assert found["early"] == 0, found
    # The other host's blocks are in the way: else nothing would be shown.
    alone = run("fence", profile=profile, links=links, rounds=10, idle=1)
    assert found["fence_ps"][1] > 1.1 * alone["fence_ps"][1]


def test_a_fence_ends_when_all_is_in_the_far_memory_over_pci_express_too(run: Run) -> None:
    assert run("fence", platform="rdma-pcie", rounds=100)["early"] == 0


@pytest.mark.parametrize("resets", [0, 1])
def test_a_program_that_starts_again_works_although_its_peer_has_its_session_number_open(
    run: Run, resets: int
) -> None:
    # After a reset of the peer the gateware has counted to the number that the program begins with.
    found = run("restart", resets=resets)
    assert found["right"] == found["asked"]
    assert found["sessions_ended"] == resets
    assert found["records"] == 0


def test_a_flow_goes_on_when_its_dead_link_is_taken_out_of_use(run: Run) -> None:
    cut = {"resets": [[0, 1, 30_000, 10_000_000]]}
    found = run("links", faults=cut, wait_us=100, until_us=600)
    assert found["up"] == 0b01
    assert found["stuck"] > 0, "what waits for the link waits for ever"
    assert 0 < found["told_lost"] == found["records"] < found["packets"]
    assert found["right_after"] == found["asked_after"]
    assert found["none_refused"]


def _right(found: dict[str, Any]) -> None:
    assert (found["wrong"], found["wrong_messages"]) == (0, 0)


@pytest.mark.parametrize("links", [1, 2, 3, 4])
def test_random_programs_leave_every_memory_as_it_must_be(run: Run, links: int) -> None:
    found = run("random", hosts=4, links=links, wait_us=100, transfers=500, seed=links)
    _right(found)
    assert (found["again"], found["reopened"]) == (0, 0)
    assert min(found["keyed"], found["messages"]) > 50
    assert found["reads"] > 0
    assert found["messages_taken"] + found["messages_refused"] == found["messages_sent"]


def test_random_programs_of_eight_hosts_fill_queues_and_lose_nothing_that_was_not_refused(run: Run) -> None:
    found = run("random", hosts=8, links=2, wait_us=100, transfers=1_000, slots=4)
    _right(found)
    assert (found["again"], found["reopened"]) == (0, 0)
    assert found["messages_taken"] + found["messages_refused"] == found["messages_sent"]
    assert found["messages_refused"] > 0, "no queue was full"


def test_keyed_writes_in_number_take_as_much_room_as_they_have_given_back(run: Run) -> None:
    found = run("random", hosts=3, transfers=1_500, keyed=1)
    assert (found["wrong"], found["again"], found["keyed"]) == (0, 0, found["transfers"])


@pytest.mark.parametrize("event", ["restarts", "resets"])
def test_random_programs_are_right_through_restarts_and_resets(run: Run, event: str) -> None:
    found = run("random", hosts=4, transfers=600, timeout_us=2_000, wait_us=100, **{event: 2})
    _right(found)
    assert found["restarts"] > 0


def test_random_programs_are_right_over_pci_express(run: Run) -> None:
    found = run("random", hosts=4, platform="rdma-pcie", wait_us=100, transfers=1_000)
    _right(found)
    assert (found["again"], found["reopened"]) == (0, 0)


def test_a_read_over_the_gateware_brings_what_is_there_and_nothing_that_may_not_be_read(run: Run) -> None:
    found = run("read")
    assert (found["right"], found["right_at_once"]) == (found["asked"], found["at_once"])
    assert (found["refused"], found["untouched"], found["records"]) == (4, True, 0)
    assert found["served"] == [found["asked"] + found["at_once"], 4, 0]
    assert found["beside"] > 5, "others write to both meanwhile"


def test_an_interrupt_wakes_a_program_that_finds_all_that_was_sent_before_it(run: Run) -> None:
    found = run("interrupt")
    assert found["woken"] == found["rounds"]
    assert found["masked"] == found["rounds"], "one that is masked is pending, and wakes nobody"
    assert found["clear"]
    assert found["unmasked"], "one that was pending before is not waited for"


@pytest.mark.parametrize("size", [64, 512, 4096])
def test_benchmark_mode_stamps_each_write_where_it_passes_and_changes_no_other_byte(
    run: Run, size: int
) -> None:
    loaded = platforms.load("forth-rdma")
    found: Any = run("stamps", bytes=size)
    word_ps = 1e6 / loaded.fpga.link_clock.value
    through = set()
    for each in found:
        arrived, left, written, sent = each["stamps"]
        assert each["refused"] == 0
        assert each["rest_is_zero"] == (size <= 512), "each packet has stamps of its own"
        through.add(left - arrived)
        way = [each["begin_ps"], written * 1e3, sent * 1e3, arrived * word_ps, left * word_ps, each["end_ps"]]
        assert way == sorted(way)
        # A transceiver and a cable, and no more, are between the link that takes a word and the switch.
        assert 0 < way[3] - way[2] < 500e3
    assert through == {6}, "cycles of an idle switch"


def test_hosts_that_stress_each_other_leave_their_bus_no_pause(run: Run) -> None:
    found: Any = run("stress", hosts=2, links=4, lasting_us=500)
    for host in found:
        assert (host["right"], host["refused"], host["error"]) == (True, 0, False)
        assert host["bytes"] == 4096 * host["transfers"]
        assert host["lasted_ns"] >= 500_000
        assert min(host["busy"]) >= 0.96, "the bus does not rest"
