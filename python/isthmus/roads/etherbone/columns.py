# SPDX-License-Identifier: Apache-2.0
"""Etherbone: its columns of the table of results, and its workloads in the common words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isthmus.results.columns import Cell, Column
from isthmus.results.model import Measurement
from isthmus.roads.table import resolve

_DRIVERS: Mapping[str, str] = {"gige": "datagram"}
"""By the kind of platform; elsewhere the platform's profile names it."""
_WORDS: Mapping[str, str] = {"words": "loads", "mapped": "loads"}
"""Names that differ from the tables of platform files."""


def core(m: Measurement) -> Mapping[str, object]:
    """The operation of timestamps or words: the host reads; the latch unit's cycle also writes one word."""
    found: dict[str, object] = {"driver": _driver(m)}
    if m.operations and m.definition == "rtt":
        # An Etherbone cycle is one request.
        found |= {"operation": "host-read", "bytes": m.payload_bytes, "window": _window(m.arrivals)}
    return found


def _window(arrivals: str) -> int | None:
    if arrivals == "closed-loop":
        return 1
    kind, _, count = arrivals.partition(":")
    return int(count) if kind == "window" else None


def _driver(m: Measurement) -> str | None:
    kinds = resolve("isthmus.roads.etherbone.platform:KINDS")
    bus = m.constants.bus if m.constants else ""
    if bus not in kinds:
        return None
    drivers: Mapping[str, str] = kinds[bus].drivers
    name = drivers.get(m.profile)
    return _DRIVERS.get(bus) if name is None else _WORDS.get(name, name)


def _inside(m: Measurement) -> Cell:
    found = m.windows.inside_cycle_per_timestamp
    return None if found is None else round(found / 1e3, 6)


def _timestamps_per_s(m: Measurement) -> Cell:
    found = m.throughput.timestamps_per_s if m.throughput else None
    return None if found is None else round(found, 3)


def _us_per_timestamp(m: Measurement) -> Cell:
    found = m.time_per_timestamp
    return None if found is None else round(found / 1e6, 6)


COLUMNS: Sequence[Column] = (
    Column("timestamps_per_request", "64-bit timestamps in one cycle", lambda m: m.timestamps or None),
    Column("operations_per_request", "bus operations in one cycle", lambda m: m.operations or None),
    Column("us_per_timestamp", "span of the series by its timestamps", _us_per_timestamp),
    Column("timestamps_per_s", "timestamps read in a second", _timestamps_per_s),
    Column("inside_request_ns", "between two timestamps of one cycle, by the FPGA's clock", _inside),
    Column("words", "32-bit words read in all", lambda m: m.workload.get("words")),
)
