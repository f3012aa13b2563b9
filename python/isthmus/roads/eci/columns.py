# SPDX-License-Identifier: Apache-2.0
"""A coherent link: its own columns of the table of results."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.results.columns import Column

COLUMNS: Sequence[Column] = (
    Column("lines", "lines of 128 bytes of a transfer", lambda m: m.workload.get("lines")),
    Column(
        "link_bytes_s",
        "bytes/s of the words, headers included, in the direction with the data",
        lambda m: m.workload.get("link_bytes_s"),
    ),
    Column(
        "packing_share",
        "of the payload words of its blocks, those that carry something",
        lambda m: m.workload.get("packing_share"),
    ),
    Column(
        "links", "links between the FPGA and the host, where there are two", lambda m: m.workload.get("links")
    ),
    Column(
        "port", "what the FPGA's logic is connected to, where not the agent", lambda m: m.workload.get("port")
    ),
    Column("homes", "both, where each end has memory", lambda m: m.workload.get("homes")),
    Column(
        "beside", "what the other end did with the other memory meanwhile", lambda m: m.workload.get("beside")
    ),
    Column("policy", "how messages take two links", lambda m: m.workload.get("policy")),
    Column(
        "second_link_share",
        "of the words in the direction with the data, those on the second link",
        lambda m: m.workload.get("second_link_share"),
    ),
    Column("bad_blocks", "blocks with a wrong check", lambda m: m.workload.get("bad_blocks")),
    Column("blocks_again", "blocks sent again", lambda m: m.workload.get("blocks_again")),
)
