# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_vme_wb() -> None:
    run("isthmus:vme:vme", "vme_wb", "vme_wb_tb", parameters={"Timeout": 200})
