# SPDX-License-Identifier: Apache-2.0
"""What all roads have in common: so many bytes out of a far memory into one's own, and how long that takes.

Etherbone reads them. RDMA between hosts has no read: a message asks for them and a write brings them, each
for its measured one-way time, program to program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from isthmus.bench.rdma_tables import crossover, differences
from isthmus.results import Measurement

WORD_BYTES = 4
ASKING_BYTES = 8
"""Of the message that asks."""

Costs = Mapping[str, Mapping[int, float]]
"""Platform -> bytes -> picoseconds."""


def by_etherbone(document: Iterable[Measurement], profile: str = "isthmus") -> Costs:
    """From first call to last reply, by the fastest method at each size."""
    found: dict[str, dict[int, float]] = {}
    for m in document:
        words = m.workload.get("words")
        if m.road != "etherbone" or m.profile != profile or words is None or m.latency is None:
            continue
        sizes = found.setdefault(m.platform, {})
        cost = m.latency.avg
        sizes[WORD_BYTES * words] = min(cost, sizes.get(WORD_BYTES * words, cost))
    return found


def by_rdma(document: Iterable[Measurement], profile: str = "isthmus") -> Costs:
    """A message of `ASKING_BYTES` there and a write of so many bytes back, the faster of the two kinds."""
    asking: dict[str, float] = {}
    writes: dict[str, dict[int, float]] = {}
    for m in document:
        if m.road != "rdma" or m.profile != profile or m.latency is None or not m.workload["combined"]:
            continue
        size = int(m.workload["size_bytes"])
        if m.method == "send-lat" and size == ASKING_BYTES:
            asking[m.platform] = m.latency.avg
        elif m.method in ("write-lat", "write-lat-inline"):
            sizes = writes.setdefault(m.platform, {})
            sizes[size] = min(m.latency.avg, sizes.get(size, m.latency.avg))
    return {
        name: {size: asking[name] + cost for size, cost in sorted(sizes.items())}
        for name, sizes in writes.items()
        if name in asking
    }


def changes(one: Mapping[int, float], other: Mapping[int, float]) -> list[tuple[int, bool]]:
    """The common sizes from which on the two have changed places, and whether `one` was ahead before."""
    sizes = sorted(set(one) & set(other))
    ahead = [(size, one[size] < other[size]) for size in sizes]
    return [(size, first) for (_, first), (size, then) in pairwise(ahead) if first != then]


def message_or_write(document: Iterable[Measurement]) -> Mapping[tuple[str, str], str]:
    """For each platform and profile in words: up to which size a message is faster than a write, and a write
    with its data inline than one whose data are read; one-way, program to program."""
    members: dict[tuple[str, str], list[Measurement]] = {}
    for m in document:
        if m.road == "rdma" and m.definition == "half_round_trip" and m.workload["combined"]:
            members.setdefault((m.platform, m.profile), []).append(m)
    said: dict[tuple[str, str], str] = {}
    for key, group in members.items():
        methods = {m.method for m in group}
        if methods >= {"write-lat", "send-lat"}:
            said[key] = _faster(group, "write-lat", "a write", "send-lat", "a message")
            if "write-lat-inline" in methods:
                inline = "a write with its data inline"
                said[key] += "; " + _faster(
                    group, "write-lat", "one that is read", "write-lat-inline", inline
                )
    return said


def _faster(group: Sequence[Measurement], far: str, far_name: str, near: str, near_name: str) -> str:
    """Up to which size method `near` beats `far`, in words."""

    def cost(m: Measurement) -> float | None:
        return m.latency.avg if m.latency else None

    at = crossover(group, far, near, cost)
    if at is not None:
        return f"{near_name} is faster up to about {at:.0f} bytes, {far_name} beyond them"
    beyond = differences(group, far, near, cost)
    if not beyond:
        return f"{near_name} and {far_name} were measured at no common size"
    name, than = (near_name, far_name) if beyond[-1][1] > 0 else (far_name, near_name)
    return f"{name} is faster than {than} at every common size, {beyond[0][0]} to {beyond[-1][0]} bytes"
