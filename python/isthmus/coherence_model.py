# SPDX-License-Identifier: Apache-2.0
"""A model of the coherence protocol for the model checker rumur, made from the table of `isthmus.coherence`.

One line, its home, a remote cache and an agent without a cache; any message may overtake any other, as over
two links. Every row of the table is a rule, so what is checked is what the gateware is made from. `VARIANTS`
are tables and rules that must not pass: each has one thing wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from isthmus.coherence import HOME, REMOTE, Request, Response, Step, Table

VALUES = 2
"""Values of a line: stores of 0 and 1 show any lost or stale one."""
FLYING = 2
"""Messages of one kind and value under way; more is an error that the model reports."""
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
    """

    stale: bool = False
    beside: bool = False


def model(table: Table, rules: Rules = Rules(), covered: bool = True) -> str:
    """The model's text. `covered`: a row that is never used is an error as well."""
    operations = ["UACK", "PEMC", "PEMX", *(m.name for m in table.messages if m.name != "PEMD")]
    parts = [
        _declarations(operations),
        *(_remote(step) for step in table.remote),
        *(_uncached(step) for step in table.uncached),
        *(_request(one, rules) for one in table.requests if one.message not in _ALIKE),
        *(_core(step) for step in table.core),
        *(_response(one) for one in table.responses),
        _REST,
    ]
    text = "\n".join(part for part in parts if part)
    return text if covered else re.sub(r'cover "[^"]*" true; ', "", text)


def _declarations(operations: Sequence[str]) -> str:
    return f"""\
-- Made by python/isthmus/coherence_model.py from rtl/coherence/protocol.toml.
const
  Most: {FLYING};
type
  Value: 0..{VALUES - 1};
  Message: enum {{ {", ".join(f"m{name}" for name in operations)} }};
  Remote: enum {{ {", ".join(f"r{name}" for name in REMOTE)} }};
  Home: enum {{ {", ".join(f"h{name}" for name in HOME)} }};
  Directory: enum {{ dirI, dirS, dirE, dirO }};
  Uncached: enum {{ uIdle, uL, uW, uA }};
  Phase: enum {{ pIdle, pGrant, pReply, pForward }};
  Why: enum {{ wNone, wLoad, wStore, wRecall, wUload, wUstore, wUatomic }};
var
  net: array [Message] of array [Value] of 0..Most + 1;
  remote: Remote; copy: Value; owed: boolean;          -- the remote cache; a GACK is owed
  agent: Uncached;                                     -- the agent without a cache
  home: Home; line: Value; memory: Value; directory: Directory;
  phase: Phase; why: Why; kept: Value; given: boolean; -- the home's transaction; data came with HAKO
  heard: boolean; victim: boolean; needed: boolean;
  truth: Value;                                        -- the value that every load must see
  still: boolean;                                      -- nobody begins anything

procedure send(m: Message; v: Value);
begin
  net[m][v] := net[m][v] + 1;
  assert "few messages of a kind" net[m][v] <= Most;
end;
procedure take(m: Message; v: Value);
begin
  net[m][v] := net[m][v] - 1;
end;
function data(): Value;
begin
  if home != hI then return line; end;
  return memory;
end;
procedure write(v: Value; beside: boolean);
begin
  if home != hI & !beside then line := v; else memory := v; end;
  truth := v;
end;
procedure rest();
begin
  phase := pIdle; why := wNone; kept := 0; given := false; heard := false; victim := false; needed := false;
end;
procedure perform();  -- what the agent without a cache wants, no copy being left in the remote cache
begin
  if why = wUload then
    if !given then kept := data(); end;
    assert "an uncached load sees the last store" kept = truth;
  elsif why = wUstore then
    if home != hI then home := hM; end;
    write(kept, false); kept := 0;
  else
    assert "an atomic sees the last store" data() = truth;
    kept := data();
    if home != hI then home := hM; end;
    write(1 - kept, false);
  end;
  phase := pReply; given := false; heard := false; victim := false; needed := false;
end;
procedure go_on();  -- once the remote has answered, and its victim is here
begin
  if phase = pForward & heard & (!needed | victim) then
    switch why
    case wLoad:
      if home = hI then
        line := memory;
        if directory = dirI then home := hE; else home := hS; end;
      end;
      rest();
    case wStore: home := hM; line := kept; truth := kept; rest();
    case wRecall: rest();
    else perform();
    end;
  end;
end;
function quiet(): boolean;
begin
  if phase != pIdle | owed | agent != uIdle then return false; end;
  if remote = rIS | remote = rIM | remote = rSM | remote = rOM then return false; end;
  for m: Message do for v: Value do if net[m][v] != 0 then return false; end; end; end;
  return true;
end;

startstate begin
  for m: Message do for v: Value do net[m][v] := 0; end; end;
  remote := rI; copy := 0; owed := false; agent := uIdle;
  home := hI; line := 0; memory := 0; directory := dirI; rest(); truth := 0; still := false;
end;
"""


def _rule(name: str, guard: str, body: str, values: bool = True) -> str:
    """A rule for every value `v`; that it is used is checked as well."""
    text = f'rule "{name}" {guard} ==> begin cover "{name} is used" true; {body} end;'
    return f"ruleset v: Value do {text} end;" if values else text


def _no_value(text: str) -> str:
    """The rule of a message without a line."""
    return text.replace("[v]", "[0]").replace(", v)", ", 0)")


def _name(message: str) -> str:
    return {"PEMD clean": "PEMC", "PEMD dirty": "PEMX"}.get(message, message)


_LINES = ("VICD", "HAKD", "HAKO")
_EMPTY = ("I", "IS", "IM")


def _remote(step: Step) -> str:
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
        return _rule(name, f"!still & {now}{free}", f"send(m{step.does}, {carried}); {then}{forget}", False)
    message = f"m{_name(step.input)}"
    guard = f"{now} & net[{message}][v] > 0"
    if step.does == "never":
        return f'ruleset v: Value do rule "{name} never" {guard} ==> begin assert "{name}" false; end; end;'
    if step.does in ("g", "hit"):
        fill = "copy := v;" if step.input != "PACK" else ""
        grant = 'assert "one GACK is owed" !owed; owed := true;' if step.does == "g" else ""
        text = _rule(name, guard, f"take({message}, v); {fill} {grant} {then}", step.input != "PACK")
        return text if step.input != "PACK" else _no_value(text)
    carried = "copy" if step.does in _LINES else "0"
    text = _rule(name, guard, f"take({message}, v); send(m{step.does}, {carried}); {then}{forget}", False)
    return _no_value(text)


def _uncached(step: Step) -> str:
    name = f"agent {step.state} {step.input}"
    if step.state == "idle":
        if step.does in _ALIKE:
            return ""
        stored = step.does == "RSTT"
        body = f"send(m{step.does}, {'v' if stored else '0'}); agent := u{step.next};"
        return _rule(name, "!still & agent = uIdle", body, stored)
    message = "UACK" if step.input == "PACK" else step.input
    body = f"take(m{message}, v); agent := uIdle;"
    text = _rule(name, f"agent = u{step.state} & net[m{message}][v] > 0", body, message != "UACK")
    return text if message != "UACK" else _no_value(text)


def _request(one: Request, rules: Rules) -> str:
    words = one.does.split()
    if "hold" in words:
        return ""
    message = f"m{one.message}"
    name = f"home {one.directory} {one.home} {one.message}"
    stored = one.message == "RSTT"
    at = "v" if stored else "0"
    guard = f"phase = pIdle & directory = dir{one.directory} & home = h{one.home} & net[{message}][{at}] > 0"
    if "never" in words:
        return f'rule "{name} never" {guard} ==> begin assert "{name}" false; end;'
    then = f"home := h{one.next_home}; directory := dir{one.next_directory};"
    if one.next_home == "I":
        then += " line := 0;"
    body = f"take({message}, {at}); "
    if words[0] in ("FSHR", "FINV"):
        kept = "kept := v; " if stored else ""
        body += f"send(m{words[0]}, 0); phase := pForward; why := w{_KIND[one.message].capitalize()}; {kept}"
    elif words[0] == "write" and one.message == "RSTT":
        body += f"write(v, {str(rules.beside).lower()}); send(mUACK, 0); {then}"
    elif words[0] == "write":
        body += (
            'assert "an atomic sees the last store" data() = truth; '
            f"send(mPATM, data()); write(1 - data(), false); {then}"
        )
    elif words[0] == "PDAT":
        value = "memory" if rules.stale else "data()"
        body += f'assert "an uncached load sees the last store" {value} = truth; send(mPDAT, {value});'
    else:
        answer = _name(" ".join(word for word in words if word != "g"))
        body += f"send(m{answer}, {'0' if answer == 'PACK' else 'data()'}); {then}"
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
    body = f"send(m{step.does}, 0); phase := pForward; why := w{step.input.capitalize()}; {kept}"
    return _rule(name, guard, body, step.input == "store")


def _response(one: Response) -> str:
    name = f"response {one.message} {one.phase}"
    carries = one.message in _LINES
    at = "v" if carries else "0"
    guard = f"phase = p{one.phase.capitalize()} & net[m{one.message}][{at}] > 0"
    if "never" in one.effects:
        text = f'rule "{name} never" {guard} ==> begin assert "{name}" false; end;'
        return f"ruleset v: Value do {text} end;" if carries else text
    body = [f"take(m{one.message}, {at});"]
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
        body.append("rest();")
    body.append("go_on();")
    return _rule(name, guard, " ".join(body), carries)


_REST = """
rule "GACK" owed ==> begin send(mGACK, 0); owed := false; end;
rule "reply" phase = pReply ==>
begin
  switch why
  case wUload: send(mPDAT, kept);
  case wUstore: send(mUACK, 0);
  else send(mPATM, kept);
  end;
  rest();
end;
rule "core evict" !still & phase = pIdle & home != hI ==>
begin
  if home = hM | home = hO then memory := line; end;
  home := hI; line := 0;
end;
-- What is open must end by itself, without anybody's evicting something.
rule "all stop" !still ==> begin still := true; end;
rule "and go on" still & quiet() ==> begin still := false; end;

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
