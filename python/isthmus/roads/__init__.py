# SPDX-License-Identifier: Apache-2.0
"""The roads: a package each, `isthmus.roads.<road>`, and the one table that names them."""

from isthmus.roads.table import ROADS, Place, Road, resolve, road, roads

__all__ = ["ROADS", "Place", "Road", "resolve", "road", "roads"]
