# SPDX-License-Identifier: Apache-2.0
"""`./isthmus compare`: the user's own transfer over every road that carries it, and the decision.

The package can be called, which is the notebook API:

    import isthmus
    found = isthmus.compare(op="read", size=256, platforms=["pcie-gen3x4", "gige-direct"])
    print(found)
    found.frame()
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isthmus.compare.api import Comparison

__all__ = ["compare", "run"]


def compare(*arguments: Any, **options: Any) -> Comparison:
    """Measure and answer; see `isthmus.compare.api.compare`, which has the options with their types."""
    from isthmus.compare import api

    return api.compare(*arguments, **options)


def run(*arguments: Any, **options: Any) -> None:
    """`./isthmus compare`; see `isthmus.compare.api.run`."""
    from isthmus.compare import api

    api.run(*arguments, **options)


class _Package(ModuleType):
    """This package: calling it compares."""

    def __call__(self, *arguments: Any, **options: Any) -> Comparison:
        return compare(*arguments, **options)


sys.modules[__name__].__class__ = _Package
