# SPDX-License-Identifier: Apache-2.0
"""Rates and stages as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from isthmus.results import Measurement
from isthmus.results.table import aligned
from isthmus.units import digits


def rate_table(results: Iterable[Measurement]) -> str:
    """Rates of every timestamp measurement. kHz and Mbit are decimal; payload is 64 bit a timestamp."""
    rows: list[Sequence[str]] = [
        (
            "#platform",
            "profile",
            "method",
            "workload",
            "us/timestamp",
            "ktimestamps/s",
            "payload[Mbit/s]",
            "wire[Mbit/s]",
            "inside[ns]",
        )
    ]
    for m in results:
        rates, cost = m.throughput, m.time_per_timestamp
        if rates is None or cost is None:
            continue
        inside = m.windows.inside_cycle_per_timestamp
        rows.append(
            (
                m.platform,
                m.profile,
                m.method,
                m.name,
                digits(cost / 1e6, 4),
                digits(1e9 / cost, 4),
                digits(rates.payload_bit_s / 1e6, 4),
                "" if rates.wire_bit_s is None else digits(rates.wire_bit_s / 1e6, 4),
                "" if inside is None else digits(inside / 1e3, 4),
            )
        )
    if len(rows) == 1:
        return ""
    return (
        "# rates over the part of the series that counts; wire: towards the host, with preamble, padding,\n"
        "# FCS and gap; inside: between two timestamps of one cycle\n"
        f"{aligned(rows, left=range(4))}\n"
    )


def stage_table(results: Iterable[Measurement]) -> str:
    """Where one transfer's time goes, for the largest cycle of each platform, profile and method."""
    largest: dict[tuple[str, str, str], Measurement] = {}
    for m in results:
        key = (m.platform, m.profile, m.method)
        if m.stages and (key not in largest or m.timestamps > largest[key].timestamps):
            largest[key] = m
    parts = []
    for m in largest.values():
        total = sum(stage.time for stage in m.stages)
        rows: list[Sequence[str]] = [("#where", "stage", "t[nsec]", "share")]
        rows += [
            (stage.where, stage.name, f"{stage.time / 1e3:.1f}", f"{100 * stage.time / total:.1f} %")
            for stage in m.stages
        ]
        rows.append(("all", "end to end", f"{total / 1e3:.1f}", "100.0 %"))
        parts.append(f"# stages of one transfer: {m.id}\n{aligned(rows, left=range(2))}\n")
    return "".join(parts)
