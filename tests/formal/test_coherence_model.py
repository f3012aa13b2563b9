# SPDX-License-Identifier: Apache-2.0
"""The protocol's table, explored state by state: it holds, every row is used, and wrong ones are found."""

from __future__ import annotations

import pytest
from isthmus import coherence, murphi
from isthmus.coherence_model import VARIANTS, model

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
