# SPDX-License-Identifier: Apache-2.0
"""Rows of the protocol's table that a bench with `coherence_score` counts, and those the model reaches."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import Timer
from isthmus import coherence

Counts = dict[str, dict[tuple[str, ...], int]]


async def read(dut: Any, table: int, row: int) -> int:
    dut.sel_i.value = table << 10 | row
    await Timer(1, "ns")
    return int(dut.count_o.value)


async def used(dut: Any) -> Counts:
    """How often each row of the table was used."""
    names = ["none", *(m.name for m in coherence.load().messages)]
    found: Counts = {"remote": {}, "request": {}, "response": {}, "core": {}}
    for s, state in enumerate(coherence.REMOTE):
        for i, name in enumerate(coherence.INPUTS):
            found["remote"][state, name] = await read(dut, 0, s << 4 | i)
    for d, directory in enumerate(coherence.DIRECTORY):
        for h, home in enumerate(coherence.HOME):
            for m, name in enumerate(names):
                found["request"][directory, home, name] = await read(dut, 1, d << 8 | h << 5 | m)
    for p, phase in enumerate(coherence.PHASES):
        for m, name in enumerate(names):
            found["response"][phase, name] = await read(dut, 2, p << 5 | m)
    for o, name in enumerate(coherence.CORE):
        for d, directory in enumerate(coherence.DIRECTORY):
            found["core"][name, directory] = await read(dut, 3, o << 2 | d)
    return found


def add(total: Counts, found: Counts) -> None:
    for kind, counts in found.items():
        mine = total.setdefault(kind, {})
        for row, count in counts.items():
            mine[row] = mine.get(row, 0) + count


def rows(table: coherence.Table) -> dict[str, set[tuple[str, ...]]]:
    """The rows that the model reaches."""
    return {
        "remote": {(s.state, s.input) for s in table.remote if s.does != "never"},
        "request": {(r.directory, r.home, r.message) for r in table.requests if "never" not in r.does},
        "response": {(r.phase, r.message) for r in table.responses if "never" not in r.effects},
        "core": {(s.input, s.state) for s in table.core},
    }


def show(total: Counts) -> tuple[dict[str, list[tuple[str, ...]]], dict[str, list[tuple[str, ...]]]]:
    """Print the counts. Rows of the model that were never used, and rows outside it that were."""
    wanted = rows(coherence.load())
    for kind, counts in total.items():
        print(f"{kind}: state, message, how often")
        for row, count in counts.items():
            if count or row in wanted[kind]:
                print(f"  {' '.join(row):24} {count}")
    hit = {kind: {row for row, count in counts.items() if count} for kind, counts in total.items()}
    missing = {kind: sorted(wanted[kind] - hit[kind]) for kind in total}
    extra = {kind: sorted(hit[kind] - wanted[kind]) for kind in total}
    return missing, extra
