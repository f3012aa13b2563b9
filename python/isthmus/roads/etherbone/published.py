# SPDX-License-Identifier: Apache-2.0
"""The runs that `isthmus verify etherbone` compares with the document."""

from __future__ import annotations

from isthmus.results import Document
from isthmus.roads.etherbone import bench


def measure() -> Document:
    """By the document's own procedure: all of 90 cycles, from the first call to the last reply."""
    return bench.measure(procedure="published")
