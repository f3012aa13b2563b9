# SPDX-License-Identifier: Apache-2.0
"""CCIX: an FPGA's request agent reads and writes lines of coherent host memory."""

from isthmus.roads.table import Place, Road

_HERE = "isthmus.roads.ccix"

ROAD = Road(
    name="ccix",
    title="Lines of coherent host memory over CCIX, on a PCIe physical layer",
    commands={
        "ccix": f"{_HERE}.cli:ccix",
        "ccix-contention": f"{_HERE}.cli:contention",
        "ccix-translation": f"{_HERE}.cli:translation",
        "lock-table": f"{_HERE}.cli:lock_table",
    },
    kinds=f"{_HERE}.platform:KINDS",
    published="ccix",
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
