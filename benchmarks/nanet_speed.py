# SPDX-License-Identifier: Apache-2.0
"""How fast the simulated UDP-to-memory interface runs: evaluated clock cycles a second, on one core.

Four ports at line rate, 1472 bytes a datagram, so that it is never idle; wire, PHY, PCI Express, the host's
program and the check of every byte run too. Beside it what the four ports carry: payload a second, none of it
lost. Seconds are the processor's, and the best of some repetitions counts: on a shared machine others take
the rest.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from measured import Figure, main

DATAGRAMS = 2_000
PORTS = 4
WIRE_MB_S = 119.6
"""Of each port: 1472 bytes of 1538 on a wire of 125 MB/s are 119.64."""


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus import native, platforms
    from isthmus.bench import runner as running
    from isthmus.roads.nanet.bench import PLATFORM, STREAM_WINDOW, Stream, parameters, scenario
    from isthmus.roads.nanet.platform import TOP

    figures = []
    platform = platforms.load(PLATFORM)
    for page_kib in (0, 4):
        stream = Stream(
            ports=PORTS, window=STREAM_WINDOW, page_kib=page_kib, iterations=options.datagrams // PORTS
        )
        model = running.model(TOP, parameters(platform, "isthmus", PORTS, page_kib))
        made = scenario(platform, "isthmus", stream, model)
        speeds, rate = [], 0.0
        for _ in range(options.repetitions):
            begin = time.process_time()
            (found,) = native.run_scenario({**made, "skip_idle": False})
            spent = time.process_time() - begin
            speeds.append(found["simulation"]["evaluated_cycles"] / spent / 1e3)
            rate = found["throughput"]["payload_bit_s"] / 8e6 / PORTS
            if found["workload"]["lost"]:
                sys.exit(f"{found['workload']['lost']} datagrams were lost")
        title = "pages of 4 KiB" if page_kib else "no pages"
        figures += [
            Figure(f"interface of {PORTS} ports, {title}", max(speeds), 200, "kcycles/s", least=True),
            Figure(f"payload a port, {title}", rate, WIRE_MB_S, "MB/s", least=True),
        ]
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datagrams", type=int, default=DATAGRAMS)
    parser.add_argument("--repetitions", type=int, default=3)
    sys.exit(main(measure, parser))
