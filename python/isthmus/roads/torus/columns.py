# SPDX-License-Identifier: Apache-2.0
"""Torus: its columns of the table of results, and its workloads in the common words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isthmus.results.columns import Cell, Column
from isthmus.results.model import Measurement
from isthmus.roads.torus.bench import shape


def core(m: Measurement) -> Mapping[str, object]:
    """Packets between nodes: no operation of a host."""
    return {"bytes": m.workload["bytes"]}


def _of(key: str) -> Callable[[Measurement], Cell]:
    def get(m: Measurement) -> Cell:
        value: Cell = m.workload.get(key)
        return int(value) if isinstance(value, bool) else value

    return get


COLUMNS: Sequence[Column] = (
    Column("shape", "nodes of each dimension", lambda m: shape(m.workload["nodes"])),
    Column("pattern", "which node sends to which", _of("pattern")),
    Column("load", "flits that a node makes a clock, header and footer included", _of("load")),
    Column("carried", "flits that a node gets a clock", _of("carried")),
    Column("saturated", "1: the offered load exceeds what is carried", _of("saturated")),
    Column("hops", "links that a packet passes, in the mean", _of("hops")),
    Column("delay_clocks", "made to last flit at the destination, in the mean", _of("delay_clocks")),
    Column("link_share", "clocks in which a link carries a flit, all links", _of("link_share")),
    Column("link_share_most", "the same of the busiest link", _of("link_share_most")),
    Column(
        "framing_share",
        "clocks in which a line carries a packet's begin or end, all links",
        _of("framing_share"),
    ),
    Column("credit_share", "the same of credits", _of("credit_share")),
    Column("errors", "rate of wrong bits on lanes", _of("errors")),
    Column("lost", "packets that wrong bits have cost", _of("lost")),
)
