# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(("sets", "ways"), [(16, 4), (4, 8), (8, 2), (8, 1)])
def test_tag_store(sets: int, ways: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAG_SETS", str(sets))
    monkeypatch.setenv("TAG_WAYS", str(ways))
    run(
        "isthmus:prim:prim",
        "tag_store",
        "tag_store_tb",
        parameters={"Sets": sets, "Ways": ways, "TagWidth": 6, "DataWidth": 16},
    )
