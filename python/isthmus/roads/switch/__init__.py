# SPDX-License-Identifier: Apache-2.0
"""Switch: packets through a buffered crossbar, as a network without hosts."""

from isthmus.roads.table import Road

_HERE = "isthmus.roads.switch"

ROAD = Road(
    name="switch",
    title="Delay against load through a buffered-crossbar switch",
    commands={"switch": f"{_HERE}.cli:switch"},
    kinds=f"{_HERE}.platform:KINDS",
    published="forth-switch",
    verify=f"{_HERE}.published:measure",
    quantities=f"{_HERE}.quantities:QUANTITIES",
    comparisons=f"{_HERE}.quantities:COMPARISONS",
    text=f"{_HERE}.tables:text",
    core=f"{_HERE}.columns:core",
    columns=f"{_HERE}.columns:COLUMNS",
    page=f"{_HERE}.page:page",
    shown=f"{_HERE}.page:shown",
    gives={"bench rdma figures": f"{_HERE}.published:given"},
    label=f"{_HERE}.bench:label",
)
