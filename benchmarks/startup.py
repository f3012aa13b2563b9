# SPDX-License-Identifier: Apache-2.0
"""How long a user waits before anything runs: CLI start, one value read, model build, cached model.

`./isthmus doctor && .isthmus/venv/bin/python benchmarks/startup.py` prints a table and exits 1 where a limit
is passed. Wall-clock times are the least of some repetitions, on a machine with nothing else to do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isthmus.models import ModelSpec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

REPETITIONS = 5


@dataclass(frozen=True)
class Row:
    """One measured wait and what it may take."""

    name: str
    seconds: float
    limit: float


def timed(what: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """The least time of some repetitions."""
    times = []
    for _ in range(repetitions):
        started = time.perf_counter()
        what()
        times.append(time.perf_counter() - started)
    return min(times)


def command(*arguments: str) -> Callable[[], object]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return lambda: subprocess.run(arguments, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)


def measure() -> list[Row]:
    from isthmus import eb
    from isthmus.models import ModelSpec, build

    python = str(ROOT / ".isthmus" / "venv" / "bin" / "python")
    launcher = timed(command(str(ROOT / "isthmus"), "--help"))
    inner = timed(command(python, "-P", "-m", "isthmus", "--help"))
    rows = [Row("isthmus --help", launcher, 0.2), Row("of it the launcher", launcher - inner, 0.05)]
    with eb.SoftwareSlave([eb.Memory(0, bytes(16))]) as slave:
        one = timed(command(str(ROOT / "isthmus"), "eb", "read", slave.names[0], "0/4"))
    rows.append(Row("isthmus eb read, one value", one, 0.06))

    spec = ModelSpec("isthmus:board:gige_etherbone", "gige_etherbone")
    program = f"from isthmus.models import ModelSpec, build;build(ModelSpec({spec.core!r}, {spec.top!r}))"
    build(spec)
    rows.append(Row("cached model, with Python's start", timed(command(python, "-c", program)), 0.5))
    rows.append(Row("model gige_etherbone from nothing", from_nothing(spec), 60.0))
    return rows


def from_nothing(spec: ModelSpec) -> float:
    """Build into an empty cache, Verilator's runtime included."""
    from isthmus.models import build

    kept = os.environ.get("ISTHMUS_CACHE")
    with tempfile.TemporaryDirectory(prefix="isthmus-cache-") as scratch:
        os.environ["ISTHMUS_CACHE"] = scratch
        try:
            return timed(lambda: build(spec), repetitions=1)
        finally:
            del os.environ["ISTHMUS_CACHE"]
            if kept is not None:
                os.environ["ISTHMUS_CACHE"] = kept


def main() -> int:
    rows = measure()
    print(f"{'':<36}{'seconds':>9}{'limit':>9}")
    for row in rows:
        over = "" if row.seconds <= row.limit else "  over"
        print(f"{row.name:<36}{row.seconds:>9.3f}{row.limit:>9.2f}{over}")
    return int(any(row.seconds > row.limit for row in rows))


if __name__ == "__main__":
    sys.exit(main())
