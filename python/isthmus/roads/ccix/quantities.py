# SPDX-License-Identifier: Apache-2.0
"""Quantities of published numbers: what CCIX carries and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isthmus.quantities import Quantity, each, payload_gb_s, scaled, workload
from isthmus.results import Measurement
from isthmus.roads.ccix import contention, locks_tables, translation

OUTSIDE = ("hard block", "port", "home", "memory", "propagation", "bits")
"""Stages that are no gateware."""


def _fastest_ns(m: Measurement) -> float | None:
    return m.latency.min / 1e3 if m.latency else None


def _mean_ns(m: Measurement) -> float | None:
    return m.latency.avg / 1e3 if m.latency else None


def _logic_cycles(m: Measurement) -> float | None:
    """Clocks of a transfer in the FPGA's own logic."""
    ours = [stage.time for stage in m.stages if stage.where == "fpga" and stage.name not in OUTSIDE]
    cycles, latency = workload("fastest_cycles")(m), m.latency
    if not ours or not cycles or latency is None:
        return None
    return sum(ours) / (latency.min / cycles)


def _cache_cycles(m: Measurement) -> float | None:
    """Clocks from a request at the cache to its response."""
    inside = [stage.time for stage in m.stages if stage.name == "cache"]
    cycles, latency = workload("fastest_cycles")(m), m.latency
    return sum(inside) / (latency.min / cycles) if inside and cycles and latency else None


def _virtual_cycles(m: Measurement) -> float | None:
    """Clocks from a request with a virtual address to its response, where cache and translation hit."""
    inside = [stage.time for stage in m.stages if stage.name in ("translation", "cache")]
    cycles, latency = workload("fastest_cycles")(m), m.latency
    return sum(inside) / (latency.min / cycles) if inside and cycles and latency else None


def _cache_ns(m: Measurement) -> float | None:
    inside = [stage.time for stage in m.stages if stage.name == "cache"]
    return sum(inside) / 1e3 if inside else None


def _model_percent(m: Measurement) -> float | None:
    """How far the mean of both sides is from the analytic model, where the model holds; 0 for fewer lines."""
    if m.workload["contention"]["lines"] < contention.MODEL_LINES:
        return 0.0
    return 100 * abs(contention.mean(m) / contention.model_mean(m) - 1)


def _formula_percent(m: Measurement) -> float | None:
    """How far the FPGA's mean is from the document's formula, with hits as counted and terms as measured."""
    return 100 * abs(contention.side(m, "fpga").mean / contention.formula(m, "fpga") - 1)


def _lock_wait_ns(side: str, key: str) -> Callable[[Measurement], float | None]:
    """From a transaction's begin to its last lock."""

    def value(m: Measurement) -> float | None:
        found = m.workload["locks"][side]["wait_ps"]
        return found[key] / 1e3 if found else None

    return value


def _lock_free_p99_ns(m: Measurement) -> float | None:
    """Of transactions that met no lock that was held."""
    found = locks_tables.p99(m, "free_ps")
    return None if found is None else found / 1e3


def _lock_wait_over_load(m: Measurement) -> float | None:
    """p99 of all lock waits, over that with a table that answers each order as one alone."""
    found = locks_tables.p99(m, "all_ps")
    load = m.workload["locks"]["waits"]["load"]
    return None if found is None or load is None else found / load["p99_ps"]


QUANTITIES: Mapping[str, Quantity] = {
    "link_gb_s": scaled(workload("link_bytes_s"), 1e-9),
    "ccix_gb_s": each(payload_gb_s),
    "ccix_fastest_ns": each(_fastest_ns),
    "ccix_mean_ns": each(_mean_ns),
    "cache_cycles": each(_cache_cycles),
    "virtual_cycles": each(_virtual_cycles),
    "cache_ns": each(_cache_ns),
    "logic_cycles": each(_logic_cycles),
    "contention_model_percent": each(_model_percent),
    "contention_formula_percent": each(_formula_percent),
    "translation_percent": translation.percent,
    "contention_round_trips": each(contention.longest_queued),
    "lock_wait_fpga_ns": each(_lock_wait_ns("fpga", "avg")),
    "lock_wait_fpga_median_ns": each(_lock_wait_ns("fpga", "p50")),
    "lock_wait_host_ns": each(_lock_wait_ns("host", "avg")),
    "lock_free_p99_ns": each(_lock_free_p99_ns),
    "lock_wait_over_load": each(_lock_wait_over_load),
    "packet_messages": each(workload("packet_messages")),
}
