# SPDX-License-Identifier: Apache-2.0
"""CCIX: its own columns of the table of results."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.results.columns import Column

COLUMNS: Sequence[Column] = (
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
    Column(
        "acknowledged_ps",
        "mean until the FPGA knew that a transfer was done",
        lambda m: m.workload.get("acknowledged_ps"),
    ),
)
