# SPDX-License-Identifier: Apache-2.0
"""Makes what isthmus needs beyond a checkout: the Python environment and the native module.

Standard library only, and usable as a script: the launcher runs it with the machine's own Python before the
environment exists. All generated files are in ``.isthmus/``; a step that is up to date costs one
comparison.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from isthmus import jobs
from isthmus.paths import NATIVE, ROOT, STATE

VENV = STATE / "venv"
REQUIREMENTS = ROOT / "requirements"

INSTALL_TIMEOUT_S = 1800

OFFLINE = (
    "newconnectionerror",
    "name resolution",
    "could not resolve host",
    "network is unreachable",
    "connection refused",
    "connection timed out",
    "read timed out",
    "could not connect to server",
    "failed to establish a new connection",
    "max retries exceeded",
    # Every package here is pinned, so each has a version: none was seen because no registry answered.
    "(from versions: none)",
)


RUSTUP = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
RUST = (1, 89)
"""Oldest Rust that builds the simulator; Cargo.toml says the same."""


@dataclass(frozen=True)
class Requirement:
    """Something of the machine that isthmus cannot fetch, what needs it, and its Debian package.

    An `optional` one is for some tests only, which are skipped without it.
    """

    name: str
    needed_for: str
    package: str = ""
    optional: bool = False


REQUIREMENTS_OF_THE_MACHINE = (
    Requirement("python3-venv", "the Python environment", "python3-venv"),
    Requirement("g++", "models and the simulator", "g++"),
    Requirement("cargo", "the simulator"),
    Requirement("libpython3", "tests of single cores (cocotb)", "libpython3-dev", optional=True),
    Requirement("tshark", "tests of the Wireshark dissector", "tshark", optional=True),
    Requirement("rumur", "tests of the protocols' models", "rumur", optional=True),
)


class SetupError(Exception):
    """A step of the set-up cannot be done; the text is one line and says what would help."""


def ensure_environment() -> None:
    """The virtual environment with the packages that every command needs."""
    with _lock("setup"):
        if _current("run") and _read(VENV / "isthmus-root") == f"{ROOT}\n":
            return
        if sys.prefix != sys.base_prefix and Path(sys.prefix).resolve() == VENV.resolve():
            raise SetupError("cannot rebuild the environment from inside it: start through ./isthmus")
        _make_venv()
        _install("run", "Python packages")


def ensure_development() -> None:
    """The packages that only test, area, timing, prove and regs need."""
    if _current("dev"):
        return
    if Path(sys.prefix).resolve() != VENV.resolve():
        raise SetupError(f"needs the checkout's own environment: start this command as {ROOT / 'isthmus'}")
    with _lock("setup"):
        if not _current("dev"):
            _install("dev", "Python packages for tests and synthesis")


def ensure_native() -> None:
    """`isthmus._native`, built from the crates' present sources."""
    stamp = STATE / "native.sha256"
    key = native_key()
    if NATIVE.is_file() and _read(stamp) == key:
        return
    with _lock("native"):
        if NATIVE.is_file() and _read(stamp) == key:
            return
        with _step("simulator (Rust, release)", "native.log") as log:
            _cargo_build(log)
            made = _target_directory() / "release" / f"libisthmus_py.{_library_suffix()}"
            if not made.is_file():
                raise SetupError(f"cargo made no {made.name} (output: {_shown(log)})")
            partial = NATIVE.with_suffix(f".{os.getpid()}")
            shutil.copyfile(made, partial)
            partial.replace(NATIVE)
            stamp.write_text(key)


def native_key() -> str:
    """A hash over everything that cargo reads."""
    files = [ROOT / "Cargo.toml", ROOT / "Cargo.lock", *sorted((ROOT / "crates").rglob("*"))]
    total = hashlib.sha256(f"{sys.platform} {os.environ.get('RUSTFLAGS', '')}".encode())
    for file in files:
        if file.is_file() and "target" not in file.relative_to(ROOT).parts:
            total.update(f"{file.relative_to(ROOT)}:{file.stat().st_size}:".encode())
            total.update(file.read_bytes())
    return total.hexdigest()


def find(tool: str) -> str | None:
    """A program in the path, or where rustup puts its own."""
    return shutil.which(tool) or shutil.which(tool, path=str(Path.home() / ".cargo" / "bin"))


def find_cargo() -> str:
    """Raises `SetupError` where there is no cargo."""
    found = find("cargo")
    if found is None:
        raise SetupError(f"needs cargo, Rust's build tool: {install_command(['cargo'])}")
    return found


def describe(name: str) -> str | None:
    """The version of the requirement `name` on this machine; None if it is missing or too old."""
    if name == "python3-venv":
        return "found" if _has_venv() else None
    if name == "libpython3":
        return _libpython()
    program = find(name)
    if program is None:
        return None
    version = _first_line([program, "--version"])
    if name == "cargo" and _rust_version(version) < RUST:
        return None
    return version


def missing() -> list[str]:
    """Names of the requirements, without the optional ones, that this machine lacks."""
    return [
        need.name for need in REQUIREMENTS_OF_THE_MACHINE if not need.optional and describe(need.name) is None
    ]


def install_command(names: Sequence[str]) -> str:
    """One command line that installs the requirements `names` on this machine."""
    packages = {need.name: need.package for need in REQUIREMENTS_OF_THE_MACHINE}
    wanted = sorted(packages[name] for name in names if packages[name])
    parts = []
    if "cargo" in names:
        if shutil.which("rustup"):
            parts.append("rustup toolchain install stable && rustup default stable")
        else:
            if shutil.which("curl") is None:
                wanted = sorted([*wanted, "curl"])
            parts.append(RUSTUP)
    if wanted:
        parts.insert(0, f"apt-get install {' '.join(wanted)}")
    return " && ".join(parts)


def _has_venv() -> bool:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def _libpython() -> str | None:
    """Python's shared library, which the simulator of a unit bench loads."""
    import ctypes
    import sysconfig

    name = f"libpython{sys.version_info.major}.{sys.version_info.minor}.so.1.0"
    for path in (Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib") / name, Path(name)):
        try:
            ctypes.CDLL(str(path))
        except OSError:
            continue
        return str(path)
    return None


def _rust_version(text: str) -> tuple[int, int]:
    """The version in a line such as ``cargo 1.95.0 (...)``; the newest if it has none."""
    numbers = text.removeprefix("cargo ").split(".")
    try:
        return int(numbers[0]), int(numbers[1])
    except (IndexError, ValueError):
        return 999, 0


def _first_line(command: Sequence[str]) -> str:
    try:
        done = jobs.run_tool(command, cwd=ROOT, timeout_s=60)
    except (OSError, jobs.ToolTimeoutError):
        return ""
    return done.output.partition("\n")[0]


def _make_venv() -> None:
    if not _has_venv():
        # All that is missing at once, so that one command is enough.
        lacking = missing()
        raise SetupError(f"needs {', '.join(lacking)}: {install_command(lacking)}")
    with _step(f"Python environment ({sys.version.split()[0]})", "venv.log") as log:
        shutil.rmtree(VENV, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(VENV)], log)
        (VENV / "isthmus-root").write_text(f"{ROOT}\n")


def _install(name: str, title: str) -> None:
    lock = REQUIREMENTS / f"{name}.lock"
    count = sum(not line.startswith((" ", "#", "\n")) for line in lock.read_text().splitlines(keepends=True))
    with _step(f"{title} ({count})", f"pip-{name}.log") as log:
        command = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--require-hashes", "--no-deps"]
        command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
        _run([*command, "-r", str(lock)], log)
        shutil.copyfile(lock, VENV / f"isthmus-{name}.lock")


def _cargo_build(log: Path) -> None:
    cargo = find_cargo()
    own = VENV / "bin" / "python"
    environment = {"PYO3_PYTHON": str(own if own.exists() else sys.executable)}
    command = [cargo, "build", "--release", "--locked", "--package", "isthmus-py", "--color", "never"]
    _run(command, log, environment)


def _target_directory() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def _library_suffix() -> str:
    return "dylib" if sys.platform == "darwin" else "so"


def _current(name: str) -> bool:
    wanted = _read(REQUIREMENTS / f"{name}.lock")
    return wanted is not None and _read(VENV / f"isthmus-{name}.lock") == wanted


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def _run(command: Sequence[str], log: Path, environment: dict[str, str] | None = None) -> None:
    """Run to the end with the output in `log`. Raises `SetupError` with the one line that matters."""
    try:
        code = jobs.run_tool(command, cwd=ROOT, env=environment, timeout_s=INSTALL_TIMEOUT_S, log=log).code
    except jobs.ToolTimeoutError as err:
        raise SetupError(f"not done after {INSTALL_TIMEOUT_S} s (output: {_shown(log)})") from err
    except OSError as err:
        raise SetupError(f"{command[0]}: {err.strerror}") from err
    if code != 0:
        raise SetupError(f"{relevant(log.read_text(errors='replace'))} (output: {_shown(log)})")


def relevant(text: str) -> str:
    """The one line of a failed installer's or compiler's output that says why."""
    lowered = text.lower()
    if any(sign in lowered for sign in OFFLINE):
        return "cannot reach the package registry, which this first set-up needs"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for i, line in enumerate(lines):
        if line.lower().startswith("error"):
            place = next((after for after in lines[i + 1 : i + 3] if after.startswith("-->")), "")
            return f"{line} {place}".rstrip()
    return lines[-1] if lines else "failed with no output"


@contextmanager
def _step(title: str, log_name: str) -> Iterator[Path]:
    """Say what runs and how long it took; the step writes its output to the log."""
    log = STATE / "log" / log_name
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    live = sys.stderr.isatty()
    _say(f"isthmus: {title} ...", end="" if live else "\n")
    try:
        yield log
    except BaseException:
        if live:
            _say("")
        raise
    took = f"{time.monotonic() - started:.1f} s"
    _say(f" {took}" if live else f"isthmus: {title}: {took}")


def _say(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@contextmanager
def _lock(name: str) -> Iterator[None]:
    """One process at a time; a dead one's lock is free."""
    STATE.mkdir(exist_ok=True)
    with (STATE / f"{name}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("isthmus: another start is setting up; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Set up, then become the command itself: a signal to this process reaches the running command."""
    try:
        ensure_environment()
    except SetupError as err:
        _say(f"isthmus: {err}")
        return 2
    return _become(sys.argv[1:])


def _become(arguments: Sequence[str]) -> NoReturn:
    """The launcher's last lines."""
    os.environ.pop("PYTHONHOME", None)
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    python = str(VENV / "bin" / "python")
    os.execv(python, [python, "-P", "-m", "isthmus", *arguments])


if __name__ == "__main__":
    jobs.main(main)
