# SPDX-License-Identifier: Apache-2.0
"""A model of shared page tables for the model checker rumur: host, rtl/svm/atc.sv, and accesses under way.

One page of the program and a few frames. The host maps the page to a frame, unmaps it, sends an
invalidation, and gives the frame to something else when the invalidation completes. Invalidations share an
ordered channel with forwards, which an access may need before it is performed; nothing else is ordered. An
invalidation of another page, which ends an epoch as well, may come at any time. `VARIANTS` have one thing
wrong each; none may pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isthmus.protocol_models.variant import Variant


@dataclass(frozen=True)
class Rules:
    """Sizes, and what the device does, each as it should be.

    frames, uses, epochs   frames that the page may have; accesses open at once; epochs that are told apart
    waits                  an invalidation waits for the uses of its epoch
    older                  and for those of epochs before it
    drops                  a translation that was asked for before an invalidation is asked for again
    swept                  an epoch ends when the translation is out of the store
    piped                  a use counts from the lookup on, not only when its access leaves the device
    acknowledged           a use ends with its acknowledgement, not when its access leaves the device
    aside                  an invalidation leaves the channel when it comes, whatever it has to wait for
    bounded                an epoch ends only if the next one is free
    """

    frames: int = 2
    uses: int = 1
    epochs: int = 3
    waits: bool = True
    older: bool = True
    drops: bool = True
    swept: bool = True
    piped: bool = True
    acknowledged: bool = True
    aside: bool = True
    bounded: bool = True


_FLAGS = ("waits", "older", "drops", "swept", "piped", "acknowledged", "aside", "bounded")


def model(rules: Rules = Rules()) -> str:
    """The model's text."""
    flags = "\n".join(f"  {name}: {str(getattr(rules, name)).lower()};" for name in _FLAGS)
    return f"""\
-- Made by python/isthmus/protocol_models/translation.py.
const
  Frames: {rules.frames};
  Uses: {rules.uses};
  Epochs: {rules.epochs};
  Places: 2;  -- of the channel from the host
{flags}
{_RULES}"""


_RULES = """
type
  Frame: 0..Frames - 1;
  Maybe: 0..Frames;          -- Frames: none
  Order: 0..Frames;          -- an invalidation, by its frame; Frames: of another page
  Use: 0..Uses - 1;
  Epoch: 0..Epochs - 1;
  Place: 0..Places - 1; Count: 0..Places;
  Host: enum { fFree, fMapped, fDying };
  Where: enum { iNone, iChannel, iWaiting, iStarted, iSwept, iEnded, iAnswered };
  Miss: enum { mNone, mAsked, mFound };
  Access: enum { aNone, aLooked, aSent, aHeld, aForward, aPerformed };
  Word: record forward: boolean; order: Order; user: Use; end;
var
  table: Maybe; host: array [Frame] of Host;
  inv: array [Order] of Where;
  line: array [Place] of Word; length: Count;
  store: Maybe;                                    -- what the device has
  miss: Miss; found: Maybe; stale: boolean;
  access: array [Use] of Access; via: array [Use] of Maybe; counted: array [Use] of boolean;
  born: array [Use] of Epoch;
  epoch: Epoch; oldest: Epoch; owner: array [Epoch] of Order;

function word(forward: boolean; order: Order; user: Use): Word;
var w: Word;
begin
  w.forward := forward; w.order := order; w.user := user;
  return w;
end;
procedure pop();
begin
  for p: Place do if p + 1 < length then line[p] := line[p + 1]; end; end;
  length := length - 1;
  line[length] := word(false, 0, 0);
end;
procedure forget(u: Use);
begin
  access[u] := aNone; via[u] := Frames; counted[u] := false; born[u] := 0;
end;
procedure perform(u: Use);
begin
  assert "an access to a frame that is in other hands" host[via[u]] != fFree;
  access[u] := aPerformed;
end;
function empty(e: Epoch): boolean;
begin
  for u: Use do if access[u] != aNone & counted[u] & born[u] = e then return false; end; end;
  return true;
end;
function busy(): boolean;  -- the device is at an invalidation
begin
  for o: Order do if inv[o] = iStarted | inv[o] = iSwept then return true; end; end;
  return false;
end;
procedure take_out(o: Order);
begin
  if store = o & o != Frames then store := Frames; end;
end;
procedure close(o: Order);
begin
  owner[epoch] := o; inv[o] := iEnded;
  epoch := (epoch + 1) % Epochs;
end;

startstate begin
  table := 0; for f: Frame do host[f] := fFree; end; host[0] := fMapped;
  for o: Order do inv[o] := iNone; end;
  for p: Place do line[p] := word(false, 0, 0); end; length := 0;
  store := Frames; miss := mNone; found := Frames; stale := false;
  for u: Use do forget(u); end;
  epoch := 0; oldest := 0; for e: Epoch do owner[e] := Frames; end;
end;

-- The host.
ruleset f: Frame do
  rule "map" table = Frames & host[f] = fFree ==> begin table := f; host[f] := fMapped; end;
  rule "unmap" table = f & length < Places ==>
  begin
    table := Frames; host[f] := fDying; inv[f] := iChannel;
    line[length] := word(false, f, 0); length := length + 1;
  end;
  rule "use the frame for something else" inv[f] = iAnswered ==> begin inv[f] := iNone; host[f] := fFree; end;
end;
rule "unmap another page" inv[Frames] = iNone & length < Places ==>
begin
  inv[Frames] := iChannel;
  line[length] := word(false, Frames, 0); length := length + 1;
end;
rule "another page's answer" inv[Frames] = iAnswered ==> begin inv[Frames] := iNone; end;
rule "translate" miss = mAsked ==> begin miss := mFound; found := table; end;

-- The device: translations.
rule "ask" store = Frames & miss = mNone ==> begin miss := mAsked; end;
rule "store" miss = mFound ==>
begin
  if !(drops & stale) then store := found; end;
  miss := mNone; found := Frames; stale := false;
end;
rule "evict" store != Frames ==> begin store := Frames; end;

-- The device: invalidations.
ruleset o: Order do
  rule "take" length > 0 & !line[0].forward & line[0].order = o &
      (aside | forall u: Use do access[u] = aNone end) ==>
  begin pop(); inv[o] := iWaiting; end;
  rule "start" inv[o] = iWaiting & !busy() & (!bounded | (epoch + 1) % Epochs != oldest) ==>
  begin
    if o != Frames & miss != mNone then stale := true; end;
    if swept then inv[o] := iStarted; else close(o); end;
  end;
  rule "sweep" inv[o] = iStarted ==> begin take_out(o); inv[o] := iSwept; end;
  rule "end the epoch" inv[o] = iSwept ==> begin close(o); end;
  rule "sweep late" !swept & inv[o] = iEnded & store = o & o != Frames ==> begin take_out(o); end;
  rule "complete" oldest != epoch & owner[oldest] = o & inv[o] = iEnded & (!waits | empty(oldest)) ==>
  begin inv[o] := iAnswered; owner[oldest] := Frames; oldest := (oldest + 1) % Epochs; end;
  rule "complete out of turn" !older & inv[o] = iEnded &
      exists e: Epoch do owner[e] = o & e != oldest & e != epoch & empty(e) end ==>
  begin inv[o] := iAnswered; end;
end;
rule "an epoch is over without its order" !older & oldest != epoch & empty(oldest) &
    inv[owner[oldest]] != iEnded ==>
begin owner[oldest] := Frames; oldest := (oldest + 1) % Epochs; end;

-- Accesses.
ruleset u: Use do
  rule "look up" access[u] = aNone & store != Frames ==>
  begin access[u] := aLooked; via[u] := store; counted[u] := piped; born[u] := epoch; end;
  rule "hit in the device's cache" access[u] = aLooked ==>
  begin perform(u); forget(u); end;
  rule "send" access[u] = aLooked ==>
  begin
    access[u] := aSent;
    if !piped then counted[u] := true; born[u] := epoch; end;
    if !acknowledged then counted[u] := false; end;
  end;
  rule "perform" access[u] = aSent ==>
  begin perform(u); end;
  rule "a forward is needed" access[u] = aSent & length < Places ==>
  begin access[u] := aForward; line[length] := word(true, 0, u); length := length + 1; end;
  rule "perform behind the forward" access[u] = aHeld ==>
  begin perform(u); end;
  rule "acknowledge" access[u] = aPerformed ==> begin forget(u); end;
end;
rule "answer a forward" length > 0 & line[0].forward ==>
begin access[line[0].user] := aHeld; pop(); end;

ruleset f: Frame do
  invariant "no translation to a frame that is in other hands" host[f] = fFree -> store != f;
  invariant "no access under way to a frame that is in other hands"
    host[f] = fFree -> forall u: Use do via[u] = f -> access[u] = aPerformed end;
  liveness "an invalidation completes" host[f] != fDying;
end;
liveness "accesses end" forall u: Use do access[u] = aNone end;
"""


VARIANTS: Mapping[str, Variant[Rules]] = {
    "at_once": Variant("an invalidation completes at once", Rules(waits=False)),
    "own": Variant("it waits for the uses of its own epoch alone", Rules(older=False)),
    "kept": Variant("a translation asked for before it is stored", Rules(drops=False)),
    "unswept": Variant("the epoch ends before the store is swept", Rules(swept=False)),
    "pipe": Variant("uses inside the device do not count", Rules(piped=False)),
    "network": Variant("uses under way to memory do not count", Rules(acknowledged=False)),
    "behind": Variant("it stays in the channel until no access is open", Rules(aside=False)),
    "overrun": Variant("an epoch ends though the next still waits", Rules(bounded=False, epochs=2)),
}
"""By name; each must be found to be wrong."""
