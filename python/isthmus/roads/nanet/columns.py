# SPDX-License-Identifier: Apache-2.0
"""The road's own columns of the table of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isthmus.results.columns import Cell, Column, keyed, microseconds
from isthmus.results.model import Measurement
from isthmus.roads.nanet.quantities import PARTS


def _us(part: str, figure: str) -> Callable[[Measurement], Cell]:
    def get(m: Measurement) -> Cell:
        found = (m.workload.get("parts_ps") or {}).get(part)
        return microseconds(found[figure]) if found else None

    return get


COLUMNS: Sequence[Column] = (
    Column("ports", "Ethernet ports that datagrams come in by", keyed("ports")),
    Column("buffers", "buffers of each port's list", keyed("buffers")),
    Column("datagrams", "datagrams that make a buffer full", keyed("datagrams")),
    Column("datagrams_lost", "datagrams that the program never saw", keyed("lost")),
    Column(
        "memory", "where datagrams go: host, gpu (peer to peer), staged (copied to a GPU)", keyed("memory")
    ),
    *(
        Column(f"{part}_{figure}_us", f"{figure} of a part of the way: {part}", _us(part, figure))
        for part in PARTS
        for figure in ("min", "avg", "max")
    ),
)
