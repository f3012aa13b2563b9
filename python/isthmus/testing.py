# SPDX-License-Identifier: Apache-2.0
"""`isthmus test`: every check of the project in one command, with a count that adds them all up.

A stage runs to its end even where an earlier one failed. Unit benches, proofs and lints that passed with the
same inputs before are taken from the user's cache and counted as passed, and long proofs from those that the
repository stores. The last line is ``N passed (N from the cache, N stored), N failed, N skipped``; zeros are
omitted, except for passed and failed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isthmus import bootstrap, jobs
from isthmus.errors import UserError
from isthmus.paths import ROOT, RTL, STATE

TIMEOUT_S = 3600
SHOWN_LINES = 60
SLOWEST = 10
WORKERS = (os.cpu_count() or 1) + 1
"""Processes of pytest: one more than processors, since some tests wait."""
FRESH = "ISTHMUS_FRESH"
"""Not empty: the tests take no result from the cache, and no stored one."""
ALL = "ISTHMUS_ALL"
"""Not empty: the tests take no stored result; one from the cache they do."""

_CARGO_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
_CARGO_PASSED = re.compile(
    r"test result: ok\..*|running \d+ tests?|all doctests ran in .*"
    r"| +(Running|Doc-tests|Finished|Compiling) .*"
)


@dataclass(frozen=True)
class Options:
    """What to leave out: `fast` all that simulates RTL, `keyword` all but matching Python tests.

    `fresh`: run unit benches, proofs and deterministic tests although the cache says that they passed.
    `release`: run the long tests marked `release` as well, and the long proofs that are stored as proved.
    """

    fast: bool = False
    keyword: str = ""
    fresh: bool = False
    release: bool = False


@dataclass
class Count:
    """Checks of one stage, and the output of failed ones. `cached` of the `passed` came from the cache, and
    `stored` of them are long proofs that the repository says were proved from the same inputs.

    `skips` has the reason of each skipped test that gives one.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    cached: int = 0
    stored: int = 0
    skips: list[str] = field(default_factory=list)
    output: str = ""
    times: list[tuple[float, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Stage:
    """`simulates`: it needs the built simulator."""

    name: str
    run: Callable[[], Count]
    simulates: bool = False


def run(options: Options) -> int:
    """Run the stages and print the counts. 0 where nothing failed and something passed."""
    _check_tools()
    bootstrap.ensure_development()
    total = Count()
    # The simulator is built while the linters run: neither keeps two cores busy.
    with jobs.pool(1) as beside:
        simulator = beside.submit(_simulator)
        for stage in stages(options):
            if stage.simulates:
                simulator.result()
            _show(stage, total)
        simulator.result()
    print(f"\nslowest {SLOWEST}:")
    for seconds, name in sorted(total.times, reverse=True)[:SLOWEST]:
        print(f"  {seconds:7.1f} s  {name}")
    print()
    print(_counted(total))
    return 1 if total.failed or not total.passed else 0


def _simulator() -> None:
    if (ROOT / "crates" / "isthmus-py").is_dir():
        bootstrap.ensure_native()


def _show(stage: Stage, total: Count) -> None:
    """Run a stage, print its count, add it to the total."""
    started = time.monotonic()
    # A terminal shows what runs; a log gets one line a stage.
    print(f"{stage.name} ...", end="\r" if sys.stdout.isatty() else " ", flush=True)
    try:
        count = stage.run()
    except (OSError, subprocess.SubprocessError, UserError) as err:
        count = Count(failed=1, output=str(err))
    took = time.monotonic() - started
    label = f"{stage.name} ... " if sys.stdout.isatty() else ""
    print(f"{label}{_counted(count)} in {took:.1f} s", flush=True)
    for reason, times in Counter(count.skips).items():
        print(f"  {times} skipped: {reason}", flush=True)
    if count.failed:
        print(count.output.rstrip(), flush=True)
    total.passed += count.passed
    total.failed += count.failed
    total.skipped += count.skipped
    total.cached += count.cached
    total.stored += count.stored
    total.times += count.times or [(took, stage.name)]


def stages(options: Options) -> list[Stage]:
    """All stages of a run, in order."""
    if options.keyword:
        return [Stage("pytest", lambda: _pytest(options), simulates=True)]
    python = [name for name in ("python", "tests", "benchmarks") if any((ROOT / name).rglob("*.py"))]
    rtl = sorted(file for file in RTL.rglob("*.sv") if "gen" not in file.parts)
    rtl += sorted((ROOT / "boards").rglob("*.sv"))
    cargo = bootstrap.find_cargo()
    return [
        _command("ruff check", ["ruff", "check", "--quiet", *python]),
        _command("ruff format", ["ruff", "format", "--quiet", "--check", *python]),
        _command("mypy --strict", [sys.executable, "-m", "mypy"]),
        _command(
            "verible lint", ["verible-verilog-lint", f"--rules_config={ROOT / '.rules.verible_lint'}", *rtl]
        ),
        Stage("slang and verilator -Wall", lambda: _lint(fresh=options.fresh)),
        _command("cargo fmt", [cargo, "fmt", "--all", "--check", "--", "--color", "never"]),
        _command(
            "cargo clippy",
            [cargo, "clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
        ),
        Stage("cargo test", lambda: _cargo_test(cargo)),
        Stage("pytest", lambda: _pytest(options), simulates=True),
    ]


def _check_tools() -> None:
    missing = bootstrap.missing()
    if missing:
        raise UserError(f"needs {', '.join(missing)}: {bootstrap.install_command(missing)}")


def _command(name: str, command: Sequence[str | Path]) -> Stage:
    def run_it() -> Count:
        code, text = _run(command)
        return Count(passed=int(code == 0), failed=int(code != 0), output=_tail(text))

    return Stage(name, run_it)


def _lint(*, fresh: bool) -> Count:
    from isthmus.lint import lint

    findings = lint(fresh=fresh)
    bad = [finding for finding in findings if finding.text]
    text = "\n".join(f"{finding.name}:\n{finding.text}" for finding in bad)
    return Count(
        passed=len(findings) - len(bad),
        failed=len(bad),
        cached=sum(finding.cached for finding in findings),
        output=_tail(text),
    )


def _cargo_test(cargo: str) -> Count:
    common = [cargo, "test", "--locked", "--workspace", "--no-fail-fast", "--color", "never"]
    # Without --tests the examples would be built as programs and, for their tests, once more.
    runs = [_run([*common, "--tests"]), _run([*common, "--doc"])]
    text = "".join(shown for _, shown in runs)
    count = Count(output=_tail(_failures(text)))
    for passed, failed, ignored in _CARGO_RESULT.findall(text):
        count.passed += int(passed)
        count.failed += int(failed)
        count.skipped += int(ignored)
    if count.failed == 0 and any(code != 0 for code, _ in runs):
        count.failed = 1
    return count


def _failures(text: str) -> str:
    """Drop the lines of tests that passed, of programs whose tests all did, and empty ones between them."""
    lines = (line for line in text.splitlines() if not line.endswith("... ok") and " PASSED " not in line)
    text = "\n".join(line for line in lines if not _CARGO_PASSED.fullmatch(line))
    return re.sub(r"\n(\s*\n){2,}", "\n\n", text)


def _pytest(options: Options) -> Count:
    report = STATE / "log" / "pytest.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "--color=no",
        f"--numprocesses={WORKERS}",
        "--dist=loadscope",
    ]
    command += [f"--junitxml={report}", "-o", "junit_family=xunit1"]
    if options.keyword:
        command += ["-k", options.keyword]
    left_out = [name for name, out in (("slow", options.fast), ("release", not options.release)) if out]
    if left_out:
        command += ["-m", " and ".join(f"not {name}" for name in left_out)]
    if options.fast:
        command += ["tests/python"]
    code, text = _run(command, {FRESH: "1" if options.fresh else "", ALL: "1" if options.release else ""})
    return _read_junit(report, code, text)


def _read_junit(report: Path, code: int, text: str) -> Count:
    count = Count(output=_tail(_failures(text)))
    if not report.is_file():
        count.failed = 1
        return count
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        count.times.append((float(case.get("time", "0")), name))
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
        elif (skipped := case.find("skipped")) is not None:
            count.skipped += 1
            count.skips.append(skipped.get("message", "no reason given"))
        else:
            count.passed += 1
            known = {item.get("name") for item in case.iter("property")}
            count.cached += "cached" in known
            count.stored += "stored" in known
    if code not in (0, 5) and count.failed == 0:
        count.failed = 1
    return count


def _run(command: Sequence[str | Path], variables: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and output. On a terminal the newest line is shown while the command runs."""
    if shutil.which(str(command[0])) is None:
        raise UserError(f"{command[0]}: not found")
    environment = {"PYTHONPATH": str(ROOT / "python"), "CARGO_TERM_COLOR": "never"}
    environment |= variables or {}
    lines: list[str] = []
    live = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns - 4
    started = jobs.tool(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        with started as process:
            limit = threading.Timer(TIMEOUT_S, os.killpg, (process.pid, signal.SIGKILL))
            limit.start()
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    lines.append(line)
                    if live and line.strip():
                        # Below the stage's own line, and back to it.
                        print(f"\n\x1b[2K  {line.strip()[:width]}\x1b[1A", end="\r", flush=True)
                code = process.wait()
            finally:
                limit.cancel()
    finally:
        if live:
            print("\x1b[0J", end="", flush=True)
    if code == -signal.SIGKILL:
        lines.append(f"{Path(command[0]).name}: killed, or not done after {TIMEOUT_S} s\n")
    return code, "".join(lines)


def _tail(text: str) -> str:
    lines = text.rstrip().splitlines()
    if len(lines) <= SHOWN_LINES:
        return "\n".join(lines)
    return "\n".join([f"({len(lines) - SHOWN_LINES} lines before these)", *lines[-SHOWN_LINES:]])


def _counted(count: Count) -> str:
    known = [f"{count.cached} from the cache"] * bool(count.cached)
    known += [f"{count.stored} stored"] * bool(count.stored)
    passed = f"{count.passed} passed" + f" ({', '.join(known)})" * bool(known)
    text = f"{passed}, {count.failed} failed"
    return f"{text}, {count.skipped} skipped" if count.skipped else text
