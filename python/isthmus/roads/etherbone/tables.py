# SPDX-License-Identifier: Apache-2.0
"""Timestamps as text: the comparison with its answer, latencies, rates and stages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from isthmus.results import Document, Measurement, latency_table
from isthmus.results.table import aligned
from isthmus.roads.etherbone.answer import Key, answer, series
from isthmus.units import digits

WIDTH = 100


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
    """The time of one transfer by stages, for the largest cycle of each platform, profile and method."""
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


def details(made: Document) -> str:
    """Latencies in perftest's columns, rates, and where the time goes."""
    timed = [m for m in made if m.name.startswith(("ts", "tlu"))]
    return latency_table(timed) + rate_table(made) + stage_table(timed)


def text(document: Document) -> str:
    """The table and the answer, as the terminal shows them."""
    parts = [_table(document)]
    topic = ""
    for sentence in answer(document):
        if sentence.topic != topic:
            topic = sentence.topic
            parts.append(f"\n{topic}\n")
        parts.append(_filled(sentence.text, "  ", "  "))
        parts += [_filled(item, "    ", "      ") for item in sentence.items]
    parts.append("\n")
    return "".join(parts)


def _filled(text: str, first: str, others: str) -> str:
    lines = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def _in_flight(lines: Mapping[Key, Sequence[Measurement]]) -> str:
    """How the pipelined series came."""
    members = [m for key, line in lines.items() if key[2] == "pipelined" for m in line]
    return ", ".join(sorted({m.arrivals for m in members})) or "not measured"


def _table(document: Document) -> str:
    """Time per timestamp: the platforms, profiles and methods below each other, cycle sizes across."""
    lines = series(document)
    counts = sorted({m.timestamps for members in lines.values() for m in members})
    rows: list[Sequence[str]] = [("#platform", "profile", "method", *map(str, counts))]
    for key, members in sorted(lines.items()):
        cost = {m.timestamps: m.time_per_timestamp for m in members}
        cells = []
        for count in counts:
            found = cost.get(count)
            cells.append("" if found is None else digits(found / 1e6))
        rows.append((*key, *cells))
    return (
        "# time per timestamp (8 bytes) [us], by timestamps in one Etherbone cycle; steady: warm-up and\n"
        f"# drain are left out; convenience and blocking: closed loop; pipelined: {_in_flight(lines)}\n"
        + aligned(rows, left=range(3))
    )
