# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM end any command at once: one line, its exit code, and no process left behind.

Each command is started as a shell starts it, in a session of its own, and is stopped when it works: it has
said how far it is, or a tool that it started runs.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from isthmus import eb

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 0.5
"""From the signal to the end of the process. On a machine with other work the best of `TRIES` counts."""
TRIES = 8
MARK = "ISTHMUS_TEST_STOPPING"
STARTS_S = 300
"""A first start builds models."""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")


@dataclass
class Command:
    """A command that runs, with everything that it starts."""

    arguments: Sequence[str | Path]
    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    program: Sequence[str | Path] = (ROOT / "isthmus",)

    def __post_init__(self) -> None:
        self.mark = uuid.uuid4().hex
        self.err = self.folder / f"{self.mark}.err"
        self.out = self.folder / f"{self.mark}.out"
        with self.err.open("w") as err, self.out.open("w") as out:
            self.process = subprocess.Popen(
                [*map(str, self.program), *map(str, self.arguments)],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(ROOT / "python"), MARK: self.mark, **self.env},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def processes(self) -> dict[int, str]:
        """Those that carry the mark, and their command lines; also those that left the family tree."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
        return found

    def tools(self) -> list[str]:
        return [line for pid, line in self.processes().items() if pid != self.process.pid]

    def left(self) -> list[str]:
        """What is still there a second later: a killed process is listed until the kernel has ended it."""
        until = time.monotonic() + 1.0
        while (found := self.tools()) and time.monotonic() < until:
            time.sleep(0.02)
        return found

    def await_work(self, works: Callable[[Command], bool]) -> None:
        until = time.monotonic() + STARTS_S
        while not works(self):
            text = self.err.read_text() + self.out.read_text()
            assert self.process.poll() is None, f"ended before it was stopped: {text}"
            assert time.monotonic() < until, f"does not work: {text}"
            time.sleep(0.05)

    def stop(self, number: int, group: bool) -> float:
        """Seconds until it has ended."""
        began = time.monotonic()
        if group:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        self.process.wait(20)
        return time.monotonic() - began

    def close(self) -> None:
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()


def progress(title: str) -> Callable[[Command], bool]:
    return lambda command: f"{title}: " in command.err.read_text()


def tool(word: str) -> Callable[[Command], bool]:
    return lambda command: any(word in line for line in command.tools())


def stopped(
    start: Callable[[], Command],
    works: Callable[[Command], bool],
    *,
    number: int = signal.SIGINT,
    code: int = 130,
    last: str = r"isthmus: stopped",
) -> None:
    """Stops the command as a terminal does (the whole group) and as kill does, in turn."""
    took = []
    for attempt in range(TRIES):
        command = start()
        try:
            command.await_work(works)
            took.append(command.stop(number, group=attempt % 2 == 0))
            left = command.left()
        finally:
            command.close()
        text = command.err.read_text()
        assert command.process.returncode == code, text
        assert left == []
        assert "Traceback" not in text
        lines = text.splitlines()
        assert re.fullmatch(last, lines[-1]), text
        assert text.count("isthmus: stopped") == (1 if code > 128 else 0), text
        if attempt > 0 and min(took) <= LIMIT_S:
            return
    pytest.fail(f"took {', '.join(f'{seconds:.2f} s' for seconds in took)}")


RUNS = {
    "compare": (["compare", "-n", "2000"], progress("measure")),
    "bench etherbone": (["bench", "etherbone", "-n", "20000"], progress("measure")),
    "bench switch": (["bench", "switch", "-n", "1000000", "--load", "0.9"], progress("switch")),
    "one scenario of bench rdma": (["bench", "rdma", "write-bw", "-n", "20000"], progress("rdma")),
    "bench rdma exchange": (
        ["bench", "rdma", "exchange", "--hosts", "4", "-n", "2000", "-s", "4096"],
        progress("rdma"),
    ),
    "verify rdma": (["verify", "rdma"], progress("verify rdma")),
    "verify switch": (["verify", "switch"], progress("verify switch")),
    # A proof that no other test runs anew at the same time: both would work in one folder.
    "prove": (["prove", "--fresh", "rdma/rdma_resequencer"], tool("yosys-smtbmc")),
    "area": (["area", "etherbone_slave"], tool("isthmus.figures.yosys")),
    "timing": (["timing", "skid_buffer"], tool("nextpnr")),
    "test": (["test", "-k", "test_that_only_waits"], tool("pytest")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_command_that_works_ends_at_control_c(name: str, tmp_path: Path) -> None:
    arguments, works = RUNS[name]
    stopped(lambda: Command(arguments, tmp_path), works)


@pytest.mark.skipif(MARK not in os.environ, reason="something for the test above to stop")
def test_that_only_waits() -> None:
    time.sleep(60)


@pytest.fixture
def slow_compiler(tmp_path: Path) -> Path:
    """A compiler that works for a minute, in a process of its own."""
    compiler = tmp_path / "slow-g++"
    compiler.write_text(
        '#!/bin/sh\ncase $1 in --version) echo "slow $$"; exit ;; esac\nsleep 60 &\nwait\nexit 1\n'
    )
    compiler.chmod(0o755)
    return compiler


@pytest.mark.slow
@pytest.mark.parametrize(("word", "phase"), [("verilator_bin", "translation"), ("sleep 60", "compilation")])
def test_building_a_model_ends_at_control_c(
    word: str, phase: str, slow_compiler: Path, tmp_path: Path
) -> None:
    del phase
    stopped(
        lambda: Command(["bench", "etherbone"], tmp_path, {"CXX": str(slow_compiler)}),
        tool(word),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["bench", "rdma", "write-bw", "-n", "20000"], ["area", "etherbone_slave"]],
    ids=["run", "tool"],
)
def test_sigterm_ends_a_command_as_control_c_does(arguments: list[str], tmp_path: Path) -> None:
    works = tool("figures.yosys") if arguments[0] == "area" else progress("rdma")
    stopped(lambda: Command(arguments, tmp_path), works, number=signal.SIGTERM, code=143)


@pytest.mark.slow
def test_a_second_control_c_changes_nothing(tmp_path: Path) -> None:
    for pause in (0.0, 0.005, 0.03):
        command = Command(["bench", "rdma", "write-bw", "-n", "20000"], tmp_path)
        try:
            command.await_work(progress("rdma"))
            for _ in range(5):
                os.killpg(command.process.pid, signal.SIGINT)
                time.sleep(pause)
                if command.process.poll() is not None:
                    break
            assert command.process.wait(20) == 130
        finally:
            command.close()
        assert command.err.read_text().splitlines()[-1] == "isthmus: stopped"
        assert "Traceback" not in command.err.read_text()


def test_what_holds_the_main_thread_cannot_hold_the_program(tmp_path: Path) -> None:
    # A call that looks for no signal, and a job that looks for no end.
    program = (
        "import ctypes, sys, threading\n"
        "from isthmus import jobs\n"
        "def hold():\n"
        "    threading.Thread(target=threading.Event().wait).start()\n"
        "    print('holding', file=sys.stderr, flush=True)\n"
        "    sleep = ctypes.CDLL(None).usleep\n"
        "    while True:\n"
        "        try:\n"
        "            sleep(50_000)\n"
        "        except KeyboardInterrupt:\n"
        "            pass\n"
        "jobs.main(hold)\n"
    )
    stopped(
        lambda: Command([], tmp_path, program=[sys.executable, "-c", program]),
        lambda command: "holding" in command.err.read_text(),
    )


@pytest.mark.parametrize("step", ["pip", "cargo"])
def test_the_first_set_up_ends_at_control_c(step: str, tmp_path: Path) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    cargo = bin_ / "cargo"
    cargo.write_text("#!/bin/sh\nsleep 60 &\nwait\n")
    cargo.chmod(0o755)
    checkout = tmp_path / "checkout"
    package = checkout / "python" / "isthmus"
    package.mkdir(parents=True)
    (checkout / "requirements").mkdir()
    for file in (
        "isthmus",
        "python/isthmus/bootstrap.py",
        "python/isthmus/errors.py",
        "python/isthmus/jobs.py",
        "python/isthmus/paths.py",
        "python/isthmus/__init__.py",
    ):
        shutil.copy(ROOT / file, checkout / file)
    (checkout / "Cargo.toml").write_text("")
    (checkout / "Cargo.lock").write_text("")
    (package / "__main__.py").write_text(
        "from isthmus import bootstrap, jobs\njobs.main(lambda: bootstrap.ensure_native() or 0)\n"
    )
    # A registry that takes the connection and never answers.
    silent = socket.create_server(("127.0.0.1", 0))
    lock = "" if step == "cargo" else "nothing==1.0 --hash=sha256:" + "0" * 64 + "\n"
    (checkout / "requirements" / "run.lock").write_text(lock)
    environment = {
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "PIP_INDEX_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "ISTHMUS_PYTHON": sys.executable,
    }
    word = "-m pip install" if step == "pip" else "sleep 60"
    with silent:
        stopped(
            lambda: Command([], tmp_path, environment, program=[checkout / "isthmus"]),
            tool(word),
        )


@contextmanager
def silent_device() -> Iterator[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("127.0.0.1", 0))
        yield f"udp/127.0.0.1/{held.getsockname()[1]}"


def is_asked(command: Command) -> bool:
    """Its socket is open; the rest of the start takes no longer."""
    try:
        fds = [str(fd.readlink()) for fd in Path(f"/proc/{command.process.pid}/fd").iterdir()]
    except OSError:
        return False
    return any(name.startswith("socket:") for name in fds)


def test_reading_a_device_that_never_answers_ends_at_control_c(tmp_path: Path) -> None:
    with silent_device() as name:
        stopped(lambda: Command(["eb", "read", "-r", "600", name, "0/4"], tmp_path), is_asked)


@pytest.mark.parametrize("command", ["get", "put", "perf"])
def test_a_busy_transfer_of_eb_ends_at_control_c(command: str, tmp_path: Path) -> None:
    size = 1 << 28
    block = tmp_path / "block"
    if command == "put":
        block.write_bytes(bytes(size))
    eca = eb.Memory(1 << 30, bytes(256), device=0xB2AFC251)
    with eb.SoftwareSlave([eb.Memory(0, bytes(size)), eca]) as slave:
        arguments = {
            "get": ["get", slave.names[0], f"0/{size:#x}", block],
            "put": ["put", slave.names[0], "0", block],
            "perf": ["perf", slave.names[0], "0", "1000000000"],
        }[command]

        def busy(running: Command) -> bool:
            if not is_asked(running):
                return False
            time.sleep(0.5)
            return True

        stopped(lambda: Command(["eb", *arguments], tmp_path), busy)


@pytest.mark.slow
def test_a_server_ends_at_control_c_with_its_counts_and_exit_code_0(tmp_path: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        stopped(
            lambda: Command(["serve", "etherbone", "--udp", "127.0.0.1:0"], tmp_path),
            lambda command: "etherbone udp" in command.out.read_text(),
            number=number,
            code=0,
            last=r"0 clients, 0 requests, 0 replies, 0 errors, 0 kcycles/s",
        )
