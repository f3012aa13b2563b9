# SPDX-License-Identifier: Apache-2.0
"""How `isthmus eb` starts: a correct line needs no Typer, and means the same with it and without."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from isthmus import cli, current
from isthmus.eb import lean
from isthmus.eb.options import COMMANDS
from isthmus.paths import ROOT

PLAIN = [
    "read udp/h 0x100/4",
    "read udp/h 0x100/4 -v -q -b -s -c -f -p",
    "read -vqbscfp udp/h 0x100/4",
    "read -a32 -d 8/16 -r 7 --timeout=0.5 --dialect liteeth udp/h 0/1",
    "read udp/h -l 0/1 --timeout 2",
    "read -r 1 -r 2 udp/h 0/1",
    "write udp/h 0x100/4 31",
    "get -c 3 udp/h 0/100 file",
    "put -f udp/h 0 ./some/file",
    "ls -n udp/h",
    "find udp/h 1 2 -n",
    "discover",
    "discover udp/10.0.0.255 --silence 3",
    "snoop 0 0-1 -q -d 32/64 --bind ::1",
    "snoop 60368 --passive --interface lo",
    "perf udp/h",
    "perf udp/h 1 2 3 2 -q",
    "read -- udp/h 0/1",
]
WRONG = [
    "",
    "nope",
    "--help",
    "read --help",
    "read udp/h",
    "read udp/h 0/1 more",
    "read udp/h 0/1 --time 2",
    "read udp/h 0/1 --timeout 0",
    "read udp/h 0/1 --timeout nan",
    "read udp/h 0/1 -r x",
    "read udp/h 0/1 -r 1.5",
    "read udp/h 0/1 -r",
    "read udp/h 0/1 -z",
    "perf udp/h 0 0",
    "perf udp/h 0 1 1 3",
    "get -c 4.5 udp/h 0/1 file",
]


def through_typer(line: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, Any]] | None:
    called: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(lean, "call", lambda name, values: called.append((name, values)))
    cli.run(["eb", *line.split()])
    return called[0] if called else None


@pytest.mark.parametrize("line", PLAIN)
def test_a_correct_line_means_what_typer_takes_it_for(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = through_typer(line, monkeypatch)
    assert expected is not None
    found = lean.parse(line.split())
    assert found in (expected, None)
    assert found is not None or "--" in line.split()


@pytest.mark.parametrize("line", WRONG)
def test_anything_else_is_left_to_typer(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lean.parse(line.split()) is None
    assert through_typer(line, monkeypatch) is None


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_alone_means_the_same(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"str": "16", "int": "2", "float": "2.5", "path": "f"}
    places = " ".join("1" for one in command.parameters if not one.flags)
    for one in command.parameters:
        for flag in one.flags:
            line = f"{command.name} {places} {flag} {texts.get(one.kind, '')}".rstrip()
            assert lean.parse(line.split()) == through_typer(line, monkeypatch), line


def test_one_value_loads_neither_typer_nor_what_it_needs(name: str) -> None:
    # The first look at new sources takes a hash over them.
    current.ensure_native()
    program = (
        "import json, runpy, sys\n"
        f"sys.argv = ['isthmus', 'eb', 'read', {name!r}, '0x1000/4']\n"
        "try:\n    runpy.run_module('isthmus', run_name='__main__')\n"
        "except SystemExit as end:\n    assert end.code == 0, end.code\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "python")},
    )
    value, modules = done.stdout.splitlines()
    assert value == "00000000"
    heavy = {"typer", "pydantic", "rich", "subprocess", "hashlib", "isthmus.cli", "isthmus.bootstrap"}
    heavy |= {"dataclasses", "inspect", "tempfile"}
    assert heavy & set(json.loads(modules)) == set()


def test_a_failure_of_the_lean_start_is_the_same_line(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "isthmus", "eb", "read", name, "0x300000/4"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "python")},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("isthmus: read 0x00300000 (operation 0): bus error (1 of 1 operations failed)\n")
