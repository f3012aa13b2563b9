# SPDX-License-Identifier: Apache-2.0
"""A model with one thing wrong, which the model checker must find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Rules = TypeVar("Rules")


@dataclass(frozen=True)
class Variant(Generic[Rules]):
    """What is wrong in words, and the rules that the model is made with."""

    what: str
    rules: Rules
    stuck: bool = False
    """Something waits for ever; else the model comes to what must not be."""
