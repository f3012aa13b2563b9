# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


@pytest.mark.parametrize("top", ["link_crc8", "link_crc24"])
def test_link_crc(top: str) -> None:
    run("isthmus:link:link", top, "link_crc_tb")


@pytest.mark.parametrize(("lanes", "skew"), [(1, 1), (2, 4), (4, 8)])
def test_link_deskew(lanes: int, skew: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINK_LANES", str(lanes))
    monkeypatch.setenv("LINK_MAX_SKEW", str(skew))
    run("isthmus:link:link", "link_deskew", "link_deskew_tb", parameters={"Lanes": lanes, "MaxSkew": skew})


@pytest.mark.parametrize("ids", [1, 3, 8])
def test_link_credit_rx(ids: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDIT_IDS", str(ids))
    parameters = {"NumRxIds": ids, "NumTxIds": ids, "CreditWords": 8, "RefreshWords": 16}
    run("isthmus:link:link", "link_credit_rx", "link_credit_rx_tb", parameters=parameters)
