# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run


def test_gige_udp() -> None:
    run(
        "isthmus:ethernet:ethernet",
        "gige_udp_echo",
        "gige_udp_tb",
        extra_sources=[Path(__file__).with_name("gige_udp_echo.sv")],
    )


def test_udp_echo() -> None:
    run("isthmus:ethernet:ethernet", "udp_echo", "udp_echo_tb", parameters={"Depth": 512, "Pending": 16})
