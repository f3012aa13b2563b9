# SPDX-License-Identifier: Apache-2.0
"""What blocks with a wrong check leave of a coherent link's rate: a table, and a curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.eci import beside

HEADER = ("errors", "GB/s", "of error-free", "avg[ns]", "max[ns]", "bad blocks", "sent again")


def rate_of(m: Measurement) -> float:
    """The share of blocks that arrived wrong, as it was asked for."""
    return float(m.workload.get("errors", 0.0))


def curves(document: Document) -> Mapping[str, Sequence[Measurement]]:
    """The runs that differ in nothing but this share, by what they have in common."""
    found: dict[str, list[Measurement]] = {}
    for m in document:
        if m.throughput and m.latency and not beside.is_pcie(m):
            w = m.workload
            name = f"{m.profile}, {w['operation']}, {w['bytes']} bytes, {w['window'] or 'open'} in flight"
            found.setdefault(f"{name}, {beside.name(m)}", []).append(m)
    return {name: sorted(some, key=rate_of) for name, some in found.items() if any(map(rate_of, some))}


def row(m: Measurement, clean: Measurement) -> list[str]:
    """A run beside the one with the fewest errors."""
    assert m.throughput is not None
    assert clean.throughput is not None
    assert m.latency is not None
    left = m.throughput.payload_bit_s / clean.throughput.payload_bit_s
    return [
        f"{rate_of(m):g}",
        f"{m.throughput.payload_bit_s / 8e9:.3f}",
        f"{100 * left:.2f} %" if not rate_of(clean) else "",
        f"{m.latency.avg / 1e3:.1f}",
        f"{m.latency.max / 1e3:.1f}",
        str(m.workload["bad_blocks"]),
        str(m.workload["blocks_again"]),
    ]


def text(document: Document) -> str:
    """A table for each curve; empty without errors."""
    parts = []
    for name, some in curves(document).items():
        parts.append(f"# goodput of {name}; every byte was compared, none was wrong, lost or doubled\n")
        parts.append(aligned([HEADER, *(row(m, some[0]) for m in some)]))
    return "".join(parts)


def figures(document: Document) -> list[Figure]:
    """The curves; none without errors."""
    found = curves(document)
    if not found:
        return []
    rates = sorted({rate_of(m) for some in found.values() for m in some})
    colours = {name: f"c{number % 6 + 1}" for number, name in enumerate(found)}
    series = [
        {
            "type": "line", "name": name, "colour": colours[name], "symbol": "circle", "symbolSize": 7,
            "data": [[f"{rate_of(m):g}", _gb_s(m)] for m in some],
        }
        for name, some in found.items()
    ]  # fmt: skip
    option = {
        "xAxis": {
            "type": "category", "data": [f"{rate:g}" for rate in rates], "name": "share of blocks",
            "nameLocation": "middle", "nameGap": 28,
        },
        "yAxis": {"type": "value", "name": "payload in GB/s", "nameLocation": "middle", "nameGap": 44},
        "series": series,
    }  # fmt: skip
    rows = [[name, *row(m, some[0])] for name, some in found.items() for m in some]
    return [
        Figure(
            id="errors",
            title="What bad blocks leave of the rate",
            caption="Payload over the share of blocks of each direction that arrive with a wrong check.",
            panels=[Panel("", "payload in GB/s over the share of bad blocks", option)],
            table=Table(("transfers", *HEADER), rows),
            legend=[Swatch(name, colour, "solid") for name, colour in colours.items()],
        )
    ]


def _gb_s(m: Measurement) -> float:
    return round(m.throughput.payload_bit_s / 8e9, 3) if m.throughput else 0.0
