# SPDX-License-Identifier: Apache-2.0
"""Every command that the documentation shows is run, word for word, or is listed with the reason why not.

The command line is the real one. Measurements are made up, so that all of it takes seconds: tables, files and
pages are written from them. Tools that need a device, and what changes the machine, end where they would
begin. benchmarks/docs_commands.py runs them for real, before a release.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve()
ROOT = HERE.parents[3]
for folder in ("cli", "compare", "results"):
    sys.path.insert(0, str(HERE.parents[1] / folder))
sys.path.insert(0, str(ROOT / "benchmarks"))

import docs_commands  # noqa: E402
import fixture  # noqa: E402
import made_up  # noqa: E402
import rdma_fixture  # noqa: E402
import test_apenet  # noqa: E402
import test_bad_input  # noqa: E402
import test_switch  # noqa: E402
import test_torus  # noqa: E402
from docs_commands import blocks, pages, words  # noqa: E402
from isthmus import cli  # noqa: E402

NOT_RUN = {
    "fusesoc": "run with these targets in tests/python/rtl/test_fusesoc.py",
    "apt-get": "changes the machine",
    "rustup": "changes the machine",
    "git": "needs the network",
    "for": "re-pins packages: needs the network and uv",
    "uv": "re-pins packages: needs the network and uv",
    "done": "the end of a loop that is listed",
    "cargo": "built and run by the tests of Rust",
    "cc": "the C library's tests compile against its header",
    "tshark": "run by the dissector's tests where tshark is installed",
    "ip": "needs root",
    "ping": "needs a TAP interface",
    "python": "needs LiteX; run by tests/system/test_serve_litex.py",
    "eb-read": "another project's tool; run by the tests of serve where it is installed",
}
"""Programs beside isthmus, by their first word."""

EXIT_CODES = {"verify": (0, 1)}
"""Made-up numbers may miss a limit."""


COMMANDS = docs_commands.commands()


def engine(scenario: Mapping[str, Any], progress: object = None) -> list[dict[str, Any]]:
    """Made-up measurements for a scenario of any road."""
    del progress
    if scenario["road"] != "apenet" and {"window", "rate_per_s"} & set(scenario["workload"]):
        return made_up.engine(scenario)
    by_road = {
        "etherbone": fixture.engine,
        "switch": test_switch.engine,
        "rdma": rdma_fixture.engine,
        "pcix": rdma_fixture.engine,
        "torus": test_torus.engine,
        "apenet": test_apenet.engine,
    }
    found: list[dict[str, Any]] = by_road[scenario["road"]](scenario)
    return found


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from isthmus.bench import runner as running
    from isthmus.roads.ccix import lock_trace
    from isthmus.trigger import native, times

    run_all = running.run_all
    rings = native.bench
    monkeypatch.chdir(tmp_path)
    for name in test_bad_input.STAND_INS:
        monkeypatch.setattr(name, test_bad_input.reached)
    for name in ("ensure_native", "ensure_development"):
        monkeypatch.setattr(f"isthmus.bootstrap.{name}", lambda: None)
    monkeypatch.setattr("isthmus.current.ensure_native", lambda: None)
    monkeypatch.setattr("isthmus.bench.runner.run_all", run_all)

    def few(sample: str, seed: int, count: int, passes: int, progress: Callable[[int, int], None]) -> Any:
        del count, passes
        return rings(sample, seed, 512, 1, progress)

    monkeypatch.setattr("isthmus.trigger.native.bench", few)
    # The database is a package that not everyone has.
    monkeypatch.setattr("isthmus.roads.ccix.postgres.record", lambda *_: (lock_trace.hot(20), "20 made"))
    (tmp_path / "rich.events").write_bytes(b"")
    (tmp_path / "times.json").write_bytes(times.STORED.read_bytes())
    monkeypatch.setattr("isthmus.bench.runner.run", engine)
    monkeypatch.setattr("isthmus.bench.runner.place", lambda _: Path("model.so"))
    monkeypatch.setattr("isthmus.bench.runner.build", lambda wanted: [Path("model.so")] * len(wanted))
    for name, text in docs_commands.FILES.items():
        (tmp_path / name).write_text(text)
    for page in pages():
        for name, text in docs_commands.files(page.read_text()).items():
            (tmp_path / name).write_text(text)
    return tmp_path


def test_there_are_commands_in_the_documentation() -> None:
    assert len([line for _, line in COMMANDS if "./isthmus" in line]) > 40


def test_every_program_is_isthmus_or_listed_with_a_reason() -> None:
    others = {words(line)[0] for _, line in COMMANDS if words(line)} - {"./isthmus", "cat", "cd", "c"}
    assert others <= set(NOT_RUN), "run it in a test, or list it with the reason why not"


ISTHMUS = [(name, line) for name, line in COMMANDS if words(line)[:1] == ["./isthmus"]]


@pytest.mark.parametrize(("name", "line"), [pytest.param(*one, id=f"{one[0]}: {one[1]}") for one in ISTHMUS])
def test_a_command_of_the_documentation_is_taken_word_for_word(
    name: str, line: str, workshop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del name
    arguments = words(line.split(" > ", maxsplit=1)[0])[1:]  # the shell's is the file
    for result in re.findall(r"out/(\w+)\.json", line):
        # A page redrawn: the run before it has left the result.
        assert cli.run(["compare"] if result == "compare" else ["bench", result]) == 0
    capsys.readouterr()
    code = cli.run(arguments)
    err = capsys.readouterr().err
    reached = test_bad_input.REACHED in err
    assert reached or code in EXIT_CODES.get(arguments[0], (0,)), err
    if "--print-scenario" in arguments:
        return  # it builds models, and measures nothing
    if arguments[0] in ("bench", "compare"):
        assert not reached
        assert list(workshop.rglob("*.json")), "it leaves a result"
        assert list(workshop.rglob("*.csv"))


def test_python_blocks_are_python() -> None:
    found = [body for page in pages() for language, body in blocks(page.read_text()) if language == "python"]
    assert found
    for body in found:
        compile(body, "documentation", "exec")


def test_the_block_that_reads_results_runs(workshop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (body,) = [
        body
        for language, body in blocks((ROOT / "docs" / "reference" / "results.md").read_text())
        if language == "python"
    ]
    assert cli.run(["bench", "etherbone"]) == 0
    capsys.readouterr()
    exec(compile(body, "results.md", "exec"), {})
    assert " us round trip; " in capsys.readouterr().out
