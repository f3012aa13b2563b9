# SPDX-License-Identifier: Apache-2.0
"""Explores the coherence protocol and every variant of it that has one thing wrong; each of these must fail.

Needs rumur and gcc. Prints what each fails with, and in how many states; exits 1 where one passes, or the
protocol itself does not.
"""

from __future__ import annotations

import sys

from isthmus import coherence, murphi
from isthmus.coherence_model import VARIANTS, model
from isthmus.errors import UserError


def main() -> int:
    table = coherence.load()
    found = murphi.check(model(table))
    print(f"the protocol: {found.states} states, {found.error or 'holds'}", flush=True)
    wrong = bool(found.error)
    for name, variant in VARIANTS.items():
        found = murphi.check(model(variant.change(table), variant.rules, covered=False))
        print(f"{name}: {variant.what}: {found.error or 'PASSES'}, {found.states} states", flush=True)
        wrong |= not found.error
    return int(wrong)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"coherence_variants: {error}")
