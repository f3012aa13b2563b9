# SPDX-License-Identifier: Apache-2.0
"""How the benches of this folder are built."""

from pathlib import Path

from bench import run

HERE = Path(__file__).parent
FIGURES = "ISTHMUS_NANET_FIGURES"
"""Environment variable: a file for what a bench measured, for benchmarks/."""


def translate(*, width: int, stalls: bool, commands: int) -> None:
    """nanet_translate with so many random commands."""
    run(
        "isthmus:nanet:nanet",
        "nanet_translate_bench",
        "nanet_translate_tb",
        parameters={"DataWidth": width, "Stalls": int(stalls), "Commands": commands},
        extra_sources=[HERE / "nanet_translate_bench.sv"],
    )
