# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import litex_soc
import pytest
from bench import run
from isthmus.errors import UserError
from isthmus.litex import EtherboneBridge
from isthmus.paths import ROOT

HERE = Path(__file__).parent


def test_litex_soc(monkeypatch: pytest.MonkeyPatch) -> None:
    verilog, ident = litex_soc.write(ROOT / ".isthmus" / "litex")
    monkeypatch.setenv("LITEX_IDENT", str(ident))
    # The SoC's clock and the frames are those of the bench of the whole device.
    monkeypatch.syspath_prepend(str(HERE.parent / "board"))
    run("isthmus:board:gige_bridge", "litex_soc", "litex_soc_tb", extra_sources=[verilog])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mac": 1 << 48}, "mac 0x1000000000000: expected 48 bits"),
        ({"ip": "192.168.1"}, "ip '192.168.1': expected such as 192.168.1.50/24"),
        ({"udp_port": 0}, "udp_port 0: expected 1 to 65535"),
        ({"dialect": "lite"}, "dialect 'lite': expected liteeth or ohwr"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_line(wrong: dict[str, object], said: str) -> None:
    arguments: dict[str, object] = {"mac": 1, "ip": "192.168.1.50", **wrong}
    with pytest.raises(UserError) as refused:
        EtherboneBridge(None, None, **arguments)
    assert str(refused.value) == said
