# SPDX-License-Identifier: Apache-2.0
"""Each port of a module that a user may take is described.

docs/how-to/put-a-core-on-your-board.md has the rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyslang
import pytest
from isthmus.paths import ROOT, RTL

PAGES = ("docs/reference/cores.md", "docs/how-to/put-a-core-on-your-board.md")
COMMON = ("clk_i", "rst_ni")
"""Described by the rule itself."""


@dataclass(frozen=True)
class Port:
    """`line` counts from 0."""

    name: str
    line: int


def public(root: Path = ROOT) -> dict[str, Path]:
    """Files of the modules that a core has as an entry point, or that a page offers."""
    files = {path.stem: path for path in RTL.rglob("*.sv") if "gen" not in path.parts}
    cores = "".join(path.read_text() for path in sorted(RTL.rglob("*.core")))
    pages = "".join((root / page).read_text() for page in PAGES)
    names = {*re.findall(r"\btoplevel: (\w+)", cores), *re.findall(r"`(\w+)`", pages)}
    return {name: files[name] for name in sorted(names & set(files))}


def ports(source: str) -> list[Port]:
    """Those of the one module of `source`."""
    tree = pyslang.syntax.SyntaxTree.fromText(source)
    [module] = [member for member in _members(tree.root) if hasattr(member, "header")]
    found = [port for port in module.header.ports.ports if hasattr(port, "declarator")]
    return [Port(port.declarator.name.valueText, _line(source, port.declarator.name)) for port in found]


def _members(root: pyslang.syntax.SyntaxNode) -> Sequence[pyslang.syntax.SyntaxNode]:
    """A file with one member has it as its root."""
    return [root] if hasattr(root, "header") else list(getattr(root, "members", []))


def _line(source: str, token: pyslang.parsing.Token) -> int:
    return source.count("\n", 0, token.location.offset)


def undescribed(source: str) -> list[str]:
    """Names of the ports of the module that nothing in it describes."""
    lines = source.split("\n")
    found = ports(source)
    head = next(number for number, line in enumerate(lines) if line.startswith("module "))
    header = "\n".join(line for line in lines[:head] if line.startswith("///"))
    # What a module does not do describes nothing; it is the header's last part.
    texts = [re.split(r"^///   Not done", header, flags=re.MULTILINE)[0]]
    texts += [_comment(line) for line in lines[head : found[-1].line + 1]]
    named = list(_patterns("\n".join(texts)))
    at = {port.line for port in found}
    return [
        port.name
        for port in found
        if port.name not in COMMON
        and not _says_something(_comment(lines[port.line]), port.name)
        and not _says_something(_group(lines, at, port.line), port.name)
        and not any(pattern.fullmatch(port.name) for pattern in named)
    ]


def _comment(line: str) -> str:
    """What a `//` begins in it, but for what is for a tool."""
    found = re.search(r"//(?! *(?:verilator|verilog_lint|ver\w+_format))(.*)", line)
    return found[1] if found else ""


def _group(lines: Sequence[str], at: set[int], line: int) -> str:
    """The comment above the block of ports that has no blank line and no other comment line inside."""
    while line in at:
        line -= 1
    return _comment(lines[line]) if lines[line].strip().startswith("//") else ""


def _patterns(text: str) -> Iterator[re.Pattern[str]]:
    """A name, where `*` stands for any part of it. One letter and a `*` is no name."""
    for word in set(re.findall(r"\w[\w*]*", text)):
        if len(word.replace("*", "")) > 1:
            yield re.compile(word.replace("*", r"\w*"))


def _says_something(comment: str, name: str) -> bool:
    """Words that are not those of the name."""
    return bool(set(re.findall(r"\w+", comment.lower())) - set(name.lower().split("_")) - {"the", "a", "of"})


def test_each_port_of_a_public_module_is_described() -> None:
    modules = public()
    assert len(modules) > 100
    left = {name: undescribed(path.read_text()) for name, path in modules.items()}
    assert {name: names for name, names in left.items() if names} == {}


SOURCE = """\
/// A module.
///
///   Handshake   in_* and out_valid_o are held
///   Not done    other_i
module one (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic in_valid_i,
  output logic in_ready_o,
  output logic out_valid_o,
  input  logic other_i,
  // From the bus, strobes.
  input  logic bus_a_i,
  input  logic bus_b_i,

  input  logic next_i,
  input  logic said_i,  // level: said
  input  logic mode_i,  // the mode
  output logic [7:0] m_awaddr_o,  // m_a*: of a byte
  output logic m_arvalid_o
);
endmodule
"""


def test_a_port_is_described_by_its_line_its_group_or_its_name() -> None:
    assert [port.name for port in ports(SOURCE)][:3] == ["clk_i", "rst_ni", "in_valid_i"]
    assert undescribed(SOURCE) == ["other_i", "next_i", "mode_i"]


EDITS: Mapping[str, tuple[str, str, list[str]]] = {
    "own": ("  // level: said", "", ["said_i"]),
    "group": ("  // From the bus, strobes.\n", "", ["bus_a_i", "bus_b_i"]),
    "header": ("out_valid_o are held", "nothing else", ["out_valid_o"]),
    "pattern": ("in_* and", "", ["in_valid_i", "in_ready_o"]),
    "comment for a tool": ("// level: said", "// verilator lint_off UNUSED", ["said_i"]),
    "pattern in a port's line": ("// m_a*: of", "// of", ["m_arvalid_o"]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_port_is_not_described_without(edit: str) -> None:
    old, new, more = EDITS[edit]
    assert SOURCE.count(old) == 1
    assert set(undescribed(SOURCE.replace(old, new))) == {"other_i", "next_i", "mode_i", *more}
