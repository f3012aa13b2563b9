# SPDX-License-Identifier: Apache-2.0
"""Puts into a circular list of buffers of another node: messages of several programs over a built ring.

The engine compares each message that a program still has, and fails a run in which a message has no end, two,
or one that the policy does not allow (docs/explanation/cores/apenet.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.bench import runner
from isthmus.errors import UserError
from isthmus.roads.apenet.bench import TOP, Puts, parameters, scenario

pytestmark = pytest.mark.deterministic


def run(puts: Puts, name: str = "apelink-gen3") -> dict[str, Any]:
    """One run, its model built where it is not."""
    platform = platforms.load(name)
    model = runner.model(TOP, parameters(platform, "isthmus"))
    (found,) = native.run_scenario(scenario(platform, "isthmus", replace(puts, seed=3), model))
    return found


def burst(policy: str, *, size: int = 1000, recycles: bool = True, **changes: Any) -> dict[str, int]:
    """The counters of 40 messages of each of two programs, into a list of 8 buffers."""
    asked = {"buffers": 8, "policy": policy, "recycles": recycles, **changes}
    puts = Puts(size, test="burst", nodes=3, window=8, target="list", burst=asked, iterations=40)
    found = run(puts)
    counters = {
        name.removeprefix("list."): count
        for name, count in found["counters"].items()
        if name.startswith("list.") and count
    }
    kept = found["checked"]["bytes"] // size
    return {**counters, "compared": kept}


def test_hold_delivers_every_message_of_two_sources() -> None:
    found = burst("hold")
    assert found == {"posted": 80, "frames_good": 80, "delivered": 80, "compared": 80}


def test_a_program_that_gives_nothing_back_stops_the_network_until_it_closes() -> None:
    found = burst("hold", recycles=False)
    assert found["delivered"] == found["compared"] == 8
    # Queue, buffers of flits and posts are full of what waits: more than the queue's 8 KiB, and not all.
    assert 8 + 8 < found["posted"] < 80
    assert found["closed"] == found["posted"] - 8


def test_newest_keeps_what_came_first_and_counts_the_rest() -> None:
    found = burst("newest", recycles=False)
    assert found == {"posted": 80, "frames_good": 80, "delivered": 8, "no_buffer": 72, "compared": 8}
    slow = burst("newest", size=64)
    assert slow["delivered"] + slow.get("no_buffer", 0) == slow["posted"] == 80
    assert slow["compared"] == slow["delivered"] >= 8


def test_oldest_keeps_what_came_last_and_counts_what_it_gave_up() -> None:
    found = burst("oldest", recycles=False)
    assert found == {"posted": 80, "frames_good": 80, "delivered": 80, "overwritten": 72, "compared": 8}
    read = burst("oldest", size=64)
    assert read["compared"] + read.get("overtaken", 0) == read["delivered"] == read["posted"] == 80


def test_with_another_key_nothing_is_written() -> None:
    found = burst("hold", wrong_key=True)
    assert found == {"posted": 80, "refused": 80, "compared": 0}


@pytest.mark.parametrize("name", ["apelink", "apelink-gen3"])
def test_a_message_takes_as_long_as_a_put_to_an_address(name: str) -> None:
    place, message = (
        run(Puts(64, test="ping-pong", iterations=5, target=to), name) for to in ("address", "list")
    )
    # Four clocks to the first write, of 4.7 ns; the rest is the bus's rhythm.
    more = message["latency_ps"]["avg"] - place["latency_ps"]["avg"]
    assert 0 <= more < 60e3
    one = run(Puts(64, iterations=3, target="list"), name)
    assert sum(stage["ps"] for stage in one["stages"]) == one["stages_total_ps"]


def test_messages_fill_the_link() -> None:
    found = run(Puts(4096, window=8, iterations=40, target="list"))
    assert found["throughput"]["payload_bit_s"] / 8 > 0.95 * found["workload"]["link_limit_byte_s"]
    assert found["checked"]["wrong"] == found["checked"]["lost"] == 0


@pytest.mark.parametrize(
    ("puts", "message"),
    [
        (Puts(4097, target="list"), "size: 4097 bytes; a message into a list has 1 to 4096"),
        (Puts(64, test="get", target="list"), "target: list; test get has a place"),
        (Puts(64, far="gpu", target="list"), "a list is in the host's memory here"),
        (Puts(64, test="burst"), "workload.list"),
    ],
)
def test_what_a_list_cannot_take_is_refused_in_one_line(puts: Puts, message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(puts)
