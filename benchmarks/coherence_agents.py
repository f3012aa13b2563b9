# SPDX-License-Identifier: Apache-2.0
"""Messages between a remote cache, an agent without a cache and a home with directory, checked one by one.

    python benchmarks/coherence_agents.py [--over {networks,links}] [--messages N] [--seed N] [--account FILE]

The benches of `tests/unit/coherence` with more messages than a test has time for: one writer, one owner,
every copy and every load the last store, at every clock; no row of the protocol's table but those of the
model.

    networks  one cache and one home, joined by networks that deliver in any order; each row of the table used
    links     both ends as on boards, each with memory and a cache, over two links whose blocks are altered
              and lost; every word of every message at both agents, every kind of fault seen

It runs in parts, each with its own seed; after each the sum so far is printed, and kept in the --account
file: a run that was stopped goes on there. Exit status 1 where a check fails; the part's output says which.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/unit/coherence/test_coherence.py"
BENCHES = {"networks": "test_coherence_agents[2]", "links": "test_coherence_linked[2]"}
SOURCES = (
    *sorted((ROOT / "rtl" / "coherence").rglob("*.sv")),
    *sorted((ROOT / "rtl" / "blocklink").rglob("*.sv")),
    *sorted((ROOT / "rtl" / "board").glob("eci_peer*.sv")),
    *sorted((ROOT / "tests/unit/coherence").glob("*")),
)
PARTS = {"networks": 250_000, "links": 50_000}
"""Messages of a part: some minutes."""
TRAFFIC = re.compile(r"(\d+) lines, seed \d+: (\d+) messages, (\d+) operations")
ROW = re.compile(r"^  (\S+(?: \S+){1,2}) +(\d+)$", re.MULTILINE)
FAULT = re.compile(r"^fault: (\S.*?) +(\d+)$", re.MULTILINE)


class WrongError(Exception):
    """A check of the bench failed, or the account is of something else."""


def sources_hash() -> str:
    """Of the gateware and the bench: another account where they differ."""
    text = b"".join(path.read_bytes() for path in SOURCES if path.is_file())
    return hashlib.sha256(text).hexdigest()[:16]


def part(over: str, messages: int, seed: int) -> dict[str, Any]:
    """Run one part: messages, operations, and of the table's rows the one that was used least."""
    settings = {"ISTHMUS_COHERENCE_MESSAGES": str(messages), "ISTHMUS_SEED": str(seed)}
    bench = f"{TESTS}::{BENCHES[over]}"
    command = [sys.executable, "-m", "pytest", bench, "-q", "-s", "-n0", "-p", "no:cacheprovider"]
    begin = time.monotonic()
    done = subprocess.run(
        command, env={**os.environ, **settings}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    return account_of(done.stdout, done.stderr, done.returncode, seed) | {
        "seconds": round(time.monotonic() - begin)
    }


def account_of(output: str, errors: str, status: int, seed: int) -> dict[str, Any]:
    """What a part's output says. Raises `WrongError` where it failed, or says nothing."""
    runs = [(int(m), int(o)) for _, m, o in TRAFFIC.findall(output)]
    if status or not runs:
        raise WrongError(f"seed {seed}: exit status {status}\n{output[-4000:]}{errors[-2000:]}")
    used = [int(count) for _, count in ROW.findall(output)]
    return {
        "messages": sum(one[0] for one in runs),
        "operations": sum(one[1] for one in runs),
        "rows": len(used),
        "rarest": min(used, default=0),
        "faults": {name: int(count) for name, count in FAULT.findall(output)},
    }


def begun(kept: Path | None, what: str, seed: int) -> dict[str, Any]:
    """The account so far."""
    if kept is None or not kept.exists():
        counts = {"messages": 0, "operations": 0, "seconds": 0, "faults": {}}
        return {"sources": what, "seeds": [seed, seed - 1], **counts}
    found: dict[str, Any] = json.loads(kept.read_text())
    if (found["sources"], found["seeds"][0]) != (what, seed):
        raise WrongError(f"{kept}: the account of other sources or another seed; name another file")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--over", choices=BENCHES, default="networks", help="what joins the agents")
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1, help="of the first part; the others count up")
    parser.add_argument("--account", type=Path, metavar="FILE", help="where the sum is kept")
    given = parser.parse_args()
    try:
        account = begun(given.account, f"{given.over} {sources_hash()}", given.seed)
        while account["messages"] < given.messages:
            seed = account["seeds"][1] + 1
            found = part(given.over, min(PARTS[given.over], given.messages - account["messages"]), seed)
            account["seeds"][1] = seed
            for name in ("messages", "operations", "seconds"):
                account[name] += found[name]
            for name, count in found["faults"].items():
                account["faults"][name] = account["faults"].get(name, 0) + count
            if given.account is not None:
                given.account.write_text(json.dumps(account, indent=1) + "\n")
            print(
                f"seed {seed}: {account['messages']} messages, {account['operations']} operations so far, "
                f"{account['seconds']} s; {found['rows']} rows, the rarest {found['rarest']} times",
                flush=True,
            )
        for name, count in account["faults"].items():
            print(f"{name:28} {count}")
    except WrongError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
