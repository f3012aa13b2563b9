# SPDX-License-Identifier: Apache-2.0
"""A model of the numbers that coherence's transactions have, for the model checker rumur.

An id is free again as soon as the gateware frees it, and may be used in the next step: an MSHR of the cache
when its GACK has left (rtl/coherence/coherence_cache_mshrs.sv), an id of the agent without a cache with its
answer (coherence_requester.sv), a transaction of the home when GACK has come or its answer has left
(coherence_directory_tbes.sv). Answers are matched by parity of the line and id, all that comes to the home
by line. Any message overtakes any other. A line is held or not, so the messages of the protocol's table are
few kinds here. `VARIANTS` have one thing wrong each; none may pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isthmus.protocol_models.variant import Variant


@dataclass(frozen=True)
class Numbers:
    """Sizes, and how messages are matched, each as it should be.

    lines    of memory; even and odd ones have ids of their own
    cached   ids of the cache for a parity: the first ones
    others   ids of the agent without a cache for a parity: those behind them
    open     transactions of the home
    by_line  a GACK is matched by its line, not by its id
    held     a request waits while a transaction of its line is open
    until    an MSHR is busy until its GACK has left, not until its answer comes
    parity   an answer is for the ids of its line's parity
    apart    the agent without a cache leaves the cache's ids alone
    kept     the agent's id is busy until the answer, not until the home has the request
    """

    lines: int = 3
    cached: int = 1
    others: int = 1
    open: int = 2
    by_line: bool = True
    held: bool = True
    until: bool = True
    parity: bool = True
    apart: bool = True
    kept: bool = True


_FLAGS = ("by_line", "held", "until", "parity", "apart", "kept")


def model(numbers: Numbers = Numbers()) -> str:
    """The model's text."""
    flags = "\n".join(f"  {name}: {str(getattr(numbers, name)).lower()};" for name in _FLAGS)
    return f"""\
-- Made by python/isthmus/protocol_models/ids.py.
const
  Lines: {numbers.lines};
  First: {numbers.cached};
  Ids: {numbers.cached + numbers.others};
  Open: {numbers.open};
{flags}
{_STATE}{_RULES}"""


_STATE = """\
type
  Line: 0..Lines - 1; Side: 0..1; Id: 0..Ids - 1; Tbe: 0..Open - 1; Few: 0..2;
  Copy: enum { cNone, cAsked, cHas };
  Phase: enum { pFree, pGrant, pForward, pReply };
  Request: record open: boolean; line: Line; owed: boolean; end;
  Transaction: record
    phase: Phase; line: Line; id: Id; asked: boolean; heard: boolean; victim: boolean; needed: boolean;
  end;
var
  copy: array [Line] of Copy; has: array [Line] of boolean;  -- the cache; the directory
  mshr: array [Side] of array [Id] of Request;
  agent: array [Side] of array [Id] of Request;
  tbe: array [Tbe] of Transaction;
  -- The network. The line of an answer is not in the message: it is compared, not used.
  request: array [Line] of array [Id] of boolean; answer: array [Line] of array [Id] of boolean;
  wanted: array [Line] of array [Id] of boolean;  -- a request of the agent
  gack: array [Line] of array [Id] of Few; victim: array [Line] of Few;
  forward: array [Line] of boolean; given: array [Line] of boolean; empty: array [Line] of boolean;

function side(a: Line): Side; begin return a % 2; end;
function busy(a: Line): boolean;
begin
  for t: Tbe do if tbe[t].phase != pFree & tbe[t].line = a then return true; end; end;
  return false;
end;
function open(a: Line): boolean;  -- the cache has a request of the line
begin
  for i: Id do if mshr[side(a)][i].open & mshr[side(a)][i].line = a then return true; end; end;
  return false;
end;
function asks(a: Line): boolean;
begin
  for i: Id do if agent[side(a)][i].open & agent[side(a)][i].line = a then return true; end; end;
  return false;
end;
procedure alone(a: Line; i: Id);  -- no message of an older transaction with this id is left
begin
  for b: Line do
    if side(b) = side(a) then
      assert "an id is of one transaction" !request[b][i] & !wanted[b][i] & !answer[b][i];
    end;
  end;
  cover "an id is used again while its last GACK is under way"
    exists b: Line do side(b) = side(a) & b != a & gack[b][i] > 0 end;
end;
procedure close(t: Tbe); begin undefine tbe[t]; tbe[t].phase := pFree; end;
procedure begin_at(t: Tbe; a: Line; i: Id; phase: Phase; asked: boolean);
begin
  tbe[t].phase := phase; tbe[t].line := a; tbe[t].id := i; tbe[t].asked := asked;
  tbe[t].heard := false; tbe[t].victim := false; tbe[t].needed := false;
end;
procedure go_on(t: Tbe);
begin
  if tbe[t].heard & (!tbe[t].needed | tbe[t].victim) then
    if tbe[t].asked then tbe[t].phase := pReply; else close(t); end;
  end;
end;
procedure free(var r: Request); begin undefine r; r.open := false; r.owed := false; end;

startstate begin
  undefine tbe; undefine mshr; undefine agent;
  for t: Tbe do tbe[t].phase := pFree; end;
  for s: Side do for i: Id do free(mshr[s][i]); free(agent[s][i]); end; end;
  for a: Line do
    copy[a] := cNone; has[a] := false; victim[a] := 0; forward[a] := false; given[a] := false;
    empty[a] := false;
    for i: Id do request[a][i] := false; wanted[a][i] := false; answer[a][i] := false; gack[a][i] := 0; end;
  end;
end;
"""

_RULES = """
ruleset a: Line; i: Id do
  rule "the cache asks" i < First & copy[a] = cNone & !open(a) & !mshr[side(a)][i].open ==>
  begin
    alone(a, i);
    copy[a] := cAsked; request[a][i] := true; mshr[side(a)][i].open := true; mshr[side(a)][i].line := a;
  end;
  rule "the agent asks" (i >= First | !apart) & !asks(a) & !agent[side(a)][i].open ==>
  begin
    alone(a, i);
    wanted[a][i] := true; agent[side(a)][i].open := true; agent[side(a)][i].line := a;
  end;
  ruleset t: Tbe do
    rule "the home grants" request[a][i] & tbe[t].phase = pFree & (!busy(a) | !held) & !has[a] ==>
    begin request[a][i] := false; answer[a][i] := true; has[a] := true; begin_at(t, a, i, pGrant, true); end;
    rule "the home forwards"
      wanted[a][i] & tbe[t].phase = pFree & (!busy(a) | !held) & has[a] & !forward[a] ==>
    begin
      wanted[a][i] := false; forward[a] := true; begin_at(t, a, i, pForward, true);
      if !kept then free(agent[side(a)][i]); end;
    end;
  end;
  rule "the home answers" wanted[a][i] & (!busy(a) | !held) & !has[a] ==>
  begin
    wanted[a][i] := false; answer[a][i] := true;
    if !kept then free(agent[side(a)][i]); end;
  end;
  rule "an answer comes" answer[a][i] ==>
  var s: Side; b: Line;
  begin
    answer[a][i] := false;
    s := side(a);
    if !parity & (mshr[0][i].open | agent[0][i].open) then s := 0; end;
    if i < First then
      assert "an answer is for an open request" mshr[s][i].open & !mshr[s][i].owed;
      b := mshr[s][i].line;
      assert "an answer of the cache is of its request" b = a & copy[b] = cAsked;
      copy[b] := cHas; mshr[s][i].owed := true;
      if !until then mshr[s][i].open := false; end;
    else
      assert "an answer is for an open operation" agent[s][i].open;
      assert "an answer of the agent is of its operation" agent[s][i].line = a;
      free(agent[s][i]);
    end;
  end;
  rule "GACK comes" gack[a][i] > 0 ==>
  var found: boolean;
  begin
    gack[a][i] := gack[a][i] - 1; found := false;
    for t: Tbe do
      if !found & tbe[t].phase != pFree & ((by_line & tbe[t].line = a) | (!by_line & tbe[t].id = i)) then
        assert "a GACK ends its own transaction" tbe[t].phase = pGrant & tbe[t].line = a & tbe[t].id = i;
        found := true; close(t);
      end;
    end;
    assert "a GACK finds its transaction" found;
  end;
end;
ruleset s: Side; i: Id do
  rule "GACK leaves" mshr[s][i].owed ==>
  var b: Line;
  begin b := mshr[s][i].line; gack[b][i] := gack[b][i] + 1; free(mshr[s][i]); end;
end;
ruleset a: Line do
  rule "the cache evicts" copy[a] = cHas ==> begin copy[a] := cNone; victim[a] := victim[a] + 1; end;
  rule "a forward comes" forward[a] ==>
  begin
    forward[a] := false;
    if copy[a] = cHas then copy[a] := cNone; given[a] := true; else empty[a] := true; end;
  end;
  ruleset t: Tbe do
    rule "the home wants the line" has[a] & tbe[t].phase = pFree & !busy(a) ==>
    begin forward[a] := true; begin_at(t, a, 0, pForward, false); end;
    rule "the copy comes" given[a] & tbe[t].phase = pForward & tbe[t].line = a ==>
    begin given[a] := false; has[a] := false; tbe[t].heard := true; go_on(t); end;
    rule "no copy comes" empty[a] & tbe[t].phase = pForward & tbe[t].line = a ==>
    begin empty[a] := false; tbe[t].heard := true; tbe[t].needed := true; go_on(t); end;
    rule "the reply leaves" tbe[t].phase = pReply & tbe[t].line = a ==>
    begin answer[a][tbe[t].id] := true; close(t); end;
  end;
  rule "a victim comes" victim[a] > 0 ==>
  begin
    assert "a victim is of a line that the cache had" has[a];
    victim[a] := victim[a] - 1; has[a] := false;
    for t: Tbe do
      if tbe[t].phase = pForward & tbe[t].line = a then tbe[t].victim := true; go_on(t); end;
    end;
  end;
end;
liveness "all numbers are free again"
  forall s: Side do forall i: Id do !mshr[s][i].open & !agent[s][i].open end end &
  forall t: Tbe do tbe[t].phase = pFree end;
"""


VARIANTS: Mapping[str, Variant[Numbers]] = {
    "gack-by-id": Variant("a GACK ends the transaction that has its id", Numbers(by_line=False)),
    "not-held": Variant("the home opens a second transaction of a line", Numbers(held=False)),
    "freed-early": Variant("an MSHR is free with its answer, before its GACK has left", Numbers(until=False)),
    "no-parity": Variant("an answer is looked up without its line's parity", Numbers(parity=False)),
    "ids-shared": Variant("the agent without a cache uses the cache's ids", Numbers(apart=False)),
    "freed-by-home": Variant("an id is free once the home has its request", Numbers(kept=False)),
}
"""By name; each must be found to be wrong."""
