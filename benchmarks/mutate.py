# SPDX-License-Identifier: Apache-2.0
"""How many faults of a random sample the proofs and the benches of a module find: Yosys `mutate` makes them.

    python benchmarks/mutate.py                                        # all modules, 100 faults each
    python benchmarks/mutate.py --module link/link_init --faults 20 --seed 2
    python benchmarks/mutate.py --update                               # store the scores

mutations.py tries faults that somebody thought of, each with the bench or proof that must see it. Here nobody
chooses: a bit of a port of a cell in the module's netlist is inverted, stuck, or follows another. All faults
of a module are in one netlist, behind an input that selects one, so that a bench is built once and a proof
elaborated once. A fault is found when a proof or a bench of the module fails.

A fault that neither finds may have no effect: it is beside the right module, both with the same inputs, under
what the module's proof assumes and has shown, and their outputs are compared. They are equal in runs of any
length, or in those of the stated number of clocks from reset; such a fault counts as none. What remains is a
gap in proof and bench, listed with its reason. Exit status 1 when a score is below the stored one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fault_bench import Bench, Instances, Run, instances, recorded
from fault_netlists import (
    ANY,
    FORMAL,
    ROOT,
    SELECT,
    BrokenError,
    Cells,
    Fault,
    Module,
    Proof,
    Task,
    Twins,
    draw,
    miters,
    module_cells,
    proof_cells,
    proof_models,
    solve,
    solve_any,
    there,
)

TABLE = Path(__file__).with_name("mutate.toml")
SCORES = ROOT / "benchmarks" / "baselines" / "mutate.json"
SOLVER_LIMITS_S = (5.0, 20.0, 80.0, 600.0)
"""Each solver has the first of them, then each the second: one that is never done must not cost the most."""
ANY_LIMIT_S = 180.0
"""At most, for all faults in one model; what is not decided then has a model for each fault."""
OTHER_ENGINES = (("bitwuzla",), ("z3",))
"""Tried beside the one that a proof names: which is faster differs by a factor of ten at times."""
MITER_ENGINE = ("bitwuzla",)
MITER_LIMIT_S = 60.0
REGISTERS_LIMIT_S = 20.0
MITER_CLOCKS = 24
MITER_LEAST = 8
"""Clocks in which a fault must be invisible to count as none; fewer say nothing."""
AT_A_TIME = 20
"""Models that one run of Yosys writes."""


@dataclass(frozen=True)
class Target:
    """A control module and the benches that run it; its proofs are those that have its source."""

    module: str
    benches: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.module.rpartition("/")[2]

    def proofs(self) -> list[str]:
        """Those that bear its name; if none does, all that have it inside."""
        own: list[str] = []
        others: list[str] = []
        for file in sorted(FORMAL.glob("*/*.sby")):
            name = file.relative_to(FORMAL).with_suffix("").as_posix()
            if f"/rtl/{self.module}.sv" in file.read_text():
                (own if name == self.module or name.startswith(f"{self.module}_") else others).append(name)
        return own or others


def targets(table: Path = TABLE) -> list[Target]:
    """All control modules of the table, in its order."""
    benches: dict[str, list[str]] = {}
    for entry in tomllib.loads(table.read_text())["bench"]:
        for module in entry["modules"]:
            benches.setdefault(module, []).append(entry["node"])
    return [Target(module, tuple(nodes)) for module, nodes in benches.items()]


@dataclass
class Outcome:
    """What came of one fault."""

    fault: Fault
    proof: bool = False
    bench: bool = False
    unseen: str = ""
    """How it was shown that it has no effect; empty: it was not."""
    note: str = ""
    """Of one that has: when it is seen at the outputs."""
    simulated: bool = False
    """A bench has run with it."""

    @property
    def found(self) -> bool:
        return self.proof or self.bench


@dataclass
class Score:
    """Of the faults of a sample: found by proof, bench, either; without effect; the others, explained."""

    seed: int
    faults: int
    proof: int
    bench: int
    simulated: int
    """Of so many that the bench ran with: all, or those that no proof finds and that have an effect."""
    either: int
    unseen: dict[str, str] = field(default_factory=dict)
    """Faults without effect, and how that was shown."""
    missed: dict[str, str] = field(default_factory=dict)
    """Faults that nothing finds, and why; what is stored of one is kept."""

    @property
    def share(self) -> float:
        """Of the faults that have an effect, those that are found."""
        real = self.faults - len(self.unseen)
        return self.either / real if real else 1.0

    def __str__(self) -> str:
        alone = f"proof {self.proof}, bench {self.bench} of {self.simulated}"
        found = f"{self.either} of {self.faults} found ({alone})"
        return f"{found}, {len(self.unseen)} without effect, {len(self.missed)} missed: {self.share:.1%}"


def score(outcomes: Iterable[Outcome], seed: int, before: Score | None) -> Score:
    """Count; a missed fault keeps the reason that is stored with it."""
    known = before.missed if before else {}
    all_ = list(outcomes)
    missed = [one for one in all_ if not one.found and not one.unseen]
    return Score(
        seed,
        len(all_),
        sum(one.proof for one in all_),
        sum(one.bench for one in all_),
        sum(one.simulated for one in all_),
        sum(one.found for one in all_),
        {str(one.fault): one.unseen for one in all_ if not one.found and one.unseen},
        {str(one.fault): known.get(str(one.fault)) or f"not explained; {one.note}" for one in missed},
    )


def stored(file: Path = SCORES) -> dict[str, Score]:
    if not file.is_file():
        return {}
    return {module: Score(**entry) for module, entry in json.loads(file.read_text()).items()}


def store(scores: Mapping[str, Score], file: Path = SCORES) -> None:
    entries: dict[str, Any] = {module: vars(one) for module, one in sorted(scores.items())}
    file.write_text(json.dumps(entries, indent=1) + "\n")


class Sample:
    """The faults of a module on their way through its proofs, benches and miters."""

    def __init__(self, target: Target, faults: int, seed: int, jobs: int, alone: bool, place: Path) -> None:
        self.target, self.jobs, self.alone, self.place = target, jobs, alone, place
        self.uses: list[tuple[Run, Instances]] = []
        for run in recorded(target.benches, place / "record"):
            use = instances(run.files, run.top, run.parameters, target.name)
            if use is not None:
                self.uses.append((run, use))
        if not self.uses:
            raise BrokenError(f"{target.module}: no bench of {', '.join(target.benches)} has it")
        self.module = self._module(*self.uses[0])
        drawn, self.cells = draw(self.module, faults, seed, place / "draw")
        self.outcomes = {k: Outcome(fault) for k, fault in enumerate(drawn, start=1)}
        self.proofs = [Proof.load(name) for name in target.proofs()]
        self._proof_cells: dict[tuple[str, str], Cells] = {}

    def _module(self, run: Run, use: Instances) -> Module:
        return Module(self.target.name, run.files, use.parameters)

    def _there(self, other: Cells) -> dict[int, Fault]:
        moved = {k: there(one.fault, self.cells, other) for k, one in self.outcomes.items()}
        return {k: fault for k, fault in moved.items() if fault is not None}

    def _in_proof(self, proof: Proof, task: Task) -> dict[int, Fault]:
        key = proof.name, task.name
        if key not in self._proof_cells:
            self._proof_cells[key] = proof_cells(proof, task, self.place / "cells" / "-".join(key))
        return self._there(self._proof_cells[key])

    def _map(self, job: Callable[[int], None], selects: Iterable[int]) -> None:
        from isthmus import jobs

        with jobs.pool(self.jobs) as threads:
            threads.map(job, list(selects))

    def prove(self, covers: bool = False) -> None:
        """Run each proof's tasks with each fault that no other has found; covers with those still missed."""
        for proof in list(self.proofs):
            try:
                for task in proof.tasks:
                    if (task.mode == "cover") == covers:
                        self._task(proof, task)
            except BrokenError as error:
                # Most often it reads registers of the module, which the netlist has under other names. Then
                # what it assumes and has shown is nothing to compare under.
                self._say(f"proof {proof.name} left out", error)
                self.proofs.remove(proof)

    def _say(self, what: str, error: BrokenError) -> None:
        line = str(error).splitlines()[0]
        print(f"    {self.target.name}: {what}: {line}", file=sys.stderr, flush=True)

    def _task(self, proof: Proof, task: Task) -> None:
        place = self.place / proof.name / task.name
        faults = self._in_proof(proof, task)
        ones = self.outcomes
        left = [k for k in faults if not ones[k].proof]
        if task.mode == "cover":
            left = [k for k in left if not ones[k].bench and not ones[k].unseen]
        if not left:
            return
        # Induction first: it is short, and most faults show in it.
        runs = {
            "prove": [["-i", "-t", str(task.depth)], ["-t", str(task.depth)]],
            "bmc": [["-t", str(task.depth)]],
            "cover": [["-c", "-t", str(task.depth)]],
        }[task.mode]
        both = proof_models(proof, task, faults, len(self.outcomes), place, [0, ANY])
        fastest = [_fastest(both[0], task.engine, run, f"{proof.name} {task.name}") for run in runs]
        if task.mode != "cover":
            undecided = []
            for run, (engine, seconds) in zip(runs, fastest, strict=True):
                left = [k for k in left if not ones[k].proof]
                if left:
                    limit_s = min(ANY_LIMIT_S, len(left) * (20.0 + 4.0 * seconds))
                    answers = solve_any(both[ANY], engine, run, left, limit_s)
                    for k in answers.fails:
                        ones[k].proof = True
                    if not answers.done:
                        undecided.append((run, (engine, seconds)))
            left = [k for k in left if not ones[k].proof]
            runs, fastest = [run for run, _ in undecided], [fast for _, fast in undecided]
            if not runs:
                return
        for start in range(0, len(left), AT_A_TIME):
            some = left[start : start + AT_A_TIME]
            models = proof_models(proof, task, faults, len(self.outcomes), place, some)

            def look(k: int, models: Mapping[int, Path] = models) -> None:
                for run, (engine, seconds) in zip(runs, fastest, strict=True):
                    if solve(models[k], engine, run, 20.0 + 4.0 * seconds).fails:
                        self.outcomes[k].proof = True
                        break
                models[k].unlink()

            self._map(look, some)

    def simulate(self) -> None:
        """Run each bench with what is not found yet; with `alone` the first one with all faults."""
        from isthmus.models.tools import ToolError

        for number, (run, use) in enumerate(self.uses):
            left = [k for k, one in self.outcomes.items() if not one.found and not one.unseen]
            if not left:
                return
            module, place = self._module(run, use), self.place / f"bench-{number}"
            same = module.parameters == self.module.parameters
            faults = self._there(self.cells if same else module_cells(module, place / "cells"))
            try:
                bench = Bench(run, module, use.ports, faults, len(self.outcomes), place)
            except ToolError as error:
                # It reads names inside the module, which the netlist has not: it says nothing.
                print(f"    {self.target.name}: not run: {error.args[0]}", file=sys.stderr, flush=True)
                continue
            bench.start()

            def look(k: int, bench: Bench = bench) -> None:
                self.outcomes[k].bench |= bool(bench.failure(k))
                self.outcomes[k].simulated = True

            self._map(look, [k for k in faults if k in left or (self.alone and not number)])

    def compare(self, registers: bool) -> None:
        """Look for an effect of what is not found, beside the right module: at registers and outputs in one
        step from any state, or at outputs in steps from reset."""
        left = [k for k, one in self.outcomes.items() if not one.found and not one.unseen]
        for proof in self.proofs:
            task = next(task for task in proof.tasks if task.mode != "cover")
            place = self.place / "twins" / proof.name
            faults = self._in_proof(proof, task)
            here = [k for k in left if k in faults]
            outputs = self._outputs(proof, task) if here else ()
            if outputs:
                twins = Twins(task.top, proof.files, task, outputs)
                try:
                    self._compare(twins, faults, place, here, registers)
                except BrokenError as error:
                    self._say(f"not compared in {proof.name}", error)
                left = [k for k in left if k not in faults]
        if left:
            module = self.module
            script = (module.read()[0], f"prep -top {module.name}", "memory_map")
            task = Task("alone", "prove", 1, False, MITER_ENGINE, script)
            twins = Twins(module.name, module.files, task, (), "rst_ni")
            faults = {k: one.fault for k, one in self.outcomes.items()}
            self._compare(twins, faults, self.place / "twins" / "alone", left, registers)

    def _outputs(self, proof: Proof, task: Task) -> tuple[str, ...]:
        """Of the block that the proof is of."""
        words = " ".join(task.script).split()
        pairs = list(itertools.pairwise(words))
        files = {file.name: file for file in proof.files}
        values = dict(word.split("=") for flag, word in pairs if flag == "-G")
        use = instances(
            [files[word] for word in words if word.endswith(".sv")],
            task.top,
            {key: int(value) for key, value in values.items()},
            self.target.name,
            [word for flag, word in pairs if flag == "-D"],
        )
        return use.outputs if use else ()

    def _compare(
        self, twins: Twins, faults: Mapping[int, Fault], place: Path, left: Sequence[int], registers: bool
    ) -> None:
        if not left:
            return
        left = self._compare_all(twins, faults, place, left, registers)
        for start in range(0, len(left), AT_A_TIME):
            some = left[start : start + AT_A_TIME]
            models = miters(twins, faults, len(self.outcomes), place, some, registers)
            begin = ["--presat"]
            if twins.start:
                (place / "reset.smtc").write_text(f"initial\nassume (not [in_{twins.start}])\n")
                begin += ["--smtc", str(place / "reset.smtc")]

            def look(k: int, models: Mapping[int, Path] = models, begin: Sequence[str] = begin) -> None:
                outcome, model = self.outcomes[k], models[k]
                if registers:
                    steps = (["-i", "-t", "1"], [*begin, "-t", "2"])
                    limit_s = REGISTERS_LIMIT_S
                    if all(solve(model, MITER_ENGINE, some, limit_s).fails is False for some in steps):
                        outcome.unseen = "in runs of any length"
                    return
                answer = solve(model, MITER_ENGINE, [*begin, "-t", str(MITER_CLOCKS)], MITER_LIMIT_S)
                if answer.fails:
                    outcome.note = f"seen at the outputs in clock {answer.steps}"
                elif answer.steps >= MITER_LEAST:
                    outcome.unseen = f"in {answer.steps} clocks"
                else:
                    outcome.note = f"no answer beyond {answer.steps} clocks"

            self._map(look, some)

    def _compare_all(
        self, twins: Twins, faults: Mapping[int, Fault], place: Path, left: Sequence[int], registers: bool
    ) -> list[int]:
        """The same with all faults in one model; those that it did not decide."""
        model = miters(twins, faults, len(self.outcomes), place, [ANY], registers)[ANY]
        select, low = f"in_{SELECT}", f"in_{twins.start}" if twins.start else ""
        undecided = list(left)
        if registers:
            done = True
            for steps in (["-i", "-t", "1"], ["-t", "2"]):
                if undecided and done:
                    limit_s = REGISTERS_LIMIT_S * min(len(left), 4)
                    answers = solve_any(model, MITER_ENGINE, steps, undecided, limit_s, select, low)
                    undecided = [k for k in undecided if k not in answers.fails]
                    done = answers.done
            if not done:
                return undecided
            for k in undecided:
                self.outcomes[k].unseen = "in runs of any length"
            return []
        steps = ["-t", str(MITER_CLOCKS)]
        limit_s = MITER_LIMIT_S * min(len(left), 4)
        answers = solve_any(model, MITER_ENGINE, steps, left, limit_s, select, low)
        for k, step in answers.fails.items():
            self.outcomes[k].note = f"seen at the outputs in clock {step}"
        undecided = [k for k in left if k not in answers.fails]
        if answers.steps < MITER_LEAST:
            return undecided
        for k in undecided:
            self.outcomes[k].unseen = f"in {answers.steps} clocks"
        return []


def _fastest(right: Path, named: Sequence[str], run: Sequence[str], what: str) -> tuple[Sequence[str], float]:
    """The solver that is done first with the model without a fault, and the seconds that it takes."""
    best: tuple[Sequence[str], float] | None = None
    engines = list(dict.fromkeys((*OTHER_ENGINES, tuple(named))))
    for limit_s in SOLVER_LIMITS_S:
        for engine in engines:
            begin = time.monotonic()
            # One that takes longer than the fastest so far is of no interest.
            longest_s = best[1] if best else limit_s
            answer = solve(right, engine, run, longest_s)
            if answer.fails:
                raise BrokenError(f"{what}: without a fault: {answer.said[-400:]}")
            if answer.fails is False:
                best = engine, time.monotonic() - begin
        if best is not None:
            return best
    raise BrokenError(f"{what}: without a fault: no answer in {SOLVER_LIMITS_S[-1]:g} s")


def measure(target: Target, faults: int, seed: int, jobs: int, alone: bool) -> list[Outcome]:
    """A sample of the module's faults, and what came of each."""
    with tempfile.TemporaryDirectory(prefix="isthmus-mutate-") as name:
        sample = Sample(target, faults, seed, jobs, alone, Path(name))
        begin = time.monotonic()
        for what, step in (
            ("proofs", sample.prove),
            ("registers compared", partial(sample.compare, registers=True)),
            ("benches", sample.simulate),
            ("covers", partial(sample.prove, covers=True)),
            ("outputs compared", partial(sample.compare, registers=False)),
        ):
            step()
            left = sum(not one.found and not one.unseen for one in sample.outcomes.values())
            took = time.monotonic() - begin
            print(f"    {target.name}: {what}: {left} left after {took:.0f} s", file=sys.stderr, flush=True)
        return list(sample.outcomes.values())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Random faults, and how many of them are found.")
    parser.add_argument("--module", action="append", metavar="FAMILY/NAME", help="only this; may be repeated")
    parser.add_argument("--faults", type=int, default=100, help="of each module (100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="faults at a time (2)")
    parser.add_argument(
        "--alone", action="store_true", help="benches run with all faults, also with those that a proof finds"
    )
    parser.add_argument("--update", action="store_true", help="store the scores")
    options = parser.parse_args(arguments)
    known = targets()
    names = [target.module for target in known]
    for name in options.module or []:
        if name not in names:
            parser.error(f"no module {name!r}; expected one of {', '.join(names)}")
    if options.faults < 1 or options.jobs < 1:
        parser.error("--faults and --jobs must be at least 1")
    scores = stored()
    worse = 0
    for target in known:
        if options.module and target.module not in options.module:
            continue
        begin = time.monotonic()
        before = scores.get(target.module)
        try:
            now = score(
                measure(target, options.faults, options.seed, options.jobs, options.alone),
                options.seed,
                before,
            )
        except BrokenError as error:
            print(f"{target.module}: not measured: {error}", file=sys.stderr, flush=True)
            worse += 1
            continue
        beside = f", stored {before.share:.1%}" if before else ""
        print(f"{target.module:<28} {now}{beside} ({time.monotonic() - begin:.0f} s)", flush=True)
        for fault, why in now.missed.items():
            print(f"    missed: {fault}: {why}")
        worse += before is not None and now.share < before.share
        if options.update:
            # One at a time: a long run that is ended has what it has done.
            store({**stored(), target.module: now})
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
