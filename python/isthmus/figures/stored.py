# SPDX-License-Identifier: Apache-2.0
"""Area that `isthmus area` has stored, in the units of published tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isthmus.errors import UserError
from isthmus.figures import baseline
from isthmus.figures.cores import sums


def area(profile: str, core: str, family: str, resource: str) -> float | None:
    """The stored figures of `isthmus area` for one of our cores or a sum of cores; None if there are
    none."""
    stored = baseline.load("area")
    of = next((row.of for row in sums() if row.name == core), (core,))
    found = [stored.get(name, {}).get(family) for name in of]
    if profile != "isthmus" or not all(found):
        return None
    # Memories and shift registers in LUTs take LUTs: a memory of 16 bits with a separate read port takes
    # two. A block RAM of that family is half of one of 36 kbit.
    parts: Mapping[str, Sequence[tuple[str, int]]] = {
        "lut": (("lut", 1), ("lutram", 2), ("srl", 1)),
        "ff": (("ff", 1),),
        "bram": (("bram36", 2),),
    }
    if resource not in parts:
        raise UserError(f"quantity '{family}.{resource}' is not one of {', '.join(parts)} of a family")
    return float(sum(one[name] * factor for one in found if one for name, factor in parts[resource]))
