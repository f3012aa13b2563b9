# SPDX-License-Identifier: Apache-2.0
"""The ring finder's NEON level, compiled for AArch64 and run in an emulator."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from isthmus.paths import ROOT

TARGET = "aarch64-unknown-linux-gnu"
LINKER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
LIBRARIES = "/usr/aarch64-linux-gnu"


def missing() -> str:
    """What is not installed; empty: nothing."""
    for tool in ("cargo", "rustc", LINKER, EMULATOR):
        if shutil.which(tool) is None:
            return f"{tool} (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)"
    command = ["rustc", "--print", "target-libdir", "--target", TARGET]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    if found.returncode != 0 or not Path(found.stdout.strip()).is_dir():
        return f"Rust's library for it (rustup target add {TARGET})"
    return ""


@pytest.mark.release
def test_neon_finds_what_every_other_level_finds(tmp_path: Path) -> None:
    if lacks := missing():
        pytest.skip(f"AArch64: {lacks} is not installed")
    name = TARGET.upper().replace("-", "_")
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(tmp_path),
        f"CARGO_TARGET_{name}_LINKER": LINKER,
        f"CARGO_TARGET_{name}_RUNNER": f"{EMULATOR} -L {LIBRARIES}",
    }
    command = ["cargo", "test", "--offline", "-p", "isthmus-trigger", "--lib", "--target", TARGET]
    done = subprocess.run(
        [*command, "--", "simd::", "rings::"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for test in ("all_levels_give_the_same_bits", "neon_is_a_level_of_every_aarch64"):
        assert f"simd::tests::{test} ... ok" in done.stdout, done.stdout
