# SPDX-License-Identifier: Apache-2.0
"""Quantities of `published/forth-switch.csv`, in addition to those of every road."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence

from isthmus.quantities import Comparison, Quantity, each, scaled, workload
from isthmus.results import Document, Measurement
from isthmus.roads.switch.tables import queueing_us


def _pairs(document: Document, above: str, below: str) -> list[float]:
    """The ratios of mean latency, for measurements of both patterns that differ only in their method. A run
    without a steady latency is omitted."""

    def found(pattern: str) -> dict[str, float]:
        return {
            m.name: m.latency.avg
            for m in document
            if fnmatch.fnmatchcase(m.id, pattern) and m.latency and not m.workload.get("saturated")
        }

    first, second = found(above), found(below)
    return [float(first[name] / second[name]) for name in sorted(first) if second.get(name)]


def _ratio(choose: Callable[[Sequence[float]], float]) -> Comparison:
    def found(document: Document, above: str, below: str) -> float | None:
        ratios = _pairs(document, above, below)
        return choose(ratios) if ratios else None

    return found


def _line_percent(m: Measurement) -> float | None:
    idle = workload("wire_shares", "idle")(m)
    return None if idle is None else 100 * (1 - idle)


def _single_line_percent(m: Measurement) -> float | None:
    """The same of the one line that a single flow uses."""
    shares = m.workload.get("wire_shares") or {}
    if shares.get("data") is None:
        return None
    return 100 * float(m.workload["ports"] * (shares["data"] + shares["framing"]))


def _packet_line_percent(m: Measurement) -> float | None:
    """The share of a line that packets take, framing included, of what credits leave them."""
    shares = m.workload.get("wire_shares") or {}
    if shares.get("data") is None:
        return None
    free = float(shares["data"] + shares["framing"] + shares["idle"])
    return 100 * (shares["data"] + shares["framing"]) / free if free else None


QUANTITIES: Mapping[str, Quantity] = {
    "queueing_us": each(queueing_us),
    "switch_clocks": each(workload("clocks", "fastest_switch")),
    "payload_share_percent": scaled(workload("payload_share"), 100),
    "line_share_percent": each(_line_percent),
    "packet_line_percent": each(_packet_line_percent),
    "single_line_percent": each(_single_line_percent),
    "jain_percent": scaled(workload("flows", "jain"), 100),
}

COMPARISONS: Mapping[str, Comparison] = {
    "latency_pairs_most": _ratio(max),
    "latency_pairs_least": _ratio(min),
}
