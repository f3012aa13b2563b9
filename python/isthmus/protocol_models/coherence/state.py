# SPDX-License-Identifier: Apache-2.0
"""The state of the coherence protocol's model: its types, variables and procedures."""

from __future__ import annotations

import re

from isthmus.coherence import HOME, REMOTE, Table
from isthmus.protocol_models.coherence.network import ANY_ORDER, FIFO, FIFO_TYPES
from isthmus.protocol_models.coherence.system import Rules, System

FLYING = 2
"""Messages of one kind, line and value under way; more is an error that the model reports."""
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
ALIAS = "alias " + "; ".join(f"{name}: l[a].{name}" for name in _FIELDS) + " do"
"""The state of line `a` by the names of its fields."""
END = "end; -- alias"


def _limits(system: System) -> str:
    """Places that lines share, where there is more than one."""
    if system.lines == 1:
        return ""
    shared = {"Mshrs": system.mshrs, "Ids": system.ids, "Ways": system.ways, "Entries": system.entries}
    return "".join(f"  {name}: {number or system.lines};\n" for name, number in shared.items())


_LIMITS = """\
function mshr(a: At): boolean;  -- the cache may send a request
var open: 0..Lines;
begin
  open := 0;
  for b: At do
    if b % Homes = a % Homes &
       (l[b].owed | l[b].remote = rIS | l[b].remote = rIM | l[b].remote = rSM | l[b].remote = rOM) then
      open := open + 1;
    end;
  end;
  return open < Mshrs;
end;
function id(a: At): boolean;  -- the agent without a cache may
var open: 0..Lines;
begin
  open := 0;
  for b: At do if b % Homes = a % Homes & l[b].agent != uIdle then open := open + 1; end; end;
  return open < Ids;
end;
function way(a: At; asked: boolean): boolean;  -- a way of the cache is free, of what it has, or has asked for
var used: 0..Lines;
begin
  used := 0;
  for b: At do
    if b % Homes = a % Homes & l[b].remote != rI &
       (asked | (l[b].remote != rIS & l[b].remote != rIM)) then
      used := used + 1;
    end;
  end;
  return used < Ways;
end;
"""
ENTRIES = """\
function used(a: At): boolean;  -- the home has an entry of the line
begin return l[a].directory != dirI | l[a].home != hI | l[a].phase != pIdle; end;
function entry(a: At): boolean;  -- or may have one
var others: 0..Lines;
begin
  others := 0;
  for b: At do if b != a & b % Homes = a % Homes & used(b) then others := others + 1; end; end;
  return others < Entries;
end;
function wanted(a: At): boolean;  -- a request waits for this line's entry
var n: Node;
begin
  n := 1 - a % Homes;
  for b: At do for k: Link do
    if b != a & b % Homes = a % Homes & !entry(b) then
      if count[n][v2][k] > 0 then if fifo[n][v2][k][0].a = b then return true; end; end;
      if count[n][v6][k] > 0 then if fifo[n][v6][k][0].a = b then return true; end; end;
    end;
  end; end;
  return false;
end;
"""


def spelled(text: str) -> str:
    """The same with whole names in place of the aliases, which take rumur long."""
    names = re.compile(rf"(?<![.\w])({'|'.join(_FIELDS)})\b")

    def whole(found: re.Match[str]) -> str:
        pieces = re.split(r'("[^"]*"|--[^\n]*)', found[1])
        pieces[::2] = [names.sub(r"l[a].\1", piece) for piece in pieces[::2]]
        return "".join(pieces)

    return re.sub(f"{re.escape(ALIAS)}(.*?){re.escape(END)}", whole, text, flags=re.DOTALL)


def flat(text: str) -> str:
    """The same of one line, whose fields are variables: four times as fast to explore."""
    text = text.replace(ALIAS, "").replace(END, "").replace("l[a].", "").replace("l[b].", "")
    text = text.replace(f"  State: record\n{_STATE}  end;\n", "")
    return text.replace("  l: array [At] of State;\n", _STATE)


def declarations(table: Table, system: System, rules: Rules) -> str:
    sent = {m.name: m for m in table.messages}
    alias = {"UACK": "PACK", "PEMC": "PEMD", "PEMX": "PEMD"}
    operations = [*alias, *(name for name in sent if name != "PEMD")]
    circuits = ", ".join(f"v{circuit}" for circuit in sorted({m.circuit for m in table.messages}))
    of = {name: sent[alias.get(name, name)] for name in operations}
    homes = "; ".join(f"case m{name}: return true" for name, m in of.items() if m.sender == "home")
    shared = {8: 6} if rules.mixed else {}
    where = "; ".join(f"case m{name}: return v{shared.get(m.circuit, m.circuit)}" for name, m in of.items())
    network = (FIFO if system.places else ANY_ORDER).format(
        places=system.places, homes=homes, where=where, flying=FLYING
    )
    return f"""\
-- Made by python/isthmus/protocol_models/coherence from rtl/coherence/protocol.toml.
const
  Lines: {system.lines};
  Homes: {system.homes};
  Open: {system.open};
  Values: {system.values};
{_limits(system)}type
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
{FIFO_TYPES.format(circuits=circuits, places=system.places, links=system.links) if system.places else ""}\
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
{_LIMITS if system.lines > 1 else ""}procedure write(a: At; v: Value; beside: boolean);
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
  {ALIAS}
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
  {END}
end;
procedure go_on(a: At);  -- once the remote has answered, and its victim is here
begin
  {ALIAS}
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
  {END}
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


LINE_RULES = (
    """\
rule "GACK" owed & room(a, mGACK) ==> begin send(a, mGACK, 0); owed := false; end;""",
    """\
rule "reply" phase = pReply & room(a, mPDAT) & room(a, mUACK) ==>
begin
  switch why
  case wUload: send(a, mPDAT, kept);
  case wUstore: send(a, mUACK, 0);
  else send(a, mPATM, kept);
  end;
  rest(a);
end;""",
    """\
rule "core evict" !still & phase = pIdle & home != hI ==>
begin
  if home = hM | home = hO then memory := line; end;
  home := hI; line := 0;
end;""",
)

PRESSED = """\
function pressed(a: At): boolean;  -- a fill waits for this line's way
begin
  for b: At do
    if b % Homes = a % Homes & (l[b].remote = rIS | l[b].remote = rIM) & !way(b, false) then return true; end;
  end;
  return false;
end;
"""

STOP = """
-- What is open must end by itself, without anybody's evicting something.
rule "all stop" !still ==> begin still := true; end;
rule "and go on" still & quiet() ==> begin still := false; end;
"""

INVARIANTS = """
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
