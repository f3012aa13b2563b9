# SPDX-License-Identifier: Apache-2.0
"""What is to be known of the prototype's table of area beside ours."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.figures.stored import area
from isthmus.units import percent
from isthmus.verify import Row


def notes(areas: Sequence[Row]) -> list[str]:
    """Where a table of area and the text around it do not fit together, from its own numbers."""
    by_id = {row.id: row.value for row in areas}
    debug, whole = "forth.rdma.area.debug.", "forth.rdma.area.interface."
    said = by_id.get(f"{debug}share")
    if said is None:
        return []
    shares = [
        f"{percent(by_id[debug + key] / by_id[whole + key])} of the {name}"
        for key, name in (("lut", "LUTs"), ("ff", "flip-flops"), ("bram", "block RAMs"))
    ]
    return [
        f"Debugging support is said to be {said:g} % of the design; in the table it has {', '.join(shares)}.",
        "Ours of the whole interface is its board top with one link, counters and probes included; *.four: "
        "with the four links that the rates are of. The document does not say how many its table has.",
        *_outside(),
    ]


def _outside() -> list[str]:
    """What of ours is in no block of the table, as the table counts."""
    found = {
        key: area("isthmus", "RDMA: checks, notifications", "xc2vp", key) for key in ("lut", "ff", "bram")
    }
    if None in found.values():
        return []
    lut, ff, bram = (f"{value:g}" for value in found.values())
    return [
        f"Checks, notifications and error records of ours, {lut} LUTs, {ff} flip-flops and {bram} block "
        "RAMs, are in no block above, but in the whole."
    ]
