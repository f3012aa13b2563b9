# SPDX-License-Identifier: Apache-2.0
"""The user's cache: models, bench programs, and records of passed checks, each under a hash of its inputs.

Layout, below `root()`:

======== =============================================================
build/   compiled entries: ``<kind>/<name>-<key>``, a file or a folder
passed/  one small file a check that passed: ``<kind>/<name>-<key>``
locks/   one file an entry that is being made; removed with the lock
work/    folders of builds that run now; those of killed ones are removed
======== =============================================================

An entry is made in a folder below ``work/`` and renamed into place, so that no reader sees half of one.
Several processes may share the cache. It holds at most `limit_bytes()`: the entries unused for longest are
evicted first.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from isthmus.errors import UserError

LIMIT_GB = 4.0
"""Default size, in units of 10^9 bytes; ISTHMUS_CACHE_GB sets another."""

IN_USE_S = 3600.0
"""An entry used within this time is not evicted: a running command may be about to load it."""


def root() -> Path:
    """ISTHMUS_CACHE, or ``isthmus`` below XDG_CACHE_HOME or ~/.cache."""
    if named := os.environ.get("ISTHMUS_CACHE"):
        return Path(named).absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification: a relative path is invalid and ignored.
    return (base if base.is_absolute() else Path.home() / ".cache") / "isthmus"


def limit_bytes() -> int:
    """Raises `UserError` if ISTHMUS_CACHE_GB is not a positive number."""
    text = os.environ.get("ISTHMUS_CACHE_GB", "")
    try:
        gigabytes = float(text) if text else LIMIT_GB
    except ValueError:
        gigabytes = 0.0
    if not 0.0 < gigabytes < 1e6:
        raise UserError(f"ISTHMUS_CACHE_GB is {text!r}, expected a size in GB, for example 4")
    return int(gigabytes * 1e9)


def _folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise UserError(f"{path}: {err.strerror}: set ISTHMUS_CACHE to a folder that can be written") from err


def digest(parts: Iterable[str | bytes | Path]) -> str:
    """SHA-256 over strings and over the content of files, each with its length."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            content = part.read_bytes()
        else:
            content = part.encode() if isinstance(part, str) else part
        total.update(f"{len(content)}:".encode())
        total.update(content)
    return total.hexdigest()


_STRING_OR_COMMENT = re.compile(rb'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_FOR_A_TOOL = re.compile(rb"verilator|yosys|synopsys|synthesis|pragma")


def code(file: Path) -> bytes:
    """The SystemVerilog of `file` without its comments, for a key: another wording builds and proves nothing
    again. Comments that a tool obeys stay, and so does the number of each line, which messages name."""

    def kept(found: re.Match[bytes]) -> bytes:
        text = found.group()
        if text.startswith(b'"') or _FOR_A_TOOL.search(text):
            return text
        return b"\n" * text.count(b"\n") or b" "

    lines = _STRING_OR_COMMENT.sub(kept, file.read_bytes()).split(b"\n")
    return b"\n".join(line.rstrip() for line in lines)


def entry(kind: str, name: str) -> Path:
    """The path of the compiled entry `name` of `kind`, existing or not."""
    return root() / "build" / kind / name


def used(path: Path) -> bool:
    """True if the entry exists; it counts as used now."""
    try:
        os.utime(path)
    except OSError:
        return False
    return True


@contextmanager
def making(path: Path) -> Iterator[Path | None]:
    """Make the entry `path` alone: yields a work folder, or None if the entry exists.

    Another process that makes the same entry is waited for. The caller ends with `publish`; the work folder
    is removed in any case.
    """
    with locked(path.name):
        if used(path):
            yield None
            return
        with workspace(path.name) as work:
            yield work


def publish(made: Path, path: Path) -> None:
    """Rename `made`, a file or folder in a work folder, to the entry `path`; evict entries above the
    limit."""
    _folder(path.parent)
    os.utime(made)
    made.rename(path)
    evict()


@contextmanager
def workspace(prefix: str) -> Iterator[Path]:
    """A folder on the cache's file system, removed at the end; so are those of killed processes."""
    place = root() / "work"
    with locked("work"):
        _remove_leftovers(place)
        _folder(place)
        work = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=place))
        owner = _lock_file(place / f"{work.name}.owner")
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        (place / f"{work.name}.owner").unlink(missing_ok=True)
        os.close(owner)


def _lock_file(path: Path) -> int:
    """An open descriptor that holds the lock of the new file `path`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _remove_leftovers(place: Path) -> int:
    """Remove work folders whose process has ended; returns the bytes freed."""
    freed = 0
    for work in place.glob("*"):
        if work.suffix == ".owner":
            continue
        owner = place / f"{work.name}.owner"
        try:
            descriptor = os.open(owner, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            freed += size(work)
            _remove(work)
            owner.unlink(missing_ok=True)
        finally:
            os.close(descriptor)
    return freed


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock `name`; another holder is waited for, a dead holder's lock is free. Leaves no file."""
    path = root() / "locks" / f"{name}.lock"
    while True:
        _folder(path.parent)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            continue
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # The last holder removed the file that this process had opened: another may hold a newer one.
        with suppress(OSError):
            if os.fstat(descriptor).st_ino == path.stat().st_ino:
                break
        os.close(descriptor)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def passed(kind: str, name: str, key: str) -> Mapping[str, object] | None:
    """The record of the check `name` that passed with the inputs `key`; None if there is none."""
    path = _record(kind, name, key)
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    used(path)
    return record if isinstance(record, dict) and record.get("key") == key else None


def record_pass(kind: str, name: str, key: str, **facts: object) -> None:
    """Remember that the check `name` passed with the inputs `key`. Never call it for a replaced source."""
    path = _record(kind, name, key)
    with workspace("passed") as work:
        made = work / "record"
        made.write_text(json.dumps({"key": key, **facts}))
        publish(made, path)


def _record(kind: str, name: str, key: str) -> Path:
    return root() / "passed" / kind / f"{name.replace('/', '.')}-{key[:32]}"


def size(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    total = 0
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            return sum(size(child) for child in path.iterdir())
        total = path.lstat().st_size
    return total


def evict() -> int:
    """Remove the entries unused for longest until the cache is below its limit; bytes freed."""
    limit = limit_bytes()
    entries = []
    for path in _entries():
        with suppress(OSError):
            entries.append((path.stat().st_mtime, size(path), path))
    total = sum(bytes_ for _, bytes_, _ in entries)
    freed = 0
    recent = time.time() - IN_USE_S
    for last_used, bytes_, path in sorted(entries):
        if total - freed <= limit or last_used > recent:
            break
        _remove(path)
        freed += bytes_
    return freed


def clean() -> int:
    """Remove all entries and leftovers; what other processes make just now stays. Bytes freed."""
    freed = 0
    with locked("work"):
        freed += _remove_leftovers(root() / "work")
    for path in _entries():
        freed += size(path)
        _remove(path)
    return freed


def _entries() -> list[Path]:
    return [path for kind in ("build", "passed") for path in root().glob(f"{kind}/*/*")]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        # Renamed first, so that no process finds half an entry.
        doomed = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError):
            path.rename(doomed)
            path = doomed
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
