# SPDX-License-Identifier: Apache-2.0
"""From a request to a result document: platforms, models, runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.compare.question import Plan, defaults, plan
from isthmus.compare.settings import apply, warnings
from isthmus.errors import UserError
from isthmus.workload import Noise, Question, default_size, question, read_noise

if TYPE_CHECKING:
    from isthmus.bench.runner import Runner
    from isthmus.bench.session import Models
    from isthmus.platforms import Platform
    from isthmus.results import Document

OVERVIEW: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("host-read", (8, 64, 256, 1024, 4096)),
    ("host-write", (8, 64, 256, 1024, 4096)),
    ("put", (8, 64, 256, 1024, 4096)),
    ("get", (8, 256, 4096)),
    ("message", (8, 64, 256)),
    ("device-read", (8, 256, 4096)),
    ("device-write", (8, 256, 4096)),
    ("nic-to-memory", (8, 256, 1472)),
    ("update", (8,)),
)
"""What is measured without options: one request at a time."""


@dataclass(frozen=True)
class Request:
    """What `./isthmus compare` and `isthmus.compare()` take; each field is an option of the same name."""

    op: str | None = None
    size: int | str | None = None
    window: int | None = None
    rate: float | str | None = None
    platforms: Sequence[str] = ()
    settings: Sequence[str] = ()
    driver: str | None = None
    iterations: int | None = None
    seed: int = 1
    noise: str | Path | None = None


def planned(request: Request) -> Plan:
    """What will be measured. Raises `UserError` for a request that cannot be."""
    noise = None if request.noise is None else read_noise(Path(request.noise))
    questions = _questions(request, noise)
    platforms = apply(_platforms(request.platforms), request.settings)
    return plan(
        questions,
        platforms,
        driver=request.driver,
        named=bool(request.platforms) and request.op is not None,
        baselines=request.op is not None,
    )


def _questions(request: Request, noise: Noise | None) -> list[Question]:
    if request.op is not None:
        asked = [(request.op, request.size if request.size is not None else default_size(request.op))]
    else:
        asked = [
            (op, request.size if request.size is not None else ",".join(map(str, sizes)))
            for op, sizes in OVERVIEW
        ]
    return [
        replace(
            question(
                op,
                size,
                window=request.window,
                rate=request.rate,
                iterations=request.iterations,
                seed=request.seed,
                noise=noise,
            ),
            brief=request.op is None,
        )
        for op, size in asked
    ]


def _platforms(names: Sequence[str]) -> list[Platform]:
    from isthmus import platforms

    found: dict[str, Platform] = {}
    for name in names or defaults():
        one = platforms.load(name)
        if one.name in found:
            raise UserError(
                f"platform: {one.name!r} is given twice; results identify platforms by their names"
            )
        found[one.name] = one
    return list(found.values())


def _work(scenario: Mapping[str, Any]) -> int:
    """Bytes that a scenario moves."""
    work = scenario["workload"]
    return int(work.get("bytes", work.get("size_bytes", 0))) * int(work["iterations"])


def measure(
    request: Request,
    *,
    command: str,
    runner: Runner | None = None,
    models: Models | None = None,
) -> Document:
    """Run what is planned; the document's context holds the notes. Nothing is printed but progress.

    runner, models  of tests: what stands in for the engine, and for the models of RTL
    """
    from isthmus.bench.session import Session

    chosen = planned(request)
    session = Session("measure", runner=runner, given=models, command=command)
    for platform in chosen.platforms:
        session.platform(platform)
    scenarios = [each for one in chosen.runs for each in one.scenarios(session.model)]
    # What is likely to last longest begins first; tables have an order of their own.
    scenarios.sort(key=_work, reverse=True)
    # A timeline is what a trace of one transfer is for: here it would be nine tenths of the file.
    found = [{**one, "timeline": []} for one in session.run(scenarios)]
    warned = [f"warning: {line}" for platform in chosen.platforms for line in warnings(platform)]
    remarks: dict[str, Any] = {"notes": [*chosen.left_out, *warned]}
    # Not of the overview: its sizes are ours, and most roads lack some.
    if chosen.refused and request.op is not None:
        remarks["left_out"] = [
            {"operation": one.operation, "bytes": one.size, "why": one.why} for one in chosen.refused
        ]
    noise = chosen.runs[0].question.noise
    if noise is not None:
        remarks["noise"] = f"{noise.source}: {noise.samples} samples, largest {noise.largest / 1000:g} us"
    return session.document(found, request.seed, remarks)
