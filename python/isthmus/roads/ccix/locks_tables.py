# SPDX-License-Identifier: Apache-2.0
"""Lock tables as text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.ccix.locks import MODES, measured

HEADER = (
    "mode", "requesters", "k transactions/s", "avg[us]", "p99[us]", "host wait p50", "p90", "longest",
    "FPGA wait p50", "p90", "longest", "aborts host", "FPGA", "bytes a transaction",
)  # fmt: skip
LETTERS: Mapping[str, str] = {mode.name: mode.letter for mode in MODES.values()}


def _case(m: Measurement) -> tuple[str, str, str]:
    return m.platform, m.profile, str(m.workload["locks"]["trace"])


def text(made: Document) -> str:
    """What the terminal shows."""
    parts = []
    for (platform, profile, trace), group in groupby(measured(made), _case):
        members = list(group)
        w = members[0].workload["locks"]
        shares = [f"{w[side]['transactions']} of the {side}" for side in ("host", "fpga")]
        parts.append(
            f"# {platform}, {profile}: trace {trace}, {' and '.join(shares)}, {w['steps']} steps on "
            f"{w['rows']} records; the outcome is that of one after the other: checked\n"
            "# gateware: the FPGA's near-data unit, agent or cache, packets, and the lock table of b and c; "
            "models: link, home, memory, the host's requesters, the lock table of a\n"
            "# wait: from a transaction's begin to its last lock, aborted attempts included, us\n"
        )
        names = dict.fromkeys(str(m.workload["locks"]["mode"]) for m in members)
        for name in names:
            mode = MODES[LETTERS[name]]
            parts.append(f"# {mode.letter}: {mode.what}\n")
        parts.append(aligned([HEADER, *map(row, members)]))
    return "".join(parts)


def per_second(m: Measurement) -> float:
    """Transactions a second, from the first begin to the last end."""
    return float(m.throughput.cycles_per_s) if m.throughput else 0.0


def wait(m: Measurement, side: str) -> Mapping[str, Any]:
    """Of the lock wait of a side: percentiles in ps; empty where it has no transactions."""
    found: Mapping[str, Any] = m.workload["locks"][side]["wait_ps"] or {}
    return found


def _us(ps: float | None) -> str:
    return "" if ps is None else f"{ps / 1e6:.2f}"


def row(m: Measurement) -> list[str]:
    """One run."""
    w = m.workload["locks"]
    count = m.iterations
    assert m.latency is not None
    waits = [_us(wait(m, side).get(key)) for side in ("host", "fpga") for key in ("p50", "p90", "max")]
    return [
        LETTERS[str(w["mode"])],
        str(w["requesters"]),
        f"{per_second(m) / 1e3:.0f}",
        _us(m.latency.avg),
        _us(m.latency.percentiles.get("p99")),
        *waits,
        str(w["host"]["aborts"]),
        str(w["fpga"]["aborts"]),
        f"{(w['to_host_bytes'] + w['to_fpga_bytes']) / max(1, count):.0f}",
    ]
