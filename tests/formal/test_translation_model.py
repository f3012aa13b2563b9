# SPDX-License-Identifier: Apache-2.0
"""Shared page tables, explored state by state: the protocol holds, devices with one thing wrong are found."""

from __future__ import annotations

import pytest
from isthmus import murphi
from isthmus.translation_model import VARIANTS, model

pytestmark = pytest.mark.skipif(not murphi.available(), reason=murphi.INSTALL)


def test_no_access_reaches_a_frame_in_other_hands_and_invalidations_complete() -> None:
    found = murphi.check(model(), many=True)
    assert found.error == ""
    assert found.states > 10_000


@pytest.mark.parametrize("name", VARIANTS)
def test_a_wrong_device_is_found(name: str) -> None:
    assert murphi.check(model(VARIANTS[name].rules)).error, VARIANTS[name].what
