# SPDX-License-Identifier: Apache-2.0
"""What `published/forth-rdma.csv` asks of the measurements, beside what every road has."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping

from isthmus.quantities import Comparison, Quantity, each, scaled, workload
from isthmus.results import Document, Measurement
from isthmus.roads.rdma.tables import COMPONENTS, crossover, injection, per_descriptor, total


def _crossing(cost: Callable[[Measurement], float | None]) -> Comparison:
    """The size in bytes at which the first pattern's transfers, dearer before, meet the second's."""

    def found(document: Document, above: str, below: str) -> float | None:
        members = [
            m
            for m in document
            if m.workload.get("combined")
            and any(fnmatch.fnmatchcase(m.id, pattern) for pattern in (above, below))
        ]
        methods = [pattern.split("/")[3] for pattern in (above, below)]
        return crossover(members, methods[0], methods[1], cost)

    return found


def _descriptor_us(m: Measurement) -> float | None:
    """The mean of what a transfer costs its sender, by its descriptors."""
    found = per_descriptor(m)
    return None if found is None else found / 1e6


def _component_share_percent(name: str) -> Callable[[Measurement], float | None]:
    def value(m: Measurement) -> float | None:
        part, whole = (workload("components_ps", key)(m) for key in (name, "total"))
        return None if part is None or not whole else 100 * part / whole

    return value


def _component_rest_us(m: Measurement) -> float | None:
    """What is neither propagation nor the read of the sender's memory."""
    found = m.workload.get("components_ps")
    return (found["total"] - found["propagation"] - found["send_dma"]) / 1e6 if found else None


_PARTS = (*COMPONENTS, "total")

QUANTITIES: Mapping[str, Quantity] = {
    "descriptor_us": each(_descriptor_us),
    "component_rest_us": each(_component_rest_us),
    "network_us": scaled(workload("network_ps"), 1e-6),
    **{f"component_us.{name}": scaled(workload("components_ps", name), 1e-6) for name in _PARTS},
    **{f"component_share_percent.{name}": each(_component_share_percent(name)) for name in _PARTS},
}

COMPARISONS: Mapping[str, Comparison] = {
    "crossing_bytes": _crossing(total),
    "injection_crossing_bytes": _crossing(injection),
}
