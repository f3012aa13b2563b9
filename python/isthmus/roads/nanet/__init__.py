# SPDX-License-Identifier: Apache-2.0
"""UDP from the wire into registered memory, through a network interface on PCIe."""

from isthmus.roads.table import Place, Road

_HERE = "isthmus.roads.nanet"

ROAD = Road(
    name="nanet",
    title="UDP datagrams from Gigabit Ethernet into host or GPU memory",
    commands={"nanet": f"{_HERE}.cli:nanet", "trigger-chain": f"{_HERE}.cli:trigger_chain"},
    serve=f"{_HERE}.cli:serve",
    kinds=f"{_HERE}.platform:KINDS",
    published="nanet",
    verify=f"{_HERE}.published:verified",
    quantities=f"{_HERE}.quantities:QUANTITIES",
    text=f"{_HERE}.tables:text",
    columns=f"{_HERE}.columns:COLUMNS",
    page=f"{_HERE}.page:page",
    places={
        "wire": Place("the wire", "c3"),
        "fpga": Place("the network interface", "c1"),
        "host": Place("the bus and the host", "c2"),
        "gpu": Place("the GPU", "c5"),
        "bus": Place("the bus, and memory behind it", "c4"),
    },
    question=f"{_HERE}.question",
    label=f"{_HERE}.bench:label",
)
