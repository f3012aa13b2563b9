# SPDX-License-Identifier: Apache-2.0
"""Etherbone: a host program reads and writes Wishbone slaves over PCIe, USB, Gigabit Ethernet or VME."""

from isthmus.roads.table import Place, Road

_HERE = "isthmus.roads.etherbone"

ROAD = Road(
    name="etherbone",
    title="Wishbone slaves over PCIe, USB, Gigabit Ethernet and VME",
    commands={name: f"{_HERE}.cli:{name}" for name in ("etherbone", "gige", "pcie", "usb", "vme")},
    serve=f"{_HERE}.cli:serve",
    tools={"eb": ("Read and write Wishbone devices over Etherbone.", "isthmus.eb.cli:app")},
    kinds=f"{_HERE}.platform:KINDS",
    published="etherbone",
    verify=f"{_HERE}.published:measure",
    quantities=f"{_HERE}.quantities:QUANTITIES",
    text=f"{_HERE}.tables:text",
    core=f"{_HERE}.columns:core",
    columns=f"{_HERE}.columns:COLUMNS",
    page=f"{_HERE}.page:page",
    svg=f"{_HERE}.svg:main_figure",
    places={
        "host": Place("the host (software and interrupts)", "c1"),
        "nic": Place("the network interface", "c2"),
        "wire": Place("the wire", "c3"),
        "switch": Place("the switch", "c4"),
        "fpga": Place("the FPGA", "c5"),
        "pcie": Place("the ports of PCIe", "c2"),
        "controller": Place("the USB controller", "c2"),
        "bridge": Place("processor, driver and bridge up to the VMEbus", "c2"),
    },
    question=f"{_HERE}.question",
    label=f"{_HERE}.scenario:label",
)
