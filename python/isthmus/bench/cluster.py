# SPDX-License-Identifier: Apache-2.0
"""Points on a Dask cluster, whose scheduler's address is given.

Workers need this version of isthmus and its native module; models are sent to them. A worker that sees the
folder of points stores its measurements itself, so that nothing is lost if the requesting program ends.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from isthmus.bench import points
from isthmus.cache import digest
from isthmus.errors import DataError, UserError
from isthmus.storage import store_all

CONNECT_S = 10.0
WORKERS_S = 60.0
"""So long the scheduler is waited for, and a first worker."""


@dataclass(frozen=True)
class Job:
    """One point, as a worker gets it."""

    key: str
    scenario: dict[str, Any]
    sources: str
    folder: str
    token: str


def work(job: Job, models: Mapping[str, bytes]) -> points.Results:
    """The work of a worker: measure the point and store it, unless it is stored."""
    from isthmus import native

    if points.sources() != job.sources:
        raise DataError("a worker of the cluster runs other sources of isthmus; update it and start it again")

    def measure() -> points.Results:
        return native.run_scenario(points.with_models(job.scenario, lambda path: _local(path, models[path])))

    store = points.Store(Path(job.folder))
    return store.once(job.key, measure) if store.is_seen(job.token) else measure()


def _local(path: str, model: bytes) -> str:
    """A file of this machine with the model."""
    wanted = digest([model])
    if Path(path).is_file() and points.content(path) == wanted:
        return path
    file = Path(tempfile.gettempdir()) / f"isthmus-models-{os.getuid()}" / f"{wanted}.so"
    if not file.is_file():
        file.parent.mkdir(mode=0o700, exist_ok=True)
        if file.parent.stat().st_uid != os.getuid():
            raise DataError(f"{file.parent}: belongs to someone else")
        store_all({file: model})
    return str(file)


def sweep(
    address: str,
    store: points.Store,
    wanted: Mapping[str, Mapping[str, Any]],
    done: Callable[[str, points.Results], None],
) -> None:
    """Measure scenarios by their keys on the cluster; `done` is called with each as it comes, and may raise.

    Raises `UserError`: no scheduler, no worker, or no package for them.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise UserError("--scheduler: needs the package distributed: pip install distributed") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    token = store.token()
    client = _connect(Client, address)
    try:
        paths = {path for scenario in wanted.values() for path in points.model_paths(scenario)}
        models = {path: client.scatter(Path(path).read_bytes()) for path in sorted(paths)}
        futures = {}
        for key, scenario in wanted.items():
            job = Job(key, dict(scenario), points.sources(), str(store.folder.resolve()), token)
            needed = {path: models[path] for path in points.model_paths(scenario)}
            futures[client.submit(work, job, needed, key=f"isthmus-{key}", pure=False)] = key
        try:
            with client.as_current():
                for future in as_completed(list(futures)):  # type: ignore[no-untyped-call,unused-ignore]
                    key, found = futures[future], _result(future)
                    # A worker that sees the folder has stored it.
                    done(key, store.once(key, partial(list, found)))
        finally:
            client.cancel(list(futures))
    finally:
        client.close(timeout=2)


def _connect(client: Callable[..., Any], address: str) -> Any:
    try:
        made = client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as err:
        raise UserError(f"--scheduler {address!r}: no scheduler answers; expected tcp://HOST:PORT") from err
    try:
        made.wait_for_workers(1, timeout=WORKERS_S)
    except (OSError, TimeoutError) as err:
        made.close(timeout=2)
        raise UserError(f"--scheduler {address}: no worker; start some: dask worker {address}") from err
    return made


def _result(future: Any) -> points.Results:
    """The measurements; an error of the run is raised unchanged, one of the cluster as one line."""
    try:
        found: points.Results = future.result()
    except UserError:
        raise
    except Exception as err:
        raise DataError(f"the cluster lost a point: {type(err).__name__}: {err}") from err
    return found


def check(scenarios: Sequence[Mapping[str, Any]]) -> None:
    """Raises `UserError` for scenarios that leave files where they run."""
    if any(scenario.get("trace") for scenario in scenarios):
        raise UserError("trace: is written where a scenario runs; leave out --scheduler and --resume")
