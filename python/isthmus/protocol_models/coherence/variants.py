# SPDX-License-Identifier: Apache-2.0
"""Coherence protocols with one thing wrong: another table, other rules, or too little of something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from isthmus.coherence import Table
from isthmus.protocol_models.coherence.system import (
    ONE_ENTRY,
    ONE_LINE,
    ONE_WAY,
    RIGHT,
    TWO_HOMES,
    TWO_HOMES_DATA,
    TWO_LINES,
    TWO_LINES_DATA,
    Rules,
    System,
)


@dataclass(frozen=True)
class Variant:
    """A protocol with one thing wrong."""

    what: str
    change: Callable[[Table], Table] = lambda table: table
    rules: Rules = RIGHT
    system: System = ONE_LINE


def _remote_row(state: str, name: str, does: str, following: str) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        rows = [
            replace(s, does=does, next=following) if (s.state, s.input) == (state, name) else s
            for s in table.remote
        ]
        assert rows != list(table.remote)
        return replace(table, remote=tuple(rows))

    return change


def _request_rows(
    directory: str, homes: str, messages: str, does: str, home: str = "", following: str = ""
) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        rows = [
            replace(r, does=does, next_home=home or r.next_home, next_directory=following or r.next_directory)
            if r.directory == directory and r.home in homes.split() and r.message in messages.split()
            else r
            for r in table.requests
        ]
        assert rows != list(table.requests)
        return replace(table, requests=tuple(rows))

    return change


def _response_row(message: str, phase: str, effects: str) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        rows = [
            replace(r, effects=tuple(effects.split())) if (r.message, r.phase) == (message, phase) else r
            for r in table.responses
        ]
        assert rows != list(table.responses)
        return replace(table, responses=tuple(rows))

    return change


def _no_gack(table: Table) -> Table:
    remote = [replace(s, does="hit") if s.does == "g" else s for s in table.remote]
    requests = [replace(r, does=r.does.removesuffix(" g")) for r in table.requests]
    return replace(table, remote=tuple(remote), requests=tuple(requests))


VARIANTS: Mapping[str, Variant] = {
    "no-gack": Variant("the home does not wait until a grant has arrived", _no_gack),
    "silent-eviction": Variant(
        "a shared copy is evicted without VICS", _remote_row("S", "evict", "hit", "I")
    ),
    "upgrade-kept": Variant(
        "FINV meets an upgrade, which keeps its copy", _remote_row("SM", "FINV", "HAKI", "SM")
    ),
    "owner-upgrade-kept": Variant("the same of an owner", _remote_row("OM", "FINV", "HAKD", "OM")),
    "exclusive-kept": Variant("FSHR leaves a copy exclusive", _remote_row("E", "FSHR", "HAKS", "E")),
    "owner-clean": Variant("FSHR makes a dirty copy shared and clean", _remote_row("M", "FSHR", "HAKS", "S")),
    "grant-dirty-clean": Variant(
        "a dirty line is granted as clean", _request_rows("I", "M O", "RLDS", "PEMD clean g", "I", "E")
    ),
    "upgrade-of-nothing": Variant(
        "an upgrade whose copy is gone gets PACK", _request_rows("I", "I", "RUPG", "PACK g", "I", "E")
    ),
    "uncached-held": Variant(
        "an uncached load waits for a victim that is never sent", _request_rows("E", "I", "RLDI", "hold")
    ),
    "uncached-unsnooped": Variant(
        "an uncached load does not ask the owner", _request_rows("E", "I", "RLDI", "PDAT")
    ),
    "atomic-beside-copy": Variant(
        "an atomic leaves a shared copy", _request_rows("S", "I S O", "RINC", "write PATM")
    ),
    "request-not-held": Variant(
        "a load is granted while a victim is in flight",
        _request_rows("E", "I", "RLDS RLDX", "PEMD clean g", "I", "E"),
    ),
    "owner-after-victim": Variant(
        "HAKO behind a victim makes the remote the owner", _response_row("HAKO", "forward", "O h")
    ),
    "shared-after-victim": Variant(
        "HAKS behind a victim makes the remote share", _response_row("HAKS", "forward", "S h")
    ),
    "victim-not-awaited": Variant("HAKV alone ends a forward", _response_row("HAKV", "forward", "h")),
    "victim-lost": Variant("a victim's data are not written", _response_row("VICD", "idle", "I")),
    "stale-memory": Variant("uncached loads see memory beside the home's copy", rules=Rules(stale=True)),
    "store-beside-copy": Variant("uncached stores leave the home's copy as it was", rules=Rules(beside=True)),
}
"""By name; each must be found to be wrong."""

STUCK: Mapping[str, Variant] = {
    "gack-at-once": Variant(
        "a grant waits until its GACK has room, so an answer blocks answers",
        rules=Rules(at_once=True),
        system=TWO_HOMES,
    ),
    "forwards-with-requests": Variant(
        "forwards share the circuit of requests, which wait for them",
        rules=Rules(mixed=True),
        system=replace(TWO_HOMES, places=2),
    ),
    "victims-wait": Variant(
        "victims wait for the end of their line's transaction, and GACK behind them",
        rules=Rules(blocked=True),
        system=TWO_HOMES,
    ),
    "forwards-wait-for-requests": Variant(
        "a forward is taken only where a request could be sent, and requests wait for its transaction",
        rules=Rules(through=True),
        system=TWO_LINES,
    ),
    "entry-not-recalled": Variant(
        "a request waits for a free entry, and no entry is recalled",
        rules=Rules(unasked=True),
        system=ONE_ENTRY,
    ),
    "way-at-the-fill": Variant(
        "a line is evicted when another one comes, so an answer waits for a victim's room",
        rules=Rules(late=True),
        system=ONE_WAY,
    ),
}
"""By name; each must come to a stop."""

WITH_DATA: Mapping[str, Variant] = {
    f"{name}-{where}": replace(VARIANTS[name], system=system)
    for where, system in (("two-lines", TWO_LINES_DATA), ("two-homes", TWO_HOMES_DATA))
    for name in ("upgrade-kept", "victim-lost")
}
"""The same faults where lines and homes share circuits and transactions: these models see them as well."""
