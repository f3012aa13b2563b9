# SPDX-License-Identifier: Apache-2.0
"""Puts over APElink: their own columns of the table of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isthmus.results.columns import Cell, Column
from isthmus.results.model import Measurement


def _of(key: str) -> Callable[[Measurement], Cell]:
    def get(m: Measurement) -> Cell:
        value: Cell = m.workload.get(key)
        return value

    return get


COLUMNS: Sequence[Column] = (
    Column(
        "test",
        "one-way; put: into memory; ping-pong: half of a round trip; get: request to data",
        _of("test"),
    ),
    Column("nodes", "nodes of the ring; puts go halfway round", _of("nodes")),
    Column("near", "memory of the first node's program: host, gpu or staged", _of("near")),
    Column("far", "memory of the far node's program", _of("far")),
    Column("hop_clocks", "clocks of a link between nodes", _of("hop_clocks")),
    Column("link_limit_byte_s", "payload a second over a link that never rests", _of("link_limit_byte_s")),
    Column("bus_limit_byte_s", "the same over the bus of a node", _of("bus_limit_byte_s")),
)
