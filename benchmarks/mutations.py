# SPDX-License-Identifier: Apache-2.0
"""Puts small faults into the RTL, one at a time, and checks that a bench or a proof turns red.

    python benchmarks/mutations.py                        # all
    python benchmarks/mutations.py --module prim/fifo     # those of one module
    python benchmarks/mutations.py --list                 # say what there is

The faults are listed in ``mutations.toml``. Each is written to a copy in a directory of its own; the
bench builds there, so neither sources nor builds of the repository change. Exit status 1 when a
fault survives, that is, when its bench or proof passes in spite of it, or when it could not be run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RTL = ROOT / "rtl"
TABLE = Path(__file__).with_name("mutations.toml")
BUILD_LIMIT_S = 900.0
BENCH_LIMIT_S = 420.0
PROOF_LIMIT_S = 420.0
"""Longest times; a bench's begins when it is built. A fault that makes its bench hang is killed by it."""

PROVE = """
import sys
from pathlib import Path
from isthmus import formal
[result] = formal.prove([sys.argv[1]], override=Path(sys.argv[2]))
print("passed" if result.passed else f"failed: {result.failure}")
"""


class MutationError(Exception):
    """A table that cannot be used; the text says which entry, why and what is expected."""


@dataclass(frozen=True)
class Mutation:
    """One fault: `old`, found once in `file` below rtl/, becomes `new`; `bench` or `proof` must see it.

    `always`: the fault that represents its proof; every proof has one, and the tests run some of them.
    """

    file: str
    old: str
    new: str
    bench: str = ""
    proof: str = ""
    always: bool = False

    @property
    def module(self) -> str:
        return self.file.removesuffix(".sv")

    @property
    def watcher(self) -> str:
        return f"proof {self.proof}" if self.proof else self.bench.removeprefix("tests/unit/")

    def mutated(self) -> str:
        """The file's text with the fault in it."""
        path = RTL / self.file
        if not path.is_file():
            raise MutationError(f"{self.file}: no such file below rtl/")
        text = path.read_text()
        count = text.count(self.old)
        if count != 1:
            raise MutationError(f"{self.file}: {self.old!r} occurs {count} times, expected once")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Outcome:
    """What came of one mutation. `verdict` is killed, survived or broken (it could not be judged)."""

    mutation: Mutation
    verdict: str
    seconds: float
    note: str = ""


def load(table: Path = TABLE) -> list[Mutation]:
    """All mutations of `table`, each checked against its source; raises `MutationError`."""
    mutations = []
    for number, entry in enumerate(tomllib.loads(table.read_text()).get("mutation", []), start=1):
        where = f"{table.name}, mutation {number}"
        unknown = set(entry) - {"file", "old", "new", "bench", "proof", "always"}
        if unknown or not {"file", "old", "new"} <= set(entry):
            raise MutationError(f"{where}: has {sorted(entry)}, must have file, old, new and bench or proof")
        if ("bench" in entry) == ("proof" in entry):
            raise MutationError(f"{where}: must have either bench or proof")
        always = entry.pop("always", False)
        if not isinstance(always, bool) or (always and "proof" not in entry):
            raise MutationError(f"{where}: always is {always!r}, it must be true with a proof, or left out")
        if not all(isinstance(value, str) and value for value in entry.values()):
            raise MutationError(f"{where}: every value but always must be text and not empty")
        mutation = Mutation(**entry, always=always)
        try:
            mutation.mutated()
        except MutationError as error:
            raise MutationError(f"{where}: {error}") from None
        if mutation.bench and not (ROOT / mutation.bench.split("::")[0]).is_file():
            raise MutationError(f"{where}: no bench {mutation.bench}")
        if mutation.proof and not (ROOT / "formal" / f"{mutation.proof}.sby").is_file():
            raise MutationError(f"{where}: no proof {mutation.proof}")
        mutations.append(mutation)
    return mutations


def run(mutation: Mutation) -> Outcome:
    """Run the bench or proof of `mutation` on a copy of its source that has the fault."""
    limit_s = PROOF_LIMIT_S if mutation.proof else BUILD_LIMIT_S
    start = begin = time.monotonic()
    simulates = False
    with tempfile.TemporaryDirectory(prefix="isthmus-mutation-") as name:
        place = Path(name)
        (place / Path(mutation.file).name).write_text(mutation.mutated())
        env = {**os.environ, "ISTHMUS_RTL_OVERRIDE": name, "ISTHMUS_SEED": "1"}
        if mutation.bench.startswith("tests/system/"):
            # Models of whole devices are built from a folder of sources.
            shutil.copytree(RTL, place / "rtl")
            (place / "rtl" / mutation.file).write_text(mutation.mutated())
            env["ISTHMUS_RTL"] = str(place / "rtl")
        env["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
        if mutation.proof:
            command = [sys.executable, "-c", PROVE, mutation.proof, name]
        else:
            command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mutation.bench]
        log = place / "log.txt"
        with log.open("w") as out:
            process = subprocess.Popen(
                command, cwd=ROOT, env=env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )
            verdict, note = "", ""
            while not verdict:
                try:
                    process.wait(timeout=1.0)
                    verdict, note = _judge(
                        mutation, process.returncode, log.read_text(errors="replace"), place
                    )
                except subprocess.TimeoutExpired:
                    if not mutation.proof and not simulates and _built(place):
                        simulates, limit_s, begin = True, BENCH_LIMIT_S, time.monotonic()
                    if time.monotonic() - begin > limit_s:
                        os.killpg(process.pid, signal.SIGKILL)
                        process.wait()
                        # A bench that never ends is red; a proof without a verdict, or a build, says nothing.
                        verdict, note = "killed" if simulates else "broken", f"hung for {limit_s:.0f} s"
    return Outcome(mutation, verdict, time.monotonic() - start, note)


def _built(place: Path) -> bool:
    """The simulation's program is there."""
    return any(p.is_file() and not p.suffix and os.access(p, os.X_OK) for p in place.glob("unit/*/*"))


def _judge(mutation: Mutation, code: int, log: str, place: Path) -> tuple[str, str]:
    """Red for the right reason: a test or an assertion failed, not the build."""
    lines = log.strip().splitlines()
    last = lines[-1] if lines else "no output"
    if code < 0:
        return "broken", f"ended by signal {-code} from outside"
    if mutation.proof:
        if last == "passed":
            return "survived", ""
        if "ssert" in last or "Unreached cover" in last:
            return "killed", last.removeprefix("failed: ")
        return "broken", last
    if code == 0:
        return "survived", ""
    failures = [line.split()[1].rpartition("::")[2] for line in lines if line.startswith("FAILED ")]
    if mutation.bench.startswith("tests/system/") and failures and "%Error" not in log:
        return "killed", failures[0]
    # The simulation writes its results next to its build: without them nothing was simulated.
    if code == 1 and any(place.glob("unit/*/*.xml")):
        failed = [line.split()[1].rpartition(".")[2] for line in lines if " FAIL " in line and "**" in line]
        return "killed", ", ".join(failed[:2])
    return "broken", last


def report(outcomes: Iterable[Outcome]) -> str:
    """One line a mutation: verdict, time, module, the change, and what saw it or should have."""
    rows = []
    for outcome in outcomes:
        m = outcome.mutation
        change = " ".join(f"{m.old} -> {m.new}".split())
        rows.append(f"{outcome.verdict:<8} {outcome.seconds:6.1f} s  {m.module:<32} {m.watcher}")
        rows.append(f"{'':20}{change}")
        if outcome.note:
            rows.append(f"{'':20}{outcome.note}")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Put faults into the RTL and see whether the benches notice."
    )
    parser.add_argument(
        "--module", action="append", metavar="FAMILY/NAME", help="only this one; may be repeated"
    )
    parser.add_argument("--jobs", type=int, default=2, help="mutations at a time (2)")
    parser.add_argument("--list", action="store_true", help="say what there is and run nothing")
    options = parser.parse_args(arguments)
    try:
        mutations = load()
    except (MutationError, tomllib.TOMLDecodeError) as error:
        print(f"mutations: {error}", file=sys.stderr)
        return 2
    modules = sorted({m.module for m in mutations})
    for name in options.module or []:
        if name not in modules:
            print(f"mutations: no module {name!r}; expected one of {', '.join(modules)}", file=sys.stderr)
            return 2
    if options.jobs < 1:
        print(f"mutations: --jobs is {options.jobs}, it must be at least 1", file=sys.stderr)
        return 2
    wanted = [m for m in mutations if not options.module or m.module in options.module]
    if options.list:
        for m in wanted:
            print(f"{m.module:<32} {' '.join(f'{m.old} -> {m.new}'.split())}  [{m.watcher}]")
        return 0
    outcomes = []
    with ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for future in as_completed([pool.submit(run, m) for m in wanted]):
            outcomes.append(future.result())
            print(report(outcomes[-1:]), flush=True)
    counts = {v: sum(o.verdict == v for o in outcomes) for v in ("killed", "survived", "broken")}
    print(f"{len(outcomes)} mutations: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
    return 0 if counts["killed"] == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
