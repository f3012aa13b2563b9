# SPDX-License-Identifier: Apache-2.0
"""What the command line prints: help against the reference page, errors line by line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from isthmus import __version__, bootstrap, cli
from isthmus.errors import DataError, UserError
from isthmus.reference import command_page

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "reference" / "cli.md"
HELP = ROOT / "python" / "isthmus" / "help.txt"


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_reference_page_is_what_help_prints() -> None:
    page = command_page()
    if os.environ.get("ISTHMUS_UPDATE_GOLDEN"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page, "ISTHMUS_UPDATE_GOLDEN=1 ./isthmus test -k reference_page rewrites it"


def test_the_ready_help_is_what_the_commands_say(capsys: pytest.CaptureFixture[str]) -> None:
    code, made, _ = call(capsys, "--help")
    assert code == 0
    if os.environ.get("ISTHMUS_UPDATE_GOLDEN"):
        HELP.write_text(made)
    assert HELP.read_text() == made, "ISTHMUS_UPDATE_GOLDEN=1 ./isthmus test -k ready_help rewrites it"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_printed_without_making_the_commands(option: str) -> None:
    program = (
        "import runpy, sys\n"
        f"sys.argv = ['isthmus', {option!r}]\n"
        "try:\n    runpy.run_module('isthmus', run_name='__main__')\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print('made:', 'typer' in sys.modules)\n"
    )
    environment = os.environ | {"COLUMNS": "80"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == HELP.read_text() + "made: False\n"
    narrow = subprocess.run(
        [sys.executable, "-m", "isthmus", option], capture_output=True, text=True, check=True,
        env=environment | {"COLUMNS": "60"},
    )  # fmt: skip
    assert max(map(len, narrow.stdout.splitlines())) <= 60


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_help_onto_a_full_disk_is_one_line(unbuffered: str) -> None:
    command = f"{sys.executable} -m isthmus --help >/dev/full"
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert done.stderr == "isthmus: standard output: No space left on device\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "--version") == (0, f"isthmus {__version__}\n", "")


def test_without_arguments_the_help_is_printed_and_the_exit_code_is_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = call(capsys)
    assert code == 2
    assert (out + err).startswith("Usage: isthmus [OPTIONS] COMMAND [ARGS]...")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["serve", "nope"], "isthmus: unknown command 'nope'; choose from etherbone, nanet"),
        (["--nope"], "isthmus: No such option: --nope"),
        (["area", "--family"], "isthmus: Option '--family' requires an argument."),
        (["area", "--family", "z"], "isthmus: unknown family 'z'; choose from xc7, xcup, xc2vp, ecp5, all"),
        (["test", "extra"], "isthmus: Got unexpected extra argument(s) (extra)"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    assert call(capsys, *arguments) == (2, "", f"{line}\n")


def test_an_unknown_core_is_named_beside_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("area", "timing"):
        code, out, err = call(capsys, command, "nope")
        assert (code, out) == (2, "")
        assert err.startswith("isthmus: unknown core 'nope'; ")
        assert " are known: skid_buffer, " in err
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("no such\n  file"), 2, "isthmus: no such file\n"),
        (DataError("3 bytes wrong"), 1, "isthmus: 3 bytes wrong\n"),
        (
            bootstrap.SetupError("needs g++: apt-get install g++"),
            2,
            "isthmus: needs g++: apt-get install g++\n",
        ),
        (KeyboardInterrupt(), 130, "isthmus: stopped\n"),
    ],
)
def test_errors_of_a_command_are_one_line_with_their_exit_code(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    line: str,
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr("isthmus.testing.run", fail)
    assert call(capsys, "test") == (code, "", line)


def test_the_exit_code_of_a_command_is_passed_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isthmus.testing.run", lambda _: 1)
    assert call(capsys, "test")[0] == 1
    monkeypatch.setattr("isthmus.testing.run", lambda _: 0)
    assert call(capsys, "test")[0] == 0


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from isthmus import cli\n"
        "cli.run(['--help'])\n"
        "heavy = {'yaml', 'pyslang', 'rich', 'jsonschema', 'isthmus.models', 'isthmus.eb', 'asyncio'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy: []"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_no_error(unbuffered: str) -> None:
    command = f"{sys.executable} -m isthmus --help | true; echo ${{PIPESTATUS[0]}}"
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stderr == ""
