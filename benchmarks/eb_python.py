# SPDX-License-Identifier: Apache-2.0
"""Bus reads from Python: `isthmus.eb` beside LiteX's CommUDP, the same words from the same slave in one run.

`.isthmus/venv/bin/python benchmarks/eb_python.py [--check] [--rounds N]`. LiteX is installed from PyPI into a
temporary folder; where that cannot be, only our own figures are printed, and `--check` says so and fails.

One process of software slaves serves both, CommUDP in LiteEth's dialect, which it speaks, and `isthmus.eb` in
the standard one with the error status read along. CommUDP has one request in flight: beside our cycles in
flight comes the same loop of its reads. Rounds alternate; the best round of each counts. Every value is
compared.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

LITEX = ["litex==2024.12", "migen==0.10.0", "pyserial==3.5"]
TARGET = 10.0
BASE = 0x1000
WORDS = list(range(0x100, 0x110))
SLAVES = """
import struct, sys
from isthmus import eb
memory = eb.Memory({base}, struct.pack(">16I", *range(0x100, 0x110)))
slaves = [eb.SoftwareSlave([memory], dialect=dialect, tcp=()) for dialect in ("ohwr", "liteeth")]
print(*(slave.names[0] for slave in slaves), flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Row:
    """One way to read, as loops of `words` 32-bit words each."""

    name: str
    words: int
    ours: Callable[[], int]
    theirs: Callable[[], int]
    checked: bool = False


def install(folder: Path) -> str | None:
    """LiteX in `folder`, on the import path; otherwise why not."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-input",
        "--target",
        str(folder),
    ]
    done = subprocess.run([*command, *LITEX], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    sys.path.append(str(folder))
    return None


def comm_udp(host: str, port: int) -> Any:
    """LiteX's client on a free port: by itself it would take the slave's."""
    from litex.tools.remote.comm_udp import CommUDP  # type: ignore[import-not-found]

    comm = CommUDP(host, port)
    comm.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    comm.socket.settimeout(1.0)
    comm.probe(host, port)
    return comm


def rows(device: Any, comm: Any) -> list[Row]:
    """Every measurement: a function does some loops and returns how many."""
    from array import array

    from isthmus import eb

    burst = eb.Cycle().read_range(BASE, 16)

    def single_ours() -> int:
        for _ in range(500):
            assert device.read(BASE) == WORDS[0]
        return 500

    def single_theirs() -> int:
        for _ in range(500):
            assert comm.read(BASE) == WORDS[0]
        return 500

    def burst_ours() -> int:
        for _ in range(500):
            assert device.execute(burst) == WORDS
        return 500

    def burst_theirs() -> int:
        for _ in range(500):
            assert comm.read(BASE, 16) == WORDS
        return 500

    def submit_ours() -> int:
        for _ in range(20):
            pending = [device.submit(burst) for _ in range(90)]
            device.settle()
            for one in pending:
                assert one.result() == WORDS
        return 20 * 90

    expected = array("Q", WORDS * 1800)

    def repeat_ours() -> int:
        assert device.repeat(burst, 1800) == expected
        return 1800

    return [
        Row("1 word, one in flight", 1, single_ours, single_theirs),
        Row("16 words, one in flight", 16, burst_ours, burst_theirs),
        Row("16 words, 90 in flight (submit, result)", 16, submit_ours, burst_theirs, True),
        Row("16 words, in flight (repeat)", 16, repeat_ours, burst_theirs, True),
    ]


def rate(work: Callable[[], int]) -> float:
    """Loops a second."""
    started = time.perf_counter()
    loops = work()
    return loops / (time.perf_counter() - started)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    from isthmus import bootstrap, eb

    bootstrap.ensure_native()
    with tempfile.TemporaryDirectory() as folder:
        missing = install(Path(folder))
        if missing:
            print(f"no comparison: {LITEX[0]} cannot be installed: {missing}")
        slaves = subprocess.Popen(
            [sys.executable, "-c", SLAVES.format(base=BASE)],
            env={"PYTHONPATH": str(ROOT / "python")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert slaves.stdout is not None
            ours, theirs = slaves.stdout.readline().split()
            _, host, port = theirs.split("/")
            comm = None if missing else comm_udp(host, int(port))
            with eb.Device(ours) as device:
                missed = show(rows(device, comm), options.rounds, comm is not None)
        finally:
            slaves.kill()
            slaves.communicate()
    return int(options.check and (missed or missing is not None))


def show(measurements: list[Row], rounds: int, compare: bool) -> bool:
    """Print the table; whether a target was missed."""
    missed = False
    print("thousand words a second, best (and worst) round")
    for row in measurements:
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(rate(row.ours) * row.words / 1e3)
            if compare:
                theirs.append(rate(row.theirs) * row.words / 1e3)
        line = f"{row.name:<42}{max(ours):>9,.1f} ({min(ours):,.1f})"
        if compare:
            ratio = max(ours) / max(theirs)
            line += f"   CommUDP {max(theirs):,.1f} ({min(theirs):,.1f})   {ratio:.1f} times"
            if row.checked:
                line += f", target {TARGET:g}"
                missed |= ratio < TARGET
        print(line)
    return missed


if __name__ == "__main__":
    sys.exit(main())
