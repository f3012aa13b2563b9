# SPDX-License-Identifier: Apache-2.0
"""What the figures of RDMA share: names, colours, axes, cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from isthmus.report import figures
from isthmus.report.figures import Swatch
from isthmus.results import Measurement
from isthmus.roads.rdma.tables import MIB, OPERATIONS, posting, rate

LINES: Mapping[str, tuple[str, str]] = {
    "v1": ("v1: a batch, then wait", "c1"),
    "v2": ("v2: check for space each time", "c2"),
    "v3": ("v3: check for space every fourth time", "c3"),
    "send-bw": ("messages", "c5"),
    "write-lat": ("write", "c2"),
    "write-lat-inline": ("write with its data inline", "c3"),
    "write-bw-inline": ("writes with their data inline", "c4"),
    "send-lat": ("message", "c5"),
}


LATENCY_METHODS = ("write-lat", "write-lat-inline", "send-lat")


PUBLISHED_COLOUR = "c4"


COLOURS = 6


PICOSECONDS = 1e6
"""In a microsecond."""


def is_by_packet(m: Measurement) -> bool:
    """Whether it is one transfer of several packets."""
    return m.road == "rdma" and len(m.workload.get("packets") or ()) > 1


def published_numbers() -> Mapping[str, float]:
    """The document's own numbers by their id."""
    from isthmus.verify import published

    return {line["id"]: float(line["value"]) for line in published("rdma")}


def rate_cells(m: Measurement) -> list[str]:
    """Setting, line, profile, bytes and payload rate: what a row about a rate begins with."""
    size, carried = m.workload["size_bytes"], (rate(m) or 0) / MIB
    return [setting_of(m), LINES[kind_of(m)][0], m.profile, str(size), f"{carried:.1f}"]


def setting_of(m: Measurement) -> str:
    w = m.workload
    links = f"{w['links']} link{'s' if w['links'] != 1 else ''} each"
    extra = ", both ways" if w["both_ways"] else ""
    extra += f", lists of {w['post_list']}" if w["post_list"] > 1 else ""
    return f"{m.platform}, {w['hosts']} hosts, {links}{extra}"


def panels_of(members: Sequence[Measurement]) -> Mapping[str, list[Measurement]]:
    panels: dict[str, list[Measurement]] = {}
    for m in members:
        panels.setdefault(setting_of(m), []).append(m)
    return panels


def kind_of(m: Measurement) -> str:
    return posting(m) or m.method


def axis_of(name: str, kind: str = "value", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "nameLocation": "middle", **more}


def byte_axis(members: Sequence[Measurement]) -> dict[str, Any]:
    return figures.byte_axis("bytes of a transfer", [m.workload["size_bytes"] for m in members])


def curves(
    members: Sequence[Measurement], value: Callable[[Measurement], float | None]
) -> list[dict[str, Any]]:
    """A line for each kind of transfer and profile; words of 4 bytes are lines of their own."""
    drawn: dict[tuple[str, str, bool], list[list[float]]] = {}
    for m in members:
        found = value(m)
        if found is not None:
            point = [m.workload["size_bytes"], found]
            drawn.setdefault((kind_of(m), m.profile, bool(m.workload["combined"])), []).append(point)
    made = []
    for (kind, profile, combined), data in sorted(drawn.items()):
        name, colour = LINES[kind]
        ours = profile == "isthmus"
        words = "" if combined else ", words of 4 bytes"
        made.append(
            {
                "type": "line",
                "name": f"{name}{words}, {profile}",
                "colour": colour if combined else "c6",
                "data": sorted(data),
                "lineStyle": {"type": "solid" if ours else "dashed"},
                "symbol": "circle" if ours else "emptyCircle",
                "symbolSize": 7,
            }
        )
    return made


def legend_of(members: Sequence[Measurement], published: Sequence[Swatch] = ()) -> list[Swatch]:
    kinds = [kind for kind in LINES if any(kind_of(m) == kind for m in members)]
    made = [Swatch(*LINES[kind], "box") for kind in kinds]
    if any(not m.workload["combined"] for m in members):
        made.append(Swatch("words of 4 bytes", "c6", "box"))
    for profile, shape in (("isthmus", "solid"), ("as-published", "dashed")):
        if any(m.profile == profile for m in members):
            made.append(Swatch(f"profile {profile}", "text", "solid" if shape == "solid" else "dashed"))
    return [*made, *published]


def published_points(name: str, data: Sequence[Sequence[float]]) -> dict[str, Any]:
    return {
        "type": "line", "name": name, "colour": PUBLISHED_COLOUR, "data": data, "symbol": "diamond",
        "symbolSize": 11, "lineStyle": {"width": 0},
    }  # fmt: skip


def is_document(members: Sequence[Measurement]) -> bool:
    """Whether these are runs that the document has numbers of: its own bus, its own program."""
    return any(m.platform == "forth-rdma" and m.method == "one-way" for m in members)


def optional(value: float | None, scale: float, decimals: int) -> str:
    return "" if value is None else f"{value * scale:.{decimals}f}"


def bar_name(m: Measurement) -> str:
    size = m.workload["size_bytes"]
    kind = OPERATIONS.get(m.method, "write")
    how = "combined" if m.workload["combined"] else "words of 4 bytes"
    return f"{kind} of {size} bytes\n{how}\n{m.profile}"


def stack(name: str, colour: str, data: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "bar", "stack": "parts", "name": name, "colour": colour, "barMaxWidth": 34, "data": data,
    }  # fmt: skip


def bar_order(m: Measurement) -> tuple[int, bool]:
    return LATENCY_METHODS.index(m.method) if m.method in LATENCY_METHODS else 0, m.workload["combined"]
