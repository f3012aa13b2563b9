# SPDX-License-Identifier: Apache-2.0
"""The pins of a board top under the names that other people's bus models look for."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Any


class Pins:
    """`bar_awvalid` is the port `bar_awvalid_i` of `dut`, and `bar_awready` its port `bar_awready_o`."""

    def __init__(self, dut: Any) -> None:
        self._name = dut._name
        self._log: logging.Logger = dut._log
        self._ports = {re.sub("_[io]$", "", port): getattr(dut, port) for port in dir(dut) if "_" in port}

    def __dir__(self) -> Iterable[str]:
        return self._ports

    def __getattr__(self, name: str) -> Any:
        try:
            return self._ports[name]
        except KeyError:
            raise AttributeError(name) from None
