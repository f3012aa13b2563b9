# SPDX-License-Identifier: Apache-2.0
"""One line's life over the gateware: what both tracers have seen is what the protocol's table says.

Programs at both ends read the tracers (`crates/isthmus-road/src/eci/life.rs`); the run fails where a message
is not received exactly once, or a tracer has lost one.
"""

from __future__ import annotations

from typing import Any

import pytest
from isthmus.coherence import Table, load
from isthmus.roads.eci import bench, life

pytestmark = pytest.mark.deterministic

ERRORS = 0.02
"""Of the blocks; with them every message still comes once."""


def step(table: Table, state: tuple[str, str, str], at_cache: bool, does: str) -> tuple[Any, list[str]]:
    """The state of cache, home and directory after an access of a line at rest, and its messages in order."""
    cache, home, directory = state
    remote = {(row.state, row.input): row for row in table.remote}
    codes = {message.name: message for message in table.messages}
    if at_cache:
        row = remote[cache, does]
        if row.does == "hit":
            return (row.next, home, directory), []
        if codes[row.does].circuit not in (2, 6):
            [found] = [r for r in table.responses if (r.message, r.phase) == (row.does, "idle")]
            after = next(effect for effect in found.effects if effect in ("I", "S", "O"))
            return (row.next, home, after), [row.does]
        [asked] = [
            r for r in table.requests if (r.directory, r.home, r.message) == (directory, home, row.does)
        ]
        answer = asked.does.removesuffix(" g")
        took = remote[row.next, answer]
        assert took.does == "g"
        return (took.next, asked.next_home, asked.next_directory), [row.does, answer, "GACK"]
    if does == "load" and home != "I":
        return state, []
    sent: list[str] = []
    while True:
        [row] = [r for r in table.core if (r.state, r.input) == (directory, does)]
        if row.does == "hit":
            return (cache, row.next, directory), sent
        gone = remote[cache, row.does]
        [heard] = [r for r in table.responses if (r.message, r.phase) == (gone.does, "forward")]
        sent += [row.does, gone.does]
        cache = gone.next
        directory = next(effect[0] for effect in heard.effects if effect in ("I", "S?", "O?"))
        if gone.does == "HAKO" and does == "load":
            # The answer's line is the home's copy.
            return (cache, "S", directory), sent


def name(message: dict[str, Any]) -> str:
    dirty = {True: " dirty", False: " clean"} if message["name"] == "PEMD" else {}
    return str(message["name"]) + dirty.get(message["dirty"], "")


CASES = [
    (1, "balance", "one", "device-read", 0.0),
    (1, "balance", "one", "host-read", 0.0),
    (1, "balance", "one", "device-read", ERRORS),
    (1, "balance", "both", "device-read", 0.0),
    (1, "balance", "both", "host-read", ERRORS),
    (2, "balance", "one", "device-read", 0.0),
    (2, "partition", "one", "device-read", ERRORS),
    pytest.param(2, "balance", "both", "device-read", ERRORS, marks=pytest.mark.release),
    pytest.param(2, "partition", "both", "host-read", 0.0, marks=pytest.mark.release),
]


@pytest.mark.parametrize(("links", "policy", "homes", "operation", "errors"), CASES)
def test_states_and_messages_are_those_of_the_table(
    links: int, policy: str, homes: str, operation: bench.Operation, errors: float
) -> None:
    points = bench.lives(
        [bench.loaded()],
        ["isthmus"],
        operation,
        8,
        links=links,
        policies=[policy],
        errors=[errors],
        homes=homes,
    )
    [measured] = bench.measure(points).results
    lives = measured.workload["life"]
    assert (measured.workload["bad_blocks"] > 0) == (errors > 0)
    assert len(lives) == 8
    table = load()
    circuits = {message.name: message.circuit for message in table.messages}
    seen: set[str] = set()
    used: set[int] = set()
    for one in lives:
        state = ("I", "I", "I")
        cache_end = one["cache_end"]
        assert cache_end == ("fpga" if operation == "device-read" else "host")
        last = 0
        for at, made in enumerate(one["steps"]):
            state, must = step(table, state, made["end"] == cache_end, made["does"])
            what = f"line {one['line']}, step {at}: {made['end']} {made['does']}"
            assert (made["cache"], made["home"], made["directory"]) == state, what
            assert not made["pinned"], what
            assert [name(message) for message in made["messages"]] == must, what
            for message in made["messages"]:
                assert message["circuit"] == circuits[message["name"]] + (one["line"] % 2 == 0), what
                assert last < message["sent"] < message["received"], what
                last = message["sent"]
                used.add(message["link"])
            seen |= set(must)
    # Every message of lines that a cache has, but HAKV, which needs a race.
    cached = {message.name for message in table.messages} - {"HAKV"}
    cached -= {m for m in cached if m in ("RLDI", "RINC", "RDEC", "RSTT", "RSTP", "RCAS", "PDAT", "PATM")}
    assert {one.split()[0] for one in seen} == cached
    assert {"PEMD clean", "PEMD dirty"} <= seen
    assert used == set(range(links))
    # Shown as it was.
    shown = life.text(bench.measure(points)) if links == 1 and not errors and homes == "one" else ""
    assert not shown or shown.count("\n") == 3 + len(lives[0]["steps"])
