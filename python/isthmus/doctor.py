# SPDX-License-Identifier: Apache-2.0
"""`isthmus doctor`: what is on this machine, what is missing and what for; then the whole set-up."""

from __future__ import annotations

import sys

from isthmus import bootstrap


def run() -> int:
    """Print a line a requirement, then set up everything.

    The last line is ``ready`` (0), or the one command that installs all that is missing (1).
    """
    print(f"{'python':<13} {sys.version.split()[0]}")
    for need in bootstrap.REQUIREMENTS_OF_THE_MACHINE:
        found = bootstrap.describe(need.name)
        if found is None and need.optional:
            command = bootstrap.install_command([need.name])
            found = f"not found; optional, for {need.needed_for}: {command}"
        print(f"{need.name:<13} {found or f'missing, for {need.needed_for}'}")
    missing = bootstrap.missing()
    if missing:
        print(f"missing: {', '.join(missing)}; this installs what is missing:")
        print(bootstrap.install_command(missing), flush=True)
        return 1
    sys.stdout.flush()
    bootstrap.ensure_development()
    bootstrap.ensure_native()
    print("ready")
    return 0
