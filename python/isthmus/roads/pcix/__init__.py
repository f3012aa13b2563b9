# SPDX-License-Identifier: Apache-2.0
"""PCI-X: the bus of a platform alone, without gateware. Other roads measure it beside their own."""

from isthmus.roads.table import Road

_HERE = "isthmus.roads.pcix"

ROAD = Road(
    name="pcix",
    title="A PCI-X bus by itself",
    quantities=f"{_HERE}.quantities:QUANTITIES",
    core=f"{_HERE}.columns:core",
    columns=f"{_HERE}.columns:COLUMNS",
    gives=dict.fromkeys(("verify rdma", "bench rdma figures"), f"{_HERE}.bench:given"),
    label=f"{_HERE}.bench:label",
)
