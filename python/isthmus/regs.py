# SPDX-License-Identifier: Apache-2.0
"""Register maps and words: SystemVerilog, Rust and the reference page from ``rtl/regs/*.rdl``.

The generated files are committed, so only a change of a map needs the generators. `check` lists the files
that no longer agree with their source.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isthmus.errors import UserError
from isthmus.generated import stale, write
from isthmus.paths import ROOT

if TYPE_CHECKING:
    from systemrdl.node import AddrmapNode, FieldNode, MemNode, RegNode

SOURCES = (
    "eca",
    "tlu",
    "gige_ctrl",
    "pcie_dma",
    "pcie_mmio",
    "rdma",
    "nanet",
    "nanet_send",
    "nanet_put",
    "nanet_inline",
    "nanet_merge",
    "nanet_release",
)
"""Maps in ``rtl/regs``, in the order of the reference page."""
REGBLOCKS = (
    "gige_ctrl",
    "pcie_dma",
    "pcie_mmio",
    "rdma",
    "nanet",
    "nanet_send",
    "nanet_put",
    "nanet_merge",
    "nanet_release",
)
"""Maps whose hardware is generated too; the others are served by hand-written cores."""
BUS = "board_bus"
"""No registers: the windows of the bus that every device carries."""
WORDS = "rdma_words"
"""Not a map: formats of words in queues, tables and host memory."""

SV_DIR = Path("rtl/regs/gen")
DOCS = Path("docs/reference/registers.md")
RUST = Path("crates/isthmus-host/src/regs.rs")
BUS_SV = Path("rtl/board/gen/board_bus_pkg.sv")
WORDS_SV = Path("rtl/rdma/gen/rdma_words_pkg.sv")
WORD_BITS = 64


class RegsError(UserError):
    """A register description that cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Register:
    """One register at its final address, arrays unrolled."""

    name: str
    offset: int
    access: str
    title: str
    text: str
    fields: tuple[tuple[str, int, int, str], ...]


@dataclass(frozen=True)
class Code:
    """One value of a field that has names for its values."""

    name: str
    value: int
    text: str


@dataclass(frozen=True)
class Map:
    """One address map: its name, its registers by address, the codes of its fields."""

    name: str
    title: str
    text: str
    size: int
    registers: tuple[Register, ...]
    codes: tuple[Code, ...]


@dataclass(frozen=True)
class Window:
    """One device on the bus: its first address and its length in bytes."""

    name: str
    base: int
    size: int
    title: str
    text: str


def windows(root: Path = ROOT) -> tuple[Window, ...]:
    """The windows of ``rtl/regs/board_bus.rdl`` by address. Raises `RegsError` when it does not compile."""
    from systemrdl.node import MemNode

    top = _compile(root / "rtl/regs" / f"{BUS}.rdl")
    found = (node for node in top.children() if isinstance(node, MemNode))
    return tuple(
        Window(n.inst_name, n.absolute_address, n.size, _property(n, "name"), _property(n, "desc"))
        for n in sorted(found, key=lambda node: node.absolute_address)
    )


def load(name: str, root: Path = ROOT) -> Map:
    """Compile ``rtl/regs/<name>.rdl``. Raises `RegsError` when it does not compile."""
    top = _compile(root / "rtl/regs" / f"{name}.rdl")
    registers = tuple(sorted((_register(top, reg) for reg in _walk(top)), key=lambda r: r.offset))
    return Map(name, _property(top, "name"), _property(top, "desc"), top.size, registers, _codes(top))


def generate(out_root: Path = ROOT, source_root: Path = ROOT) -> list[Path]:
    """Write every generated file below `out_root`, from the sources below `source_root`."""
    maps = [load(name, source_root) for name in SOURCES]
    words = load(WORDS, source_root)
    bus = load(BUS, source_root)
    places = windows(source_root)
    files = (
        (SV_DIR / "isthmus_regs_pkg.sv", _sv_package(maps)),
        (BUS_SV, _bus_package(places)),
        (WORDS_SV, _words_package(words)),
        (DOCS, _markdown(maps, bus, places) + _words_markdown(words)),
        (RUST, _rust(maps) + _words_rust(words)),
        *_regblocks(source_root),
    )
    return write(out_root, files)


def check(root: Path = ROOT) -> list[str]:
    """Generated files, relative to `root`, that are missing or differ from the generators' output."""
    return stale(root, generate)


def _compile(path: Path) -> AddrmapNode:
    from peakrdl_regblock.udps import ALL_UDPS  # type: ignore[import-untyped]
    from systemrdl.compiler import RDLCompiler
    from systemrdl.messages import MessagePrinter, RDLCompileError, Severity

    class Collect(MessagePrinter):
        lines: list[str]

        def __init__(self) -> None:
            self.lines = []

        def print_message(self, severity: Severity, text: str, src_ref: object) -> None:
            self.lines.append(text)

    if not path.is_file():
        raise RegsError(f"{path}: no such register description")
    collect = Collect()
    compiler = RDLCompiler(message_printer=collect)
    for udp in ALL_UDPS:  # the block generator asks every register for these properties
        compiler.register_udp(udp)
    try:
        compiler.compile_file(str(path))
        return compiler.elaborate().top
    except RDLCompileError as err:
        why = "; ".join(collect.lines) or str(err)
        raise RegsError(f"{path}: {why}") from err


def _walk(top: AddrmapNode) -> Iterator[RegNode]:
    from systemrdl.node import RegNode

    for node in top.descendants(unroll=True):
        if isinstance(node, RegNode):
            yield node


def _property(node: AddrmapNode | RegNode | FieldNode | MemNode, name: str) -> str:
    return _text(node.get_property(name))


def _text(value: object) -> str:
    """A text of a source, which may be broken into lines between its words."""
    return " ".join(str(value or "").split())


def _register(top: AddrmapNode, reg: RegNode) -> Register:
    readable = any(f.is_sw_readable for f in reg.fields())
    writable = any(f.is_sw_writable for f in reg.fields())
    name = reg.get_path().removeprefix(top.get_path() + ".")
    for bracket, replacement in (("[", ""), ("]", ""), (".", "_")):
        name = name.replace(bracket, replacement)
    fields = tuple(
        (f.inst_name, f.high, f.low, _property(f, "desc")) for f in reg.fields(skip_not_present=False)
    )
    access = {(True, True): "rw", (True, False): "ro", (False, True): "wo"}[(readable, writable)]
    title, text = _property(reg, "name"), _property(reg, "desc")
    return Register(name, reg.absolute_address, access, title, text, fields)


def _codes(top: AddrmapNode) -> tuple[Code, ...]:
    found = []
    for reg in _walk(top):
        for field in reg.fields():
            values = field.get_property("encode")
            found += [Code(v.name, v.value, _text(v.rdl_desc)) for v in values] if values else []
    return tuple(found)


def _camel(text: str) -> str:
    return "".join(part[:1].upper() + part[1:].lower() for part in text.split("_"))


def _sv_package(maps: list[Map]) -> str:
    out = [
        "// SPDX-License-Identifier: SHL-2.1",
        "// Generated from rtl/regs/*.rdl by python/isthmus/regs.py: change those, not this.",
        "/// Register offsets in bytes from the start of each map.",
        "// verilator lint_off UNUSEDPARAM",
        "package isthmus_regs_pkg;",
    ]
    for m in maps:
        out.append(f"  // {m.title}")
        out += [
            f"  localparam logic [7:0] {_camel(m.name)}{_camel(r.name)} = 8'h{r.offset:02X};"
            for r in m.registers
        ]
    out += ["endpackage", "// verilator lint_on UNUSEDPARAM"]
    return "\n".join(out) + "\n"


def _bus_package(places: Sequence[Window]) -> str:
    out = [
        "// SPDX-License-Identifier: SHL-2.1",
        f"// Generated from rtl/regs/{BUS}.rdl by python/isthmus/regs.py: change that, not this.",
        "/// Bus map of every device: where each window begins, and its bytes.",
        "// verilator lint_off UNUSEDPARAM",
        "package board_bus_pkg;",
    ]
    for place in places:
        name = _camel(place.name)
        base = f"{place.base >> 16:04X}_{place.base & 0xFFFF:04X}"
        out.append(f"  localparam logic [31:0] {name}Base = 32'h{base};")
        out.append(f"  localparam int unsigned {name}Bytes = {place.size};")
    end = max(place.base + place.size for place in places) - 1
    out.append(f"  localparam logic [31:0] BusLast = 32'h{end >> 16:04X}_{end & 0xFFFF:04X};")
    out += ["endpackage", "// verilator lint_on UNUSEDPARAM"]
    return "\n".join(out) + "\n"


def _rust(maps: list[Map]) -> str:
    out = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Generated from rtl/regs/*.rdl by python/isthmus/regs.py: change those, not this.",
        "//! Register offsets in bytes from the start of each map.",
    ]
    for m in maps:
        out += ["", f"/// {m.title}.", f"pub mod {m.name} {{"]
        for r in m.registers:
            out += [
                f"    /// {r.title} ({r.access}).",
                f"    pub const {r.name.upper()}: u32 = 0x{r.offset:02X};",
            ]
        out.append("}")
    return "\n".join(out) + "\n"


def _words_package(words: Map) -> str:
    """A packed structure for each word that is more than one number; bits in no field are `zero_LOW`."""
    out = [
        "// SPDX-License-Identifier: SHL-2.1",
        f"// Generated from rtl/regs/{words.name}.rdl by python/isthmus/regs.py: change that, not this.",
        "/// Words between a host and its RDMA network interface (docs/reference/registers.md).",
        "// verilator lint_off UNUSEDPARAM",
        f"package {words.name}_pkg;",
    ]
    for word in words.registers:
        members: list[str] = []
        above = WORD_BITS
        for name, high, low, _ in sorted(word.fields, key=lambda field: -field[1]):
            if high + 1 < above:
                members.append(_member(f"zero_{high + 1}", above - 1, high + 1))
            members.append(_member(name, high, low))
            above = low
        if above:
            members.append(_member("zero_0", above - 1, 0))
        if len(members) > 1:
            out += [f"  // {word.title}", "  typedef struct packed {", *members]
            out += [f"  }} {word.name.lower()}_t;", ""]
    out += [f"  localparam logic [7:0] Code{_camel(c.name)} = 8'd{c.value};" for c in words.codes]
    out += ["endpackage", "// verilator lint_on UNUSEDPARAM"]
    return "\n".join(out) + "\n"


def _member(name: str, high: int, low: int) -> str:
    width = f" [{high - low}:0]" if high > low else ""
    return f"    logic{width} {name};"


def _words_rust(words: Map) -> str:
    out = ["", f"/// {words.title}.", f"pub mod {words.name} {{", "    use crate::field::Field;"]
    for word in words.registers:
        out += [
            "",
            f"    /// {word.title}.",
            f"    pub mod {word.name.lower()} {{",
            "        use super::Field;",
        ]
        for name, high, low, text in word.fields:
            out += [
                f"        /// {text}",
                f"        pub const {name.upper()}: Field = Field {{ low: {low}, bits: {high - low + 1} }};",
            ]
        out.append("    }")
    out += ["", "    /// Why something was not done.", "    pub mod code {"]
    for code in words.codes:
        out += [f"        /// {code.text}", f"        pub const {code.name.upper()}: u8 = {code.value};"]
    return "\n".join([*out, "    }", "}"]) + "\n"


def _words_markdown(words: Map) -> str:
    out = [
        "",
        f"## {words.title}",
        "",
        words.text,
        "",
        "| word | bits | field | meaning |",
        "|---|---|---|---|",
    ]
    for word in words.registers:
        out.append(f"| **{word.title}** | | | {word.text} |")
        for name, high, low, text in word.fields:
            out.append(f"| | {high if high == low else f'{high}:{low}'} | {name} | {text} |")
    out += ["", "| code | name | meaning |", "|---|---|---|"]
    out += [f"| {code.value} | {code.name} | {code.text} |" for code in words.codes]
    return "\n".join(out) + "\n"


def _markdown(maps: list[Map], bus: Map, places: Sequence[Window]) -> str:
    out = [
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<!-- Generated from rtl/regs/*.rdl by python/isthmus/regs.py: change those, not this. -->",
        "# Register maps",
        "",
        "Offsets are bytes from the start of each map; registers have 32 bits. ro: read only, wo: write",
        "only, rw: both. Any other address, and a read or write that a register does not allow, answers",
        "`err` and changes nothing.",
        "",
        f"## {bus.title}",
        "",
        bus.text,
        "",
        "| first | last | device | content |",
        "|---|---|---|---|",
    ]
    for place in places:
        last = place.base + place.size - 1
        out.append(f"| 0x{place.base:06X} | 0x{last:06X} | {place.title} | {place.text} |")
    for m in maps:
        out += ["", f"## {m.title}", "", m.text, "", "| offset | name | access | bits | meaning |"]
        out.append("|---|---|---|---|---|")
        for r in m.registers:
            bits = "<br>".join(f"{high}:{low}" for _, high, low, _ in r.fields)
            text = r.text
            if len(r.fields) > 1:
                text += "".join(f"<br>{high}:{low} {n}: {t}" for n, high, low, t in r.fields)
            out.append(f"| 0x{r.offset:02X} | {r.name} | {r.access} | {bits} | {text} |")
    return "\n".join(out) + "\n"


_WISHBONE = """\
wb_regs_adapter #(
    .AddrWidth({width})
) u_wishbone (
    .clk_i(clk),
    .rst_ni(arst_n),
    .wb_cyc_i,
    .wb_stb_i,
    .wb_we_i,
    .wb_adr_i,
    .wb_sel_i,
    .wb_dat_i,
    .wb_stall_o,
    .wb_ack_o,
    .wb_err_o,
    .wb_dat_o,
    .reg_req_o     (cpuif_req),
    .reg_we_o      (cpuif_req_is_wr),
    .reg_addr_o    (cpuif_addr),
    .reg_wdata_o   (cpuif_wr_data),
    .reg_biten_o   (cpuif_wr_biten),
    .reg_stall_wr_i(cpuif_req_stall_wr),
    .reg_stall_rd_i(cpuif_req_stall_rd),
    .reg_rd_ack_i  (cpuif_rd_ack),
    .reg_rd_err_i  (cpuif_rd_err),
    .reg_rd_data_i (cpuif_rd_data),
    .reg_wr_ack_i  (cpuif_wr_ack),
    .reg_wr_err_i  (cpuif_wr_err)
);"""


def _regblocks(root: Path) -> Iterator[tuple[Path, str]]:
    from peakrdl_regblock import RegblockExporter  # type: ignore[import-untyped]
    from peakrdl_regblock.cpuif.base import CpuifBase  # type: ignore[import-untyped]

    class Wishbone(CpuifBase):  # type: ignore[misc]
        """Wishbone B4 pipelined with the ports of `wb_regs_adapter`: errors answer in place of ack."""

        @property
        def port_declaration(self) -> str:
            to_block = ("cyc_i", "stb_i", "we_i", "[31:0] wb_adr_i", "[3:0] wb_sel_i", "[31:0] wb_dat_i")
            from_block = ("stall_o", "ack_o", "err_o", "[31:0] wb_dat_o")
            ports = [("input", name) for name in to_block] + [("output", name) for name in from_block]
            return ",\n".join(f"{way} wire {n if ' ' in n else 'wb_' + n}" for way, n in ports)

        def get_implementation(self) -> str:
            return _WISHBONE.format(width=self.addr_width)

    for name in REGBLOCKS:
        top = _compile(root / "rtl/regs" / f"{name}.rdl")
        with tempfile.TemporaryDirectory() as scratch:
            RegblockExporter().export(
                top,
                scratch,
                cpuif_cls=Wishbone,
                module_name=f"{name}_regs",
                package_name=f"{name}_regs_pkg",
                default_reset_activelow=True,
                default_reset_async=True,
                err_if_bad_addr=True,
                err_if_bad_rw=True,
                address_width=8,
            )
            for path in sorted(Path(scratch).glob("*.sv")):
                text = path.read_text()
                yield SV_DIR / path.name, f"// SPDX-License-Identifier: SHL-2.1\n{_waive(text)}"


def _waive(text: str) -> str:
    """Switch off the lint rules that generated text breaks, for this file alone."""
    rules = ("GENUNNAMED", "MULTIDRIVEN", "UNUSEDPARAM", "UNUSEDSIGNAL")
    off = "".join(f"// verilator lint_off {rule}\n" for rule in rules)
    on = "".join(f"// verilator lint_on {rule}\n" for rule in rules)
    return f"{off}{text.rstrip()}\n{on}"
