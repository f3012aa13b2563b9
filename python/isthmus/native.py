# SPDX-License-Identifier: Apache-2.0
"""The simulator: typed access to the native module `isthmus._native`, which is Rust.

The module is imported at the first call, not at import. Its errors become `UserError` (something the caller
gave) and `DataError` (the run went wrong), one line each.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from isthmus.errors import DataError, UserError


class NativeMissingError(UserError):
    """The native module is not built, or does not fit this Python."""


class RunProgress(NamedTuple):
    """The progress of a scenario."""

    measurements_done: int
    measurements: int
    transfers_done: int
    """Cycles, packets, writes or messages of the present measurement."""
    transfers: int
    """Those that it is to make; 0 where that is not known."""
    simulated_ps: int
    """Of the present measurement; so are the cycles."""
    device_cycles: int

    @property
    def share(self) -> float:
        """Of the whole scenario, 0 to 1."""
        inside = min(1.0, self.transfers_done / self.transfers) if self.transfers else 0.0
        return min(1.0, (self.measurements_done + inside) / max(1, self.measurements))


Counts = TypeVar("Counts")


class ServeStatus(NamedTuple):
    """Counters of a server of Etherbone so far."""

    listening: Sequence[str]
    """Its interface: kind, blank, address."""
    clients: int
    requests: int
    replies: int
    errors: int
    not_allowed: int
    device_cycles: int
    cycles_per_s: float
    simulated_ps: int


class _Module(Protocol):
    """The contents of `isthmus._native`."""

    ScenarioError: type[Exception]
    RunError: type[Exception]

    def run_scenario(
        self, scenario: str, progress: Callable[[int, int, int, int, int, int], None] | None
    ) -> str: ...

    def serve(self, scenario: str, status: Callable[[str], None]) -> str: ...

    def version(self) -> str: ...


def run_scenario(
    scenario: Mapping[str, Any], progress: Callable[[RunProgress], None] | None = None
) -> list[dict[str, Any]]:
    """Run `scenario` (docs/reference/scenario.md) and return its measurements.

    `progress` is called ten times a second in every phase of a run; an exception in it ends the run and is
    raised here. Other threads run meanwhile.
    """
    native = load()

    def report(*values: int) -> None:
        if progress is not None:
            progress(RunProgress(*values))

    with _translated(native):
        text = native.run_scenario(json.dumps(scenario), report)
    return cast("list[dict[str, Any]]", json.loads(text))


def serve(scenario: Mapping[str, Any], status: Callable[[Counts], None], kind: type[Counts]) -> Counts:
    """Serve (docs/how-to/serve.md) until Control-C, or until all is done, and return the last counters.

    `status` is called once when everything is open and then a few times a second; an exception in it ends
    the server and is raised here. `kind` is the type of the road's counters.
    """
    native = load()
    with _translated(native):
        last = native.serve(json.dumps(scenario), lambda text: status(kind(**json.loads(text))))
    return kind(**json.loads(last))


def version() -> str:
    """The version of the native module."""
    return load().version()


def load() -> _Module:
    """The native module itself. Raises `NativeMissingError`."""
    try:
        return cast("_Module", _import())
    except ImportError as err:
        reason = " ".join(str(err).split())
        raise NativeMissingError(
            f"the simulator (isthmus._native) cannot be loaded: {reason}; ./isthmus doctor builds it"
        ) from err


def _import() -> ModuleType:
    """The module beside this one, or, of a package installed elsewhere, the one in the checkout."""
    from isthmus.paths import NATIVE

    name = "isthmus._native"
    if NATIVE.parent == Path(__file__).resolve().parent or name in sys.modules:
        return importlib.import_module(name)
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, NATIVE)
    if spec is None or spec.loader is None or not NATIVE.is_file():
        raise ImportError(f"{NATIVE} is missing")
    made = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@contextmanager
def _translated(native: _Module) -> Iterator[None]:
    try:
        yield
    except native.ScenarioError as err:
        raise UserError(str(err)) from err
    except native.RunError as err:
        raise DataError(str(err)) from err
