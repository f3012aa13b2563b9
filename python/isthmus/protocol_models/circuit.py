# SPDX-License-Identifier: Apache-2.0
"""A model of a circuit's credits over a link that alters and loses blocks, for the model checker rumur.

End B sends words, as rtl/blocklink/blocklink_pack.sv: a chunk leaves with credits for all its words. End A
takes them out of its buffer one at a time and returns a credit for each `unit` (blocklink_depack.sv), in a
numbered block which blocklink_replay.sv keeps and repeats. Every block from A, and every acknowledgement from
B, may be altered or vanish. Words always arrive once here: the replay's own model shows it (`replay.py`).
`VARIANTS` have one thing wrong each; none may pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isthmus.protocol_models.variant import Variant


@dataclass(frozen=True)
class Circuit:
    """One circuit, and what blocks do with its credits, each as it should be.

    depth    words of the buffer; chunk: words that leave together, at most; unit: words of a credit
    numbers  of blocks; window: blocks that are kept at most
    numbered credits leave in blocks that are numbered and kept, not in idle ones
    repeated a block that is sent again has its credits again
    fresh    credits count in a block that comes for the first time only
    checked  credits count only in a block whose check is right
    """

    depth: int = 3
    chunk: int = 2
    unit: int = 2
    numbers: int = 2
    window: int = 1
    numbered: bool = True
    repeated: bool = True
    fresh: bool = True
    checked: bool = True


_FLAGS = ("numbered", "repeated", "fresh", "checked")


def model(circuit: Circuit = Circuit()) -> str:
    """The model's text."""
    flags = "\n".join(f"  {name}: {str(getattr(circuit, name)).lower()};" for name in _FLAGS)
    return f"""\
-- Made by python/isthmus/protocol_models/circuit.py.
const
  Depth: {circuit.depth};
  Chunk: {circuit.chunk};
  Unit: {circuit.unit};
  N: {circuit.numbers};
  W: {circuit.window};
{flags}
{_RULES}"""


_RULES = """\
type
  Number: 0..N - 1; Kept: 0..W; Words: 0..Depth;
  Kind: enum { kNone, kData, kIdle, kSync, kBad };
  Block: record
    kind: Kind; number: Number; credit: boolean; ack: boolean; answer: boolean; request: boolean;
  end;
var
  there: Block; back: Block;                                    -- what the lanes hold, from A and from B
  oldest: Number; held: Kept; next: Kept; answerA: boolean; okA: boolean;
  rx: Number; position: Number; acks: Kept; answerB: boolean; okB: boolean;
  kept: array [Number] of boolean;                              -- the block has a credit
  credits: Words; freed: Words; want: 0..Chunk;                 -- of B; of A; what B has to send
  away: Words;                                                  -- sent, and not taken out of the buffer yet

function plain(kind: Kind; number: Number): Block;
var b: Block;
begin
  b.kind := kind; b.number := number; b.credit := false;
  b.ack := false; b.answer := false; b.request := false;
  return b;
end;
procedure count();  -- a credit comes to B
begin
  assert "no more credits than room" credits + away + freed + Unit <= Depth;
  credits := credits + Unit;
end;
procedure free(k: Number);
begin
  assert "what is acknowledged was sent" k <= held;
  for i: Number do if (i + N - oldest) % N < k then kept[i] := false; end; end;
  oldest := (oldest + k) % N; held := held - k;
  if next >= k then next := next - k;
  else next := 0; answerA := true;
  end;
end;

startstate begin
  there := plain(kNone, 0); back := plain(kNone, 0);
  oldest := 0; held := 0; next := 0; answerA := false; okA := false;
  rx := 0; position := 0; acks := 0; answerB := false; okB := false;
  for i: Number do kept[i] := false; end;
  credits := Depth; away := 0; freed := 0; want := 0;
end;

rule "B has a word" want = 0 ==> begin want := 1; end;
rule "B has a chunk" want = 0 ==> begin want := Chunk; end;
rule "B sends it" want > 0 & credits >= want ==>
begin credits := credits - want; away := away + want; want := 0; end;
rule "A takes a word" away > 0 ==> begin away := away - 1; freed := freed + 1; end;

rule "A sends" there.kind = kNone ==>
var n: Number;
begin
  n := (oldest + next) % N;
  if answerA | !okA then
    there := plain(kSync, n); there.answer := answerA; there.request := !okA; answerA := false;
  elsif next < held then
    there := plain(kData, n); there.credit := kept[n] & repeated; next := next + 1;
  elsif numbered & freed >= Unit & held < W then
    there := plain(kData, n); there.credit := true; kept[n] := true; freed := freed - Unit;
    next := next + 1; held := held + 1;
  else
    there := plain(kIdle, n);
    if !numbered & freed >= Unit then there.credit := true; freed := freed - Unit; end;
  end;
end;
rule "A sends words of its own" there.kind = kNone & !answerA & okA & next = held & held < W &
  (freed < Unit | !numbered) ==>
begin
  there := plain(kData, (oldest + next) % N); next := next + 1; held := held + 1;
end;
rule "A waits for too long" okA & held > 0 ==> begin okA := false; end;
rule "B sends" back.kind = kNone ==>
begin
  if answerB | !okB then
    back := plain(kSync, rx); back.answer := answerB; back.request := !okB; answerB := false; acks := 0;
  else
    back := plain(kIdle, 0); back.ack := acks > 0;
    if acks > 0 then acks := acks - 1; end;
  end;
end;
rule "a block there is altered" there.kind != kNone & there.kind != kBad ==>
var credit: boolean;
begin credit := there.credit & !checked; there := plain(kBad, 0); there.credit := credit; end;
rule "a block back is altered" back.kind != kNone & back.kind != kBad ==> begin back := plain(kBad, 0); end;
rule "a block there vanishes" there.kind != kNone ==> begin there := plain(kNone, 0); end;
rule "a block back vanishes" back.kind != kNone ==> begin back := plain(kNone, 0); end;

rule "B receives" there.kind != kNone ==>
var b: Block;
begin
  b := there; there := plain(kNone, 0);
  if b.kind = kSync then
    if b.request then answerB := true; end;
    if b.answer then position := b.number; okB := true; end;
  elsif okB then
    if b.kind = kBad then
      okB := false;
      if b.credit then count(); end;
    elsif b.number != position then okB := false;
    elsif b.kind = kData then
      if position = rx then
        assert "acknowledgements of blocks that are kept" acks < W;
        rx := (rx + 1) % N; acks := acks + 1;
        if b.credit then count(); end;
      elsif b.credit & !fresh then count();
      end;
      position := (position + 1) % N;
    elsif b.credit then count();
    end;
  end;
end;
rule "A receives" back.kind != kNone ==>
var b: Block;
begin
  b := back; back := plain(kNone, 0);
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

invariant "no more words than room" credits + away + freed <= Depth;
liveness "what waits for credits leaves" want = 0;
liveness "all credits come back" credits + freed = Depth;
"""


VARIANTS: Mapping[str, Variant[Circuit]] = {
    "in-idle": Variant("credits leave in idle blocks, which are not repeated", Circuit(numbered=False), True),
    "not-repeated": Variant("a block is sent again without its credits", Circuit(repeated=False), True),
    "twice": Variant("credits of a repeat that is dropped count", Circuit(fresh=False)),
    "unchecked": Variant("credits of an altered block count", Circuit(checked=False)),
    "small": Variant("the buffer has no room for a chunk and what a unit holds back", Circuit(depth=2), True),
    "window": Variant("as many blocks are kept as there are numbers", Circuit(window=2)),
}
"""By name; each must be found to be wrong."""
