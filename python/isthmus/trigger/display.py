# SPDX-License-Identifier: Apache-2.0
"""Events as drawings: hits, true rings, found rings; what was missed stands out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from isthmus.trigger.native import Circle, Display

REACH = 330
"""mm from the middle of the disk to the edge of a drawing: the disk has 296."""
DISK = 300
HIT = 7


def gallery(displays: Sequence[Display]) -> str:
    """The section of all drawings."""
    if not displays:
        return ""
    drawn = "\n".join(_one(display) for display in displays)
    return (
        '<section id="events" aria-labelledby="events-title">\n'
        '<h2 id="events-title">Events</h2>\n'
        '<p class="caption">Dots are hits, filled where they belong to a true ring, open where they are '
        "noise. "
        "The first right events of each number of rings, then the first wrong ones, of this sample.</p>\n"
        f"{_legend()}\n"
        f"<div "
        f'style="display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1rem">\n{drawn}'
        "\n</div></section>"
    )


def _style(colour: str, dashed: bool = False, width: int = 4) -> str:
    dash = ";stroke-dasharray:14 9" if dashed else ""
    return f"fill:none;stroke:var(--{colour});stroke-width:{width}{dash}"


FOUND, FAKE, TRUE, MISSED = _style("c2"), _style("bad"), _style("c6", True, 3), _style("bad", True, 6)


def _legend() -> str:
    entries = (
        ("found", FOUND), ("true, found", TRUE), ("true, missed", MISSED), ("found, but a fake", FAKE),
    )  # fmt: skip
    shapes = "".join(
        f'<li><svg viewBox="0 0 30 12" aria-hidden="true">'
        f'<line x1="0" x2="30" y1="6" y2="6" style="{style}"/></svg>{escape(name)}</li>'
        for name, style in entries
    )
    return f'<ul class="legend">{shapes}</ul>'


def _ring(circle: Circle, style: str) -> str:
    x, y, r, _ = circle
    # Up is up: the drawing's y goes down.
    return f'<circle cx="{x:.1f}" cy="{-y:.1f}" r="{r:.1f}" style="{style}"/>'


def _one(display: Display) -> str:
    missed = sum(not circle[3] for circle in display.truth)
    fakes = sum(not circle[3] for circle in display.found)
    verdict = ", ".join(
        text for text, shown in ((f"{missed} missed", missed), (f"{fakes} fake", fakes)) if shown
    )
    words = f"{len(display.truth)} true, {len(display.found)} found" + (f": {verdict}" if verdict else "")
    parts = [
        f'<circle r="{DISK}" style="fill:var(--card);stroke:var(--line);stroke-width:2"/>',
        *(_ring(circle, TRUE if circle[3] else MISSED) for circle in display.truth),
        *(_ring(circle, FOUND if circle[3] else FAKE) for circle in display.found),
    ]
    for x, y, label in display.hits:
        fill = "var(--text)" if label else "none"
        parts.append(
            f'<circle cx="{x:.0f}" cy="{-y:.0f}" r="{HIT}" '
            f'style="fill:{fill};stroke:var(--text);stroke-width:2"/>'
        )
    kind = ' class="bad"' if verdict else ""
    return (
        f'<figure style="margin:0"><svg viewBox="{-REACH} {-REACH} {2 * REACH} {2 * REACH}" role="img" '
        f'aria-label="Event {display.event}: {escape(words)}">{"".join(parts)}</svg>'
        f"<figcaption>event {display.event}: <span{kind}>{escape(words)}</span></figcaption></figure>"
    )
