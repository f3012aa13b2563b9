# SPDX-License-Identifier: Apache-2.0
"""isthmus: build, measure and compare the road between a host and its accelerator.

`isthmus.compare(op="read", size=256)` is `./isthmus compare` for notebooks and programs.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`isthmus.compare`, imported when it is used: a command's help needs none of it."""
    if name == "compare":
        import importlib

        return importlib.import_module("isthmus.compare")
    raise AttributeError(f"module 'isthmus' has no attribute {name!r}")
