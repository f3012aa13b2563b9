# SPDX-License-Identifier: Apache-2.0
"""What `isthmus bench apenet` does."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from isthmus import platforms
from isthmus.bench.output import Format, publish
from isthmus.bench.runner import Runner
from isthmus.errors import UserError
from isthmus.platforms import PROFILES
from isthmus.results import Document
from isthmus.roads.apenet import ROAD, tables
from isthmus.roads.apenet.bench import PLATFORM, Point, Puts, check, measure, parse_memories
from isthmus.roads.apenet.platform import KINDS
from isthmus.storage import result_file
from isthmus.workload import parse_sizes

Operation = Literal["put", "get"]
Target = Literal["address", "list"]
Link = Literal["delay", "lanes"]


SIZES = "64,1024,4096,65536"
LISTED_SIZES = "64,1024,4096"
INLINE_SIZES = "8,64"


def run(
    *,
    size: str | None = None,
    iterations: int = 20,
    window: int = 8,
    nodes: int = 2,
    memory: str = "host",
    operation: Operation = "put",
    target: Target = "address",
    link: Link = "delay",
    inline: bool = False,
    platform: str = PLATFORM,
    profile: str = "all",
    seed: int = 1,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Path | None = None,
) -> Document:
    """`isthmus bench apenet`: measure, write `out/apenet.json`, `.csv` and `.html`, print."""
    chosen = platforms.chosen(platform, KINDS, ROAD.name)
    file = result_file(out, ROAD.name, out_json)
    listed = target == "list"
    if listed and operation == "get":
        raise UserError("target: list; a get is out of a put memory")
    if inline and operation == "get":
        raise UserError("inline: a get has no payload")
    shapes = [("get", 1)] if operation == "get" else [("one-way", 1), ("ping-pong", 1)]
    if window > 1:
        shapes.append((shapes[0][0], window))
    if (operation == "get" or listed or inline) and profile == "all":
        # The document has none of them.
        profile = "isthmus"
    default = INLINE_SIZES if inline else LISTED_SIZES if listed else SIZES
    points = [
        Point(
            Puts(
                bytes_,
                flight,
                test,
                nodes,
                near,
                far,
                to,
                link=link,
                inline=brought,
                iterations=iterations,
                seed=seed,
            ),
            design,
            where,
        )
        for where in chosen
        for near, far in parse_memories(memory)
        for to in (["list", "address"] if listed else ["address"])
        for brought in ((True, False) if inline else (False,))
        for test, flight in shapes
        for bytes_ in parse_sizes(size or default)
        for design in PROFILES
        if profile in ("all", design)
    ]
    for point in points:
        check(point.puts)
    check(Puts(window=window, nodes=nodes))
    made = measure(points, runner=runner, given=given)
    publish(made, file, format, tables.text)
    return made
