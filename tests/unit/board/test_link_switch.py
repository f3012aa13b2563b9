# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize(
    ("ports", "tests"), [(4, "all"), pytest.param(8, "few", marks=pytest.mark.release)], ids=["4", "8"]
)
def test_link_switch(ports: int, tests: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCH_PORTS", str(ports))
    monkeypatch.setenv("SWITCH_TESTS", tests)
    parameters = {"NumPorts": ports, "InitWords": 64}
    run("isthmus:board:link_switch", "link_switch", "link_switch_tb", parameters=parameters)
