# SPDX-License-Identifier: Apache-2.0
"""RTL file lists: reads the FuseSoC (CAPI=2) ``.core`` file of each family under ``rtl/``.

A core is named ``isthmus:<family>:<core>``, perhaps with a version behind it. Its ``filesets.rtl`` holds
``files`` (relative to the ``.core`` file, packages first) and ``depend`` (names of other cores). The rest of
the file is for FuseSoC: see `isthmus.fusesoc`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from isthmus.errors import UserError
from isthmus.paths import RTL

# libyaml's, where PyYAML was built with it: ten times as fast.
LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class CoreError(UserError):
    """A ``.core`` file that cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Core:
    """One ``.core`` file: its name, its own files in compile order, its dependencies, and its main module."""

    name: str
    files: tuple[Path, ...]
    depend: tuple[str, ...]
    path: Path
    top: str


def load_cores(root: Path = RTL) -> dict[str, Core]:
    """All cores below `root`, by name. Raises `CoreError` for an unreadable file or a missing source."""
    cores: dict[str, Core] = {}
    for path in sorted(root.glob("*/*.core")):
        cores_in_file = _load(path)
        cores[cores_in_file.name] = cores_in_file
    return cores


def _load(path: Path) -> Core:
    try:
        data = yaml.load(path.read_text(), LOADER)
        # The version behind the name is for other tools: a checkout has one of each.
        name = ":".join(data["name"].split(":")[:3])
        rtl = data["filesets"]["rtl"]
        files = tuple(path.parent / f for f in rtl.get("files", []))
        depend = tuple(rtl.get("depend", []))
        top = str(data.get("targets", {}).get("default", {}).get("toplevel", ""))
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as err:
        raise CoreError(f"{path}: not a CAPI=2 core with filesets.rtl.files: {err}") from err
    for file in files:
        if not file.is_file():
            raise CoreError(f"{path}: lists {file.name}, which does not exist")
    return Core(name, files, depend, path, top)


def sources(core: str, root: Path = RTL) -> list[Path]:
    """Files of `core` and of all it depends on, in compile order, each once."""
    return [file for one in with_dependencies(core, root) for file in one.files]


def with_dependencies(core: str, root: Path = RTL) -> list[Core]:
    """`core` behind all it depends on, in compile order, each once."""
    cores = load_cores(root)
    ordered: list[Core] = []

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            raise CoreError(f"cores depend on each other in a ring: {' -> '.join((*trail, name))}")
        if name not in cores:
            known = ", ".join(sorted(cores))
            raise CoreError(f"no core named {name!r}; expected one of {known}")
        if cores[name] in ordered:
            return
        for dependency in cores[name].depend:
            visit(dependency, (*trail, name))
        ordered.append(cores[name])

    visit(core, ())
    return ordered
