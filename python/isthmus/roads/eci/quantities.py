# SPDX-License-Identifier: Apache-2.0
"""Quantities of published numbers: what a coherent link carries and how long it takes."""

from __future__ import annotations

from collections.abc import Mapping

from isthmus.quantities import Quantity, each, payload_gb_s, scaled, workload
from isthmus.results import Measurement

GIB = 1 << 30


def _payload_gib_s(m: Measurement) -> float | None:
    return m.throughput.payload_bit_s / 8 / GIB if m.throughput else None


def _fastest_ns(m: Measurement) -> float | None:
    return m.latency.min / 1e3 if m.latency else None


def _fastest_cycles(m: Measurement) -> float | None:
    """Clocks of the fastest transfer."""
    # Edges are whole picoseconds: 82 clocks of 3333.3 ps come out as 82.0002.
    cycles = workload("fastest_cycles")(m)
    return None if cycles is None else round(cycles, 2)


def _link_cycles(m: Measurement) -> float | None:
    """Clocks of a transfer without the lanes' delay and without memory: of what is ours, and the bits."""
    total = sum(stage.time for stage in m.stages)
    if not total:
        return None
    outside = sum(s.time for s in m.stages if s.name in ("transceivers and traces", "memory"))
    cycles, latency = workload("fastest_cycles")(m), m.latency
    if cycles is None or latency is None:
        return None
    return (total - outside) / (latency.min / cycles)


def _port_cycles(m: Measurement) -> float | None:
    """Clocks of the AXI port and the cache with a hit: from AR to R, or from a write's beat on W to B."""
    inside = [stage.time for stage in m.stages if stage.name == "port, cache"]
    cycles, latency = workload("fastest_cycles")(m), m.latency
    if not inside or cycles is None or latency is None or m.workload["driver"] != "cached-hit":
        return None
    # Rounded as the fastest cycles are.
    return round(sum(inside) / (latency.min / cycles), 2)


QUANTITIES: Mapping[str, Quantity] = {
    "link_gib_s": scaled(workload("link_bytes_s"), 1 / GIB),
    "payload_gb_s": each(payload_gb_s),
    "payload_gib_s": each(_payload_gib_s),
    "fastest_ns": each(_fastest_ns),
    "fastest_cycles": each(_fastest_cycles),
    "link_cycles": each(_link_cycles),
    "port_cycles": each(_port_cycles),
    "packing_percent": scaled(workload("packing_share"), 100),
}
