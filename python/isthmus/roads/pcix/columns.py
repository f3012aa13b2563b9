# SPDX-License-Identifier: Apache-2.0
"""PCI-X: its columns of the table of results, and its workloads in the common words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isthmus.results.columns import Column
from isthmus.results.model import Measurement


def core(m: Measurement) -> Mapping[str, object]:
    """Accesses of a bus alone: only the bytes have a common name."""
    return {"bytes": m.workload.get("bytes")}


COLUMNS: Sequence[Column] = (
    Column("cycles", "bus clocks of the run", lambda m: m.workload.get("cycles")),
    Column("data_share", "share of the bus's clocks that carry data", lambda m: m.workload.get("data_share")),
)
