# SPDX-License-Identifier: Apache-2.0
"""RDMA: its columns of the table of results, and its workloads in the common words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isthmus.results.columns import Cell, Column, microseconds
from isthmus.results.model import Measurement
from isthmus.roads.rdma.tables import COMPONENTS, MIB, PHASES, posting


def core(m: Measurement) -> Mapping[str, object]:
    """Of perftest's tests: writes are puts, sends are messages; latencies have one in flight."""
    w = m.workload
    found: dict[str, object] = {"bytes": w.get("size_bytes")}
    if m.method.startswith(("write", "one-way")):
        inline = m.method.endswith("-inline")
        found |= {"operation": "put", "driver": "inline" if inline else "dma"}
    elif m.method.startswith("send"):
        found |= {"operation": "message", "driver": "message"}
    if m.arrivals == "closed-loop":
        found["window"] = 1
    return found


def _of(*path: str) -> Callable[[Measurement], Cell]:
    def get(m: Measurement) -> Cell:
        found = m.workload
        for key in path[:-1]:
            found = found.get(key) or {}
        value: Cell = found.get(path[-1])
        return value

    return get


def _us(*path: str) -> Callable[[Measurement], Cell]:
    def get(m: Measurement) -> Cell:
        found = _of(*path)(m)
        return microseconds(found) if isinstance(found, int | float) else None

    return get


def _mib(m: Measurement) -> Cell:
    return round(m.throughput.payload_bit_s / 8 / MIB, 6) if m.throughput else None


def _flag(key: str) -> Callable[[Measurement], Cell]:
    return lambda m: int(m.workload[key]) if key in m.workload else None


COLUMNS: Sequence[Column] = (
    Column("hosts", "hosts that take part", _of("hosts")),
    Column("links", "links of each host", _of("links")),
    Column("posting", "when the sender checks for queue space", lambda m: posting(m) or None),
    Column("combined", "1: with write-combining", _flag("combined")),
    Column("both_ways", "1: in both directions", _flag("both_ways")),
    Column("post_list", "transfers of one post", _of("post_list")),
    Column("payload_MiB_per_s", "payload, in units of 2^20 bytes", _mib),
    Column("messages_per_s", "transfers in a second", _of("messages_per_s")),
    Column("link_share", "payload by what the links carry", _of("link_share")),
    Column("network_us", "from pins to pins", _us("network_ps")),
    *(
        Column(f"{name}_us", "part of one transfer, memory to memory", _us("components_ps", name))
        for name in (*COMPONENTS, "total")
    ),
    *(Column(f"phase_{name}_us", "part of an application's time", _us("phases_ps", name)) for name in PHASES),
)
