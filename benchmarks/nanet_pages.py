# SPDX-License-Identifier: Apache-2.0
"""Translation of addresses in the UDP-to-memory interface, on random pages of three sizes.

`nanet_translate` with random commands, one in 16 illegal, and a memory whose reads take 100 to 227 cycles.
Every address is compared (tests/unit/nanet); what counts here is the worst case: cycles from a command to its
address, above those of the slowest read. The figures beside it say what was tried.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measured import ROOT, Figure, main

COMMANDS = 1_000_000
OVERHEAD = 7
"""Cycles of a miss beside its read: the module's own 4, address and word on the bus, and the command's."""


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    sys.path[:0] = [str(ROOT / "tests" / "unit"), str(ROOT / "tests" / "unit" / "nanet")]
    from isthmus.testing import FRESH
    from nanet_bench import FIGURES, translate

    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "figures.json"
        os.environ[FRESH], os.environ[FIGURES] = "1", str(out)
        translate(width=128, stalls=False, commands=options.commands)
        found = json.loads(out.read_text())
    print(", ".join(f"{name} {value}" for name, value in found.items()))
    return [
        Figure(
            "cycles of the worst translation above the slowest read", found["above_read"], OVERHEAD, "cycles"
        ),
        Figure("page table reads a command", found["reads"] / found["commands"], 1, ""),
        Figure("commands", found["commands"], options.commands, "", least=True),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=COMMANDS)
    sys.exit(main(measure, parser))
