# SPDX-License-Identifier: Apache-2.0
"""Lets a model leave out, where only clocks have changed, what depends on its inputs alone.

Verilator evaluates the logic between inputs and what reads them at the beginning of each evaluation. Most
evaluations are of a clock's rising edge, before which nothing else has changed: that logic would give what
it gave at the falling edge before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_ALWAYS = "vlSelfRef.__VicoFirstIteration = 1U;"
"""The one statement that asks for that logic; without it, whoever evaluates sets the variable."""

_FUNCTION = re.compile(r"^void \w+?___(?:ico_|eval_ico)\w*\(.*?^}", re.MULTILINE | re.DOTALL)


def gate(generated: Sequence[Path], clocks: Iterable[str]) -> bool:
    """Rewrites Verilator's C++ so that ``__VicoFirstIteration`` is the caller's; False: it is as it was,
    for there is no such logic, or it was not found, or a clock is among what it reads."""
    texts = {file: file.read_text() for file in generated if file.suffix == ".cpp"}
    asking = [file for file, text in texts.items() if _ALWAYS in text]
    if len(asking) != 1 or texts[asking[0]].count(_ALWAYS) != 1:
        return False
    read = "".join(body for text in texts.values() for body in _FUNCTION.findall(text))
    if not read or any(re.search(rf"\b{re.escape(clock)}\b", read) for clock in clocks):
        return False
    asking[0].write_text(texts[asking[0]].replace(_ALWAYS, ""))
    return True
