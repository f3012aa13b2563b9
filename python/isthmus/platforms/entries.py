# SPDX-License-Identifier: Apache-2.0
"""Constants as the engine takes them: a number under a key that carries its unit.

A constant in ns/byte named copy becomes copy_ns_per_byte.
"""

from __future__ import annotations

from typing import Any

from isthmus.platforms.keys import SUFFIXES
from isthmus.platforms.model import Declared, declared


def entries(group: Any) -> dict[str, float | int]:
    """The constants of one table, each key with its unit."""
    found = declared(type(group)).items()
    return dict(_entry(name, wanted, getattr(group, name).value) for name, wanted in found)


def _entry(name: str, wanted: Declared, value: float) -> tuple[str, float | int]:
    return wanted.key or name + SUFFIXES[wanted.unit], int(value) if wanted.is_whole else value
