# SPDX-License-Identifier: Apache-2.0
"""The network of the coherence protocol's model: any order, or FIFOs with few places."""

from __future__ import annotations

import re

ANY_ORDER = """\
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

FIFO_TYPES = """\
  Node: 0..1;
  Link: 0..{links} - 1;
  Circuit: enum {{ {circuits} }};
  Place: 0..{places} - 1;
  Count: 0..{places};
  Sent: record m: Message; a: At; v: Value; end;
"""

FIFO = """\
  fifo: array [Node] of array [Circuit] of array [Link] of array [Place] of Sent;
  count: array [Node] of array [Circuit] of array [Link] of Count;

function by_home(m: Message): boolean;
begin switch m {homes}; else return false; end; end;
function circuit(m: Message): Circuit;
begin switch m {where}; end; end;
function sender(a: At; m: Message): Node;
begin if by_home(m) then return a % Homes; end; return 1 - a % Homes; end;
function there(k: Link; a: At; m: Message; v: Value): boolean;
var n: Node; c: Circuit;
begin
  n := sender(a, m); c := circuit(m);
  if count[n][c][k] = 0 then return false; end;
  return fifo[n][c][k][0].m = m & fifo[n][c][k][0].a = a & fifo[n][c][k][0].v = v;
end;
function room(k: Link; a: At; m: Message): boolean;
begin return count[sender(a, m)][circuit(m)][k] < {places}; end;
procedure send(k: Link; a: At; m: Message; v: Value);
var n: Node; c: Circuit;
begin
  n := sender(a, m); c := circuit(m);
  assert "a message has room" count[n][c][k] < {places};
  fifo[n][c][k][count[n][c][k]].m := m; fifo[n][c][k][count[n][c][k]].a := a;
  fifo[n][c][k][count[n][c][k]].v := v;
  count[n][c][k] := count[n][c][k] + 1;
end;
procedure take(k: Link; a: At; m: Message; v: Value);
var n: Node; c: Circuit;
begin
  n := sender(a, m); c := circuit(m);
  for i: Place do if i + 1 < count[n][c][k] then fifo[n][c][k][i] := fifo[n][c][k][i + 1]; end; end;
  count[n][c][k] := count[n][c][k] - 1;
  undefine fifo[n][c][k][count[n][c][k]];
end;
function empty(): boolean;
begin
  for n: Node do for c: Circuit do for k: Link do
    if count[n][c][k] != 0 then return false; end;
  end; end; end;
  return true;
end;
procedure nothing();
begin
  for n: Node do for c: Circuit do for k: Link do count[n][c][k] := 0; end; end; end;
  undefine fifo;
end;
"""


def linked(text: str, links: int) -> str:
    """Rules with the link of each message: what is taken comes from link j, what is sent goes to k."""
    from_, to = ("j", "k") if links > 1 else ("0", "0")
    text = re.sub(r"\b(there|take)\(", rf"\1({from_}, ", text)
    text = re.sub(r"\b(room|send)\(", rf"\1({to}, ", text)
    for name, used in ((from_, r"\b(there|take)\("), (to, r"\b(room|send)\(")):
        if links > 1 and re.search(used, text):
            text = f"ruleset {name}: Link do {text} end;"
    return text
