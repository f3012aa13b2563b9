# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run
from rich_model import Model, checksum, golden


def test_the_models_in_python_and_rust_have_the_same_memories_and_answers() -> None:
    total, events = golden()
    model = Model(3032)
    assert checksum(model.words()) == total
    assert [model.answers(ids) for ids, _ in events] == [answers for _, answers in events]


@pytest.mark.parametrize("cells", [3032, 200])
def test_rich_seeds(cells: int) -> None:
    run("isthmus:rich:rich", "rich_seeds", "rich_seeds_tb", parameters={"Cells": cells})


def test_nanet_search() -> None:
    run(
        "isthmus:nanet:nanet",
        "nanet_search",
        "nanet_search_tb",
        parameters={"NumPorts": 2, "Cells": 200},
    )
