# SPDX-License-Identifier: Apache-2.0
"""Checks in every unit bench that what a module offers stays until it is taken.

By the names of the ports: an output ``X_valid_o`` (or ``Xvalid_o``, as AXI's) beside an input ``X_ready_i``
is a handshake, and all other outputs ``X_*_o`` are what it offers. Modules with another contract are in
`WITHDRAWN`, with the reason; what is no part of an offer though its name begins so is in `BESIDE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CHECKER = Path(__file__).with_name("held.sv")

WITHDRAWN: Mapping[str, str] = {
    "atc_streams.ahead_valid_o": "a hint, which a newer one replaces",
    "axi_cut.burst_valid_o": "ends with a command that is stopped, and with Held is the command itself",
    "ccix_cas.req_valid_o": "requests pass through, and give way to an order's own",
    "etherbone_frame_buffer.valid_o": "a frame whose verdict is bad takes its words back",
    "fx2_port.rx_valid_o": "words are dropped with live_i low",
    "nanet_guard.out_valid_o": "what has no place at once is dropped; only an end waits",
    "pcie_word_buffer.valid_o": "a rollback withdraws it, and what is committed comes again",
    "rdma_flow_tx.own_valid_o": "withdrawn if control_room_i falls, and asked for again",
    "nanet_send.event_valid_o": "waits while full_i, and is dropped with enable_i low",
}
"""``module.valid port``: why it may fall, or change what it offers, before ready."""
BESIDE: Mapping[str, str] = {
    "coherence_axi.core_data_o": "a store's; a load has none",
    "coherence_axi.core_mask_o": "a store's; a load has none",
    "coherence_axi.core_tag_o": "the tag of a free place at that time",
    "etherbone_reply_buffer.data_o": "words behind the offer, a word for each next_i",
    "etherbone_udp.tx_data_o": "payload behind the offer, a word for each tx_next_i",
    "rdma_receive.queue_commit_o": "of the last question, which was answered",
    "rdma_receive.queue_drop_o": "of the last question, which was answered",
    "rdma_receive.queue_peek_o": "before the question, what is perhaps asked",
    "rdma_notify.notice_o": "a record of two beats, which notice_second_i chooses",
    "udp_echo.tx_data_o": "payload behind the offer, a word for each tx_next_i",
    "udp_echo.tx_soon_o": "before the offer, for the preamble",
}
"""``module.port``: why an output is no part of the offer whose name it shares."""

_AXI = ["addr", "len", "size", "burst", "lock", "cache", "prot", "qos", "user", "atop"]
_AXI += ["id", "data", "strb", "last", "resp"]
"""Ends of the names of an AXI channel, whose start has no underscore behind it."""
_MODULE = re.compile(r"^module (\w+)\b(.*?)\n\);", re.MULTILINE | re.DOTALL)
_PORT = re.compile(r"^ *(?P<way>input|output) +(?P<type>.*?) *\b(?P<name>\w+)(?P<unpacked> *\[.*?\])?,?$")


@dataclass(frozen=True)
class Offer:
    """A handshake of a module: its outputs, and the input that takes them."""

    module: str
    valid: str
    ready: str
    data: tuple[str, ...]
    many: bool
    cleared: bool = False

    @property
    def name(self) -> str:
        return f"{self.module}.{self.valid}"


def offers(text: str) -> Iterator[Offer]:
    """Those of the modules in a file that have one clock, `clk_i`, and a reset, `rst_ni`."""
    for module, header in _MODULE.findall(text):
        found = [_PORT.match(line.partition("//")[0].rstrip()) for line in header.splitlines()]
        ports = {one["name"]: one for one in found if one and not one["unpacked"]}
        # What is a bench's own breaks what it wants to.
        if (
            module.endswith("_bench")
            or "rst_ni" not in ports
            or [name for name in ports if name.endswith("clk_i")] != ["clk_i"]
        ):
            continue
        outputs = [name for name, one in ports.items() if one["way"] == "output"]
        for valid in outputs:
            ready = f"{valid.removesuffix('valid_o')}ready_i"
            if not valid.endswith("valid_o") or ready not in ports or f"{module}.{valid}" in WITHDRAWN:
                continue
            start = valid.removesuffix("valid_o")
            names = {"data_o"} if not start else {f"{start}{end}_o" for end in ["", *_AXI]}
            data = tuple(
                name
                for name in outputs
                if (name.startswith(start) if start.endswith("_") else name in names)
                and not name.endswith(("valid_o", "ready_o"))
                and f"{module}.{name}" not in BESIDE
            )
            yield Offer(module, valid, ready, data, "[" in ports[valid]["type"], "clear_i" in ports)


def written(files: Sequence[Path], folder: Path) -> Path:
    """The file of `binds`, in `folder`."""
    path = folder / "held_binds.sv"
    path.write_text(binds(files))
    return path


def binds(files: Sequence[Path]) -> str:
    """SystemVerilog that binds the check to each handshake of these files."""
    made = ["// Made by tests/unit/held.py."]
    for file in files:
        for one in offers(file.read_text()):
            data = "{" + ", ".join(one.data) + "}" if one.data and not one.many else "1'b0"
            clear = "|clear_i" if one.cleared else "1'b0"
            pins = {
                "clk": "clk_i",
                "rst_n": "rst_ni",
                "clear": clear,
                "valid": one.valid,
                "ready": one.ready,
                "data": data,
            }
            wires = ", ".join(
                f".{pin}{'i' if pin == 'rst_n' else '_i'}({wire})" for pin, wire in pins.items()
            )
            widths = f"#(.Ports($bits({one.valid})), .Width($bits({data})))"
            made.append(f"bind {one.module} held {widths} u_held_{one.valid} ({wires});")
    return "\n".join(made) + "\n"
