# SPDX-License-Identifier: Apache-2.0
"""Plain PCI Express: blocks that a program has an FPGA move by DMA. It answers `isthmus compare`."""

from isthmus.roads.table import Place, Road

_HERE = "isthmus.roads.blockdma"

ROAD = Road(
    name="blockdma",
    title="Blocks by DMA over PCI Express",
    places={
        "host": Place("program, processor and its memory", "c2"),
        "pcie": Place("ports and lanes", "c3"),
        "fpga": Place("DMA engine", "c1"),
    },
    label=f"{_HERE}.question:label",
    question=f"{_HERE}.question",
)
