# SPDX-License-Identifier: Apache-2.0
"""The cores as other tools take them: FuseSoC targets, file lists, and a template to instantiate a module.

The first part of each ``.core`` file, up to its sources, is written by hand. What follows is made from the
sources here: constraints, parameters, and a target for each module that a user may take as the top.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from isthmus import generated
from isthmus.errors import choose
from isthmus.lint import tops
from isthmus.models import ports
from isthmus.models.sources import Core, load_cores, sources, with_dependencies
from isthmus.paths import ROOT, RTL

MARK = "  # From here on made by: python -m isthmus.fusesoc\n"
PART = "xc7a100tcsg324-1"
"""The FPGA of the target `synth`, where none is given."""

_NUMBER = re.compile(r"(\d+)'s?[bdh]([0-9a-f]+)")
_WIDEST = 32


@dataclass(frozen=True)
class Module:
    """A module that a user may take as the top of a design, with the core whose files it needs."""

    core: Core
    top: ports.Elaborated

    def numbers(self) -> list[str]:
        """Names of its parameters that are plain numbers, which any tool can set."""
        found = []
        for name, value in self.top.parameters.items():
            number = _NUMBER.fullmatch(value)
            if number and int(number[1]) <= _WIDEST:
                found.append(name)
        return found


def modules(root: Path = RTL) -> dict[str, Module]:
    """Every module that nothing in its own core instantiates, by name."""
    found: dict[str, Module] = {}
    for name, core in load_cores(root).items():
        files = sources(name, root)
        for top in tops(files, set(core.files))[0]:
            found[top] = Module(core, ports.elaborate(files, top, {}, device=False))
    return found


def constraints(core: Core, kind: str) -> list[Path]:
    """Files of constraints (`kind`: xdc for Vivado, sdc for Quartus) beside the core's own modules."""
    return [path for file in core.files if (path := file.with_suffix(f".{kind}")).is_file()]


def generate(out_root: Path, root: Path = ROOT) -> list[Path]:
    """Write every ``.core`` file below `out_root`: the part by hand from `root`, and what follows from it."""
    all_modules = modules(root / "rtl")
    texts = []
    for core in load_cores(root / "rtl").values():
        mine = {name: module for name, module in all_modules.items() if module.core.name == core.name}
        by_hand = _by_hand(core.path)
        texts.append((core.path.relative_to(root), by_hand + MARK + _targets(core, mine)))
    return generated.write(out_root, texts)


def stale(root: Path = ROOT) -> list[str]:
    """``.core`` files, relative to `root`, that differ from what `generate` makes of them."""
    return generated.stale(root, generate)


def _by_hand(path: Path) -> str:
    text = path.read_text()
    ends = [text.index(end) for end in (MARK, "targets:\n") if end in text]
    return text[: min(ends, default=len(text))]


def _targets(core: Core, tops_of_core: Mapping[str, Module]) -> str:
    """Filesets of tools, parameters and targets, as YAML. The last module is the top of `default`."""
    files = constraints(core, "xdc")
    filesets: dict[str, object] = {}
    if files:
        filesets["xdc"] = {"files": [file.name for file in files], "file_type": "user"}
    filesets["vivado"] = {"depend": ["isthmus:tools:vivado"]}
    filesets["lint"] = {"depend": ["isthmus:tools:lint"]}
    # Other cores bring their constraints with them.
    default: dict[str, object] = {"filesets": ["rtl", *(["xdc"] if files else [])]}
    targets: dict[str, object] = {"default": default}
    for name, module in tops_of_core.items():
        own = {"toplevel": name, "parameters": module.numbers()}
        main = name == list(tops_of_core)[-1]
        targets["lint" if main else f"lint_{name}"] = {
            "filesets": ["rtl", "lint"],
            **own,
            "flow": "lint",
            "flow_options": {"tool": "verilator", "verilator_options": ["-Wall", "--timing"]},
        }
        if main:
            default |= own
            targets["synth"] = {
                "filesets": ["rtl", *(["xdc"] if files else []), "vivado"],
                **own,
                "flow": "vivado",
                "flow_options": {"part": PART},
            }
    names = sorted({name for module in tops_of_core.values() for name in module.numbers()})
    parameters = {name: {"datatype": "int", "paramtype": "vlogparam"} for name in names}
    text = _yaml(filesets, 2)
    if parameters:
        text += _yaml({"parameters": parameters}, 0)
    return text + _yaml({"targets": targets}, 0)


def _yaml(data: Mapping[str, object], indent: int) -> str:
    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            del data
            return True

    text = yaml.dump(dict(data), Dumper=Plain, sort_keys=False, default_flow_style=None, width=100)
    return "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


def _verilator(core: Core, top: str, root: Path) -> list[str]:
    del top
    return [str(root / "waivers.vlt"), *map(str, sources(core.name, root))]


def _vivado(core: Core, top: str, root: Path) -> list[str]:
    del top
    lines = [f"read_verilog -sv {{{file}}}" for file in sources(core.name, root)]
    for one in with_dependencies(core.name, root):
        lines += [f"read_xdc -unmanaged -ref {file.stem} {{{file}}}" for file in constraints(one, "xdc")]
    return lines


def _quartus(core: Core, top: str, root: Path) -> list[str]:
    del top
    lines = [f'set_global_assignment -name SYSTEMVERILOG_FILE "{file}"' for file in sources(core.name, root)]
    for one in with_dependencies(core.name, root):
        lines += [f'set_global_assignment -name SDC_FILE "{file}"' for file in constraints(one, "sdc")]
    return lines


def _litex(core: Core, top: str, root: Path) -> list[str]:
    del top
    return [f'platform.add_source("{file}", language="systemverilog")' for file in sources(core.name, root)]


def _template(core: Core, top: str, root: Path) -> list[str]:
    """An instance of the module; each connection has the port's name."""
    module = ports.elaborate(sources(core.name, root), top, {}, device=False)
    begin = f"{top} u_{top} ("
    lines = []
    if module.parameters:
        width = max(map(len, module.parameters))
        rows = [(f"  .{name:<{width}} ({value})", "") for name, value in module.parameters.items()]
        lines, begin = [f"{top} #(", *_listed(rows)], f") u_{top} ("
    width = max(len(port.name) for port in module.ports)
    rows = [
        (
            f"  .{port.name:<{width}} ({port.name})",
            f"  // {'output' if port.is_output else 'input'}, {port.width} bit{'s' * (port.width > 1)}",
        )
        for port in module.ports
    ]
    return [*lines, begin, *_listed(rows), ");"]


def _listed(rows: Sequence[tuple[str, str]]) -> list[str]:
    last = len(rows) - 1
    return [f"{row}{',' if place < last else ''}{note}" for place, (row, note) in enumerate(rows)]


FORMATS: Mapping[str, Callable[[Core, str, Path], list[str]]] = {
    "f": _verilator,
    "vivado": _vivado,
    "quartus": _quartus,
    "litex": _litex,
    "template": _template,
}
"""What `isthmus files` prints, by name."""


def listing(name: str, form: str, root: Path = RTL) -> str:
    """A module, or a core by its name or its last part, in a format of `FORMATS`. Raises `UserError`."""
    choose("format", form, FORMATS)
    known: dict[str, tuple[Core, str]] = {}
    for core in load_cores(root).values():
        known |= {file.stem: (core, file.stem) for file in core.files if not file.stem.endswith("_pkg")}
    for core in load_cores(root).values():
        for short in (core.name, core.name.split(":")[-1]):
            known.setdefault(short, (core, core.top))
    core, top = known[choose("core or module", name, known)]
    return "\n".join(FORMATS[form](core, top, root)) + "\n"


if __name__ == "__main__":
    for path in generate(ROOT):
        print(path)
