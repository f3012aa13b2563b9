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
STAGES = ("mode", "requesters", "of", "transactions", "time[us]", "attempts", "locks", "records")
STOPPED = ("mode", "requesters", "resets", "holds", "undone", "complete", "refused", "free[us]")
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
        parts.append(
            "# stages: aborted attempts and the times between them, the locks of the last attempt, records "
            "and releases; mean, us; they add up to a transaction's time\n"
        )
        names = dict.fromkeys(str(m.workload["locks"]["mode"]) for m in members)
        for name in names:
            mode = MODES[LETTERS[name]]
            parts.append(f"# {mode.letter}: {mode.what}\n")
        parts.append(aligned([HEADER, *map(row, members)]))
        parts.append(aligned([STAGES, *(line for m in members for line in stages(m))]))
        stopped = [m for m in members if m.workload["locks"].get("faults")]
        if stopped:
            lease = stopped[0].workload["locks"]["faults"]["lease_ps"] / 1e6
            parts.append(
                f"# the FPGA's near-data unit stops in mid-run; its lease is {lease:.3g} us. Undone: "
                "transactions that it lost and that begin again; complete: they were when it stopped; "
                "refused: orders and accesses with an old token; free: from a stop to the last lock of what "
                "was lost, the longest\n"
            )
            parts.append(aligned([STOPPED, *map(stops, stopped)]))
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


def stages(m: Measurement) -> list[list[str]]:
    """Where the time of the host's and the FPGA's transactions goes."""
    w = m.workload["locks"]
    made = []
    for side in ("host", "fpga"):
        parts = [int(part) for part in w[side]["stages_ps"].values()]
        if w[side]["transactions"]:
            first = [LETTERS[str(w["mode"])], str(w["requesters"]), side, str(w[side]["transactions"])]
            made.append([*first, *map(_us, (sum(parts), *parts))])
    return made


def stops(m: Measurement) -> list[str]:
    """What became of the unit's transactions where it stopped."""
    w = m.workload["locks"]
    of = w["faults"]
    return [
        LETTERS[str(w["mode"])],
        str(w["requesters"]),
        *(str(of[key]) for key in ("resets", "holds", "undone", "whole")),
        str(m.counters.get("fpga.refused", 0)),
        _us(of["longest_ps"]),
    ]
