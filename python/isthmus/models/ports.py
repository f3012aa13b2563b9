# SPDX-License-Identifier: Apache-2.0
"""Reads a device top's ports and probe stages by elaborating it with its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, SupportsInt, cast

from isthmus.errors import UserError

if TYPE_CHECKING:
    from pyslang import ast, driver

Parameter = int | str
"""A number, or a SystemVerilog literal such as ``48'h02_00_00_00_00_01``."""


class ElaborationError(UserError):
    """The sources do not elaborate with these parameters."""


@dataclass(frozen=True)
class Port:
    """One port of the top. `width` is in bits, packed dimensions multiplied out.

    `enum` is its enumeration's name in other files, "" if it has none there; None: it is not an enumeration.
    """

    name: str
    width: int
    is_output: bool
    enum: str | None = None


@dataclass(frozen=True)
class Elaborated:
    """The data of a top that the model builder needs."""

    top: str
    ports: tuple[Port, ...]
    probes: tuple[str, ...]
    parameters: Mapping[str, str]


def literal(value: Parameter) -> str:
    """The SystemVerilog spelling of a parameter value, also beyond 32 bits."""
    if isinstance(value, str):
        return value
    if -(1 << 31) <= value < (1 << 31):
        return str(int(value))
    if value < 0:
        raise ElaborationError(f"parameter value {value} does not fit 32 bits")
    return f"{value.bit_length()}'h{value:x}"


def elaborate(
    files: Sequence[Path], top: str, parameters: Mapping[str, Parameter], *, device: bool = True
) -> Elaborated:
    """Elaborate `top`. Raises `ElaborationError` with the first error's place and text.

    device   the top is a device: its ports are packed, its probe stages are read too, and must be there if it
             has probes
    """
    from pyslang import driver

    run = driver.Driver()
    run.addStandardArgs()
    arguments = ["slang", "--top", top, "--timescale", "1ps/1ps"]
    arguments += [f"-G{name}={literal(value)}" for name, value in parameters.items()]
    arguments += [str(file) for file in files]
    command = " ".join(_quoted(argument) for argument in arguments)
    if not (run.parseCommandLine(command) and run.processOptions()):
        raise ElaborationError(f"{top}: the elaborator refused its arguments: {command}")
    run.parseAllSources()
    compilation = run.createCompilation()
    tops = list(compilation.getRoot().topInstances)
    _raise_first_error(run, compilation)
    if len(tops) != 1:
        raise ElaborationError(f"{top}: not a module of {', '.join(f.name for f in files)}")
    body = tops[0].body
    known = [p.name for p in body.parameters if not p.isLocalParam]
    for name in parameters:
        if name not in known:
            legal = ", ".join(known) or "none"
            raise ElaborationError(f"{top}: no parameter {name!r}; expected one of {legal}")
    ports = tuple(_port(top, symbol, device) for symbol in body.portList)
    return Elaborated(
        top,
        ports,
        _probes(compilation, top) if device and any(p.name == "probe_o" for p in ports) else (),
        {
            p.name: str(getattr(p, "value", ""))
            for p in body.parameters
            if not p.isLocalParam and hasattr(p, "value")
        },
    )


def _quoted(argument: str) -> str:
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _raise_first_error(run: driver.Driver, compilation: ast.Compilation) -> None:
    for diagnostic in compilation.getAllDiagnostics():
        if not diagnostic.isError():
            continue
        text = run.diagEngine.formatMessage(diagnostic).removeprefix("$error encountered: ")
        text = text.removeprefix("$fatal encountered: ")
        line = run.sourceManager.getLineNumber(diagnostic.location)
        if line:
            name = Path(run.sourceManager.getFileName(diagnostic.location)).name
            text = f"{name}:{line}: {text}"
        raise ElaborationError(text)


def _port(top: str, symbol: object, device: bool) -> Port:
    from pyslang import ast

    name = str(getattr(symbol, "name", "?"))
    if not isinstance(symbol, ast.PortSymbol):
        raise ElaborationError(f"{top}: port {name} is an interface; a device top has plain vectors only")
    if symbol.direction not in (ast.ArgumentDirection.In, ast.ArgumentDirection.Out):
        raise ElaborationError(f"{top}: port {name} must be an input or an output")
    if device and not symbol.type.isIntegral:
        raise ElaborationError(f"{top}: port {name} must be a packed vector, not {symbol.type}")
    is_output = symbol.direction == ast.ArgumentDirection.Out
    return Port(name, int(symbol.type.bitstreamWidth), is_output, _enum(symbol.type))


def _enum(kind: ast.Type) -> str | None:
    """`Port.enum`: the first of its aliases that is defined in a package."""
    from pyslang import ast

    if not kind.isEnum:
        return None
    while isinstance(kind, ast.TypeAliasType):
        path = str(kind.hierarchicalPath)
        if "::" in path:
            return path
        kind = kind.targetType.type
    return ""


def _probes(compilation: ast.Compilation, top: str) -> tuple[str, ...]:
    """Literals of `probe_e`: from `<top>_pkg` if it has one, else from the one package that does."""
    from pyslang import ast

    found: dict[str, ast.Symbol] = {}
    for package in compilation.getPackages():
        symbol = package.find("probe_e")
        if symbol is not None:
            found[package.name] = symbol
    alias = found.get(f"{top}_pkg")
    if alias is None:
        if len(found) != 1:
            where = f"; {', '.join(sorted(found))} have one each" if found else ""
            raise ElaborationError(f"{top}: probe_o needs the type probe_e in package {top}_pkg{where}")
        alias = next(iter(found.values()))
    enum = alias.canonicalType if isinstance(alias, ast.Type) else None
    if not isinstance(enum, ast.EnumType):
        raise ElaborationError(f"{top}: probe_e is not an enumeration")
    names: list[str] = []
    for symbol in enum:
        if not isinstance(symbol, ast.EnumValueSymbol):
            continue
        if int(cast(SupportsInt, symbol.value.value)) != len(names):
            raise ElaborationError(
                f"{top}: probe_e must count up from 0, but {symbol.name} is {symbol.value}"
            )
        names.append(symbol.name)
    return tuple(names)
