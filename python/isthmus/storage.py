# SPDX-License-Identifier: Apache-2.0
"""Files that isthmus leaves behind are written whole or not at all, and never in each other's place."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from isthmus.errors import DataError, UserError

LARGEST_BYTES = 1 << 30
"""Limit of a file that is read completely."""


def store(path: Path, data: str | bytes) -> None:
    """Replace `path` by `data`; its folder is made where it is missing.

    The data go to a temporary name in the same folder first, so a full disk leaves an older file as it was.
    Raises `UserError`.
    """
    store_all({path: data})


def store_all(files: Mapping[Path, str | bytes]) -> None:
    """Replace several files: none where one cannot be written. Raises `UserError`."""
    written: list[tuple[Path, Path]] = []
    try:
        for path, data in files.items():
            with _explained(path):
                written.append((_write_beside(path, data), path.resolve()))
        for partial, path in written:
            with _explained(path):
                if partial != path:
                    partial.replace(path)
    finally:
        for partial, path in written:
            if partial != path:
                partial.unlink(missing_ok=True)


def keep(files: Mapping[Path, str | bytes]) -> None:
    """`store_all` for what took long to measure: where it cannot be written, it is kept in the folder for
    temporary files, and the error says where. Raises `DataError`."""
    try:
        store_all(files)
    except UserError as err:
        import tempfile

        try:
            folder = Path(tempfile.mkdtemp(prefix="isthmus-"))
            store_all({folder / path.name: data for path, data in files.items()})
        except (OSError, UserError):
            raise DataError(f"{err}; the result could not be kept elsewhere either") from err
        raise DataError(f"{err}; the result is kept in {folder}") from err


def prepare(folder: Path) -> None:
    """Make `folder`, and see that files can be made in it. Raises `UserError`."""
    import tempfile

    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".isthmus-")
        try:
            # A full disk takes the name of a file, but none of its bytes.
            os.write(handle, b"\0" * 4096)
        finally:
            os.close(handle)
            Path(name).unlink()


def result_file(out: Path, name: str, out_json: Path | None = None) -> Path:
    """The result file of a run, `out/NAME.json` or `out_json`: its folder is there and can be written.

    Its table and page are written beside it, with their own endings. Raises `UserError`.
    """
    if out_json is not None and out_json.suffix != ".json":
        raise UserError(
            f"--out-json {str(out_json)!r}: expected a name that ends in .json, for example out/run.json"
        )
    path = out_json or out / f"{name}.json"
    with _explained(path):
        for ending in (".json", ".csv", ".html"):
            if path.with_suffix(ending).is_dir():
                raise UserError(f"{path.with_suffix(ending)}: is a folder; expected a file or a new name")
    prepare(path.parent)
    return path


def page_file(results: Path, out: Path | None) -> Path:
    """The path of a result file's page: `out`, or beside the result. Raises `UserError`."""
    if not results.name:
        raise UserError(f"{str(results)!r}: expected the name of a file")
    path = out or results.with_suffix(".html")
    with _explained(path):
        if path == results or (path.exists() and results.exists() and path.samefile(results)):
            raise UserError(f"{path}: the page would replace the result; name another file with --out")
    return path


def read(path: Path, largest: int = LARGEST_BYTES) -> bytes:
    """The contents of the file. Raises `UserError`: unreadable, a device, or more than `largest` bytes."""
    with _explained(path), path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise UserError(f"{path}: is a device; expected a file")
        data = file.read(largest + 1)
    if len(data) > largest:
        raise UserError(f"{path}: has more than {largest >> 20} MiB")
    return data


def read_text(path: Path, largest: int = LARGEST_BYTES) -> str:
    """The same as text. Raises `UserError` where it is not UTF-8."""
    try:
        return read(path, largest).decode()
    except UnicodeDecodeError as err:
        raise UserError(f"{path}: not a text file") from err


def reason(err: OSError | ValueError) -> str:
    """Why a file cannot be read or written, in a few words."""
    return err.strerror or type(err).__name__ if isinstance(err, OSError) else str(err)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Converts the system's error for a path into a `UserError`."""
    try:
        yield
    except FileExistsError as err:
        # Python names the obstacle.
        raise UserError(f"{err.filename or path}: is a file; expected a folder") from err
    except (OSError, ValueError) as err:
        raise UserError(f"{path}: {reason(err)}") from err


def _write_beside(path: Path, data: str | bytes) -> Path:
    """The data under a temporary name in the folder of `path`; under its own where it is not a plain file."""
    import tempfile

    content = data if isinstance(data, bytes) else data.encode("utf-8", errors="backslashreplace")
    if path.is_dir():
        raise UserError(f"{path}: is a folder; expected a file or a new name")
    # A link stays a link: its target is replaced.
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):
            # mkstemp's files are private; these are like any other file of the user.
            partial.chmod((target.stat().st_mode & 0o777) if target.exists() else 0o666 & ~_umask())
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return partial


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
