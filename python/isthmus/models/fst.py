# SPDX-License-Identifier: Apache-2.0
"""lz4 and zlib, with which Verilator's runtime compresses waveforms (FST), as source code.

They are the C sources that the crates ``lz4-sys`` and ``libz-sys`` carry, pinned by ``tools/fst/Cargo.lock``
and fetched by cargo; no library of the machine is used.
"""

from __future__ import annotations

import json
from functools import cache as once
from pathlib import Path

from isthmus import bootstrap
from isthmus.jobs import ToolTimeoutError, run_tool
from isthmus.models.tools import ToolError
from isthmus.paths import ROOT

MANIFEST = ROOT / "tools" / "fst" / "Cargo.toml"
TIMEOUT_S = 300
_LIBRARIES = {"lz4-sys": "liblz4/lib", "libz-sys": "src/zlib"}
_FILES = {
    "lz4-sys": ("lz4.c",),
    "libz-sys": ("adler32.c", "compress.c", "crc32.c", "deflate.c", "trees.c", "zutil.c"),
}


@once
def _folders() -> dict[str, Path]:
    """The library's folder of each crate. Raises `ToolError` where cargo is missing or cannot fetch them."""
    cargo = bootstrap.find_cargo()
    command = [cargo, "metadata", "--locked", "--format-version", "1", "--color", "never"]
    try:
        command += ["--manifest-path", str(MANIFEST)]
        done = run_tool(command, cwd=ROOT, timeout_s=TIMEOUT_S)
    except ToolTimeoutError as err:
        raise ToolError(f"waveforms: cargo did not fetch lz4 and zlib within {TIMEOUT_S} s") from err
    if done.code != 0:
        raise ToolError(f"waveforms: lz4 and zlib: {bootstrap.relevant(done.errors)}")
    packages = {p["name"]: Path(p["manifest_path"]).parent for p in json.loads(done.output)["packages"]}
    return {name: packages[name] / inside for name, inside in _LIBRARIES.items()}


def includes() -> list[Path]:
    """Folders of ``lz4.h`` and ``zlib.h``."""
    return list(_folders().values())


def sources() -> list[Path]:
    """The C files to compile; compression only, nothing reads a waveform."""
    return [folder / file for name, folder in _folders().items() for file in _FILES[name]]
