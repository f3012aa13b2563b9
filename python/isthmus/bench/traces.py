# SPDX-License-Identifier: Apache-2.0
"""Files that show one run clock by clock, and how they are opened (docs/how-to/open-a-trace.md)."""

from __future__ import annotations

from pathlib import Path

from isthmus.errors import UserError

VIEWERS = {
    ".fst": "open it with Surfer (https://surfer-project.org) or GTKWave",
    ".perfetto-trace": "open https://ui.perfetto.dev and drop the file there",
    ".pcapng": "open it with Wireshark, or tshark -r FILE",
}


def check_waveform(path: Path, runs: int, options: str) -> None:
    """Raises `UserError` where `path` cannot be the waveform of these runs.

    options  that leave one of several runs, as the command line names them
    """
    if path.suffix != ".fst":
        raise UserError(f"waveform: {path} is written in the format FST: name it FILE.fst")
    if runs != 1:
        raise UserError(f"waveform: of one run, and these are {runs}: choose one by {options}")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UserError(f"waveform: there is no folder {folder}")


def how_to_open(path: Path) -> str:
    """A line for people: where the file or the folder of files is, and what shows it."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    kinds = dict.fromkeys(VIEWERS[file.suffix] for file in files if file.suffix in VIEWERS)
    return f"# trace: {path}: {'; '.join(kinds)}" if kinds else f"# trace: {path}"
