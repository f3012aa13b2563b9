# SPDX-License-Identifier: Apache-2.0
"""No circle of imports, those inside functions included; and only the table names roads."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import isthmus
from isthmus.roads.table import ROADS

PACKAGE = Path(isthmus.__file__).parent
MODULES = {
    ".".join(["isthmus", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
TABLE = "isthmus.roads.table"
OWN = ("isthmus.eb", "isthmus.regs")
"""Not shared: the tools of one road, and register maps, which are named as cores."""


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def for_types_only(node: ast.AST) -> bool:
    """Whether it is `if TYPE_CHECKING:`, which never runs."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def walk(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not for_types_only(child):
            yield child
            yield from walk(child)


def imports(module: str, parsed: ast.AST) -> set[str]:
    """The modules of isthmus that a module imports anywhere. A module from a package is not the package."""
    found: set[str] = set()
    for node in walk(parsed):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else str(node.module))
    return {name for name in found if name in MODULES} - {module}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Tarjan: the sets of modules that reach each other."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            members = []
            while not members or members[-1] != node:
                members.append(stack.pop())
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def test_no_circle_of_imports() -> None:
    assert circles({module: imports(module, tree(module)) for module in MODULES}) == []


def test_a_circle_through_a_function_is_found() -> None:
    first = ast.parse("def f():\n    from isthmus import verify\n")
    second = ast.parse("if x:\n    import isthmus.results\nif TYPE_CHECKING:\n    import isthmus.cli\n")
    graph = {
        "isthmus.results": imports("isthmus.results", first),
        "isthmus.verify": imports("isthmus.verify", second),
    }
    assert graph == {"isthmus.results": {"isthmus.verify"}, "isthmus.verify": {"isthmus.results"}}
    assert circles(graph) == [["isthmus.results", "isthmus.verify"]]


def room(module: str) -> str:
    """The road in whose room the module is; empty for a shared one."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["isthmus", "roads"] and len(parts) > 2 and parts[2] in ROADS else ""


SHARED = [m for m in MODULES if not room(m) and m != TABLE and not m.startswith(OWN)]


BUILT_ON = {("pcix", "rdma"): "a bus by itself: it has no platforms but those of the interface that is on it"}
"""Roads that import another one, and why."""


def crossings(module: str, parsed: ast.AST) -> set[tuple[str, str]]:
    """The road of a module and another one from whose room it imports."""
    here = room(module)
    return {(here, there) for there in map(room, imports(module, parsed)) if here and there not in ("", here)}


def named(parsed: ast.Module) -> set[str]:
    """The roads that a module's texts name: by a text that is a road's name, or a part of a path of names."""
    docs = {
        id(node.body[0].value)
        for node in ast.walk(parsed)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found: set[str] = set()
    for node in ast.walk(parsed):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            text = node.value
            found |= {name for name in ROADS if re.search(rf"^{name}$|^{name}/|roads[./]{name}\b", text)}
    return found


def test_shared_modules_import_no_room() -> None:
    wrong = {m: sorted(map(room, imports(m, tree(m)))) for m in SHARED if any(map(room, imports(m, tree(m))))}
    assert wrong == {}


def test_roads_import_no_other_road() -> None:
    found = {pair: m for m in MODULES for pair in crossings(m, tree(m))}
    assert {pair: module for pair, module in found.items() if pair not in BUILT_ON} == {}
    assert set(BUILT_ON) <= set(found), "an exception that nothing needs"


def test_an_import_of_another_road_is_found_and_one_of_the_own_is_not() -> None:
    parsed = ast.parse(
        "from isthmus.roads.eci import bench\n"
        "def f():\n    from isthmus.roads.switch.page import delay\n"
        "from isthmus.roads.table import road\n"
    )
    assert crossings("isthmus.roads.eci.page", parsed) == {("eci", "switch")}
    assert crossings("isthmus.verify", parsed) == set()


def test_shared_modules_name_no_road() -> None:
    assert {module: found for module in SHARED if (found := named(tree(module)))} == {}


def test_a_name_is_found_and_a_word_that_holds_it_is_not() -> None:
    assert named(ast.parse('"""rdma"""\nx = "rdma"\ny = "a switch"')) == {"rdma"}
    assert named(ast.parse('x = f"etherbone/{y}/isthmus"')) == {"etherbone"}
    assert named(ast.parse('x = "isthmus.roads.pcix.bench"')) == {"pcix"}


def test_the_shared_modules_are_those_that_one_expects() -> None:
    expected = {
        "cli",
        "verify",
        "report",
        "report.page",
        "results.files",
        "bench.runner",
        "testing",
        "platforms",
    }
    assert {f"isthmus.{name}" for name in expected} <= set(SHARED)
