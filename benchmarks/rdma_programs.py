# SPDX-License-Identifier: Apache-2.0
"""Random programs over the gateware of RDMA interfaces, in number: whole memories must be as they must be.

    python benchmarks/rdma_programs.py                       # 10^5 transfers over every shape
    python benchmarks/rdma_programs.py --transfers 10000     # fewer

Shapes: 4 to 8 hosts, 1 to 4 links, PCI-X and PCI Express, with restarts and with resets. Exit status 1
when a byte is wrong, or a program stands. The program:
`crates/isthmus-road/examples/rdma_programs/random.rs`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from isthmus import bootstrap, platforms
from isthmus.paths import ROOT
from isthmus.roads.rdma.bench import Transfers, models, scenario

SHAPES: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("forth-rdma", 4, 1, {}),
    ("forth-rdma", 8, 2, {}),
    ("forth-rdma", 5, 3, {}),
    ("forth-rdma", 6, 4, {}),
    ("rdma-pcie", 4, 2, {}),
    ("rdma-pcie", 8, 1, {}),
    ("forth-rdma", 4, 2, {"restarts": 8, "timeout_us": 5_000}),
    ("forth-rdma", 6, 1, {"resets": 8, "timeout_us": 5_000}),
)
"""Platform, hosts, links, settings of the program."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--transfers", type=int, default=100_000, help="of all shapes together (100000)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cargo = bootstrap.find_cargo()
    if cargo is None:
        print("rdma_programs: no cargo", file=sys.stderr)
        return 2
    program = [cargo, "run", "--release", "--quiet", "-p", "isthmus-road", "--example", "rdma_programs", "--"]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, hosts, links, settings in SHAPES:
            platform = platforms.load(name)
            made = models(platform, "isthmus", links, hosts)
            transfers = Transfers("sort", size=4096, hosts=hosts, links=links, seed=options.seed)
            text = scenario(platform, "isthmus", transfers, made["rdma_ni"], made["link_switch"])
            if settings:
                text["interface"] |= {"probe_us": 100, "lost_us": 100}
            path = Path(folder) / "scenario.json"
            path.write_text(json.dumps(text))
            told = {"transfers": options.transfers // len(SHAPES), "seed": options.seed, **settings}
            words = [f"{key}={value}" for key, value in told.items()]
            command = [*program, str(path), "random", *words]
            done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
            found = done.stdout.strip() or done.stderr.strip()
            print(f"{name}, {hosts} hosts, {links} links, {settings}: {found}", flush=True)
            bad += done.returncode != 0 or json.loads(found)["wrong"] != 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
