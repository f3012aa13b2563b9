# SPDX-License-Identifier: Apache-2.0
"""All protocol models and what each must come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

from isthmus import coherence as protocol
from isthmus import murphi
from isthmus.protocol_models import circuit, ids, replay, translation
from isthmus.protocol_models.coherence import model as coherence_model
from isthmus.protocol_models.coherence import system as systems
from isthmus.protocol_models.coherence.system import System
from isthmus.protocol_models.coherence.variants import STUCK, VARIANTS, WITH_DATA, Variant

Verdict = Literal["holds", "wrong", "stuck"]
Expected = Literal["holds", "fails", "wrong", "stuck"]
"""Fails: wrong or stuck."""


@dataclass(frozen=True)
class Case:
    """One model.

    many   it has so many states that compiling for speed is worth its time
    slow   it takes a quarter of a minute and more, the most of it the compiler: a test of `--all`
    large  it takes longer than a test may: `benchmarks/protocol_variants.py`
    """

    name: str
    what: str
    text: Callable[[], str]
    expected: Expected = "holds"
    many: bool = False
    slow: bool = False
    large: bool = False


def verdict(found: murphi.Checked) -> Verdict:
    """Stuck: something open never ends; wrong: anything else that must not be."""
    if not found.error:
        return "holds"
    return "stuck" if found.error.startswith(("deadlock", "liveness")) else "wrong"


def met(expected: Expected, found: murphi.Checked) -> bool:
    """Whether a model came to what it must."""
    came = verdict(found)
    return came != "holds" if expected == "fails" else came == expected


@cache
def _table() -> protocol.Table:
    return protocol.load()


def _coherence(system: System, covered: bool = False) -> str:
    return coherence_model(_table(), covered=covered, system=system)


def _wrong(variant: Variant) -> str:
    return coherence_model(variant.change(_table()), variant.rules, False, variant.system)


_HOLDING: Mapping[str, tuple[str, System, bool]] = {
    "two-homes": ("two homes, a circuit holds one message", systems.TWO_HOMES, False),
    "two-lines": ("two lines, one transaction, MSHR and id", systems.TWO_LINES, False),
    "one-entry": ("two lines, the home has an entry of one", systems.ONE_ENTRY, False),
    "two-homes-data": ("two homes, with the lines' values", systems.TWO_HOMES_DATA, True),
    "two-lines-data": ("two lines, with their values", systems.TWO_LINES_DATA, True),
    "one-way": ("two lines of each home, each cache has one way", systems.ONE_WAY, False),
    "two-links": ("two homes over two links", systems.TWO_LINKS, True),
    "three-lines": ("three lines of one home, one transaction", systems.THREE_LINES, True),
    "three-lines-two-homes": ("three lines of two homes", systems.THREE_LINES_TWO_HOMES, True),
    "two-homes-all": ("two homes, caches and agents without one", systems.TWO_HOMES_ALL, True),
}


def cases() -> Iterator[Case]:
    """In order of size, roughly."""
    one = partial(_coherence, systems.ONE_LINE, True)
    yield Case("coherence", "one line, messages in any order, every row of the table used", one)
    for name, variant in VARIANTS.items():
        yield Case(f"coherence/{name}", variant.what, partial(_wrong, variant), "fails")
    for name, variant in WITH_DATA.items():
        yield Case(f"coherence/{name}", variant.what, partial(_wrong, variant), "fails", slow=True)
    for name, variant in STUCK.items():
        text, slow = partial(_wrong, variant), variant.system.together
        yield Case(f"coherence/{name}", variant.what, text, "stuck", many=True, slow=slow)
    yield Case("ids", "ids that are used again at once", ids.model, many=True)
    for name, other in ids.VARIANTS.items():
        yield Case(f"ids/{name}", other.what, partial(ids.model, other.rules), "wrong")
    yield Case("credits", "credits of a circuit over a link that loses blocks", circuit.model, many=True)
    wide = partial(circuit.model, circuit.Circuit(numbers=3, window=2))
    yield Case("credits-two-blocks", "the same, with two blocks kept", wide, many=True, large=True)
    for name, credit in circuit.VARIANTS.items():
        came: Expected = "stuck" if credit.stuck else "wrong"
        yield Case(f"credits/{name}", credit.what, partial(circuit.model, credit.rules), came, many=True)
    yield Case("replay", "blocks that are altered and lost", replay.model, many=True)
    for name, link in replay.VARIANTS.items():
        yield Case(f"replay/{name}", link.what, partial(replay.model, link.rules), "fails", many=True)
    yield Case("translation", "shared pages, one access", translation.model, many=True)
    for name, device in translation.VARIANTS.items():
        yield Case(f"translation/{name}", device.what, partial(translation.model, device.rules), "fails")
    twice = partial(translation.model, translation.Rules(uses=2))
    yield Case("translation-two", "shared pages, two accesses", twice, many=True, large=True)
    for name, (what, system, large) in _HOLDING.items():
        whole = partial(_coherence, system)
        yield Case(name, what, whole, many=True, slow=system.together, large=large)
