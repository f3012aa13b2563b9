# SPDX-License-Identifier: Apache-2.0
"""A 4x4x4 torus, the gateware of every router: packets without loss or deadlock, and the simulator's speed.

Every packet is compared word by word, and every pair of nodes must get what was sent, once and in order; a
network in which nothing moves ends the run. The load is near what the network carries, so that buffers fill.
Speed is in cycles of the whole network a second of processor time, the best of some repetitions: on a shared
machine others take the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from measured import Figure, main

PACKETS = 10_000_000
LOAD = 0.75
BYTES = 64
SPEED_KCYCLES = 20
ACCOUNT = Path(__file__).parent / "baselines" / "torus_network.json"


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus import native, platforms
    from isthmus.bench import runner as running
    from isthmus.roads.torus.bench import PLATFORM, TOP, Traffic, nodes, parameters, scenario

    platform = platforms.load(PLATFORM)
    traffic = Traffic(nodes(options.nodes), load=options.load, size=options.bytes, packets=options.packets)
    traffic = replace(traffic, seed=options.seed)
    model = running.model(TOP, parameters(platform, traffic), many=True)

    def run(one: Traffic) -> tuple[dict[str, object], float]:
        begin = time.process_time()
        (found,) = native.run_scenario(scenario(platform, one, model))
        return found, found["counters"]["clocks"] / (time.process_time() - begin) / 1e3

    speeds = [run(replace(traffic, packets=5_000, size=128, load=0.5))[1] for _ in range(options.repetitions)]
    found, speed = run(traffic)
    counters, workload = found["counters"], found["workload"]
    assert isinstance(counters, dict)
    assert isinstance(workload, dict)
    delivered = counters["packets.delivered"]
    account = {
        "nodes": options.nodes,
        "load": options.load,
        "bytes": options.bytes,
        "seed": options.seed,
        "packets": delivered,
        "clocks": counters["clocks"],
        "carried": round(workload["carried"], 4),
        "delay_clocks": round(workload["delay_clocks"], 1),
        "lost_doubled_or_out_of_order": 0,
        "kcycles_s": round(speed, 1),
    }
    print(json.dumps(account))
    if options.store:
        ACCOUNT.write_text(json.dumps(account, indent=1) + "\n")
    return [
        Figure("packets delivered once, whole and in order", delivered, options.packets, "", least=True),
        Figure(
            f"torus of {options.nodes} nodes, load 0.5", max(speeds), SPEED_KCYCLES, "kcycles/s", least=True
        ),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=PACKETS)
    parser.add_argument("--nodes", default="4x4x4")
    parser.add_argument("--load", type=float, default=LOAD)
    parser.add_argument("--bytes", type=int, default=BYTES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--store", action="store_true", help="write baselines/torus_network.json")
    sys.exit(main(measure, parser))
