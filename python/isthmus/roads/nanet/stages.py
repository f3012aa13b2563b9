# SPDX-License-Identifier: Apache-2.0
"""One datagram's way stage by stage, and how evenly it comes: all profiles on one axis of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.results import Document, Measurement
from isthmus.roads.nanet.tables import part, us, way

STAGES: Mapping[str, tuple[str, str]] = {
    "wire": ("frame on the wire", "c6"),
    "udp": ("UDP stage", "c2"),
    "wake": ("firmware wakes up", "c5"),
    "work": ("firmware", "c5"),
    "write": ("write of payload and event", "c4"),
    "program": ("program sees the event", "c6"),
    "gpu": ("data into the GPU", "c5"),
}
"""Each stage's words and colour, in the order of their begin; they overlap."""

WAYS = {
    "isthmus": "c3",
    "isthmus, gpu": "c2",
    "isthmus, staged": "c4",
    "as-published": "c1",
    "as-published, gpu": "c5",
    "as-published, staged": "c6",
}
"""The colour of each profile and memory, in all figures of this road."""

BUCKETS = 60
"""Of the distribution, over the whole axis."""
ROW_PX, LINE = 150, 0.13


def ready(m: Measurement, figure: str) -> float | None:
    """From the last byte on the pins to the data in its memory and its event in the program."""
    found = part(m, "to_gpu", figure)
    return part(m, "to_program", figure) if found is None else found


def spans(m: Measurement) -> dict[str, tuple[float, float]]:
    """Begin and end of each stage in us, in the mean, from the first byte of the frame at its source.

    The engine gives durations. Their ends are known: the frame's last byte, the answered event, the
    program's sight of it; request, firmware and write follow each other without a gap.
    """
    found = {
        name: value / 1e6
        for name in ("udp", "wake", "work", "write", "inside", "after_frame", "to_program")
        if (value := part(m, name, "avg")) is not None
    }
    if m.latency is None or len(found) < 7:
        return {}
    end = m.latency.avg / 1e6
    into_gpu = part(m, "to_gpu", "avg")
    program = end if into_gpu is None else end - (into_gpu / 1e6 - found["to_program"])
    frame = program - found["to_program"]
    answered = frame + found["after_frame"]
    begin = answered - found["inside"]
    known = answered - found["write"]
    asked = known - found["work"] - found["wake"]
    return {
        "wire": (0.0, frame),
        "udp": (begin, begin + found["udp"]),
        "wake": (asked, asked + found["wake"]),
        "work": (known - found["work"], known),
        "write": (known, answered),
        "program": (answered, program),
        **({} if into_gpu is None else {"gpu": (program, end)}),
    }


def distribution(document: Document, m: Measurement, low: float, width: float) -> list[list[float]]:
    """Percent of the datagrams in each bucket of `width` us from `low` on, as corners of a step line."""
    raw = next((one for one in document.raw["results"] if one["id"] == m.id), None)
    buckets = ((raw or {}).get("histogram") or {}).get("buckets", ())
    total = sum(count for _, count in buckets)
    shares = [0.0] * BUCKETS
    for value, count in buckets:
        shares[min(BUCKETS - 1, max(0, int((value / 1e6 - low) / width)))] += 100 * count / total
    edges = accumulate([width] * BUCKETS, initial=low)
    corners = [[round(edge, 4), share] for edge, share in zip(edges, [*shares, 0.0], strict=True)]
    return [[corners[0][0], 0.0], *corners]


def figure(document: Document, members: Sequence[Measurement]) -> Figure:
    """`members`: one datagram at a time, of one size, a profile and a memory each."""
    found = [(m, spans(m)) for m in members]
    end = max(m.latency.max for m in members if m.latency) / 1e6
    end = float(int(end) + 1)
    size = members[0].workload["bytes"]
    x = {
        "type": "value", "name": "us since the first byte of the frame leaves its source",
        "nameLocation": "middle", "min": 0, "max": end,
    }  # fmt: skip
    width = end / BUCKETS
    rows = [
        [way(m), STAGES[name][0], f"{begin:.3f}", f"{finish:.3f}", *_durations(m, name)]
        for m, stages in found
        for name, (begin, finish) in stages.items()
    ]
    return Figure(
        id="stages",
        title="Stage by stage, and how evenly",
        caption=f"One datagram of {size} bytes at a time. The first chart shows when each stage works, "
        "in the mean; stages overlap. The second shows when the program has it: its width is the jitter.",
        panels=[
            Panel(
                "Stages",
                "A line a stage, from its begin to its end; the table below has the times",
                _timeline(found, x),
                70 + ROW_PX * len(found),
            ),
            Panel(
                "When the program has the datagram",
                "Share of the datagrams over the time, a line a profile",
                {
                    "xAxis": x,
                    "yAxis": {
                        "type": "value", "name": f"% of datagrams in {1000 * width:.0f} ns",
                        "nameLocation": "middle", "min": 0,
                    },
                    "series": [
                        {
                            "type": "line", "name": way(m), "colour": WAYS[way(m)],
                            "step": "end", "symbol": "none", "data": distribution(document, m, 0.0, width),
                        }
                        for m in members
                    ],
                },
                300,
            ),
        ],
        table=Table(("profile", "stage", "begin [us]", "end [us]", "least [us]", "most [us]"), rows),
        legend=[
            Swatch("wire, program", "c6", "box"),
            Swatch("UDP stage", "c2", "box"),
            Swatch("firmware: wakes up, works", "c5", "box"),
            Swatch("write of payload and event", "c4", "box"),
            *(Swatch(way(m), WAYS[way(m)], "solid") for m in members),
        ],
    )  # fmt: skip


def _durations(m: Measurement, name: str) -> tuple[str, str]:
    """Least and most of a stage that has a duration of its own."""
    low, high = part(m, name, "min"), part(m, name, "max")
    return ("", "") if low is None or high is None else (us(low), us(high))


def _timeline(
    found: Sequence[tuple[Measurement, Mapping[str, tuple[float, float]]]], x: Mapping[str, Any]
) -> dict[str, Any]:
    series = []
    for row, (m, stages) in enumerate(found):
        for lane, (name, (begin, finish)) in enumerate(stages.items()):
            words, colour = STAGES[name]
            at = round(row + (lane - (len(stages) - 1) / 2) * LINE, 3)
            series.append(
                {
                    "type": "line", "name": f"{way(m)}: {words}", "colour": colour, "symbol": "none",
                    "bar": True, "data": [[round(begin, 4), at], [round(finish, 4), at]],
                    "lineStyle": {"width": 11, "cap": "butt"},
                }
            )  # fmt: skip
    return {
        "xAxis": x,
        "yAxis": {
            "type": "value", "inverse": True, "min": -0.5, "max": len(found) - 0.5, "interval": 0.5,
            "names": {str(row): way(m) for row, (m, _) in enumerate(found)},
        },
        "series": series,
    }  # fmt: skip
