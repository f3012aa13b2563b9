# SPDX-License-Identifier: Apache-2.0
"""What all tests need of the process they run in, and the cache of tests that give one result."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READ = ("python/isthmus", "tests/system", "crates", "rtl", "boards", "platforms", "published", "benchmarks")
"""Folders that a deterministic test may read, beside its own file and the files of the root."""

TOGETHER = ("tests/system/test_claims.py",)
"""Files whose tests share a long measurement, and so a process."""

# A shell starts its background jobs with SIGINT ignored, nohup a program with SIGHUP ignored, and children
# inherit that: the programs that these tests end by a signal would never hear it.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """One test at a time to each process, but for the files of `TOGETHER`.

    pytest-xdist's own groups are marks that it writes into a test's name, where pytest 9 does not see them.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return file if file in TOGETHER else nodeid

    return Scheduler(config, log)


@cache
def inputs_key(test: Path) -> str:
    """A hash of all that can change the result of a test marked `deterministic`: its file, this checkout's
    files, the compiler, Verilator and the installed packages."""
    from isthmus import cache as store

    return store.digest([_shared_key(), test])


@cache
def _shared_key() -> str:
    from isthmus import cache as store
    from isthmus.models import tools

    files = [file for file in ROOT.iterdir() if file.is_file()]
    for folder in READ:
        files += [
            file
            for file in (ROOT / folder).rglob("*")
            if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".so"
        ]
    files = sorted({*files, Path(__file__)})
    names = [str(file.relative_to(ROOT)) for file in files]
    packages = sorted(f"{found.name}=={found.version}" for found in distributions())
    variables = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name == "ISTHMUS_SEED"]
    return store.digest([*names, *files, *packages, *variables, *tools.find_toolchain().key()])


def _recorded(item: pytest.Item) -> bool:
    """Whether passes of `item` are recorded: not where sources from elsewhere replace this checkout's."""
    replaced = any(os.environ.get(name) for name in ("ISTHMUS_RTL", "ISTHMUS_RTL_OVERRIDE"))
    return item.get_closest_marker("deterministic") is not None and not replaced


def _cached(item: pytest.Item) -> bool:
    from isthmus import cache as store
    from isthmus.testing import FRESH

    if not _recorded(item) or os.environ.get(FRESH):
        return False
    return store.passed("tests", store.digest([item.nodeid])[:16], inputs_key(item.path)) is not None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Report a pass that is on record; neither the test nor its fixtures run."""
    if not _cached(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for when in ("setup", "call", "teardown"):
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords=dict.fromkeys(item.keywords, 1),
            outcome="passed",
            longrepr=None,
            when=when,  # type: ignore[arg-type]
            user_properties=[("cached", "true")],
        )
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # Fixtures of earlier tests that no later one needs.
    item.session._setupstate.teardown_exact(nextitem)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[misc, assignment]
    if report.when == "call" and report.passed and _recorded(item):
        from isthmus import cache as store

        store.record_pass("tests", store.digest([item.nodeid])[:16], inputs_key(item.path))
    return report  # type: ignore[return-value]
