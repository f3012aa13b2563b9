# SPDX-License-Identifier: Apache-2.0
"""The block link's replay, explored state by state: it holds, and links with one thing wrong are found."""

from __future__ import annotations

import pytest
from isthmus import murphi
from isthmus.blocklink_model import VARIANTS, model

pytestmark = pytest.mark.skipif(not murphi.available(), reason=murphi.INSTALL)


def test_every_block_comes_once_and_is_acknowledged() -> None:
    found = murphi.check(model(), many=True)
    assert found.error == ""
    assert found.states > 10_000


@pytest.mark.parametrize("name", VARIANTS)
def test_a_wrong_link_is_found(name: str) -> None:
    assert murphi.check(model(VARIANTS[name].link), many=True).error, VARIANTS[name].what
