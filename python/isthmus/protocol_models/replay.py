# SPDX-License-Identifier: Apache-2.0
"""A model of the block link's replay for the model checker rumur: rtl/blocklink/blocklink_replay.sv, one way.

End A sends numbered blocks; end B acknowledges them in idle and SYNC blocks. Every block, either way, may be
altered or vanish. Labels count modulo twice the numbers, so that an old block cannot look like a new one.
`VARIANTS` have one thing wrong each; none may pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isthmus.protocol_models.variant import Variant


@dataclass(frozen=True)
class Link:
    """One link. Its numbers are modulo `numbers`; `window` blocks are kept at most.

    places     blocks that the lanes hold, each way
    numbered   the check covers a block's number
    cleared    who sends SYNC forgets the acknowledgements that it has not sent
    """

    numbers: int = 3
    places: int = 1
    window: int = 2
    numbered: bool = True
    cleared: bool = True


def model(link: Link = Link()) -> str:
    """The model's text."""
    flags = "\n".join(f"  {name}: {str(getattr(link, name)).lower()};" for name in ("numbered", "cleared"))
    return f"""\
-- Made by python/isthmus/protocol_models/replay.py.
const
  N: {link.numbers};
  W: {link.window};
  Places: {link.places};
{flags}
type
  Number: 0..N - 1; Label: 0..2 * N - 1; Kept: 0..W; Place: 0..Places - 1; Count: 0..Places;
  Kind: enum {{ kData, kIdle, kSync, kBad }};
  Block: record
    kind: Kind; name: Label; number: Number; ack: boolean; answer: boolean; request: boolean;
  end;
  Lanes: record block: array [Place] of Block; count: Count; end;
var
  there: Lanes; back: Lanes;
  oldest: Number; held: Kept; next: Kept; first: Label; answerA: boolean; okA: boolean;
  rx: Number; position: Number; want: Label; acks: Kept; answerB: boolean; okB: boolean;
{_RULES}"""


_RULES = """
function plain(kind: Kind): Block;
var b: Block;
begin
  b.kind := kind; b.name := 0; b.number := 0; b.ack := false; b.answer := false; b.request := false;
  return b;
end;
procedure send(var lanes: Lanes; b: Block);
begin
  lanes.block[lanes.count] := b; lanes.count := lanes.count + 1;
end;
procedure cut(var lanes: Lanes; place: Place);
begin
  for p: Place do if p >= place & p + 1 < lanes.count then lanes.block[p] := lanes.block[p + 1]; end; end;
  lanes.count := lanes.count - 1;
  lanes.block[lanes.count] := plain(kIdle);
end;
procedure free(k: Number);
begin
  assert "what is acknowledged was sent" k <= held;
  oldest := (oldest + k) % N; first := (first + k) % (2 * N); held := held - k;
  if next >= k then next := next - k;
  else next := 0; answerA := true;
  end;
end;

startstate begin
  for p: Place do there.block[p] := plain(kIdle); back.block[p] := plain(kIdle); end;
  there.count := 0; back.count := 0;
  oldest := 0; held := 0; next := 0; first := 0; answerA := false; okA := false;
  rx := 0; position := 0; want := 0; acks := 0; answerB := false; okB := false;
end;

rule "A sends" there.count < Places ==>
var b: Block;
begin
  if answerA | !okA then
    b := plain(kSync); b.answer := answerA; b.request := !okA; b.number := (oldest + next) % N;
    answerA := false;
  elsif next < held then
    b := plain(kData); b.name := (first + next) % (2 * N); b.number := (oldest + next) % N; next := next + 1;
  else
    b := plain(kIdle); b.number := (oldest + next) % N;
  end;
  send(there, b);
end;
rule "A sends a new block" there.count < Places & !answerA & okA & next = held & held < W ==>
var b: Block;
begin
  b := plain(kData); b.name := (first + next) % (2 * N); b.number := (oldest + next) % N;
  next := next + 1; held := held + 1;
  send(there, b);
end;
rule "A waits for too long" okA & held > 0 ==> begin okA := false; end;
rule "B sends" back.count < Places ==>
var b: Block;
begin
  if answerB | !okB then
    b := plain(kSync); b.answer := answerB; b.request := !okB; b.number := rx;
    answerB := false;
    if cleared then acks := 0; end;
  else
    b := plain(kIdle); b.ack := acks > 0;
    if acks > 0 then acks := acks - 1; end;
  end;
  send(back, b);
end;
ruleset p: Place do
  rule "a block there is altered" p < there.count & there.block[p].kind != kBad ==>
  begin there.block[p] := plain(kBad); end;
  rule "a block back is altered" p < back.count & back.block[p].kind != kBad ==>
  begin back.block[p] := plain(kBad); end;
  rule "a block there vanishes" p < there.count ==> begin cut(there, p); end;
  rule "a block back vanishes" p < back.count ==> begin cut(back, p); end;
end;

rule "B receives" there.count > 0 ==>
var b: Block;
begin
  b := there.block[0]; cut(there, 0);
  if b.kind = kSync then
    if b.request then answerB := true; end;
    if b.answer then position := b.number; okB := true; end;
  elsif okB then
    if b.kind = kBad | (numbered & b.number != position) then okB := false;
    elsif b.kind = kData then
      if position = rx then
        assert "every block once, in order" b.name = want;
        want := (want + 1) % (2 * N); rx := (rx + 1) % N;
        assert "acknowledgements of blocks that are kept" acks < W;
        acks := acks + 1;
      end;
      position := (position + 1) % N;
    end;
  end;
end;
rule "A receives" back.count > 0 ==>
var b: Block;
begin
  b := back.block[0]; cut(back, 0);
  if b.kind = kSync then
    free((b.number + N - oldest) % N);
    if b.request then next := 0; answerA := true; end;
    if b.answer then okA := true; end;
  elsif okA then
    if b.kind = kBad then okA := false;
    elsif b.ack then free(1);
    end;
  end;
end;

invariant "the next block is among those kept" next <= held;
liveness "everything is acknowledged in the end" okA & okB & held = 0;
liveness "a new block can be sent" okA & held < W;
"""


VARIANTS: Mapping[str, Variant[Link]] = {
    "window": Variant("as many blocks are kept as there are numbers", Link(window=3)),
    "unnumbered": Variant("the check does not cover the number", Link(numbered=False)),
    "uncleared": Variant("acknowledgements are sent although SYNC has said them", Link(cleared=False)),
}
"""By name; each must be found to be wrong."""
