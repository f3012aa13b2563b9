# SPDX-License-Identifier: Apache-2.0
"""Random programs over the gateware of RDMA interfaces, in number: whole memories must be as they must be.

    python benchmarks/rdma_programs.py                       # 10^5 transfers over every shape
    python benchmarks/rdma_programs.py --transfers 10000     # fewer
    python benchmarks/rdma_programs.py --update              # store what came out

Writes with and without keys, messages, reads and fences, between 4 to 8 hosts, over 1 to 4 links, PCI-X and
PCI Express, with short queues, restarts of programs and resets of interfaces. Exit status 1 when a byte or a
message is wrong, or a program makes no progress. The program:
`crates/isthmus-road/examples/rdma_programs/random.rs`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isthmus import bootstrap, platforms
from isthmus.paths import ROOT
from isthmus.platforms import Profile
from isthmus.roads.rdma.bench import Transfers, models, scenario

STORED = ROOT / "benchmarks" / "baselines" / "rdma_programs.json"
SUMS = ("transfers", "keyed", "messages", "messages_refused", "reads", "fences", "bytes")
EVENTS = ("again", "restarts", "reopened")
WALL_S = 7200


@dataclass(frozen=True)
class Shape:
    """A network, and what happens in it."""

    platform: str
    hosts: int
    links: int
    profile: Profile = "isthmus"
    settings: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        events = "".join(
            f", {value} {key}" for key, value in self.settings.items() if key in ("restarts", "resets")
        )
        return f"{self.platform}, {self.profile}, {self.hosts} hosts, {self.links} links{events}"


SHAPES = (
    Shape("forth-rdma", 4, 1),
    Shape("forth-rdma", 8, 2, settings={"slots": 6}),
    Shape("forth-rdma", 5, 3),
    Shape("forth-rdma", 6, 4),
    Shape("forth-rdma", 4, 1, "as-published"),
    Shape("rdma-pcie", 4, 2),
    Shape("rdma-pcie", 8, 1),
    Shape("forth-rdma", 4, 2, settings={"restarts": 8, "timeout_us": 2_000}),
    Shape("forth-rdma", 6, 1, settings={"resets": 8, "timeout_us": 2_000}),
    Shape("rdma-pcie", 5, 3, settings={"restarts": 4, "resets": 4, "timeout_us": 2_000}),
)


def run(program: Path, shape: Shape, transfers: int, seed: int, folder: Path) -> dict[str, Any]:
    """What the program has counted; `error` where it has failed."""
    platform = platforms.load(shape.platform)
    made = models(platform, shape.profile, shape.links, shape.hosts)
    asked = Transfers("sort", size=4096, hosts=shape.hosts, links=shape.links, seed=seed)
    limits = {"limits": {"wall_s": WALL_S}}
    text = scenario(platform, shape.profile, asked, made["rdma_ni"], made["link_switch"], **limits)
    # A fence waits for probes where the last of a host's writes is an answer to a reader.
    text["interface"] |= {"probe_us": 50, "lost_us": 200}
    path = folder / "scenario.json"
    path.write_text(json.dumps(text))
    told = {"transfers": transfers, "seed": seed, **shape.settings}
    words = [f"{key}={value}" for key, value in told.items()]
    done = subprocess.run(
        [program, str(path), "random", *words], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if done.returncode:
        return {"error": done.stderr.strip()}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def right(shape: Shape, found: dict[str, Any]) -> bool:
    """Nothing wrong, and without restarts and resets nothing that had to be done again.

    A message that a full queue has refused marks its flow's next notification: a read that gets it is
    repeated.
    """
    if "error" in found or found["wrong"] or found["wrong_messages"]:
        return False
    quiet = not any(shape.settings.get(event) for event in ("restarts", "resets"))
    again = 0 if found["messages_refused"] else found["again"]
    return not quiet or (again, found["reopened"]) == (0, 0)


def summed(results: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Over all shapes; a program that has failed is one that is stuck."""
    each = list(results.values())
    total = {key: sum(found.get(key, 0) for found in each) for key in (*SUMS, *EVENTS)}
    total["wrong"] = sum(found.get("wrong", 0) + found.get("wrong_messages", 0) for found in each)
    return total | {"stuck": sum("error" in found for found in each)}


def build() -> Path:
    cargo = bootstrap.find_cargo()
    if cargo is None:
        sys.exit("rdma_programs: no cargo")
    command = [cargo, "build", "--release", "--quiet", "-p", "isthmus-road", "--example", "rdma_programs"]
    built = subprocess.run(
        [*command, "--message-format", "json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    lines = [json.loads(line) for line in built.stdout.splitlines()]
    [program] = [line["executable"] for line in lines if line.get("executable")]
    return Path(program)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--transfers", type=int, default=100_000, help="of all shapes together (100000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shape", type=int, action="append", help="only the shape of this number, from 0")
    parser.add_argument("--update", action="store_true", help=f"store the result: {STORED.relative_to(ROOT)}")
    options = parser.parse_args()
    program = build()
    shapes = [SHAPES[at] for at in options.shape] if options.shape else list(SHAPES)
    results: dict[str, dict[str, Any]] = {}
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            begin = time.monotonic()
            found = run(program, shape, -(-options.transfers // len(shapes)), options.seed, Path(folder))
            good = right(shape, found)
            bad += not good
            results[shape.name] = {"seed": options.seed, **found}
            spent = time.monotonic() - begin
            print(
                f"{'right' if good else 'WRONG'}  {shape.name}: {json.dumps(found)}, {spent:.0f} s",
                flush=True,
            )
    total = summed(results)
    print(json.dumps(total))
    if options.update and not bad:
        # Of shapes that were not run the stored results stay.
        stored = json.loads(STORED.read_text())["shapes"] if STORED.exists() else {}
        kept = {shape.name: stored[shape.name] for shape in SHAPES if shape.name in stored}
        every = {**kept, **results}
        text = json.dumps({"total": summed(every), "shapes": every}, indent=1)
        STORED.write_text(text + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
