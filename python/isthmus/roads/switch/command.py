# SPDX-License-Identifier: Apache-2.0
"""The command `isthmus bench switch`."""

from __future__ import annotations

from pathlib import Path

from isthmus import platforms
from isthmus.bench import traces
from isthmus.bench.output import FORMATS, Format, publish
from isthmus.bench.runner import Runner
from isthmus.errors import UserError, choose
from isthmus.platforms import PROFILES
from isthmus.results import Document
from isthmus.roads.switch import ROAD, tables
from isthmus.roads.switch.bench import (
    ARRIVALS,
    ENGINES,
    PACKETS,
    PLATFORM,
    PORTS,
    Design,
    Traffic,
    curve,
    is_trace,
    loads,
    measure,
    pattern_of,
    sizes,
    trace,
)
from isthmus.roads.switch.platform import KINDS
from isthmus.storage import result_file


def run(
    *,
    ports: int = 8,
    pattern: str = "uniform",
    arrivals: str = "paced",
    size: str = "64-512",
    load: str = "0.1:1.0",
    packets: int = PACKETS,
    seed: int = 1,
    profile: str = "isthmus",
    buffer_words: int | None = None,
    round_trip: int | None = None,
    engines: str = "all",
    platform: str = PLATFORM,
    waveform: Path | None = None,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Path | None = None,
) -> Document:
    """`isthmus bench switch`: measure, write `out/switch.json`, `.csv` and `.html`, print.

    ports         --ports: 4, 8, 12 or 16
    pattern       --pattern: `PATTERNS`
    arrivals      --arrivals: paced, poisson or bursty
    size          --sizes: bytes of a packet, 64-512 or 256
    load          --load: 0.8, 0.5,0.8 or 0.1:1.0:0.1, shares of a line's words
    packets       -n, --packets: measured at each load
    profile       --profile: as-published, isthmus or all
    buffer_words  --buffer-words: of a crosspoint
    round_trip    --round-trip: words of propagation to the switch and back
    engines       --engine: rtl, reference, ideal, with commas, or all
    platform      --platform: a name or a path
    waveform      --waveform: FST file of the switch; --engine rtl, one profile and one load
    """
    wanted = ENGINES if engines == "all" else tuple(engines.split(","))
    profiles = PROFILES if profile == "all" else tuple(profile.split(","))
    for name, values, known in (
        ("ports", [ports], PORTS),
        ("arrivals", [arrivals], ARRIVALS),
        ("profile", profiles, PROFILES),
        ("engine", wanted, ENGINES),
        ("format", [format], FORMATS),
    ):
        for value in values:
            choose(name, str(value), [str(each) for each in known])
    if not 100 <= packets <= 100_000_000:
        raise UserError(f"packets: {packets} is outside 100 to 100000000")
    if buffer_words is not None and not 32 <= buffer_words <= 512:
        raise UserError(f"buffer-words: {buffer_words} is outside 32 to 512")
    if round_trip is not None and not 8 <= round_trip <= 1600:
        raise UserError(f"round-trip: {round_trip} words are outside 8 to 1600")
    system, *others = platforms.chosen(platform, KINDS, ROAD.name)
    if others:
        raise UserError(f"platform: {platform!r}; one at a time")
    traffic = Traffic(ports, pattern, arrivals, sizes(size), None, packets, seed)
    pattern_of(pattern)
    if is_trace(pattern):
        # Read here as well, so that a wrong line is known before anything is built.
        trace(Path(pattern.removeprefix("trace:")), ports)
    at = loads(load)
    points = []
    for each in profiles:
        design = Design(each, buffer_words, round_trip)  # type: ignore[arg-type]
        points += curve(traffic, design, at, wanted)  # type: ignore[arg-type]
    if waveform is not None:
        # Saturation is a separate run: a waveform shows the given load.
        points = [point for point in points if point.traffic.load is not None or is_trace(pattern)]
        if wanted != ("rtl",):
            raise UserError("waveform: only --engine rtl has one")
        traces.check_waveform(waveform, len(points), "--load, --profile")
    target = result_file(out, "switch", out_json)
    made = measure(points, platform=system, waveform=waveform, runner=runner, given=given)
    publish(made, target, format, tables.text)
    if waveform is not None and format == "table":
        print(traces.how_to_open(waveform))
    return made
