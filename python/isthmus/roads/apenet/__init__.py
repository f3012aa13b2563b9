# SPDX-License-Identifier: Apache-2.0
"""Puts between the memories of hosts over APElink, the torus of NaNet's interface."""

from isthmus.roads.table import Place, Road

_HERE = "isthmus.roads.apenet"

ROAD = Road(
    name="apenet",
    title="Memory to memory over APElink, by puts",
    commands={"apenet": f"{_HERE}.cli:apenet"},
    kinds=f"{_HERE}.platform:KINDS",
    text=f"{_HERE}.tables:text",
    columns=f"{_HERE}.columns:COLUMNS",
    quantities=f"{_HERE}.quantities:QUANTITIES",
    page=f"{_HERE}.page:page",
    places={
        "host": Place("hosts and their buses", "c2"),
        "wire": Place("routers and links", "c3"),
        "fpga": Place("the far node", "c1"),
    },
    gives={"verify nanet": f"{_HERE}.published:given"},
    label=f"{_HERE}.bench:label",
    question=f"{_HERE}.question",
)
