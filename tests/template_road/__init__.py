# SPDX-License-Identifier: Apache-2.0
"""A road as small as one can be: a host program reads a mailbox. To begin: copy it to roads/NAME."""

from isthmus.roads.table import Place, Road

_HERE = __name__

ROAD = Road(
    name="template",
    title="A mailbox",
    commands={"template": f"{_HERE}.cli:template"},
    kinds=f"{_HERE}.platform:KINDS",
    quantities=f"{_HERE}.page:QUANTITIES",
    columns=f"{_HERE}.page:COLUMNS",
    text=f"{_HERE}.page:text",
    page=f"{_HERE}.page:page",
    places={"host": Place("the host", "c1"), "mailbox": Place("the mailbox", "c3")},
    label=f"{_HERE}.bench:label",
)
