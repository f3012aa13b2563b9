# SPDX-License-Identifier: Apache-2.0
"""Rings of Cherenkov light in the hits of a detector, found on the host's own processor."""

from isthmus.roads.table import Road

_HERE = "isthmus.roads.rings"

ROAD = Road(
    name="rings",
    title="Rings in the hits of a RICH, event by event",
    commands={"rings": f"{_HERE}.cli:bench"},
    tools={"trigger": ("Generate RICH events and find their rings.", f"{_HERE}.cli:app")},
)
