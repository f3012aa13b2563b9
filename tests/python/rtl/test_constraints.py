# SPDX-License-Identifier: Apache-2.0
"""Each module with a synchronizer has constraints for Vivado and Quartus, whose names are in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from isthmus.models.sources import load_cores, sources
from isthmus.paths import RTL

KINDS = ("xdc", "sdc")
SYNCHRONIZER = re.compile(r'\(\* async_reg = "true" \*\)\s+\w+(?:\s*\[[^\]]*\])*\s+([\w, ]+);')
# Braces of Tcl around names; of an SDC behind the entity.
XDC_NAMES = re.compile(r"get_cells (?:-quiet )?\{([^}]+)\}")
XDC_MEMORY = re.compile(r"NAME =~ \*(\w+)_reg\*")
SDC_NAMES = re.compile(r"\*\|(\w+):\*\|([\w.]+)")


def crossings() -> list[Path]:
    """Modules with a flip-flop that another clock drives."""
    return sorted(path for path in RTL.glob("*/*.sv") if SYNCHRONIZER.search(path.read_text()))


def named(path: Path) -> set[str]:
    """The signals that a file of constraints names, without indices."""
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
    if path.suffix == ".sdc":
        found = SDC_NAMES.findall(text)
        assert {entity for entity, _ in found} == {path.stem}, f"{path.name}: names of another entity"
        return {name for _, name in found}
    words = {word for group in XDC_NAMES.findall(text) for word in group.split()}
    assert all(re.search(r"_reg(\[|$)", word) for word in words), f"{path.name}: {words}: cells end in _reg"
    return {re.sub(r"_reg(\[.*)?$", "", word) for word in words} | set(XDC_MEMORY.findall(text))


def declared(module: Path) -> set[str]:
    """Every variable of a module, generate blocks in front, as an elaborator sees it: all branches."""
    from pyslang import ast, driver

    core = next(core for core in load_cores().values() if module in core.files)
    found: set[str] = set()
    for early in ("0", "1"):
        run = driver.Driver()
        run.addStandardArgs()
        options = ["--top", module.stem]
        if "EarlyPointer" in module.read_text():
            options += ["-G", f"EarlyPointer={early}"]
        arguments = " ".join(f'"{part}"' for part in ("slang", *options, *map(str, sources(core.name))))
        assert run.parseCommandLine(arguments)
        assert run.processOptions()
        assert run.parseAllSources()
        compilation = run.createCompilation()
        [top] = compilation.getRoot().topInstances

        def visit(symbol: object, top: str = top.name) -> None:
            if isinstance(symbol, ast.VariableSymbol):
                path = symbol.hierarchicalPath
                found.add(path.removeprefix(f"{top}."))

        top.visit(visit)
    return found


def test_there_are_modules_with_synchronizers() -> None:
    assert {"async_fifo", "async_block_fifo", "sync_bits", "link_elastic"} <= {m.stem for m in crossings()}


@pytest.mark.deterministic
@pytest.mark.parametrize("module", crossings(), ids=lambda module: module.stem)
def test_each_synchronizer_is_constrained_under_a_name_that_is_there(module: Path) -> None:
    stages = {name.strip() for names in SYNCHRONIZER.findall(module.read_text()) for name in names.split(",")}
    signals = declared(module)
    for kind in KINDS:
        file = module.with_suffix(f".{kind}")
        assert file.is_file(), f"{file.name}: no constraints beside {module.name}"
        names = named(file)
        assert stages <= names, f"{file.name}: nothing about {sorted(stages - names)}"
        assert names <= signals, f"{file.name}: {sorted(names - signals)} are not in {module.name}"


@pytest.mark.parametrize("kind", KINDS)
def test_no_constraints_lie_beside_nothing(kind: str) -> None:
    modules = {module.stem for module in crossings()}
    assert {path.stem for path in RTL.glob(f"*/*.{kind}")} == modules
