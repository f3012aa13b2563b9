# SPDX-License-Identifier: Apache-2.0
"""CCIX: its own columns of the table of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from isthmus.results.columns import Cell, Column
from isthmus.results.model import Measurement


def _virtual(m: Measurement, name: str) -> Cell:
    found: Cell = (m.workload.get("translation") or {}).get(name)
    return found


def _of(group: str, *path: str) -> Callable[[Measurement], Cell]:
    """A value of a group of the workload; empty where a run has none."""

    def value(m: Measurement) -> Cell:
        found: Any = m.workload.get(group)
        for name in path:
            found = (found or {}).get(name)
        return cast("Cell", found)

    return value


COLUMNS: Sequence[Column] = (
    Column(
        "port",
        "what the FPGA's logic is connected to, where not the agent",
        lambda m: m.workload.get("port"),
    ),
    Column("lines", "lines of 64 bytes of a transfer", lambda m: m.workload.get("lines")),
    Column(
        "link_bytes_s",
        "bytes/s of packets, framing and headers included, in the direction with the data",
        lambda m: m.workload.get("link_bytes_s"),
    ),
    Column(
        "packet_messages",
        "messages of a packet in that direction, on the mean",
        lambda m: m.workload.get("packet_messages"),
    ),
    Column("page", "size of the host's pages, with virtual addresses", lambda m: _virtual(m, "page")),
    Column("order", "order in which transfers visit them", lambda m: _virtual(m, "order")),
    Column("footprint_bytes", "virtual memory that they visit", lambda m: _virtual(m, "footprint_bytes")),
    Column("walks", "translations of the host for a transfer, on the mean", lambda m: _virtual(m, "walks")),
    Column(
        "direct",
        "requests with virtual addresses for a transfer, on the mean",
        lambda m: _virtual(m, "direct"),
    ),
    Column(
        "cache_hits", "share of lines that the FPGA's cache had, with virtual addresses", _of("cache", "hits")
    ),
    Column(
        "acknowledged_ps",
        "mean until the FPGA knew that a transfer was done",
        lambda m: m.workload.get("acknowledged_ps"),
    ),
    Column("change", "what the FPGA does to shared words", _of("updates", "change")),
    Column("words", "words that host and FPGA change", _of("updates", "words")),
    Column("host_changes", "additions of the host to them", _of("updates", "host")),
    Column("refused", "compare-and-swaps that found another word", _of("updates", "refused")),
    Column("contended_lines", "lines to which host and FPGA store", _of("contention", "lines")),
    Column("to_fpga", "lines that came to the FPGA", _of("contention", "fpga", "transfers")),
    Column("to_host", "lines that the host took from the FPGA", _of("contention", "host", "transfers")),
    Column("lock_mode", "where the lock table is", _of("locks", "mode")),
    Column("requesters", "transactions under way at once", _of("locks", "requesters")),
    Column("host_aborts", "aborted attempts of the host's transactions", _of("locks", "host", "aborts")),
    Column("fpga_aborts", "aborted attempts of the FPGA's transactions", _of("locks", "fpga", "aborts")),
)
