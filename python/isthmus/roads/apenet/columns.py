# SPDX-License-Identifier: Apache-2.0
"""Puts over APElink: their own columns of the table of results."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.results.columns import Column, keyed

COLUMNS: Sequence[Column] = (
    Column(
        "test",
        "one-way; put: into memory; ping-pong: half of a round trip; get: request to data",
        keyed("test"),
    ),
    Column("nodes", "nodes of the ring; puts go halfway round", keyed("nodes")),
    Column("near", "memory of the first node's program: host, gpu or staged", keyed("near")),
    Column("far", "memory of the far node's program", keyed("far")),
    Column("hop_clocks", "clocks of a link between nodes", keyed("hop_clocks")),
    Column("payload", "inline: stored together with the post; else read by the gateware", keyed("payload")),
    Column("links", "lanes: the gateware of both ends; else a delay", keyed("links")),
    Column("link_limit_byte_s", "payload a second over a link that never rests", keyed("link_limit_byte_s")),
    Column("bus_limit_byte_s", "the same over the bus of a node", keyed("bus_limit_byte_s")),
)
