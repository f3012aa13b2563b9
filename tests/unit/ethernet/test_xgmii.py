# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_xgmii_rx() -> None:
    run("isthmus:ethernet:ethernet", "xgmii_rx", "xgmii_rx_tb")


def test_xgmii_udp() -> None:
    run("isthmus:ethernet:ethernet", "xgmii_udp", "xgmii_udp_tb", parameters={"NumAllow": 4})


def test_xgmii_udp_sends() -> None:
    run("isthmus:ethernet:ethernet", "xgmii_udp", "xgmii_send_tb", parameters={"NumAllow": 4})


def test_xgmii_tx() -> None:
    run("isthmus:ethernet:ethernet", "xgmii_tx", "xgmii_tx_tb")
