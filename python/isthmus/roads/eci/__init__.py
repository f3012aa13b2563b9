# SPDX-License-Identifier: Apache-2.0
"""ECI: an FPGA and a processor read and write each other's memory over a cache-coherent link."""

from isthmus.roads.table import Place, Road

_HERE = "isthmus.roads.eci"

ROAD = Road(
    name="eci",
    title="Lines of memory over a cache-coherent link between a processor and an FPGA",
    commands={"eci": f"{_HERE}.cli:eci"},
    kinds=f"{_HERE}.platform:KINDS",
    published="eci",
    verify=f"{_HERE}.published:measure",
    quantities=f"{_HERE}.quantities:QUANTITIES",
    text=f"{_HERE}.tables:text",
    columns=f"{_HERE}.columns:COLUMNS",
    page=f"{_HERE}.page:page",
    places={
        "host": Place("the host", "c1"),
        "wire": Place("the link", "c2"),
        "fpga": Place("the FPGA", "c3"),
    },
    question=f"{_HERE}.question",
    label=f"{_HERE}.bench:label",
)
