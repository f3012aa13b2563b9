# SPDX-License-Identifier: Apache-2.0
"""Constants as the engine takes them: a number under a key that carries its unit.

The unit of the platform file decides the key: a constant in ns/byte named copy becomes copy_ns_per_byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isthmus.platforms.model import Constant, declared

_SUFFIXES: Mapping[str, str] = {
    "1": "",
    "s": "_s",
    "us": "_us",
    "ns": "_ns",
    "m": "_m",
    "MHz": "_mhz",
    "Mbit/s": "_mbit_s",
    "ns/m": "_ns_per_m",
    "ns/byte": "_ns_per_byte",
    "bit": "_bits",
    "byte": "_bytes",
    "microframe": "_microframes",
    "share": "_share",
    "TLP": "_tlps",
    "cycle": "_cycles",
}
_WHOLE = frozenset({"1", "bit", "byte", "microframe", "TLP", "cycle"})


def entries(group: Any) -> dict[str, float | int]:
    """The constants of one table, each key with its unit."""
    return dict(_entry(key, getattr(group, key)) for key in declared(type(group)))


def _entry(name: str, constant: Constant) -> tuple[str, float | int]:
    whole = constant.unit in _WHOLE or name == "epoch"
    value = int(constant.value) if whole else constant.value
    return name + _SUFFIXES[constant.unit], value
