# SPDX-License-Identifier: Apache-2.0
"""Gateware that stops ends its run, with one line that says where and when, long before the time limit."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus.bench import runner as running
from isthmus.errors import DataError
from isthmus.roads.rdma import command as rdma_command
from isthmus.roads.switch import command as switch_command

FOR_EVER = 10**12
"""Clocks."""
WALL_S = 300.0
"""A run's own limit is an hour."""


def stopped(run: Any) -> str:
    began = time.monotonic()
    with pytest.raises(DataError) as error:
        run()
    assert time.monotonic() - began < WALL_S
    return str(error.value)


@pytest.mark.slow
def test_a_switch_whose_ports_all_stop_names_what_is_outstanding(tmp_path: Path) -> None:
    def broken(made: Mapping[str, Any]) -> list[dict[str, Any]]:
        ports = range(made["device"]["ports"])
        stalls = [[port, 5_000, FOR_EVER] for port in ports]
        return running.run({**made, "faults": {"stalls": stalls}})

    text = stopped(
        lambda: switch_command.run(load="0.5", packets=100_000, engines="rtl", out=tmp_path, runner=broken)
    )
    assert re.match(
        r"switch: stuck in the warm-up: no data word has come out for \d+ clocks, at clock \d+ ", text
    )
    assert re.search(r"; \d+ packets are outstanding: \d+ from port \d to port \d, ", text)
    assert re.search(r"; \d+ words wait at the sources; seed 1$", text)


@pytest.mark.slow
def test_an_rdma_link_that_is_cut_names_the_hosts_and_the_transfer(tmp_path: Path) -> None:
    def broken(made: Mapping[str, Any]) -> list[dict[str, Any]]:
        # Host 1, link 0, from 5 us on.
        return running.run({**made, "faults": {"resets": [[1, 0, 5_000, FOR_EVER]]}})

    text = stopped(
        lambda: rdma_command.run(
            rdma_command.RdmaOptions("send-bw", size="64", iterations=2_000), out=tmp_path, runner=broken
        )
    )
    assert re.fullmatch(
        r"rdma: host 1 waited 10\.000 ms for message \d+ of host 0 in vain at 1\d\.\d+ ms, after \d+ \w+",
        text,
    )
