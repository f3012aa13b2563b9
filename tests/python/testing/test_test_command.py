# SPDX-License-Identifier: Apache-2.0
"""`isthmus test`: how it counts, what it prints, when it fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from isthmus import bootstrap, testing
from isthmus.errors import UserError
from isthmus.lint import lint
from isthmus.testing import Count, Options, Stage

CARGO = """\
running 2 tests
test a ... ok
test b ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 41 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 1.00s
"""

JUNIT = """\
<testsuites><testsuite>
<testcase classname="t.a" name="one" time="1.5"/>
<testcase classname="t.a" name="two" time="0.5"><failure message="x">no</failure></testcase>
<testcase classname="t.b" name="three" time="0"><error message="x">no</error></testcase>
<testcase classname="t.b" name="four" time="0"><skipped message="x">no</skipped></testcase>
<testcase classname="t.c" name="five" time="0"><properties><property name="cached" value="true"/></properties>
</testcase>
<testcase classname="t.c" name="six" time="0"><properties><property name="stored" value="true"/></properties>
</testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.setattr(bootstrap, "ensure_development", lambda: None)
    monkeypatch.setattr(bootstrap, "ensure_native", lambda: None)
    monkeypatch.setattr(bootstrap, "missing", list)

    def run(*counts: Count | Exception) -> int:
        def stage(count: Count | Exception) -> Count:
            if isinstance(count, Exception):
                raise count
            return count

        made = [Stage(f"stage {i}", lambda c=count: stage(c)) for i, count in enumerate(counts)]  # type: ignore[misc]
        monkeypatch.setattr(testing, "stages", lambda _: made)
        return testing.run(Options())

    return run


def test_the_last_line_adds_the_counts_of_all_stages(
    stages: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert stages(Count(3), Count(4, skipped=1)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "7 passed, 0 failed, 1 skipped"


def test_what_came_from_the_cache_is_counted_and_said(
    stages: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert stages(Count(3, cached=1), Count(40, cached=38, skipped=1)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "43 passed (39 from the cache), 0 failed, 1 skipped"
    assert stages(Count(3), Count(40, cached=2, stored=5)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "43 passed (2 from the cache, 5 stored), 0 failed"


def test_a_skipped_test_says_its_reason(
    stages: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    stages(Count(1, skipped=3, skips=["needs tshark", "no TAP here", "needs tshark"]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["  2 skipped: needs tshark", "  1 skipped: no TAP here"]


def test_a_missing_tool_is_one_line_with_the_command_that_installs_it(
    stages: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "missing", lambda: ["g++"])
    with pytest.raises(UserError, match=r"^needs g\+\+: apt-get install g\+\+$"):
        stages(Count(1))


def test_a_failed_stage_shows_its_output_and_the_others_still_run(
    stages: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert stages(Count(1), Count(0, 2, output="what is wrong"), Count(5, output="chatter")) == 1
    out = capsys.readouterr().out
    assert "what is wrong" in out
    assert "chatter" not in out
    assert out.splitlines()[-1] == "6 passed, 2 failed"


def test_a_stage_that_cannot_run_is_a_failure(
    stages: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert stages(OSError("no such tool")) == 1
    out = capsys.readouterr().out
    assert "no such tool" in out
    assert out.splitlines()[-1] == "0 passed, 1 failed"


def test_a_run_without_a_single_test_is_a_failure(stages: Callable[..., int]) -> None:
    assert stages(Count()) == 1


def test_the_slowest_are_listed_longest_first(
    stages: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    stages(Count(20, times=[(float(i), f"test {i}") for i in range(20)]))
    listed = [line.split("  ")[-1] for line in capsys.readouterr().out.splitlines() if " s  " in line]
    assert listed == [f"test {i}" for i in range(19, 9, -1)]


def test_cargo_results_are_added_over_all_its_binaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "_run", lambda command: (0, "") if "--doc" in command else (101, CARGO))
    count = testing._cargo_test("cargo")
    assert (count.passed, count.failed, count.skipped) == (42, 1, 2)
    assert "test b ... FAILED" in count.output
    assert "test a ... ok" not in count.output
    monkeypatch.setattr(testing, "_run", lambda _: (101, "error: could not compile"))
    count = testing._cargo_test("cargo")
    assert (count.passed, count.failed) == (0, 1)


@pytest.mark.parametrize(
    ("options", "marks"),
    [
        (Options(), ["-m", "not release"]),
        (Options(fast=True), ["-m", "not slow and not release", "tests/python"]),
        (Options(release=True), []),
    ],
)
def test_long_tests_are_run_only_where_they_are_asked_for(
    options: Options, marks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(testing, "_run", lambda command, _: commands.append(list(command)) or (5, ""))
    testing._pytest(options)
    (command,) = commands
    assert command[command.index("junit_family=xunit1") + 1 :] == marks


def test_a_simulator_that_cannot_be_built_ends_the_run(
    stages: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise bootstrap.SetupError("cargo build failed")

    monkeypatch.setattr(bootstrap, "ensure_native", fails)
    with pytest.raises(bootstrap.SetupError, match="cargo build failed"):
        stages(Count(3))


def test_a_pytest_report_is_counted_and_timed(tmp_path: Path) -> None:
    report = tmp_path / "x.xml"
    report.write_text(JUNIT)
    count = testing._read_junit(report, 1, "text")
    assert (count.passed, count.cached, count.stored, count.failed, count.skipped) == (3, 1, 1, 2, 1)
    assert count.skips == ["x"]
    assert (1.5, "t.a::one") in count.times


def test_a_pytest_that_crashed_is_a_failure(tmp_path: Path) -> None:
    assert testing._read_junit(tmp_path / "missing.xml", 3, "crash").failed == 1
    report = tmp_path / "x.xml"
    report.write_text("<testsuites/>")
    assert testing._read_junit(report, 3, "crash").failed == 1


def test_long_output_keeps_its_end() -> None:
    text = testing._tail("\n".join(map(str, range(100))))
    assert text.splitlines()[0] == "(40 lines before these)"
    assert text.splitlines()[-1] == "99"


def write_core(root: Path, text: str) -> None:
    (root / "x").mkdir()
    (root / "x" / "x.core").write_text('CAPI=2:\nname: "isthmus:x:x"\nfilesets:\n  rtl:\n    files: [x.sv]\n')
    (root / "x" / "x.sv").write_text(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("module x (input logic a_i, output logic b_o);\n  assign b_o = a_i;\nendmodule\n", {}),
        (
            "module x (input logic a_i, output logic b_o);\n  assign b_o = 1'b0;\nendmodule\n",
            {"lint isthmus:x:x x": "UNUSEDSIGNAL"},
        ),
        (
            "module x (input logic a_i, output logic b_o);\n  assign b_o = c;\nendmodule\n",
            {
                "elaborate isthmus:x:x": "x.sv:2: use of undeclared identifier 'c'",
                "lint isthmus:x:x x": "'c'",
            },
        ),
    ],
)
def test_lint_finds_what_is_wrong_and_nothing_else(tmp_path: Path, text: str, found: dict[str, str]) -> None:
    write_core(tmp_path, text)
    findings = {finding.name: finding.text for finding in lint(tmp_path, fresh=True)}
    assert set(findings) == {"elaborate isthmus:x:x", "lint isthmus:x:x x"}
    for name, said in findings.items():
        assert (found[name] in said) if name in found else said == ""


CLEAN = "module x (input logic a_i, output logic b_o);\n  assign b_o = a_i;\nendmodule\n"
UNUSED = "module x (input logic a_i, output logic b_o);\n  assign b_o = 1'b0;\nendmodule\n"


def test_lint_runs_again_only_what_changed_or_was_not_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / "cache"))
    rtl = tmp_path / "rtl"
    rtl.mkdir()

    def cached(*, fresh: bool = False) -> list[tuple[str, bool, bool]]:
        return [(f.name.split()[0], not f.text, f.cached) for f in lint(rtl, fresh=fresh)]

    write_core(rtl, CLEAN)
    assert cached() == [("elaborate", True, False), ("lint", True, False)]
    assert cached() == [("elaborate", True, True), ("lint", True, True)]
    assert cached(fresh=True) == [("elaborate", True, False), ("lint", True, False)]
    (rtl / "x" / "x.sv").write_text(UNUSED)
    assert cached() == [("elaborate", True, False), ("lint", False, False)]
    assert cached() == [("elaborate", True, False), ("lint", False, False)]
    (rtl / "waivers.vlt").write_text('`verilator_config\nlint_off -rule UNUSEDSIGNAL -file "*/x.sv"\n')
    assert cached() == [("elaborate", True, False), ("lint", True, False)]


def test_the_tests_of_a_program_that_failed_are_not_behind_those_of_others() -> None:
    failed = "running 2 tests\ntest b ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored"
    passed = "     Running unittests lib.rs (x)\nrunning 1 test\ntest a ... ok\ntest result: ok. 1 passed"
    text = "\n".join([passed, failed, *[passed] * 40])
    assert testing._failures(text).splitlines() == failed.splitlines()[1:]
    assert testing._failures("a\n\n\n \n\nb\n\nc") == "a\n\nb\n\nc"
