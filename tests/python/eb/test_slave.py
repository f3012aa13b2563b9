# SPDX-License-Identifier: Apache-2.0
"""The software slave and its log: bounded, and closed from any thread."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from isthmus import eb
from isthmus.errors import UserError
from isthmus.paths import ROOT

CLOSED_MEANWHILE = """
import threading, time
from isthmus import eb
slave = eb.SoftwareSlave([eb.Memory(0, bytes(64))], log=True)
# Longer than any clock counts: it waits for as long as there is a slave.
thread = threading.Thread(target=slave.events, args=(1e19,))
thread.start()
time.sleep(0.3)
slave.close()
thread.join(5)
assert not thread.is_alive()
print("closed")
"""


def test_a_slave_closes_while_a_thread_waits_for_its_events() -> None:
    # In a process of its own: a deadlock holds the interpreter.
    done = subprocess.run(
        [sys.executable, "-c", CLOSED_MEANWHILE],
        env={"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("closed\n", "")


def test_events_that_nobody_takes_are_counted_and_not_kept() -> None:
    reads = 10_000
    with eb.SoftwareSlave([eb.Memory(0, bytes(1024))], log=True) as slave:
        with eb.Device(slave.names[1]) as device:
            device.repeat(eb.Cycle(silent=True).read_range(0, 16), reads)
        taken = 0
        while lines := slave.events(0.2):
            assert len(lines) <= 4096
            taken += len(lines)
        assert taken == 65_536
        # A beginning and an end beside each cycle's operations.
        assert taken + slave.dropped == 18 * reads


def test_a_block_beyond_all_memory_is_refused_in_one_line() -> None:
    memories = [eb.Memory(0, bytes(64))]
    with (
        eb.SoftwareSlave(memories, address_widths=(64,)) as slave,
        eb.Device(slave.names[0]) as device,
    ):
        with pytest.raises(UserError, match=r"32768 GiB is more than the 64 GiB of one call"):
            device.read_bytes(0, 1 << 45)
        with pytest.raises(UserError, match="operations: a call adds up to"):
            eb.Cycle().read_range(0, 1 << 45)
        assert device.read_bytes(0, 8) == bytes(8)


def test_a_quiet_slave_logs_nothing() -> None:
    with eb.SoftwareSlave([eb.Memory(0, bytes(64))]) as slave, eb.Device(slave.names[0]) as device:
        device.read(0)
        assert slave.events(0.2) == []


def test_a_second_thread_may_close() -> None:
    slave = eb.SoftwareSlave([eb.Memory(0, bytes(64))])
    thread = threading.Thread(target=slave.close)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert slave.close() == {}
