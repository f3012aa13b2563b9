# SPDX-License-Identifier: Apache-2.0
"""Where a device's windows begin and end, from docs/reference/registers.md, and a walk along their edges.

The page is generated from the map that the hardware is built with; the walk compares the hardware and its
self-describing bus (SDB) table with what a reader of the page sees.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUS_LAST = 0xFFFFFFFF
RECORD = 64
SDB_MAGIC = 0x5344422D

Read = Callable[[int], Awaitable[int | None]]
"""Reads a word; None: the bus answered err."""
Write = Callable[[int, int], Awaitable[bool]]
"""Writes a word; False: the bus answered err."""


@dataclass(frozen=True)
class Window:
    first: int
    last: int


def windows() -> dict[str, Window]:
    """The rows of the page's bus map by their device."""
    page = (ROOT / "docs/reference/registers.md").read_text()
    rows = re.findall(r"^\| 0x(\w{6}) \| 0x(\w{6}) \| ([\w ]+) \|", page, re.MULTILINE)
    return {name: Window(int(first, 16), int(last, 16)) for first, last, name in rows}


def outside(window: Window, others: list[Window]) -> list[int]:
    """Addresses outside every window: around this one, and each that has one further address bit set."""
    size = window.last - window.first + 1
    near = [window.last + 1, window.last + 1 + size - 4, window.first - 4]
    far = [window.first + offset for bit in range(32) if (offset := 1 << bit) >= size]
    far += [address + size - 4 for address in far]
    alike = [window.first | 1 << bit for bit in range(20, 32)]
    return sorted(
        address
        for address in {a & 0xFFFFFFFC for a in near + far + alike if 0 <= a <= BUS_LAST}
        if not any(w.first <= address <= w.last for w in others)
    )


async def walk(read: Read, write: Write, control: int | None) -> int:
    """First and last word of each device answer, the words around its window err, read and written.

    `control` is an offset in the control registers that can be read, or None where the device has none.
    Returns the number of accesses outside all windows.
    """
    page = windows()
    if control is None:
        page["SDB table"] = Window(page["SDB table"].first, page["SDB table"].last - RECORD)
    ram, table = page["RAM"], page["SDB table"]
    mapped = [w for name, w in page.items() if control is not None or name != "Control registers"]

    async def word(address: int) -> int:
        value = await read(address)
        assert value is not None, f"read {address:#010x}: err, but it is in a window"
        return value

    # What the SDB table says is what the page says.
    assert await word(table.first) == SDB_MAGIC
    records = (await word(table.first + 4)) >> 16
    assert records * RECORD == table.last - table.first + 1
    found = []
    for record in range(1, records):
        at = table.first + RECORD * record
        found.append(Window(await word(at + 12), await word(at + 20)))
    names = ["RAM", "ECA control", "TLU"] + (["Control registers"] if control is not None else [])
    assert found == [page[name] for name in names]

    # Inside.
    marks = {ram.first: 0x600DF00D, ram.last - 3: 0x0DDBA115}
    for address, mark in marks.items():
        assert await write(address, mark), f"write {address:#010x}"
    await word(table.last - 3)
    await word(page["ECA control"].first + 0x18)
    await word(page["TLU"].first + 0x70)
    if control is not None:
        await word(page["Control registers"].first + control)

    # Outside.
    strays = sorted({address for w in mapped for address in outside(w, mapped)})
    for address in strays:
        assert await read(address) is None, f"read {address:#010x}: answered, but it is in no window"
        assert not await write(address, 0xBAD), f"write {address:#010x}: answered, but it is in no window"
    for address, mark in marks.items():
        assert await word(address) == mark, f"{address:#010x} was changed from outside its window"
    assert await word(table.first) == SDB_MAGIC
    return len(strays)
