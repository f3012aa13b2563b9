# SPDX-License-Identifier: Apache-2.0
"""Single circles by Taubin's fit: isthmus beside circle-fit of PyPI and a batched fit in NumPy, in one run.

`.isthmus/venv/bin/python benchmarks/ring_peers.py [--check] [--rounds N]`. circle-fit and SciPy, which it
imports, are installed from PyPI into a temporary folder; where that cannot be, its row is missing, and
`--check` says so and fails.

isthmus starts from records as they are on the wire. The peers are given what it has to make: coordinates in
double precision, of one event (circle-fit) or of all events of a batch as one array (NumPy, written here from
the same textbook formula). The best round of each counts, in processor time; of isthmus the shortest run of
each 512 events. Every circle of a peer is compared with ours.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measured import Figure, main

PEER = ["circle-fit==0.2.1", "scipy==1.17.1"]
RECORD_BYTES, HEADER_BYTES, SLOTS, NULL_ID = 70, 64, 32, 1023
SITES = 976
EVENTS = 65_536
SINGLY = 2_000
"""Events that circle-fit gets, which takes one at a time."""
BATCH = 2_048
"""Events of an array: it fits into the processor's second-level cache."""
NEAR_MM = 0.01
RATIO_PYPI, RATIO_NUMPY = 1_000.0, 20.0
"""Targets: what 80 million circles a second are to 16 thousand and 1.5 million, rounded down."""


@dataclass(frozen=True)
class Fitter:
    """One way to fit: `run` fits `events` of them and gives centres and radii, an event a row."""

    name: str
    events: int
    run: Callable[[], Any]


def install(folder: Path) -> str | None:
    """circle-fit in `folder`, on the import path; otherwise why not."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-input"]
    command += ["--target", str(folder), *PEER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    sys.path.append(str(folder))
    return None


def sites(count: int = SITES) -> Any:
    """Where the photomultipliers are, mm, by id: the rule of docs/reference/trigger-formats.md."""
    import numpy as np

    reach = range(-40, 41)
    every = [(ix, iy) for iy in reach for ix in reach if (ix + iy) % 2 == 0]
    every.sort(key=lambda at: (at[0] ** 2 + 3 * at[1] ** 2, -abs(at[1]), at[1], at[0]))
    chosen = sorted(every[:count], key=lambda at: (at[1], at[0]))
    return np.array(chosen) * (9.0, 9.0 * 3**0.5)


def coordinates(records: bytes) -> tuple[Any, Any]:
    """Places of all hits, an event a row and a slot a column, and which slots have one."""
    import numpy as np

    slots = np.frombuffer(records, np.uint8).reshape(-1, RECORD_BYTES)[:, 6:].copy().view("<u2")
    ids = slots & 0x3FF
    assert ids.shape[1] == SLOTS
    there = ids != NULL_ID
    return sites()[np.where(there, ids, 0)], there


def taubin(places: Any, there: Any) -> Any:
    """Taubin's fit of every row: x, y, r. The polynomial's root is found by Newton's method from 0."""
    import numpy as np

    count = there.sum(1)
    x, y = (np.where(there, places[..., axis], 0.0) for axis in (0, 1))
    mean_x, mean_y = x.sum(1) / count, y.sum(1) / count
    u = np.where(there, x - mean_x[:, None], 0.0)
    v = np.where(there, y - mean_y[:, None], 0.0)
    z = u * u + v * v
    xx, yy, xy, xz, yz, zz = (sum_ / count for sum_ in (
        (u * u).sum(1), (v * v).sum(1), (u * v).sum(1), (u * z).sum(1), (v * z).sum(1), (z * z).sum(1)
    ))  # fmt: skip
    mz, cov = xx + yy, xx * yy - xy * xy
    var = zz - mz * mz
    a3 = 4 * mz
    a2 = -3 * mz * mz - zz
    a1 = var * mz + 4 * cov * mz - xz * xz - yz * yz
    a0 = xz * (xz * yy - yz * xy) + yz * (yz * xx - xz * xy) - var * cov
    root = np.zeros_like(mz)
    for _ in range(6):
        value = a0 + root * (a1 + root * (a2 + root * a3))
        root = root - value / (a1 + root * (2 * a2 + root * 3 * a3))
    det = 2 * (root * root - root * mz + cov)
    dx = (xz * (yy - root) - yz * xy) / det
    dy = (yz * (xx - root) - xz * xy) / det
    return np.stack([dx + mean_x, dy + mean_y, np.sqrt(dx * dx + dy * dy + mz)], 1)


def fitters(records: bytes, peer: bool) -> list[Fitter]:
    """All of them; ours last."""
    import numpy as np
    from isthmus.trigger import native

    places, there = coordinates(records)

    def batched() -> Any:
        rows = range(0, len(places), BATCH)
        return np.concatenate([taubin(places[at : at + BATCH], there[at : at + BATCH]) for at in rows])

    made = [Fitter("batched NumPy", len(places), batched)]
    if peer:
        from circle_fit import taubinSVD  # type: ignore[import-not-found]

        events = [places[at][there[at]] for at in range(SINGLY)]
        made.append(Fitter("circle-fit", SINGLY, lambda: np.array([taubinSVD(one)[:3] for one in events])))

    def own() -> Any:
        return np.frombuffer(native.circles(records, single=True), "<f4").reshape(-1, 4)[:, :3]

    return [*made, Fitter("isthmus", len(places), own)]


def own_rate(count: int, seed: int) -> float:
    """Circles a second of isthmus on one core, as its own benchmark measures them: not copied to Python."""
    from isthmus.trigger import native

    made = native.bench("single", seed, count, 3, lambda _done, _total: None)
    return max(row.per_second for row in made.rows if row.finder == "one circle, Taubin")


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    """Checks the circles, measures, prints the rates."""
    import numpy as np
    from isthmus.trigger import native

    records = native.events("single", options.seed, options.events, 1e7)[0][HEADER_BYTES:]
    with tempfile.TemporaryDirectory() as folder:
        why = install(Path(folder))
        if why is not None:
            print(f"circle-fit: not installed: {why}", file=sys.stderr)
        installed = why is None
        found = fitters(records, installed)
        ours = found[-1].run()
        for one in found[:-1]:
            off = np.abs(one.run() - ours[: one.events]).max()
            assert off < NEAR_MM, f"{one.name}: {off:.4f} mm from our circles"
        best = {one.name: 0.0 for one in found[:-1]}
        for _ in range(options.rounds):
            for one in found[:-1]:
                begin = time.process_time()
                one.run()
                best[one.name] = max(best[one.name], one.events / (time.process_time() - begin))
        best["isthmus"] = own_rate(options.events, options.seed)
    print(json.dumps({name: round(rate) for name, rate in best.items()}))
    own = best["isthmus"]
    rates = [
        Figure("Taubin over batched NumPy", own / best["batched NumPy"], RATIO_NUMPY, "times", least=True)
    ]
    over_peer = own / best["circle-fit"] if installed else 0.0
    return [*rates, Figure("Taubin over circle-fit", over_peer, RATIO_PYPI, "times", least=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(main(measure, parser))
