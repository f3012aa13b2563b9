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

from isthmus.coherence import Table
from isthmus.protocol_models.coherence import rows
from isthmus.protocol_models.coherence.network import linked
from isthmus.protocol_models.coherence.state import (
    ALIAS,
    END,
    ENTRIES,
    INVARIANTS,
    LINE_RULES,
    PRESSED,
    STOP,
    declarations,
    flat,
    spelled,
)
from isthmus.protocol_models.coherence.system import ONE_LINE, RIGHT, Rules, System


def model(table: Table, rules: Rules = RIGHT, covered: bool = True, system: System = ONE_LINE) -> str:
    """The model's text. `covered`: a row that is never used is an error as well."""
    reply, evict = "phase = pReply", "!still & phase = pIdle"
    parts = [
        *(rows.remote(step, rules, system) for step in table.remote),
        *(rows.uncached(step, system) for step in table.uncached if system.uncached),
        *(rows.request(one, rules, system) for one in table.requests if one.message not in rows.ALIKE),
        *(rows.core(step, rules, system) for step in table.core if system.core),
        *(rows.response(one, rules) for one in table.responses),
        *(
            rule.replace(reply, reply + rows.TOGETHER if system.together else reply).replace(
                evict, rows.idle(True, rules, system)
            )
            for rule in LINE_RULES
        ),
    ]
    if system.places:
        parts = [linked(part, system.links) for part in parts if part]
    parts = [
        declarations(table, system, rules),
        ENTRIES if system.entries else "",
        PRESSED if rules.late else "",
        f"ruleset a: At do\n{ALIAS}",
        *parts,
        f"{END}\nend;",
        STOP,
        f"ruleset a: At do\n{ALIAS}",
        INVARIANTS,
        f"{END}\nend;",
    ]
    text = "\n".join(part for part in parts if part)
    text = flat(text) if system.lines == 1 else spelled(text)
    return text if covered else re.sub(r'cover "[^"]*" true; ', "", text)
