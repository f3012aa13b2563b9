# SPDX-License-Identifier: Apache-2.0
"""The main figure as a static SVG: time per timestamp against timestamps a cycle, light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

from isthmus.results import Document, Measurement, ResultError
from isthmus.roads.etherbone.answer import Key, series
from isthmus.roads.etherbone.figures import METHODS
from isthmus.units import digits

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 58, 52

_STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: #1b1f24; }
.title { font-size: 16px; font-weight: 600; } .soft { fill: #57606a; }
.page { fill: #ffffff; } .grid { stroke: #d0d7de; stroke-width: 1; } path { fill: none; stroke-width: 2.2; }
.convenience { stroke: #b4490f; } .blocking { stroke: #0757a8; } .pipelined { stroke: #0f766e; }
text.convenience { fill: #b4490f; } text.blocking { fill: #0757a8; } text.pipelined { fill: #0f766e; }
text { stroke: none !important; } .as-published { stroke-dasharray: 6 4; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .soft { fill: #9da7b1; } .page { fill: #0f1419; } .grid { stroke: #313a44; }
  .convenience { stroke: #ffa26b; } .blocking { stroke: #79b8ff; } .pipelined { stroke: #4fd1c1; }
  text.convenience { fill: #ffa26b; } text.blocking { fill: #79b8ff; } text.pipelined { fill: #4fd1c1; }
}
"""


def main_figure(document: Document, platform: str = "gige-direct") -> str:
    """The figure of one platform. Raises `ResultError` where the document has nothing of it."""
    lines = {key: line for key, line in series(document).items() if key[0] == platform and key[2] in METHODS}
    if not lines:
        raise ResultError(f"no timestamps over {platform} in this result: nothing to draw")
    costs = {key: [(m.timestamps, _us(m)) for m in line] for key, line in lines.items()}
    values = [cost for points in costs.values() for _, cost in points]
    counts = sorted({count for points in costs.values() for count, _ in points})
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    high = max(high, low + 1)

    def x(count: int) -> float:
        span = counts[-1] - counts[0] or 1
        return LEFT + (count - counts[0]) / span * (WIDTH - LEFT - RIGHT)

    def y(cost: float) -> float:
        return TOP + (high - log10(cost)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    title = f"Time per 64-bit timestamp over {platform}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="title desc"><title id="title">{escape(title)}</title>',
        f'<desc id="desc">{escape(_description(costs))}</desc><style>{_STYLE}</style>',
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>',
        f'<text class="soft" x="{LEFT}" y="44">'
        "solid: isthmus; dashed: as published; microseconds, logarithmic</text>",
    ]
    for decade in range(low, high + 1):
        height = y(10.0**decade)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>'
        )
        parts.append(
            f'<text class="soft" text-anchor="end" x="{LEFT - 8}" y="{height + 4:.1f}">'
            f"{digits(10.0**decade, 1)}</text>"
        )
    parts += [
        f'<text class="soft" text-anchor="middle" x="{x(count):.1f}" y="{HEIGHT - BOTTOM + 20}">'
        f"{count}</text>"
        for count in counts
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text class="soft" text-anchor="middle" x="{middle:.0f}" y="{HEIGHT - 12}">'
        "timestamps in one Etherbone cycle</text>"
    )
    for key, points in sorted(costs.items()):
        path = "L".join(f"{x(count):.1f} {y(cost):.1f}" for count, cost in points)
        parts.append(f'<path class="{key[2]} {key[1]}" d="M{path}"/>')
    parts += _labels(costs, y)
    return "\n".join(parts) + "\n</svg>\n"


def _us(m: Measurement) -> float:
    cost = m.time_per_timestamp
    assert cost is not None, "only measurements with a rate are in a series"
    return cost / 1e6


def _labels(costs: Mapping[Key, Sequence[tuple[int, float]]], y: object) -> list[str]:
    """A label at each line's right end, moved apart where they would touch."""
    assert callable(y)
    ends = sorted((y(points[-1][1]), key, points[-1][1]) for key, points in costs.items())
    made = []
    below = float("-inf")
    for height, key, cost in ends:
        below = max(height, below + 16)
        made.append(
            f'<text class="{key[2]}" x="{WIDTH - RIGHT + 10}" y="{below + 4:.1f}">'
            f"{key[2]} {digits(cost)} us</text>"
        )
    return made


def _description(costs: Mapping[Key, Sequence[tuple[int, float]]]) -> str:
    return "; ".join(
        f"{key[2]}, {key[1]}: {digits(points[0][1])} us with {points[0][0]}, {digits(points[-1][1])} us with "
        f"{points[-1][0]} timestamps a cycle"
        for key, points in sorted(costs.items())
    )
