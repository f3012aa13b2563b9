# SPDX-License-Identifier: Apache-2.0
"""Bitwuzla as a program: SMT-LIB commands on standard input, answers on standard output.

Its package on PyPI is a library; yosys-smtbmc starts `bitwuzla --lang smt2`. This file needs nothing else of
isthmus, since it is started once for each task of a proof.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

_HIDES = re.compile(r'\|[^|]*\||"[^"]*"|;.*')
"""Parts of a line whose parentheses do not count: quoted names, strings, comments."""


def commands(lines: Iterable[str]) -> Iterator[str]:
    """Whole commands; one may have several lines, as a line may have several."""
    open_, part = 0, []
    for line in lines:
        text = _HIDES.sub("", line) if "|" in line or '"' in line or ";" in line else line
        open_ += text.count("(") - text.count(")")
        part.append(line)
        if open_ <= 0:
            command = "".join(part)
            open_, part = 0, []
            if text.strip() or command.strip().startswith("("):
                yield command


def main() -> int:
    if "--help" in sys.argv:
        # smtbmc looks for this option to tell versions apart.
        print("bitwuzla --lang smt2: SMT-LIB commands on standard input")
        return 0
    from bitwuzla import BitwuzlaException, Option, Options, Parser, TermManager

    options = Options()
    options.set(Option.PRODUCE_MODELS, True)
    parser = Parser(TermManager(), options, "smt2")
    for command in commands(sys.stdin):
        if command.strip() == "(exit)":
            break
        try:
            parser.parse(command, False, False)
        except BitwuzlaException as err:
            print(f'(error "{str(err).replace(chr(34), chr(39))}")')
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
