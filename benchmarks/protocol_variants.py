# SPDX-License-Identifier: Apache-2.0
"""Explores the models of protocols, and every variant of them that has one thing wrong.

Coherence, its ids, a circuit's credits, the block link's replay and the translation of shared pages must
hold; each variant must fail. Needs rumur and gcc. Prints what each comes to, in how many states and how much
processor time; exits 1 where one does not come to what it must.
"""

from __future__ import annotations

import argparse
import resource
import sys

from isthmus import murphi
from isthmus.errors import UserError
from isthmus.protocol_models.catalog import cases, met

LARGE_S = 7200.0
"""Of the clock: other work may leave little of a processor."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="models and variants; without: all")
    parser.add_argument("--large", action="store_true", help="also models that take minutes")
    parser.add_argument("--text", action="store_true", help="print the models instead")
    chosen = parser.parse_args()
    wrong = 0
    known = {case.name: case for case in cases()}
    missing = [name for name in chosen.names if name not in known]
    if missing:
        raise UserError(f"no model {missing[0]!r}; there are: {', '.join(known)}")
    for case in known.values():
        if case.name not in chosen.names if chosen.names else case.large and not chosen.large:
            continue
        if chosen.text:
            print(case.text())
            continue
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        found = murphi.check(case.text(), many=case.many, timeout_s=LARGE_S)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        came = found.error or "holds"
        print(f"{case.name}: {came}, {found.states} states, {seconds:.1f} s ({case.what})", flush=True)
        wrong += not met(case.expected, found)
    return int(wrong > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"protocol_variants: {error}")
