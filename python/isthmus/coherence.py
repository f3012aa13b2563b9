# SPDX-License-Identifier: Apache-2.0
"""The coherence protocol's table, ``rtl/coherence/protocol.toml``: SystemVerilog, Rust and a page.

The generated files are committed. `check` says which of them no longer agree with the table;
`python -m isthmus.coherence` writes them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.errors import UserError
from isthmus.generated import stale, write
from isthmus.paths import ROOT

SOURCE = Path("rtl/coherence/protocol.toml")
PACKAGE = Path("rtl/coherence/gen/coherence_pkg.sv")
SENDERS = Path("rtl/coherence/gen/coherence_sender_pkg.sv")
RUST = Path("crates/isthmus-host/src/coherent/protocol.rs")
DOCS = Path("docs/reference/coherence.md")

WORDS: Mapping[str, int] = {"none": 1, "word": 2, "pair": 3, "line": 17, "masked": 19}
"""Words of a message by its payload, the header included."""
REMOTE = ("I", "S", "E", "M", "O", "IS", "IM", "SM", "OM")
HOME = ("I", "S", "E", "M", "O")
DIRECTORY = ("I", "S", "E", "O")
INPUTS = ("load", "store", "evict", "FSHR", "FINV", "PSHA", "PEMD clean", "PEMD dirty", "PACK")
PHASES = ("idle", "grant", "reply", "forward")
CORE = ("load", "store", "evict", "recall")
_NO_MESSAGE = ("hit", "wait", "no", "never", "g")


class TableError(UserError):
    """A row of the table that cannot be; the text says which and why."""


@dataclass(frozen=True)
class Message:
    """A message: its sender, its virtual circuits (odd lines, even lines), its code there, its words."""

    name: str
    sender: str
    circuit: int
    opcode: int
    payload: str
    text: str

    @property
    def words(self) -> int:
        return WORDS[self.payload]


@dataclass(frozen=True)
class Step:
    """What an agent does in a state at an input: `does`, and the next state."""

    state: str
    input: str
    does: str
    next: str


@dataclass(frozen=True)
class Request:
    """What the home does with a request, no transaction being open on its line."""

    directory: str
    home: str
    message: str
    does: str
    next_home: str
    next_directory: str


@dataclass(frozen=True)
class Response:
    """What a response does to the home's record of its line."""

    message: str
    phase: str
    effects: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """The whole protocol."""

    messages: tuple[Message, ...]
    remote: tuple[Step, ...]
    uncached: tuple[Step, ...]
    requests: tuple[Request, ...]
    core: tuple[Step, ...]
    responses: tuple[Response, ...]


def load(root: Path = ROOT) -> Table:
    """The table below `root`, checked for itself. Raises `TableError`."""
    path = root / SOURCE
    try:
        found = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise TableError(f"{path}: {error}") from error
    table = Table(
        tuple(Message(*row) for row in found["message"]),
        tuple(_step(row) for row in found["remote"]),
        tuple(_step(row) for row in found["uncached"]),
        tuple(_requests(found["request"])),
        tuple(Step(directory, name, does, home) for name, directory, does, home in found["core"]),
        tuple(_responses(found["response"])),
    )
    _check(table)
    return table


def _step(row: Sequence[str]) -> Step:
    state, name, does, following = row
    return Step(state, name, does, following)


def _requests(rows: Sequence[Sequence[str]]) -> Iterator[Request]:
    for directory, homes, messages, does, home, following in rows:
        for state in homes.split():
            for message in messages.split():
                yield Request(
                    directory,
                    state,
                    message,
                    does,
                    state if home == "=" else home,
                    directory if following == "=" else following,
                )


def _responses(rows: Sequence[Sequence[str]]) -> Iterator[Response]:
    for messages, phases, effects in rows:
        for message in messages.split():
            for phase in phases.split():
                yield Response(message, phase, tuple(effects.split()))


def _check(table: Table) -> None:
    names = [message.name for message in table.messages]
    codes = [(message.circuit, message.opcode) for message in table.messages]
    for what, values in (("message", names), ("circuit and opcode", codes)):
        if len(set(values)) != len(values):
            raise TableError(f"{SOURCE}: {what} used twice")
    known = {*names, *_NO_MESSAGE}
    for step in (*table.remote, *table.uncached):
        if step.does not in known:
            raise TableError(f"{SOURCE}: {step.state}, {step.input}: {step.does!r} is no message")
    cells = [(step.state, step.input) for step in table.remote]
    for state in REMOTE:
        for name in INPUTS[:5]:
            if cells.count((state, name)) != 1:
                raise TableError(f"{SOURCE}: remote {state} has no row, or several, for {name}")
    keys = [(one.directory, one.home, one.message) for one in table.requests]
    asked = {message.name for message in table.messages if message.circuit in (2, 6)}
    for directory, home in {key[:2] for key in keys}:
        for message in asked:
            if keys.count((directory, home, message)) != 1:
                raise TableError(f"{SOURCE}: home {home}, directory {directory}: {message} has no row")
    taken = [(one.message, one.phase) for one in table.responses]
    back = {m.name for m in table.messages if m.sender == "remote" and m.circuit in (4, 10)}
    for message in back:
        for phase in PHASES:
            if taken.count((message, phase)) != 1:
                raise TableError(f"{SOURCE}: response {message}, {phase}: no row, or several")


def generate(out_root: Path = ROOT, source_root: Path = ROOT) -> list[Path]:
    """Write every generated file below `out_root`."""
    table = load(source_root)
    made = ((PACKAGE, package(table)), (SENDERS, senders(table)), (RUST, rust(table)), (DOCS, page(table)))
    return write(out_root, made)


def check(root: Path = ROOT) -> list[str]:
    """Generated files, relative to `root`, that are missing or differ from what the table gives."""
    return stale(root, generate)


# ---------------------------------------------------------------- SystemVerilog
def _camel(text: str) -> str:
    return "".join(part[:1].upper() + part[1:].lower() for part in text.split())


_HEAD = """\
// SPDX-License-Identifier: SHL-2.1
// Generated from rtl/coherence/protocol.toml by python/isthmus/coherence.py: change those.
/// Messages of the coherence protocol, and what each agent does with them
/// (docs/reference/coherence.md).
// verilator lint_off UNUSEDPARAM
package coherence_pkg;
  // Proofs of what does not depend on a line's bytes need few of them.
`ifdef COHERENCE_LINE_BYTES
  localparam int unsigned LineBytes = `COHERENCE_LINE_BYTES;
`else
  localparam int unsigned LineBytes = 128;
`endif
  localparam int unsigned LineWords = 16;
`ifdef COHERENCE_INDEX_WIDTH
  localparam int unsigned IndexWidth = `COHERENCE_INDEX_WIDTH;
`else
  localparam int unsigned IndexWidth = 33;  // of a line
`endif
  localparam int unsigned NumIds = 32;      // open requests a parity of the line index

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [8*LineBytes-1:0] line_t;
  typedef logic [LineBytes-1:0] mask_t;
  typedef logic [4:0] id_t;

  /// What is asked for at a port of lines. Where it is a load or a store, `write` says which.
  typedef enum logic [2:0] {
    LineUncached  = 3'd0,
    LineCached    = 3'd1,
    LineEvict     = 3'd2,
    LineIncrement = 3'd3,  // of the word that the mask selects; the old one is answered
    LineDecrement = 3'd4,
    LineSwap      = 3'd5   // word 0 of the data is compared with it, word 1 is its new value
  } line_kind_e;

  /// The first word of a message.
  typedef struct packed {
    logic [4:0]  opcode;
    logic [3:0]  zero_55;
    id_t         id;
    logic [3:0]  dmask;    // quarters of the line that follow
    logic        ns;
    logic [3:0]  dirty;    // quarters that memory does not have
    logic        zero_40;
    index_t      index;
    logic [6:0]  offset;
  } header_t;
"""


def _enum(name: str, members: Sequence[str], width: int, prefix: str) -> list[str]:
    out = [f"  typedef enum logic [{width - 1}:0] {{"]
    for number, member in enumerate(members):
        comma = "," if number + 1 < len(members) else ""
        out.append(f"    {prefix}{_camel(member)} = {width}'d{number}{comma}")
    return [*out, f"  }} {name};", ""]


def package(table: Table) -> str:
    """The SystemVerilog package."""
    out = [_HEAD]
    out += [
        f"  localparam logic [4:0] Op{_camel(message.name)} = 5'd{message.opcode};  // {message.text}"
        for message in table.messages
    ]
    out.append("")
    names = ["none", *(message.name for message in table.messages)]
    out += _enum("message_e", names, 5, "Msg")
    out += _enum("remote_e", REMOTE, 4, "Remote")
    out += _enum("input_e", INPUTS, 4, "In")
    out += _enum("home_e", HOME, 3, "Home")
    out += _enum("directory_e", DIRECTORY, 2, "Dir")
    out += _enum("phase_e", PHASES, 2, "Phase")
    out += _enum("core_e", CORE, 2, "Core")
    out += _circuits(table)
    out += _remote(table)
    out += _home(table)
    out += _core(table)
    out += _response(table)
    out += ["endpackage", "// verilator lint_on UNUSEDPARAM"]
    return "\n".join(out) + "\n"


def senders(table: Table) -> str:
    """The package that says of a response which of a node's two agents takes it."""
    names = ", ".join(
        f"Msg{_camel(m.name)}" for m in table.messages if m.sender == "remote" and m.circuit in (4, 10)
    )
    return "\n".join(
        [
            "// SPDX-License-Identifier: SHL-2.1",
            "// Generated from rtl/coherence/protocol.toml by python/isthmus/coherence.py: change those.",
            "/// Who takes a response where a node has a cache and a home (docs/reference/coherence.md).",
            "package coherence_sender_pkg;",
            "  import coherence_pkg::*;",
            "",
            "  /// A response of circuits 4, 5, 10 or 11 that an agent sends to a home.",
            "  function automatic logic for_home(message_e message);",
            "    return message inside {",
            f"      {names}",
            "    };",
            "  endfunction",
            "endpackage",
            "",
        ]
    )


def _circuits(table: Table) -> list[str]:
    out = [
        "  /// The virtual circuit of a message: odd lines use the even one of two.",
        "  function automatic logic [3:0] circuit_of(message_e message, logic odd);",
        "    unique case (message)",
    ]
    for circuit in sorted({message.circuit for message in table.messages}):
        names = ", ".join(f"Msg{_camel(m.name)}" for m in table.messages if m.circuit == circuit)
        out.append(f"      {names}:")
        out.append(f"        return odd ? 4'd{circuit} : 4'd{circuit + 1};")
    out += ["      default: return 4'd15;", "    endcase", "  endfunction", ""]
    out += [
        "  /// Words of a message by half its circuit's number and its code; 1 of what is unknown.",
        "  function automatic logic [4:0] words_of(logic [2:0] pair, logic [4:0] opcode);",
        "    unique case ({pair, opcode})",
    ]
    for message in table.messages:
        if message.words > 1:
            out.append(
                f"      {{3'd{message.circuit // 2}, Op{_camel(message.name)}}}: return 5'd{message.words};"
            )
    out += ["      default: return 5'd1;", "    endcase", "  endfunction", ""]
    out += [
        "  /// The message of a code on a pair of circuits; `MsgNone` of what is unknown.",
        "  function automatic message_e message_of(logic [2:0] pair, logic [4:0] opcode);",
        "    unique case ({pair, opcode})",
    ]
    for message in table.messages:
        name = _camel(message.name)
        out.append(f"      {{3'd{message.circuit // 2}, Op{name}}}: return Msg{name};")
    out += ["      default: return MsgNone;", "    endcase", "  endfunction", ""]
    out += [
        "  /// The first word of a message of a whole line; `dirty` and `offset` are 0.",
        "  function automatic header_t header_of(message_e message, id_t id, index_t index);",
        "    logic [4:0] opcode;",
        "    unique case (message)",
    ]
    out += [f"      Msg{_camel(m.name)}: opcode = Op{_camel(m.name)};" for m in table.messages]
    out += [
        "      default: opcode = '1;",
        "    endcase",
        "    return '{opcode: opcode, zero_55: '0, id: id, dmask: '1, ns: 1'b0, dirty: '0,",
        "             zero_40: 1'b0, index: index, offset: '0};",
        "  endfunction",
        "",
    ]
    return out


def _remote(table: Table) -> list[str]:
    out = [
        "  typedef struct packed {",
        "    logic     never;   // cannot occur",
        "    logic     hit;     // done without a message",
        "    logic     blocked; // not in this state: wait",
        "    logic     gack;    // a GACK is owed from now on",
        "    message_e emits;",
        "    remote_e  state;",
        "  } remote_step_t;",
        "",
        "  /// What the remote cache does with a line in `state` at an input.",
        "  function automatic remote_step_t remote_step(remote_e state, input_e what);",
        "    unique case ({state, what})",
    ]
    for step in table.remote:
        flags = [
            "1'b1" if flag else "1'b0"
            for flag in (
                step.does == "never",
                step.does == "hit",
                step.does in ("wait", "no"),
                step.does == "g",
            )
        ]
        emits = "MsgNone" if step.does in _NO_MESSAGE else f"Msg{_camel(step.does)}"
        out.append(f"      {{Remote{_camel(step.state)}, In{_camel(step.input)}}}:")
        out.append(f"        return {{{', '.join(flags)}, {emits}, Remote{_camel(step.next)}}};")
    out += [
        "      default: return {4'b1000, MsgNone, state};",
        "    endcase",
        "  endfunction",
        "",
    ]
    return out


def _home(table: Table) -> list[str]:
    out = [
        "  typedef struct packed {",
        "    logic       never;  // cannot occur",
        "    logic       hold;   // waits until a victim has come",
        "    logic       write;  // into the home's copy, else into memory",
        "    logic       dirty;  // the answer says so",
        "    logic       grant;  // the transaction waits for GACK",
        "    message_e   answer;",
        "    message_e   forward;",
        "    home_e      home;",
        "    directory_e directory;",
        "  } home_step_t;",
        "",
        "  /// What the home does with a request for a line without an open transaction.",
        "  function automatic home_step_t home_step(directory_e directory, home_e home, message_e message);",
        "    unique case ({directory, home, message})",
    ]
    for one in table.requests:
        words = one.does.split()
        flags = ["never" in words, "hold" in words, "write" in words, "dirty" in words, "g" in words]
        bits = ", ".join("1'b1" if flag else "1'b0" for flag in flags)
        forward = next((word for word in words if word in ("FSHR", "FINV")), "none")
        answer = next((word for word in words if word in ("PSHA", "PEMD", "PDAT", "PATM", "PACK")), "none")
        key = f"{{Dir{_camel(one.directory)}, Home{_camel(one.home)}, Msg{_camel(one.message)}}}"
        value = (
            f"{{{bits}, Msg{_camel(answer)}, Msg{_camel(forward)}, "
            f"Home{_camel(one.next_home)}, Dir{_camel(one.next_directory)}}}"
        )
        out += [f"      {key}:", f"        return {value};"]
    out += [
        "      default: return {5'b10000, MsgNone, MsgNone, home, directory};",
        "    endcase",
        "  endfunction",
        "",
    ]
    return out


def _core(table: Table) -> list[str]:
    out = [
        "  typedef struct packed {",
        "    logic     never;   // no such row",
        "    message_e forward; // and go on when the remote has answered; MsgNone: done at once",
        "    home_e    home;",
        "  } core_step_t;",
        "",
        "  /// What the home's own core does with a line without an open transaction. A load of a line that",
        "  /// the home has a copy of needs none of this.",
        "  function automatic core_step_t core_step(core_e what, directory_e directory, home_e home);",
        "    unique case ({what, directory})",
    ]
    for step in table.core:
        forward = "None" if step.does == "hit" else _camel(step.does)
        following = "home" if step.next == "=" else f"Home{_camel(step.next)}"
        out.append(f"      {{Core{_camel(step.input)}, Dir{_camel(step.state)}}}:")
        out.append(f"        return {{1'b0, Msg{forward}, {following}}};")
    out += [
        "      default: return {1'b1, MsgNone, home};",
        "    endcase",
        "  endfunction",
        "",
    ]
    return out


def _response(table: Table) -> list[str]:
    out = [
        "  typedef struct packed {",
        "    logic       never;  // cannot occur",
        "    logic       memory; // its data are written",
        "    logic       heard;  // the remote has answered the forward",
        "    logic       victim; // a victim was seen",
        "    logic       needed; // a victim must come",
        "    logic       free;   // the transaction ends",
        "    directory_e directory;",
        "  } response_step_t;",
        "",
        "  /// What a response does at the home. `seen`: a victim came since the forward.",
        "  function automatic response_step_t response_step(",
        "    phase_e phase, message_e message, directory_e directory, logic seen",
        "  );",
        "    unique case ({phase, message})",
    ]
    for one in table.responses:
        effects = one.effects
        flags = [name in effects for name in ("never", "memory", "h", "v", "n", "free")]
        bits = ", ".join("1'b1" if flag else "1'b0" for flag in flags)
        following = "directory"
        for state in ("I", "O", "S"):
            if state in effects:
                following = f"Dir{state}"
            if f"{state}?" in effects:
                following = f"seen ? DirI : Dir{state}"
        out.append(f"      {{Phase{_camel(one.phase)}, Msg{_camel(one.message)}}}:")
        out.append(f"        return {{{bits}, {following}}};")
    out += [
        "      default: return {6'b100000, directory};",
        "    endcase",
        "  endfunction",
        "",
    ]
    return out


# ---------------------------------------------------------------- Rust
_RUST_HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from rtl/coherence/protocol.toml by python/isthmus/coherence.py: change those, not this.
//! Messages of the coherence protocol, the states of a line as a tracer in the gateware has them, and what
//! a home does: the same table as the gateware's.

/// Circuits of messages about lines.
pub const LINE_CIRCUITS: std::ops::RangeInclusive<u8> = {first}..={last};
"""
_RUST_STATES = (
    ("Remote", "What a cache has of a line of the other end's memory.", REMOTE),
    ("Home", "What the home's own cache has of a line.", HOME),
    ("Directory", "What a home has noted of the other end's copy of a line.", DIRECTORY),
)


def rust(table: Table) -> str:
    """Messages and states for programs that read a tracer, and the steps of a home."""
    circuits = [message.circuit for message in table.messages]
    out = [_RUST_HEAD.format(first=min(circuits), last=max(circuits) + 1)]
    out += ["/// A message about a line.", _DERIVE, "pub enum Message {"]
    for message in table.messages:
        out += [f"    /// {message.text[:1].upper()}{message.text[1:]}.", f"    {_camel(message.name)},"]
    out += ["}", "", "impl Message {"]
    out += _rust_of(
        "The message of a code on a circuit.",
        "circuit: u8, code: u8",
        "(circuit & !1, code)",
        [(f"({m.circuit}, {m.opcode})", _camel(m.name)) for m in table.messages],
    )
    out += ["", *_rust_name([(_camel(m.name), m.name) for m in table.messages])]
    sends = [_camel(m.name) for m in table.messages if m.sender == "home"]
    out += [
        "",
        "    /// Whether the home of the line sends it, and not the end with the cache.",
        "    #[must_use]",
        "    pub const fn from_home(self) -> bool {",
        "        matches!(",
        "            self,",
        *[f"            {'    | ' if at else ''}Self::{name}" for at, name in enumerate(sends)],
        "        )",
        "    }",
        "",
        "    /// Its number in the gateware's `message_e`.",
        "    #[must_use]",
        "    pub const fn number(self) -> u64 {",
        "        self as u64 + 1",
        "    }",
        "}",
    ]
    for kind, what, states in _RUST_STATES:
        out += ["", f"/// {what}", _DERIVE, f"pub enum {kind} {{"]
        for state in states:
            out += [f"    /// {state}.", f"    {_camel(state)},"]
        out += ["}", "", f"impl {kind} {{"]
        numbered = [(str(number), _camel(state)) for number, state in enumerate(states)]
        out += _rust_of("The state of a code.", "code: u8", "code", numbered)
        out += ["", *_rust_name([(_camel(state), state) for state in states]), "}"]
    out += [_RUST_HOME, *_rust_requests(table), *_rust_core(table), *_rust_responses(table)]
    return "\n".join(out).rstrip("\n") + "\n"


_RUST_HOME = """
/// What a home does with a request for a line without an open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestDoes {
    /// It waits until a victim has come.
    Hold,
    /// A forward; it goes on when the remote has answered.
    Forward(Message),
    /// An answer.
    Answer(Message),
    /// An answer, whose acknowledgement ends the transaction.
    Grant(Message),
    /// The same: memory has not what the line is.
    GrantDirty(Message),
    /// Into the home's copy, else into memory; and an answer.
    Write(Message),
}

/// What a response does to the transaction that is open on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseDoes {
    /// Nothing.
    Nothing,
    /// The forward is answered.
    Heard,
    /// It is, and a victim must come.
    HeardBeforeVictim,
    /// A victim was seen.
    Victim,
    /// It ends.
    Free,
}

/// The transaction that is open on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// None.
    Idle,
    /// It waits for an acknowledgement.
    Grant,
    /// An answer is owed.
    Reply,
    /// It waits for the remote.
    Forward,
}

/// An operation of the home's own core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Core {
    /// A load of a line that the home has no copy of.
    Load,
    /// A store.
    Store,
    /// The line is taken back.
    Recall,
}
"""


def _rust_requests(table: Table) -> Iterator[str]:
    yield "/// What a home does with a request, and the states then. None of what cannot occur."
    yield "#[must_use]"
    yield "pub const fn request_step("
    yield "    directory: Directory,"
    yield "    home: Home,"
    yield "    message: Message,"
    yield ") -> Option<(RequestDoes, Home, Directory)> {"
    yield "    use {Directory as D, Home as H, Message as M, RequestDoes as Does};"
    yield "    Some(match (directory, home, message) {"
    for one in table.requests:
        words = one.does.split()
        if "never" in words:
            continue
        name = next((word for word in words if word not in ("hold", "write", "clean", "dirty", "g")), None)
        if name is None:
            does = "Does::Hold"
        else:
            kind = "Answer"
            if name in ("FSHR", "FINV"):
                kind = "Forward"
            elif "g" in words:
                kind = "GrantDirty" if "dirty" in words else "Grant"
            elif "write" in words:
                kind = "Write"
            does = f"Does::{kind}(M::{_camel(name)})"
        key = f"(D::{_camel(one.directory)}, H::{_camel(one.home)}, M::{_camel(one.message)})"
        yield f"        {key} => ({does}, H::{_camel(one.next_home)}, D::{_camel(one.next_directory)}),"
    yield "        _ => return None,"
    yield "    })"
    yield "}"
    yield ""


def _rust_core(table: Table) -> Iterator[str]:
    yield "/// The forward that the home's own core waits for, none: it is done at once; and the home's state"
    yield "/// then. None of what is not in the table. A load of a line that the home has a copy of is not:"
    yield "/// it needs none."
    yield "#[must_use]"
    yield "pub const fn core_step("
    yield "    core: Core,"
    yield "    directory: Directory,"
    yield "    home: Home,"
    yield ") -> Option<(Option<Message>, Home)> {"
    yield "    use {Core as C, Directory as D, Home as H, Message as M};"
    yield "    Some(match (core, directory) {"
    for step in table.core:
        forward = "None" if step.does == "hit" else f"Some(M::{_camel(step.does)})"
        following = "home" if step.next == "=" else f"H::{_camel(step.next)}"
        yield f"        (C::{_camel(step.input)}, D::{_camel(step.state)}) => ({forward}, {following}),"
    yield "        _ => return None,"
    yield "    })"
    yield "}"
    yield ""


def _rust_responses(table: Table) -> Iterator[str]:
    yield "/// What a response does at the home, and the directory then. `seen`: a victim came since the"
    yield "/// forward. None of what cannot occur."
    yield "#[must_use]"
    yield "pub fn response_step("
    yield "    phase: Phase,"
    yield "    message: Message,"
    yield "    directory: Directory,"
    yield "    seen: bool,"
    yield ") -> Option<(ResponseDoes, Directory)> {"
    yield "    use {Directory as D, Message as M, Phase as P, ResponseDoes as Does};"
    if any(effect.endswith("?") for one in table.responses for effect in one.effects):
        yield "    let unless = |state| if seen { D::I } else { state };"
    yield "    Some(match (phase, message) {"
    for one in table.responses:
        effects = one.effects
        if "never" in effects:
            continue
        does = "Nothing"
        if "h" in effects:
            does = "HeardBeforeVictim" if "n" in effects else "Heard"
        elif "v" in effects:
            does = "Victim"
        elif "free" in effects:
            does = "Free"
        following = "directory"
        for state in ("I", "O", "S"):
            if state in effects:
                following = f"D::{state}"
            if f"{state}?" in effects:
                following = f"unless(D::{state})"
        key = f"(P::{_camel(one.phase)}, M::{_camel(one.message)})"
        yield f"        {key} => (Does::{does}, {following}),"
    yield "        _ => return None,"
    yield "    })"
    yield "}"


_DERIVE = "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]"


def _rust_of(what: str, given: str, key: str, rows: Sequence[tuple[str, str]]) -> list[str]:
    return [
        f"    /// {what} None of what the protocol does not have.",
        "    #[must_use]",
        f"    pub const fn of({given}) -> Option<Self> {{",
        f"        match {key} {{",
        *[f"            {code} => Some(Self::{name})," for code, name in rows],
        "            _ => None,",
        "        }",
        "    }",
    ]


def _rust_name(rows: Sequence[tuple[str, str]]) -> list[str]:
    return [
        "    /// Its name in the protocol's table.",
        "    #[must_use]",
        "    pub const fn name(self) -> &'static str {",
        "        match self {",
        *[f'            Self::{variant} => "{name}",' for variant, name in rows],
        "        }",
        "    }",
    ]


# ---------------------------------------------------------------- page
_INTRO = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Generated from rtl/coherence/protocol.toml by python/isthmus/coherence.py: change those, not this. -->
# Coherence protocol

A line of 128 bytes has a *home*, the node that owns its memory, and a *remote* node. Both may have it in
a cache, in the states of MOESI. An agent of the remote node without a cache loads, stores and changes
lines uncached, and is coherent with both caches. `rtl/coherence/protocol.toml` is the table from which
the gateware's package and this page are made.

## Messages
Lines with an odd index use the first of the two virtual circuits, lines with an even index the second.

| message | sender | circuits | code | words | meaning |
|---|---|---|---|---|---|
"""


def page(table: Table) -> str:
    """The reference page."""
    out = [_INTRO.rstrip("\n")]
    for m in table.messages:
        circuits = f"{m.circuit}, {m.circuit + 1}"
        out.append(f"| {m.name} | {m.sender} | {circuits} | {m.opcode} | {m.words} | {m.text} |")
    out += ["", "## Remote cache", "", "| state | " + " | ".join(INPUTS) + " |"]
    out.append("|---" * (len(INPUTS) + 1) + "|")
    cells = {(step.state, step.input): step for step in table.remote}
    for state in REMOTE:
        row = [_cell(cells.get((state, name))) for name in INPUTS]
        out.append(f"| {state} | " + " | ".join(row) + " |")
    out += [
        "",
        "`g`: a GACK is owed, and sent when its circuit has room; until then the request stays open. "
        "An empty cell cannot occur, as `never`.",
        "",
        "## Agent without a cache",
        "It has at most one operation open on a line.",
        "",
        "| state | input | sends | next |",
        "|---|---|---|---|",
    ]
    out += [
        f"| {s.state} | {s.input} | {'' if s.does == 'hit' else s.does} | {s.next} |" for s in table.uncached
    ]
    out += [
        "",
        "## Home: requests",
        "A request is taken while no transaction is open on its line and one is free. `hold`: it waits.",
        "",
        "| directory | home | request | does | home then | directory then |",
        "|---|---|---|---|---|---|",
    ]
    out += [
        f"| {r.directory} | {r.home} | {r.message} | {r.does} | {r.next_home} | {r.next_directory} |"
        for r in table.requests
    ]
    out += [
        "",
        "## Home: its own core",
        "",
        "| operation | directory | does | home then |",
        "|---|---|---|---|",
    ]
    out += [f"| {s.input} | {s.state} | {s.does} | {s.next} |" for s in table.core]
    out += [
        "",
        "## Home: responses",
        "They are always taken and emit nothing. `h`: the remote has answered; `v`: a victim was seen; "
        "`n`: one must come; `O?`, `S?`: unless a victim was seen.",
        "",
        "| response | transaction | effect |",
        "|---|---|---|",
    ]
    out += [f"| {r.message} | {r.phase} | {' '.join(r.effects)} |" for r in table.responses]
    return "\n".join(out) + "\n"


def _cell(step: Step | None) -> str:
    if step is None:
        return ""
    if step.does in ("never", "wait", "no"):
        return step.does
    return f"{step.does} → {step.next}"


if __name__ == "__main__":
    for made in generate():
        print(made)
