# SPDX-License-Identifier: Apache-2.0
"""Rows of the table as rules of the model."""

from __future__ import annotations

import re
from collections.abc import Mapping

from isthmus.coherence import Request, Response, Step
from isthmus.protocol_models.coherence.system import Rules, System

_KIND: Mapping[str, str] = {
    "RLDI": "uload", "RSTT": "ustore", "RSTP": "ustore",
    "RINC": "uatomic", "RDEC": "uatomic", "RCAS": "uatomic",
}  # fmt: skip
ALIKE = ("RSTP", "RDEC", "RCAS")
"""Differ from RSTT and RINC in data alone, of which the model has one bit."""


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


TOGETHER = " & room(a, mFSHR) & room(a, mPDAT) & room(a, mPACK)"
"""Room for all that a home may send at once, in each of its circuits."""
_LINES = ("VICD", "HAKD", "HAKO")
_EMPTY = ("I", "IS", "IM")


def _limits(step: Step, rules: Rules, system: System) -> str:
    """What a request of the cache needs besides room for its message."""
    if system.lines == 1:
        return ""
    return " & mshr(a)" + (" & way(a, true)" if step.state == "I" and not rules.late else "")


def _waits(system: System) -> str:
    """What an input of the home that is no response needs before it is looked at."""
    return (TOGETHER if system.together else "") + (" & entry(a)" if system.entries else "")


def idle(gives: bool, rules: Rules, system: System) -> str:
    """The home may begin something; `gives` up an entry: also where a request of another line needs it."""
    asked = gives and system.entries and not rules.unasked
    return f"{'(!still | wanted(a))' if asked else '!still'} & phase = pIdle"


def remote(step: Step, rules: Rules, system: System) -> str:
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
        if step.input == "evict":
            free = "(!still | pressed(a))" if rules.late else "!still"
        else:
            free = "!still & !owed" + _limits(step, rules, system)
        return _rule(name, f"{free} & {now}", f"send(a, m{step.does}, {carried}); {then}{forget}", False)
    message = f"m{_name(step.input)}"
    guard = f"{now} & there(a, {message}, v)"
    if step.does == "never":
        return f'ruleset v: Value do rule "{name} never" {guard} ==> begin assert "{name}" false; end; end;'
    if step.does in ("g", "hit"):
        fill = "copy := v;" if step.input != "PACK" else ""
        if rules.late and step.state in _EMPTY:
            guard += " & way(a, false)"
        grant = 'assert "one GACK is owed" !owed; owed := true;' if step.does == "g" else ""
        if grant and rules.at_once:
            grant = "send(a, mGACK, 0);"
        text = _rule(name, guard, f"take(a, {message}, v); {fill} {grant} {then}", step.input != "PACK")
        return text if step.input != "PACK" else _no_value(text)
    carried = "copy" if step.does in _LINES else "0"
    if rules.through:
        guard += " & room(a, mRLDX)"
    text = _rule(
        name, guard, f"take(a, {message}, v); send(a, m{step.does}, {carried}); {then}{forget}", False
    )
    return _no_value(text)


def uncached(step: Step, system: System) -> str:
    name = f"agent {step.state} {step.input}"
    if step.state == "idle":
        if step.does in ALIKE:
            return ""
        stored = step.does == "RSTT"
        limit = " & id(a)" if system.lines > 1 else ""
        body = f"send(a, m{step.does}, {'v' if stored else '0'}); agent := u{step.next};"
        return _rule(name, f"!still & agent = uIdle{limit}", body, stored)
    message = "UACK" if step.input == "PACK" else step.input
    body = f"take(a, m{message}, v); agent := uIdle;"
    text = _rule(name, f"agent = u{step.state} & there(a, m{message}, v)", body, message != "UACK")
    return text if message != "UACK" else _no_value(text)


def request(one: Request, rules: Rules, system: System) -> str:
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
    guard += _waits(system)
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


def core(step: Step, rules: Rules, system: System) -> str:
    name = f"core {step.input} {step.state}"
    guard = f"{idle(step.input == 'recall', rules, system)} & directory = dir{step.state}"
    if step.input == "load":
        guard += " & home = hI"
    guard += _waits(system)
    if step.does == "hit":
        stored = step.input == "store"
        put = "line := v; truth := v;" if stored else "line := memory;"
        return _rule(name, guard, f"home := h{step.next}; {put}", stored)
    kept = "kept := v; " if step.input == "store" else ""
    body = f"send(a, m{step.does}, 0); phase := pForward; why := w{step.input.capitalize()}; {kept}"
    return _rule(name, guard, body, step.input == "store")


def response(one: Response, rules: Rules) -> str:
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
