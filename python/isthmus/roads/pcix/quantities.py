# SPDX-License-Identifier: Apache-2.0
"""Quantities of a bus alone, in its clocks."""

from __future__ import annotations

from collections.abc import Mapping

from isthmus.quantities import Quantity, each, scaled, workload

QUANTITIES: Mapping[str, Quantity] = {
    "bus_cycles": each(workload("cycles")),
    "bus_data_percent": scaled(workload("data_share"), 100),
    "bus_first_data_cycles": each(workload("first_data_cycles")),
    "bus_between_cycles": each(workload("between_cycles")),
    "bus_completions": each(lambda m: float(m.workload["transactions"] - 1)),
}
