# SPDX-License-Identifier: Apache-2.0
"""The benchmark of CCIX as text."""

from __future__ import annotations

from itertools import groupby

from isthmus.results import DEFINITIONS, Document, Measurement
from isthmus.results.table import aligned, stages_line
from isthmus.roads.ccix import contention_tables, locks_tables, translation
from isthmus.roads.ccix.bench import CONTENDED, SKEWED
from isthmus.roads.ccix.locks import DRIVER

HEADER = (
    "bytes", "in flight", "avg[ns]", "min[ns]", "known[ns]", "GB/s", "link GB/s", "messages", "walks",
    "bounded by",
)  # fmt: skip


def operation(m: Measurement) -> str:
    """What the FPGA does."""
    return str(m.workload["operation"])


def memory(m: Measurement) -> str:
    """The virtual memory that transfers visit; empty with physical addresses."""
    found = m.workload.get("translation")
    if not found:
        return ""
    reach = "hit" if found["warm"] else "miss" if found["page"] == "4K" else "few pages"
    if found["order"] == SKEWED:
        reach = f"{found['footprint_bytes'] >> 10} KiB"
    return f"{found['page']} {found['order']}, {reach}"


def cached(m: Measurement) -> str:
    """Where lines are."""
    if m.workload.get("cache"):
        return "through a cache"
    by = str(m.workload["driver"])
    return {"cached": "through a cache", "cached-hit": "in its cache"}.get(by, "no cache")


def _case(m: Measurement) -> tuple[str, str, str, str, str, bool, str]:
    driver, axi = str(m.workload["driver"]), "port" in m.workload
    return m.platform, m.profile, driver, operation(m), memory(m), axi, cached(m)


def text(made: Document) -> str:
    """What the terminal shows."""
    parts = []
    alone = [m for m in made if m.workload["driver"] not in (CONTENDED, DRIVER)]
    for (platform, profile, by, name, pages, axi, cache), group in groupby(alone, _case):
        members = list(group)
        addresses = f"virtual addresses: pages of {pages}" if pages else "no translation"
        by_port = ", by an AXI port" if axi else ""
        parts.append(
            f"# {platform}, {profile}, {name} of host memory by {by}, {cache}{by_port}, {addresses}\n"
            f"# latency: {DEFINITIONS[members[0].definition]}; known: to the FPGA; GB/s: payload; "
            "link: all bytes; messages: of a packet; walks: translations of the host for a transfer\n"
        )
        parts.append(aligned([HEADER, *map(row, members)]))
        parts.extend(_changes(m) if "updates" in m.workload else stages_line(m) for m in members[:1])
    more = (contention_tables, locks_tables, translation)
    return "".join([*parts, *(one.text(made) for one in more)])


def _changes(m: Measurement) -> str:
    """What both sides did to words that they share."""
    u = m.workload["updates"]
    refused = f", {u['refused']} comparisons found another word" if u["refused"] else ""
    return (
        f"# {u['fpga']} atomics of the FPGA ({u['change']}){refused}, {u['host']} additions of the host to "
        f"{u['words']} words: each follows from another\n"
    )


def row(m: Measurement) -> list[str]:
    """One measurement as a row of the table."""
    from isthmus.results.columns import bounded_by

    w, rate = m.workload, m.throughput
    assert m.latency is not None
    return [
        str(w["bytes"]),
        str(w["window"] or "open"),
        f"{m.latency.avg / 1e3:.1f}",
        f"{m.latency.min / 1e3:.1f}",
        f"{w['acknowledged_ps'] / 1e3:.1f}",
        f"{rate.payload_bit_s / 8e9:.3f}" if rate else "",
        f"{w['link_bytes_s'] / 1e9:.3f}",
        f"{w['packet_messages']:.2f}",
        f"{w['translation']['walks']:.2f}" if w.get("translation") else "",
        bounded_by(m),
    ]
