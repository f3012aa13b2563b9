# SPDX-License-Identifier: Apache-2.0
"""One transfer, packet by packet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.results import Measurement
from isthmus.roads.rdma.figures.common import axis_of, setting_of
from isthmus.roads.rdma.tables import bounds, steps

LANES: Mapping[str, tuple[int, str]] = {
    "descriptor": (0, "c1"),
    "bus read": (0, "c2"),
    "VOQ": (1, "c3"),
    "link to the switch": (1, "c5"),
    "switch": (2, "c4"),
    "link from the switch": (2, "c5"),
    "receive": (3, "c3"),
    "write": (3, "c2"),
    "notification": (3, "c6"),
}
"""Of each step of a packet the line of its row, and the colour. Neighbours on a line follow each other."""


LANE_GAP = 0.2


ROW_PX = 46


def packets_figure(members: Sequence[Measurement]) -> Figure:
    panels, rows, notes = [], [], []
    for m in members:
        packets = m.workload["packets"]
        title = f"{setting_of(m)}, {m.workload['size_bytes']} bytes, profile {m.profile}"
        names = [f"packet {packet['number']}\nlink {packet['link']}" for packet in packets]
        drawn = []
        for row, packet in enumerate(packets):
            for name, (begin, end) in steps(packet).items():
                lane, colour = LANES[name]
                at = round(row + (lane - 1.5) * LANE_GAP, 3)
                drawn.append(
                    {
                        "type": "line", "name": f"packet {packet['number']}, link {packet['link']}: {name}",
                        "colour": colour, "data": [[begin, at], [end, at]], "symbol": "none", "bar": True,
                        "lineStyle": {"width": 7, "cap": "butt"},
                    }
                )  # fmt: skip
        option = {
            "xAxis": axis_of("time since the program's call [us]", min=0),
            "yAxis": {
                "type": "value", "inverse": True, "min": -1, "max": len(packets), "interval": 1,
                "names": names,
            },
            "series": drawn,
        }  # fmt: skip
        label = (
            f"Timeline of one transfer, {title}: a row a packet, a bar a step; the table below has the times"
        )
        panels.append(Panel(title, label, option, 70 + ROW_PX * (len(packets) + 1)))
        rows += [
            [m.platform, m.profile, str(m.workload["links"])]
            + [str(packet[key]) for key in ("number", "link", "bytes")]
            + [f"{found[name][0]:.3f} to {found[name][1]:.3f}" if name in found else "" for name in LANES]
            for packet in packets
            for found in [steps(packet)]
        ]
        notes.append(_busy(m))
    columns = ["platform", "profile", "links", "packet", "link", "bytes"]
    columns += [f"{name} [us]" for name in LANES]
    return Figure(
        "packets",
        "One transfer, packet by packet",
        "A write of one descriptor, as it was seen on both buses and at the pins of interfaces and switches. "
        "Each packet has four lines, from above: the sender's bus; its queue (VOQ) and the link to the "
        "switch; the switch and the link from it; the receiver. Steps overlap: no packet waits for its end.",
        panels,
        Table(columns, rows),
        [
            Swatch("descriptor", "c1", "box"),
            Swatch("bus: read and write", "c2", "box"),
            Swatch("interface: VOQ and receive", "c3", "box"),
            Swatch("switch", "c4", "box"),
            Swatch("link", "c5", "box"),
            Swatch("notification", "c6", "box"),
        ],
        notes,
    )


def _busy(m: Measurement) -> str:
    """How long a transfer took, and what bounded it."""
    span, moves = bounds(m)
    return (
        f"{setting_of(m)}, profile {m.profile}: {span:.2f} us from the first store on the bus to the "
        f"last byte over the receiver's bus. Of that time this transfer is on {moves}."
    )
