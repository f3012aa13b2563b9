# SPDX-License-Identifier: Apache-2.0
"""Quantities of measurements, as `published/*.csv` names them.

Those here hold for every road; a road has its own, built from the same parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from isthmus.results import Document, Measurement

Quantity = Callable[[Sequence[Measurement], Document], float | None]
"""A number over the measurements that a pattern names; None where it cannot be said."""

Comparison = Callable[[Document, str, str], float | None]
"""A number over the measurements of two patterns."""


def each(get: Callable[[Measurement], float | None]) -> Quantity:
    """The largest of a value over the measurements; None where one lacks it."""

    def quantity(members: Sequence[Measurement], document: Document) -> float | None:
        values = [get(m) for m in members]
        known = [value for value in values if value is not None]
        return max(known) if len(known) == len(values) else None

    return quantity


def scaled(get: Callable[[Measurement], float | None], scale: float) -> Quantity:
    """The same of a value in another unit."""

    def value(m: Measurement) -> float | None:
        found = get(m)
        return None if found is None else found * scale

    return each(value)


def workload(*path: str) -> Callable[[Measurement], float | None]:
    """A number of the workload's description, by its keys."""

    def value(m: Measurement) -> float | None:
        found: Any = m.workload
        for key in path:
            found = (found or {}).get(key)
        return None if found is None else float(found)

    return value


def payload_gb_s(m: Measurement) -> float | None:
    """Payload in 10^9 bytes a second."""
    return m.throughput.payload_bit_s / 8e9 if m.throughput else None


def _spread(members: Sequence[Measurement], document: Document) -> float | None:
    values = [m.latency.avg for m in members if m.latency]
    shortest = min(values, default=0.0)
    return max(values) / shortest if shortest else None


QUANTITIES: Mapping[str, Quantity] = {
    "latency_avg_us": scaled(lambda m: m.latency.avg if m.latency else None, 1e-6),
    "latency_spread": _spread,
    "fastest_us": scaled(lambda m: m.latency.min if m.latency else None, 1e-6),
    "payload_mib_s": scaled(
        lambda m: m.throughput.payload_bit_s if m.throughput else None, 1 / 8 / (1 << 20)
    ),
    "payload_mbit_s": scaled(lambda m: m.throughput.payload_bit_s if m.throughput else None, 1e-6),
}
