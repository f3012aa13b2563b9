# SPDX-License-Identifier: Apache-2.0
"""The block link's replay as a model: links with one thing wrong are found.

`benchmarks/protocol_variants.py` explores the right one, and all of `VARIANTS`.
"""

from __future__ import annotations

import pytest
from isthmus import murphi
from isthmus.blocklink_model import VARIANTS, model

pytestmark = pytest.mark.skipif(not murphi.available(), reason=murphi.INSTALL)


@pytest.mark.parametrize("name", ["window", "unnumbered"])
def test_a_wrong_link_is_found(name: str) -> None:
    found = murphi.check(model(VARIANTS[name].link), many=True)
    assert found.error == "every block once, in order", VARIANTS[name].what
