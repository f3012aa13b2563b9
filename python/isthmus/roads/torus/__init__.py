# SPDX-License-Identifier: Apache-2.0
"""Torus: packets through routers with links to their neighbours, as a network without hosts."""

from isthmus.roads.table import Place, Road

_HERE = "isthmus.roads.torus"

ROAD = Road(
    name="torus",
    title="Delay against load through a torus of routers",
    commands={"torus": f"{_HERE}.cli:torus"},
    kinds=f"{_HERE}.platform:KINDS",
    text=f"{_HERE}.tables:text",
    core=f"{_HERE}.columns:core",
    columns=f"{_HERE}.columns:COLUMNS",
    page=f"{_HERE}.page:page",
    places={"wire": Place("links", "c3"), "fpga": Place("routers", "c1")},
    gives={"verify nanet": f"{_HERE}.published:given"},
    label=f"{_HERE}.bench:label",
)
