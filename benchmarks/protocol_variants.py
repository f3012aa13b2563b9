# SPDX-License-Identifier: Apache-2.0
"""Explores the coherence protocol, the block link's replay and the translation of shared pages, and every
variant of them that has one thing wrong: each of these must fail.

Needs rumur and gcc. Prints what each fails with, and in how many states; exits 1 where one passes, or a
protocol itself does not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from isthmus import blocklink_model, coherence, coherence_model, murphi, translation_model
from isthmus.errors import UserError

HOLDS = "holds"


def models() -> Iterator[tuple[str, str, bool]]:
    """What each model is, its text, and whether it must hold."""
    yield "replay", blocklink_model.model(), True
    for name, link in blocklink_model.VARIANTS.items():
        yield f"replay {name}: {link.what}", blocklink_model.model(link.link), False
    # Two accesses: a million states. The tests have one.
    yield "translation", translation_model.model(translation_model.Rules(uses=2)), True
    for name, device in translation_model.VARIANTS.items():
        yield f"translation {name}: {device.what}", translation_model.model(device.rules), False
    table = coherence.load()
    yield "coherence", coherence_model.model(table), True
    for name, one in coherence_model.VARIANTS.items():
        text = coherence_model.model(one.change(table), one.rules, covered=False)
        yield f"coherence {name}: {one.what}", text, False
    system = coherence_model.TWO_HOMES
    yield "two homes", coherence_model.model(table, covered=False, system=system), True
    for name, one in coherence_model.STUCK.items():
        text = coherence_model.model(table, one.rules, covered=False, system=one.system)
        yield f"two homes {name}: {one.what}", text, False


def main() -> int:
    wrong = 0
    for what, text, holds in models():
        found = murphi.check(text, many=not what.startswith("coherence"))
        verdict = found.error or HOLDS
        print(f"{what}: {verdict}, {found.states} states", flush=True)
        wrong += holds is bool(found.error)
    return int(wrong > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"protocol_variants: {error}")
