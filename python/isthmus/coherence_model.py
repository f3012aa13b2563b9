# SPDX-License-Identifier: Apache-2.0
"""A model of the coherence protocol for the model checker rumur, made from the table of `isthmus.coherence`.

A line has its home, a remote cache and an agent without a cache. `System` says how many lines and homes there
are, and what the network does: any message overtakes any other, as over two links, or each virtual circuit is
a FIFO with few places in which the first message blocks the others. Every row of the table is a rule, so what
is checked is what the gateware is made from. `VARIANTS` are tables and rules that must not pass: each has
one thing wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from isthmus.coherence import HOME, REMOTE, Request, Response, Step, Table

FLYING = 2
"""Messages of one kind, line and value under way; more is an error that the model reports."""
_KIND: Mapping[str, str] = {
    "RLDI": "uload", "RSTT": "ustore", "RSTP": "ustore",
    "RINC": "uatomic", "RDEC": "uatomic", "RCAS": "uatomic",
}  # fmt: skip
_ALIKE = ("RSTP", "RDEC", "RCAS")
"""Differ from RSTT and RINC in data alone, of which the model has one bit."""


@dataclass(frozen=True)
class Rules:
    """What is not in the table, as it should be.

    stale   loads of the agent without a cache are answered from memory, whatever the home's copy says
    beside  its stores are written to memory beside the home's copy
    at_once a grant is taken only when its GACK has room, and not with the GACK owed
    mixed   forwards share the circuit of requests
    blocked victims wait while a transaction of their line is open and no forward of it
    """

    stale: bool = False
    beside: bool = False
    at_once: bool = False
    mixed: bool = False
    blocked: bool = False


@dataclass(frozen=True)
class System:
    """What is around the table.

    lines     of memory; line a belongs to node a modulo `homes`, and the other node caches it
    homes     1, or 2: each node is home of some lines and caches the others', over the same circuits
    places    of the FIFO of each circuit, each way; 0: no FIFO, messages come in any order
    open      transactions of a home at a time
    values    of a line: stores of 0 and 1 show any lost or stale one, with 1 value only deadlocks are seen
    uncached  the agents without a cache work
    """

    lines: int = 1
    homes: int = 1
    places: int = 0
    open: int = 1
    values: int = 2
    uncached: bool = True


ONE_LINE = System()
"""One line, messages in any order: every row of the table is used."""
TWO_HOMES = System(lines=2, homes=2, places=1, values=1, uncached=False)
"""Both ends are homes and caches, and each circuit holds one message: the smallest room to go on in."""


def model(table: Table, rules: Rules = Rules(), covered: bool = True, system: System = ONE_LINE) -> str:
    """The model's text. `covered`: a row that is never used is an error as well."""
    rows = [
        *(_remote(step, rules) for step in table.remote),
        *(_uncached(step) for step in table.uncached if system.uncached),
        *(_request(one, rules) for one in table.requests if one.message not in _ALIKE),
        *(_core(step) for step in table.core),
        *(_response(one, rules) for one in table.responses),
        _LINE_RULES,
    ]
    parts = [
        _declarations(table, system, rules),
        f"ruleset a: At do\n{_ALIAS}",
        *rows,
        f"{_END}\nend;",
        _STOP,
        f"ruleset a: At do\n{_ALIAS}",
        _INVARIANTS,
        f"{_END}\nend;",
    ]
    text = "\n".join(part for part in parts if part)
    if system.lines == 1:
        text = _flat(text)
    return text if covered else re.sub(r'cover "[^"]*" true; ', "", text)


_FIELDS = (
    "remote", "copy", "owed", "agent", "home", "line", "memory", "directory", "phase", "why", "kept", "given",
    "heard", "victim", "needed", "truth",
)  # fmt: skip
_STATE = """\
    remote: Remote; copy: Value; owed: boolean;          -- the remote cache; a GACK is owed
    agent: Uncached;                                     -- the agent without a cache
    home: Home; line: Value; memory: Value; directory: Directory;
    phase: Phase; why: Why; kept: Value; given: boolean; -- the home's transaction; data came with HAKO
    heard: boolean; victim: boolean; needed: boolean;
    truth: Value;                                        -- the value that every load must see
"""
_ALIAS = "alias " + "; ".join(f"{name}: l[a].{name}" for name in _FIELDS) + " do"
"""The state of line `a` by the names of its fields."""
_END = "end; -- alias"


def _flat(text: str) -> str:
    """The same of one line, whose fields are variables: four times as fast to explore."""
    text = text.replace(_ALIAS, "").replace(_END, "").replace("l[a].", "").replace("l[b].", "")
    text = text.replace(f"  State: record\n{_STATE}  end;\n", "")
    return text.replace("  l: array [At] of State;\n", _STATE)


def _declarations(table: Table, system: System, rules: Rules) -> str:
    sent = {m.name: m for m in table.messages}
    alias = {"UACK": "PACK", "PEMC": "PEMD", "PEMX": "PEMD"}
    operations = [*alias, *(name for name in sent if name != "PEMD")]
    circuits = ", ".join(f"v{circuit}" for circuit in sorted({m.circuit for m in table.messages}))
    of = {name: sent[alias.get(name, name)] for name in operations}
    homes = "; ".join(f"case m{name}: return true" for name, m in of.items() if m.sender == "home")
    shared = {8: 6} if rules.mixed else {}
    where = "; ".join(f"case m{name}: return v{shared.get(m.circuit, m.circuit)}" for name, m in of.items())
    network = (_FIFO if system.places else _ANY_ORDER).format(
        places=system.places, homes=homes, where=where, flying=FLYING
    )
    return f"""\
-- Made by python/isthmus/coherence_model.py from rtl/coherence/protocol.toml.
const
  Lines: {system.lines};
  Homes: {system.homes};
  Open: {system.open};
  Values: {system.values};
type
  At: 0..Lines - 1;
  Value: 0..Values - 1;
  Message: enum {{ {", ".join(f"m{name}" for name in operations)} }};
  Remote: enum {{ {", ".join(f"r{name}" for name in REMOTE)} }};
  Home: enum {{ {", ".join(f"h{name}" for name in HOME)} }};
  Directory: enum {{ dirI, dirS, dirE, dirO }};
  Uncached: enum {{ uIdle, uL, uW, uA }};
  Phase: enum {{ pIdle, pGrant, pReply, pForward }};
  Why: enum {{ wNone, wLoad, wStore, wRecall, wUload, wUstore, wUatomic }};
  State: record
{_STATE}  end;
{_FIFO_TYPES.format(circuits=circuits, places=system.places) if system.places else ""}\
var
  l: array [At] of State;
  still: boolean;                                        -- no new operation begins
{network}
function data(a: At): Value;
begin
  if l[a].home != hI then return l[a].line; end;
  return l[a].memory;
end;
function place(a: At): boolean;  -- the home may open a transaction
var open: 0..Lines;
begin
  open := 0;
  for b: At do if b % Homes = a % Homes & l[b].phase != pIdle then open := open + 1; end; end;
  return open < Open;
end;
procedure write(a: At; v: Value; beside: boolean);
begin
  if l[a].home != hI & !beside then l[a].line := v; else l[a].memory := v; end;
  l[a].truth := v;
end;
procedure rest(a: At);
begin
  l[a].phase := pIdle; l[a].why := wNone; l[a].kept := 0; l[a].given := false;
  l[a].heard := false; l[a].victim := false; l[a].needed := false;
end;
procedure perform(a: At);  -- what the agent without a cache wants, no copy being left in the remote cache
begin
  {_ALIAS}
  if why = wUload then
    if !given then kept := data(a); end;
    assert "an uncached load sees the last store" kept = truth;
  elsif why = wUstore then
    if home != hI then home := hM; end;
    write(a, kept, false); kept := 0;
  else
    assert "an atomic sees the last store" data(a) = truth;
    kept := data(a);
    if home != hI then home := hM; end;
    write(a, (kept + 1) % Values, false);
  end;
  phase := pReply; given := false; heard := false; victim := false; needed := false;
  {_END}
end;
procedure go_on(a: At);  -- once the remote has answered, and its victim is here
begin
  {_ALIAS}
  if phase = pForward & heard & (!needed | victim) then
    switch why
    case wLoad:
      if home = hI then
        line := memory;
        if directory = dirI then home := hE; else home := hS; end;
      end;
      rest(a);
    case wStore: home := hM; line := kept; truth := kept; rest(a);
    case wRecall: rest(a);
    else perform(a);
    end;
  end;
  {_END}
end;
function quiet(): boolean;
begin
  for a: At do
    if l[a].phase != pIdle | l[a].owed | l[a].agent != uIdle then return false; end;
    if l[a].remote = rIS | l[a].remote = rIM | l[a].remote = rSM | l[a].remote = rOM then
      return false;
    end;
  end;
  return empty();
end;

startstate begin
  for a: At do
    l[a].remote := rI; l[a].copy := 0; l[a].owed := false; l[a].agent := uIdle; l[a].home := hI;
    l[a].line := 0; l[a].memory := 0; l[a].directory := dirI; l[a].truth := 0; rest(a);
  end;
  nothing(); still := false;
end;
"""


_ANY_ORDER = """\
  net: array [At] of array [Message] of array [Value] of 0..{flying} + 1;

function there(a: At; m: Message; v: Value): boolean; begin return net[a][m][v] > 0; end;
function room(a: At; m: Message): boolean; begin return true; end;
procedure send(a: At; m: Message; v: Value);
begin
  net[a][m][v] := net[a][m][v] + 1;
  assert "few messages of a kind" net[a][m][v] <= {flying};
end;
procedure take(a: At; m: Message; v: Value); begin net[a][m][v] := net[a][m][v] - 1; end;
function empty(): boolean;
begin
  for a: At do for m: Message do for v: Value do
    if net[a][m][v] != 0 then return false; end;
  end; end; end;
  return true;
end;
procedure nothing();
begin
  for a: At do for m: Message do for v: Value do net[a][m][v] := 0; end; end; end;
end;
"""

_FIFO_TYPES = """\
  Node: 0..1;
  Circuit: enum {{ {circuits} }};
  Place: 0..{places} - 1;
  Count: 0..{places};
  Sent: record m: Message; a: At; v: Value; end;
"""

_FIFO = """\
  fifo: array [Node] of array [Circuit] of array [Place] of Sent;
  count: array [Node] of array [Circuit] of Count;

function by_home(m: Message): boolean;
begin switch m {homes}; else return false; end; end;
function circuit(m: Message): Circuit;
begin switch m {where}; end; end;
function sender(a: At; m: Message): Node;
begin if by_home(m) then return a % Homes; end; return 1 - a % Homes; end;
function there(a: At; m: Message; v: Value): boolean;
var n: Node; c: Circuit;
begin
  n := sender(a, m); c := circuit(m);
  if count[n][c] = 0 then return false; end;
  return fifo[n][c][0].m = m & fifo[n][c][0].a = a & fifo[n][c][0].v = v;
end;
function room(a: At; m: Message): boolean;
begin return count[sender(a, m)][circuit(m)] < {places}; end;
procedure send(a: At; m: Message; v: Value);
var n: Node; c: Circuit;
begin
  n := sender(a, m); c := circuit(m);
  assert "a message has room" count[n][c] < {places};
  fifo[n][c][count[n][c]].m := m; fifo[n][c][count[n][c]].a := a; fifo[n][c][count[n][c]].v := v;
  count[n][c] := count[n][c] + 1;
end;
procedure take(a: At; m: Message; v: Value);
var n: Node; c: Circuit;
begin
  n := sender(a, m); c := circuit(m);
  for i: Place do if i + 1 < count[n][c] then fifo[n][c][i] := fifo[n][c][i + 1]; end; end;
  count[n][c] := count[n][c] - 1;
  undefine fifo[n][c][count[n][c]];
end;
function empty(): boolean;
begin
  for n: Node do for c: Circuit do if count[n][c] != 0 then return false; end; end; end;
  return true;
end;
procedure nothing();
begin
  for n: Node do for c: Circuit do count[n][c] := 0; end; end;
  undefine fifo;
end;
"""


def _rule(name: str, guard: str, body: str, values: bool = True) -> str:
    """A rule for every value `v`; that it is used is checked as well. What it sends needs room, a transaction
    that it opens a place."""
    for message in dict.fromkeys(re.findall(r"send\(a, (m\w+)", body)):
        guard += f" & room(a, {message})"
    if re.search("phase := p(Grant|Forward)", body):
        guard += " & place(a)"
    text = f'rule "{name}" {guard} ==> begin cover "{name} is used" true; {body} end;'
    return f"ruleset v: Value do {text} end;" if values else text


def _no_value(text: str) -> str:
    """The rule of a message without a line."""
    return text.replace(", v)", ", 0)")


def _name(message: str) -> str:
    return {"PEMD clean": "PEMC", "PEMD dirty": "PEMX"}.get(message, message)


_LINES = ("VICD", "HAKD", "HAKO")
_EMPTY = ("I", "IS", "IM")


def _remote(step: Step, rules: Rules) -> str:
    now, then = f"remote = r{step.state}", f"remote := r{step.next};"
    forget = " copy := 0;" if step.next in _EMPTY else ""
    name = f"remote {step.state} {step.input}"
    if step.input in ("load", "store", "evict"):
        if step.does in ("wait", "no") or (step.does == "hit" and step.state == step.next == "I"):
            return ""
        if step.does == "hit":
            seen = 'assert "a load sees the last store" copy = truth;' if step.input == "load" else ""
            put = "copy := v; truth := v;" if step.input == "store" else ""
            return _rule(name, f"!still & {now}", f"{seen}{put} {then}{forget}", step.input == "store")
        carried = "copy" if step.does in _LINES else "0"
        free = "" if step.input == "evict" else " & !owed"
        return _rule(
            name, f"!still & {now}{free}", f"send(a, m{step.does}, {carried}); {then}{forget}", False
        )
    message = f"m{_name(step.input)}"
    guard = f"{now} & there(a, {message}, v)"
    if step.does == "never":
        return f'ruleset v: Value do rule "{name} never" {guard} ==> begin assert "{name}" false; end; end;'
    if step.does in ("g", "hit"):
        fill = "copy := v;" if step.input != "PACK" else ""
        grant = 'assert "one GACK is owed" !owed; owed := true;' if step.does == "g" else ""
        if grant and rules.at_once:
            grant = "send(a, mGACK, 0);"
        text = _rule(name, guard, f"take(a, {message}, v); {fill} {grant} {then}", step.input != "PACK")
        return text if step.input != "PACK" else _no_value(text)
    carried = "copy" if step.does in _LINES else "0"
    text = _rule(
        name, guard, f"take(a, {message}, v); send(a, m{step.does}, {carried}); {then}{forget}", False
    )
    return _no_value(text)


def _uncached(step: Step) -> str:
    name = f"agent {step.state} {step.input}"
    if step.state == "idle":
        if step.does in _ALIKE:
            return ""
        stored = step.does == "RSTT"
        body = f"send(a, m{step.does}, {'v' if stored else '0'}); agent := u{step.next};"
        return _rule(name, "!still & agent = uIdle", body, stored)
    message = "UACK" if step.input == "PACK" else step.input
    body = f"take(a, m{message}, v); agent := uIdle;"
    text = _rule(name, f"agent = u{step.state} & there(a, m{message}, v)", body, message != "UACK")
    return text if message != "UACK" else _no_value(text)


def _request(one: Request, rules: Rules) -> str:
    words = one.does.split()
    if "hold" in words:
        return ""
    message = f"m{one.message}"
    name = f"home {one.directory} {one.home} {one.message}"
    stored = one.message == "RSTT"
    at = "v" if stored else "0"
    guard = f"phase = pIdle & directory = dir{one.directory} & home = h{one.home} & there(a, {message}, {at})"
    if "never" in words:
        return f'rule "{name} never" {guard} ==> begin assert "{name}" false; end;'
    then = f"home := h{one.next_home}; directory := dir{one.next_directory};"
    if one.next_home == "I":
        then += " line := 0;"
    body = f"take(a, {message}, {at}); "
    if words[0] in ("FSHR", "FINV"):
        kept = "kept := v; " if stored else ""
        body += (
            f"send(a, m{words[0]}, 0); phase := pForward; why := w{_KIND[one.message].capitalize()}; {kept}"
        )
    elif words[0] == "write" and one.message == "RSTT":
        body += f"write(a, v, {str(rules.beside).lower()}); send(a, mUACK, 0); {then}"
    elif words[0] == "write":
        body += (
            'assert "an atomic sees the last store" data(a) = truth; '
            f"send(a, mPATM, data(a)); write(a, (data(a) + 1) % Values, false); {then}"
        )
    elif words[0] == "PDAT":
        value = "memory" if rules.stale else "data(a)"
        body += f'assert "an uncached load sees the last store" {value} = truth; send(a, mPDAT, {value});'
    else:
        answer = _name(" ".join(word for word in words if word != "g"))
        body += f"send(a, m{answer}, {'0' if answer == 'PACK' else 'data(a)'}); {then}"
        body += " phase := pGrant;" if "g" in words else ""
    return _rule(name, guard, body, stored)


def _core(step: Step) -> str:
    name = f"core {step.input} {step.state}"
    guard = f"!still & phase = pIdle & directory = dir{step.state}"
    if step.input == "load":
        guard += " & home = hI"
    if step.does == "hit":
        stored = step.input == "store"
        put = "line := v; truth := v;" if stored else "line := memory;"
        return _rule(name, guard, f"home := h{step.next}; {put}", stored)
    kept = "kept := v; " if step.input == "store" else ""
    body = f"send(a, m{step.does}, 0); phase := pForward; why := w{step.input.capitalize()}; {kept}"
    return _rule(name, guard, body, step.input == "store")


def _response(one: Response, rules: Rules) -> str:
    name = f"response {one.message} {one.phase}"
    carries = one.message in _LINES
    at = "v" if carries else "0"
    guard = f"phase = p{one.phase.capitalize()} & there(a, m{one.message}, {at})"
    if "never" in one.effects:
        text = f'rule "{name} never" {guard} ==> begin assert "{name}" false; end;'
        return f"ruleset v: Value do {text} end;" if carries else text
    if rules.blocked and one.message.startswith("VIC") and one.phase in ("grant", "reply"):
        return ""
    body = [f"take(a, m{one.message}, {at});"]
    if "memory" in one.effects:
        body.append("memory := v;")
    for state in ("I", "O", "S"):
        if state in one.effects:
            body.append(f"directory := dir{state};")
        if f"{state}?" in one.effects:
            body.append(f"if !victim then directory := dir{state}; end;")
    if one.message == "HAKO":
        body.append("if why = wLoad then home := hS; line := v; else kept := v; given := true; end;")
    flags = {"h": "heard", "v": "victim", "n": "needed"}
    body += [f"{flag} := true;" for effect, flag in flags.items() if effect in one.effects]
    if "free" in one.effects:
        body.append("rest(a);")
    body.append("go_on(a);")
    return _rule(name, guard, " ".join(body), carries)


_LINE_RULES = """
rule "GACK" owed & room(a, mGACK) ==> begin send(a, mGACK, 0); owed := false; end;
rule "reply" phase = pReply & room(a, mPDAT) & room(a, mUACK) ==>
begin
  switch why
  case wUload: send(a, mPDAT, kept);
  case wUstore: send(a, mUACK, 0);
  else send(a, mPATM, kept);
  end;
  rest(a);
end;
rule "core evict" !still & phase = pIdle & home != hI ==>
begin
  if home = hM | home = hO then memory := line; end;
  home := hI; line := 0;
end;
"""

_STOP = """
-- What is open must end by itself, without anybody's evicting something.
rule "all stop" !still ==> begin still := true; end;
rule "and go on" still & quiet() ==> begin still := false; end;
"""

_INVARIANTS = """
invariant "one writer: the remote" (remote = rE | remote = rM) -> home = hI;
invariant "one writer: the home"
  (home = hE | home = hM) ->
    !(remote = rS | remote = rE | remote = rM | remote = rO | remote = rSM | remote = rOM);
invariant "one owner" !((home = hM | home = hO) & (remote = rM | remote = rO | remote = rOM));
invariant "every copy at the remote is the last store"
  (remote = rS | remote = rE | remote = rM | remote = rO | remote = rSM | remote = rOM) -> copy = truth;
invariant "the home's copy is the last store" home != hI -> line = truth;
invariant "the directory covers every copy"
  (remote = rS | remote = rE | remote = rM | remote = rO | remote = rSM | remote = rOM) -> directory != dirI;
invariant "exclusive and clean is what memory has" (remote = rE | home = hE) -> memory = truth;
"""


@dataclass(frozen=True)
class Variant:
    """A protocol with one thing wrong."""

    what: str
    change: Callable[[Table], Table] = lambda table: table
    rules: Rules = Rules()
    system: System = ONE_LINE


def _remote_row(state: str, name: str, does: str, following: str) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        rows = [
            replace(s, does=does, next=following) if (s.state, s.input) == (state, name) else s
            for s in table.remote
        ]
        assert rows != list(table.remote)
        return replace(table, remote=tuple(rows))

    return change


def _request_rows(
    directory: str, homes: str, messages: str, does: str, home: str = "", following: str = ""
) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        rows = [
            replace(r, does=does, next_home=home or r.next_home, next_directory=following or r.next_directory)
            if r.directory == directory and r.home in homes.split() and r.message in messages.split()
            else r
            for r in table.requests
        ]
        assert rows != list(table.requests)
        return replace(table, requests=tuple(rows))

    return change


def _response_row(message: str, phase: str, effects: str) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        rows = [
            replace(r, effects=tuple(effects.split())) if (r.message, r.phase) == (message, phase) else r
            for r in table.responses
        ]
        assert rows != list(table.responses)
        return replace(table, responses=tuple(rows))

    return change


def _no_gack(table: Table) -> Table:
    remote = [replace(s, does="hit") if s.does == "g" else s for s in table.remote]
    requests = [replace(r, does=r.does.removesuffix(" g")) for r in table.requests]
    return replace(table, remote=tuple(remote), requests=tuple(requests))


VARIANTS: Mapping[str, Variant] = {
    "no-gack": Variant("the home does not wait until a grant has arrived", _no_gack),
    "silent-eviction": Variant(
        "a shared copy is evicted without VICS", _remote_row("S", "evict", "hit", "I")
    ),
    "upgrade-kept": Variant(
        "FINV meets an upgrade, which keeps its copy", _remote_row("SM", "FINV", "HAKI", "SM")
    ),
    "owner-upgrade-kept": Variant("the same of an owner", _remote_row("OM", "FINV", "HAKD", "OM")),
    "exclusive-kept": Variant("FSHR leaves a copy exclusive", _remote_row("E", "FSHR", "HAKS", "E")),
    "owner-clean": Variant("FSHR makes a dirty copy shared and clean", _remote_row("M", "FSHR", "HAKS", "S")),
    "grant-dirty-clean": Variant(
        "a dirty line is granted as clean", _request_rows("I", "M O", "RLDS", "PEMD clean g", "I", "E")
    ),
    "upgrade-of-nothing": Variant(
        "an upgrade whose copy is gone gets PACK", _request_rows("I", "I", "RUPG", "PACK g", "I", "E")
    ),
    "uncached-held": Variant(
        "an uncached load waits for a victim that nobody sends", _request_rows("E", "I", "RLDI", "hold")
    ),
    "uncached-unsnooped": Variant(
        "an uncached load does not ask the owner", _request_rows("E", "I", "RLDI", "PDAT")
    ),
    "atomic-beside-copy": Variant(
        "an atomic leaves a shared copy", _request_rows("S", "I S O", "RINC", "write PATM")
    ),
    "request-not-held": Variant(
        "a load is granted while a victim is in flight",
        _request_rows("E", "I", "RLDS RLDX", "PEMD clean g", "I", "E"),
    ),
    "owner-after-victim": Variant(
        "HAKO behind a victim makes the remote the owner", _response_row("HAKO", "forward", "O h")
    ),
    "shared-after-victim": Variant(
        "HAKS behind a victim makes the remote share", _response_row("HAKS", "forward", "S h")
    ),
    "victim-not-awaited": Variant("HAKV alone ends a forward", _response_row("HAKV", "forward", "h")),
    "victim-lost": Variant("a victim's data are not written", _response_row("VICD", "idle", "I")),
    "stale-memory": Variant("uncached loads see memory beside the home's copy", rules=Rules(stale=True)),
    "store-beside-copy": Variant("uncached stores leave the home's copy as it was", rules=Rules(beside=True)),
}
"""By name; each must be found to be wrong."""

STUCK: Mapping[str, Variant] = {
    "gack-at-once": Variant(
        "a grant waits until its GACK has room, so an answer blocks answers",
        rules=Rules(at_once=True),
        system=TWO_HOMES,
    ),
    "forwards-with-requests": Variant(
        "forwards share the circuit of requests, which wait for them",
        rules=Rules(mixed=True),
        system=replace(TWO_HOMES, places=2),
    ),
    "victims-wait": Variant(
        "victims wait for the end of their line's transaction, and GACK behind them",
        rules=Rules(blocked=True),
        system=TWO_HOMES,
    ),
}
"""By name; each must come to a stop."""
