# SPDX-License-Identifier: Apache-2.0
"""Switch: its columns of the table of results, and its workloads in the common words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isthmus.results.columns import Cell, Column
from isthmus.results.model import Measurement


def core(m: Measurement) -> Mapping[str, object]:
    """Packets between ports: no operation of a host."""
    low, high = m.workload["sizes_bytes"]
    return {"bytes": low} if low == high else {}


def _of(*path: str) -> Callable[[Measurement], Cell]:
    def get(m: Measurement) -> Cell:
        found = m.workload
        for key in path[:-1]:
            found = found.get(key) or {}
        value: Cell = found.get(path[-1])
        return int(value) if isinstance(value, bool) else value

    return get


COLUMNS: Sequence[Column] = (
    Column("ports", "ports of the switch", _of("ports")),
    Column("pattern", "which port sends to which", _of("pattern")),
    Column("bytes_from", "of the shortest packet", lambda m: m.workload["sizes_bytes"][0]),
    Column("bytes_to", "of the longest packet", lambda m: m.workload["sizes_bytes"][1]),
    Column("load", "share of a line's words, framing included", _of("load")),
    Column("payload_load", "share of a line's words, data alone", _of("payload_load")),
    Column("saturated", "1: the offered load exceeds what is carried", _of("saturated")),
    Column("steady", "1: the delay settled", _of("steady")),
    Column("payload_share", "data words that came out, by clocks and outputs", _of("payload_share")),
    *(
        Column(f"words_{kind}", f"share of the lines' words: {kind}", _of("wire_shares", kind))
        for kind in ("data", "framing", "credit", "idle")
    ),
    *(
        Column(f"flow_{key}", what, _of("flows", key))
        for key, what in (
            ("least_words", "words of the flow that got least"),
            ("most_words", "words of the flow that got most"),
            ("jain", "Jain's index of fairness over the flows"),
        )
    ),
)
