# SPDX-License-Identifier: Apache-2.0
"""RDMA: hosts write into each other's memory and queues through network interfaces and switches."""

from isthmus.roads.table import Road

_HERE = "isthmus.roads.rdma"

ROAD = Road(
    name="rdma",
    title="Writes and messages between hosts, through a network interface on PCI-X or PCIe",
    commands={"rdma": f"{_HERE}.cli:rdma"},
    kinds=f"{_HERE}.platform:KINDS",
    published="forth-rdma",
    verify=f"{_HERE}.published:verified",
    quantities=f"{_HERE}.quantities:QUANTITIES",
    comparisons=f"{_HERE}.quantities:COMPARISONS",
    area_notes=f"{_HERE}.area:notes",
    text=f"{_HERE}.tables:text",
    core=f"{_HERE}.columns:core",
    columns=f"{_HERE}.columns:COLUMNS",
    page=f"{_HERE}.page:page",
    beside=frozenset({"pcix", "switch"}),
    question=f"{_HERE}.question",
    label=f"{_HERE}.bench:label",
)
