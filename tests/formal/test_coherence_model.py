# SPDX-License-Identifier: Apache-2.0
"""The protocol's table, explored state by state: it holds, every row is used, and wrong ones are found."""

from __future__ import annotations

import pytest
from isthmus import coherence, murphi
from isthmus.coherence_model import STUCK, TWO_HOMES, VARIANTS, model

pytestmark = pytest.mark.skipif(not murphi.available(), reason=murphi.INSTALL)


def test_the_table_holds_and_has_no_dead_row() -> None:
    found = murphi.check(model(coherence.load()))
    assert found.error == ""
    assert found.states > 10_000


@pytest.mark.parametrize("name", VARIANTS)
def test_a_wrong_table_is_found(name: str) -> None:
    variant = VARIANTS[name]
    found = murphi.check(model(variant.change(coherence.load()), variant.rules, covered=False))
    assert found.error, variant.what


def test_two_homes_with_room_for_one_message_in_a_circuit_never_stop() -> None:
    text = model(coherence.load(), covered=False, system=TWO_HOMES)
    found = murphi.check(text, many=True)
    assert found.error == ""
    assert found.states > 100_000


@pytest.mark.parametrize("name", STUCK)
def test_two_homes_stop_where_one_kind_of_message_waits_for_another(name: str) -> None:
    variant = STUCK[name]
    text = model(coherence.load(), variant.rules, covered=False, system=variant.system)
    found = murphi.check(text, many=True)
    assert found.error == "deadlock", variant.what
