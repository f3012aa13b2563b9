# SPDX-License-Identifier: Apache-2.0
"""Whatever is given to whatever option: one line that says what is wrong, and never a traceback.

Commands, arguments and options are taken from the command line itself, so a new option is tried as well. What
takes long or changes the machine is replaced by a stand-in that says that it was reached.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import typer
from isthmus import bootstrap, cli, options
from isthmus.bench import output
from isthmus.errors import DataError, UserError, choose
from isthmus.figures import area, timing
from isthmus.roads.etherbone import bench as etherbone
from isthmus.roads.etherbone import cli as etherbone_cli
from isthmus.roads.etherbone import scenario, serve
from isthmus.roads.rdma import bench as rdma
from isthmus.roads.rdma import cli as rdma_cli
from isthmus.roads.switch import bench as switch
from isthmus.roads.switch import cli as switch_cli

ROOT = Path(__file__).resolve().parents[3]
REACHED = "this is where the work would begin"
LIMIT_S = 20
MEMORY_BYTES = 4 << 30

GOOD: dict[tuple[str, ...], Sequence[str]] = {
    ("compare",): (),
    ("verify",): ("etherbone",),
    ("report",): (),
    ("prove",): (),
    ("area",): (),
    ("timing",): (),
    ("image",): ("ecpix5",),
    ("test",): (),
    ("regs",): (),
    ("files",): ("gige_udp",),
    ("clean",): (),
    ("diff",): ("given.txt", "given.txt"),
    ("platforms",): (),
    ("doctor",): (),
    ("bench", "etherbone"): (),
    ("bench", "gige"): (),
    ("bench", "pcie"): (),
    ("bench", "usb"): (),
    ("bench", "vme"): (),
    ("bench", "switch"): (),
    ("bench", "rdma"): ("write-lat",),
    ("bench", "eci"): (),
    ("bench", "ccix"): (),
    ("bench", "ccix-contention"): (),
    ("bench", "ccix-translation"): (),
    ("bench", "lock-table"): (),
    ("bench", "nanet"): (),
    ("bench", "torus"): (),
    ("bench", "apenet"): (),
    ("bench", "trigger"): (),
    ("bench", "trigger-chain"): (),
    ("trigger", "events"): ("--out", "file"),
    ("trigger", "find"): ("given.txt",),
    ("trigger", "serve"): (),
    ("trigger", "gpu"): ("given.txt",),
    ("trigger", "times"): ("--out", "file"),
    ("serve", "etherbone"): (),
    ("serve", "nanet"): ("--pcap", "given.txt"),
    ("eb", "read"): ("udp/127.0.0.1/9", "0x100/4"),
    ("eb", "write"): ("udp/127.0.0.1/9", "0x100/4", "1"),
    ("eb", "get"): ("udp/127.0.0.1/9", "0x100/4", "file"),
    ("eb", "put"): ("udp/127.0.0.1/9", "0x100", "given.txt"),
    ("eb", "ls"): ("udp/127.0.0.1/9",),
    ("eb", "find"): ("udp/127.0.0.1/9", "1", "2"),
    ("eb", "discover"): (),
    ("eb", "snoop"): ("0",),
    ("eb", "perf"): ("udp/127.0.0.1/9",),
}
"""Each command with arguments that are right."""

TEXTS = (
    "", " ", "0", "-1", "1", "7", "1e30", "-1e30", "nan", "inf", "9" * 25, "9" * 5000, "0x",
    "1..100000000000",
    "0.1:1e400", "8:99999999999999999999999", "1:2:3", ",", ":", "/", "a,b", "all,all", "none", "hotspot:nan",
    "trace:", "trace:binary", "trace:/dev/full", "trace:/", "\udcff\udcfe", "\x1b[31m", "é☃", "%s{}",
    "x" * 300,
    "udp/", "udp/\udcff/1", "0x100/0", "0x100/1e9", "127.0.0.1:99999999999",
)  # fmt: skip
PATHS = (
    "given.txt", "binary", "folder", "folder/", "missing/deep/file", "given.txt/below", "/dev/full",
    "/dev/zero",
    "/proc/nothing/x", "/sys/nothing", "/", ".", "x.csv", "x.json", "folder.json",
)  # fmt: skip


STAND_INS = (
    "isthmus.native.run_scenario", "isthmus.native.serve", "isthmus.testing.run", "isthmus.doctor.run",
    "isthmus.cache.clean", "isthmus.formal.prove", "isthmus.formal.store", "isthmus.figures.area.measure_all",
    "isthmus.figures.timing.measure_all", "isthmus.figures.image.build",
    "isthmus.regs.check", "isthmus.regs.generate",
    "isthmus.eb.tools.Device", "isthmus.eb.tools.discover", "isthmus.eb.tools.SoftwareSlave",
    "isthmus.eb.watch.Watch", "isthmus.trigger.native.events", "isthmus.trigger.native.find",
    "isthmus.trigger.native.bench", "isthmus.trigger.native.times", "isthmus.trigger.native.serve",
    "isthmus.trigger.gpu.measure",
)  # fmt: skip
"""What takes long, changes the machine or needs a device."""


def tree() -> dict[tuple[str, ...], Any]:
    """Every command by its name."""
    found: dict[tuple[str, ...], Any] = {}

    def walk(command: Any, path: tuple[str, ...]) -> None:
        if not hasattr(command, "list_commands"):
            found[path] = command
            return
        for name in command.list_commands(None):
            walk(command.get_command(None, name), (*path, name))

    walk(typer.main.get_command(cli.app), ())
    return found


COMMANDS = tree()


def trials() -> Iterator[tuple[tuple[str, ...], str, list[list[str]]]]:
    """Each argument and option of each command, with the argument lists to try."""
    tried = set()
    for path, command in COMMANDS.items():
        good = list(GOOD.get(path, ()))
        place = 0
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                values = [[*good[:place], "--", value, *good[place + 1 :]] for value in (*TEXTS, *PATHS)]
                place += 1
                yield path, parameter.name, values
            elif getattr(parameter, "is_flag", False):
                if "--help" not in parameter.opts:
                    yield path, parameter.opts[0], [[parameter.opts[0], *good]]
            else:
                option = parameter.opts[0]
                # Those of a link are the same in every tool of Etherbone.
                same = (path[0], option, parameter.help) if path[0] == "eb" else (path, option)
                if same in tried:
                    continue
                tried.add(same)
                values = (*TEXTS, *PATHS) if parameter.metavar in ("FILE", "DIR") else TEXTS
                yield path, option, [[option, value, *good] for value in values]


class ReachedError(UserError):
    """A stand-in was called."""


def reached(*_: Any, **__: Any) -> Any:
    raise ReachedError(REACHED)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder with a few files, stand-ins for what takes long, and a bound on memory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given.txt").write_text("some text\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.json").mkdir()
    for name in ("ensure_native", "ensure_development"):
        monkeypatch.setattr(bootstrap, name, lambda: None)
    monkeypatch.setattr("isthmus.current.ensure_native", lambda: None)
    for name in STAND_INS:
        monkeypatch.setattr(name, reached)
    monkeypatch.setattr("isthmus.bench.runner.run_all", reached)
    monkeypatch.setattr("isthmus.bench.runner.place", lambda _: Path("model.so"))
    monkeypatch.setattr("isthmus.bench.runner.build", lambda wanted: [Path("model.so")] * len(wanted))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))
    yield tmp_path
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    def late(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"not done within {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def judge(arguments: list[str], code: int, err: str) -> str | None:
    """What is wrong with the end of a run; None where nothing is."""
    shown = [
        line for line in err.splitlines() if not line.startswith(("measure", "warning", "switch", "rdma"))
    ]
    if "internal error" in err or "Traceback" in err or "not done within" in err:
        return f"{arguments}: {err}"
    if code == 0:
        return f"{arguments}: {err}" if shown else None
    if len(shown) != 1 or not shown[0].startswith("isthmus: ") or len(shown[0]) > 5400:
        return f"{arguments}: exit code {code} with {len(shown)} lines: {err[:500]!r}"
    return None


def test_every_command_has_arguments_to_be_tried_with() -> None:
    assert set(GOOD) == set(COMMANDS), "a new command needs an entry in GOOD, and stand-ins for its work"


@pytest.mark.parametrize(
    ("path", "name", "lists"),
    [pytest.param(*trial, id=" ".join((*trial[0], trial[1]))) for trial in trials()],
)
def test_no_value_of_any_option_ends_in_a_traceback(
    path: tuple[str, ...],
    name: str,
    lists: list[list[str]],
    workshop: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    del name
    before = set(workshop.iterdir())
    wrong = []
    for given in lists:
        code = cli.run([*path, *given])
        captured = capsys.readouterr()
        wrong.append(judge([*path, *given], code, captured.err))
    assert [one for one in wrong if one] == []
    assert (workshop / "given.txt").read_text() == "some text\n"
    assert before <= set(workshop.iterdir())


@pytest.mark.parametrize(
    "command", [["compare"], ["bench", "etherbone"], ["bench", "switch"], ["bench", "rdma", "write-lat"]]
)
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--out", "given.txt"], "given.txt: is a file; expected a folder"),
        (["--out", "given.txt/below"], "Not a directory"),
        (["--out", "/proc/nothing"], "/proc/nothing"),
        (["--out", "/sys/nothing"], "/sys/nothing"),
        (["--seed", "99999999999999999999999"], "9007199254740991"),
        (["--seed", "-1"], "--seed"),
        (["-n", "0"], ""),
        (["-n", "1e30"], ""),
    ],
)
def test_what_can_be_known_before_measuring_is_said_before_measuring(
    command: list[str], given: list[str], says: str, workshop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*command, *given]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert REACHED not in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["x.csv", "x.html", "x", "folder.json"])
@pytest.mark.parametrize("command", [["etherbone"], ["switch"], ["rdma", "write-lat"]])
def test_a_result_is_never_written_over_its_own_table(
    command: list[str], name: str, workshop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["bench", *command, "--out-json", name]) == 2
    assert REACHED not in capsys.readouterr().err


def test_the_lists_in_help_are_those_of_the_commands() -> None:
    assert (*scenario.METHODS, "all") == etherbone_cli.METHODS
    assert (*etherbone.PROFILES, "all") == options.PROFILES
    assert output.FORMATS == options.FORMATS
    assert ("none", *etherbone._TRACES) == etherbone_cli.TRACES
    assert tuple(str(count) for count in switch.PORTS) == switch_cli.PORTS
    assert switch.ARRIVALS == switch_cli.ARRIVALS
    assert rdma.POSTINGS == rdma_cli.POSTINGS
    assert (*area.FAMILIES, "all") == cli.FAMILIES
    assert tuple(timing.DEVICES) == cli.DEVICES
    assert tuple(serve.PORTS) == etherbone_cli.DIALECTS


def test_an_unknown_name_comes_with_the_nearest_one_and_a_short_list() -> None:
    many = [f"core_{number}" for number in range(46)]
    for value, known, says in (
        ("gige-dircet", ("gige-direct", "usb"), "did you mean 'gige-direct'? choose from gige-direct, usb"),
        ("zzz", ("a", "b"), "unknown x 'zzz'; choose from a, b"),
        ("Core_7", many, "did you mean 'core_7'? 46 are known"),
        ("zzz", many, "46 are known: core_0, "),
        ("y" * 5000, ("a", "b"), "..."),
    ):
        with pytest.raises(UserError) as error:
            choose("x", value, known)
        assert says in str(error.value)
        assert len(str(error.value)) < 250
    assert choose("x", "b", ("a", "b")) == "b"


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (OSError(28, "No space left on device", "out/x"), 1, "isthmus: out/x: No space left on device\n"),
        (MemoryError(), 1, "isthmus: out of memory; ask for less at a time\n"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 1, "isthmus: 'utf-8' codec can't"),
    ],
)
def test_errors_of_the_system_are_one_line(
    error: Exception,
    code: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr("isthmus.testing.run", fail)
    assert cli.run(["test"]) == code
    err = capsys.readouterr().err
    assert err.startswith(says)
    assert err.count("\n") == 1


def test_an_internal_error_is_one_line_and_its_traceback_is_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        return 1 // 0

    monkeypatch.setattr("isthmus.testing.run", fail)
    monkeypatch.setattr("isthmus.paths.STATE", tmp_path)
    assert cli.run(["test"]) == 1
    log = tmp_path / "log" / "isthmus-error.log"
    err = capsys.readouterr().err
    assert err == (
        "isthmus: internal error (ZeroDivisionError: integer division or modulo by zero); please report it, "
        f"with {log}\n"
    )
    assert "return 1 // 0" in log.read_text()


def isthmus(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "isthmus", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


@pytest.mark.parametrize("arguments", ["--help", "--version", "bench --help"])
def test_output_that_cannot_be_written_is_one_line(arguments: str) -> None:
    command = f"{sys.executable} -m isthmus {arguments} > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "isthmus: standard output: No space left on device\n")


def test_a_name_that_is_no_text_is_shown_escaped(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"isthmus", b"report", b"\xff\xfe\x1b.json"],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("isthmus: \\udcff\\udcfe\\x1b.json: No such file or directory")


def small(pre: Callable[[], None] | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
    """The quickest measurement there is: the switch's ideal model."""
    arguments = ["bench", "switch", "--engine", "ideal", "--load", "0.5", "-n", "100"]
    return isthmus(*arguments, preexec_fn=pre, **more)


def test_a_result_that_the_disk_refuses_leaves_the_old_one_and_is_kept_elsewhere(tmp_path: Path) -> None:
    bootstrap.ensure_native()
    first = small(cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    old = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert sorted(old) == ["switch.csv", "switch.html", "switch.json"]

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    done = small(full, cwd=tmp_path)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("isthmus: ")]
    assert "out/switch." in line
    assert "File too large" in line
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == old


def test_what_cannot_be_written_to_its_place_is_kept_in_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from isthmus import storage

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.csv").mkdir()
    with pytest.raises(DataError) as error:
        storage.keep({tmp_path / "out" / "a.json": "{}", tmp_path / "out" / "b.csv": "x"})
    text, _, folder = str(error.value).rpartition("; the result is kept in ")
    assert text == f"{tmp_path}/out/b.csv: is a folder; expected a file or a new name"
    assert {path.name: path.read_text() for path in Path(folder).iterdir()} == {"a.json": "{}", "b.csv": "x"}
    assert not (tmp_path / "out" / "a.json").exists(), "all of them, or none"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.csv"], "no temporary file stays"


def test_a_link_to_a_result_stays_a_link(tmp_path: Path) -> None:
    from isthmus import storage

    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    storage.store(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"
    storage.store(tmp_path / "deep" / "er.json", b"\xff")
    assert (tmp_path / "deep" / "er.json").read_bytes() == b"\xff"
