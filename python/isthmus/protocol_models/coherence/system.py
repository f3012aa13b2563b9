# SPDX-License-Identifier: Apache-2.0
"""What is around the table of the coherence protocol, and the rules that are not in it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rules:
    """What is not in the table, as it should be.

    stale   loads of the agent without a cache are answered from memory, whatever the home's copy says
    beside  its stores are written to memory beside the home's copy
    at_once a grant is taken only when its GACK has room, and not with the GACK owed
    mixed   forwards share the circuit of requests
    blocked victims wait while a transaction of their line is open and no forward of it
    late    a miss has no way of its own: what is there is evicted when the answer comes
    through a forward waits until a request could be sent
    unasked an entry that a request needs is not recalled from another line
    """

    stale: bool = False
    beside: bool = False
    at_once: bool = False
    mixed: bool = False
    blocked: bool = False
    late: bool = False
    through: bool = False
    unasked: bool = False


RIGHT = Rules()


@dataclass(frozen=True)
class System:
    """What is around the table. 0 of something: as many as there are lines.

    lines     of memory; line a belongs to node a modulo `homes`, and the other node caches it
    homes     1, or 2: each node is home of some lines and caches the others', over the same circuits
    places    of the FIFO of each circuit, link and direction; 0: no FIFO, messages come in any order
    links     1, or 2: a message takes either
    open      transactions of a home at a time (TBE)
    mshrs     requests of a cache that are open at a time, until their GACK has left
    ids       operations of an agent without a cache that are open at a time
    ways      lines that a cache has or has asked for
    entries   lines of which a home has a copy, a record or a transaction
    values    of a line: stores of 0 and 1 show any lost or stale one, with 1 value only deadlocks are seen
    uncached  the agents without a cache work
    core      the homes' own cores work
    together  as the gateware: a home takes nothing but responses without room for a message of each kind
    """

    lines: int = 1
    homes: int = 1
    places: int = 0
    links: int = 1
    open: int = 1
    mshrs: int = 0
    ids: int = 0
    ways: int = 0
    entries: int = 0
    values: int = 2
    uncached: bool = True
    core: bool = True
    together: bool = False


ONE_LINE = System()
"""One line, messages in any order: every row of the table is used."""
TWO_HOMES = System(lines=2, homes=2, places=1, values=1, uncached=False)
"""Both ends are homes and caches, and each circuit holds one message: the smallest room to go on in."""
TWO_LINES = System(lines=2, places=1, open=1, mshrs=1, ids=1, values=1, together=True)
"""Two lines of one home which has one transaction; one MSHR, and one id of the agent without a cache."""
ONE_ENTRY = replace(TWO_LINES, entries=1)
"""The home has an entry for one of them: a request for the other one has to make it recall that."""
ONE_WAY = System(lines=4, homes=2, places=1, ways=1, values=1, uncached=False, core=False, together=True)
"""Two lines of each home, and a way of each cache: every fill needs another line's way."""

# With values, and without the agents that have no cache: they have their own model, of one line.
TWO_HOMES_DATA = replace(TWO_HOMES, values=2)
TWO_LINES_DATA = replace(TWO_LINES, values=2, uncached=False)
# What takes longer than a test may.
TWO_LINKS = replace(TWO_HOMES, links=2)
TWO_HOMES_ALL = replace(TWO_HOMES, uncached=True, ids=1, mshrs=1, together=True)
THREE_LINES = replace(TWO_LINES, lines=3, mshrs=2, uncached=False)
THREE_LINES_TWO_HOMES = replace(TWO_HOMES, lines=3, mshrs=1, together=True)
