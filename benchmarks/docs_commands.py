# SPDX-License-Identifier: Apache-2.0
r"""Every ./isthmus command that the documentation shows, run for real, page by page, before a release.

    python benchmarks/docs_commands.py                       # all pages
    python benchmarks/docs_commands.py --page bench-ccix     # pages whose path contains this
    python benchmarks/docs_commands.py --skip '(area|timing)\b'   # without hours of synthesis

The tests take the same commands with made-up measurements (tests/python/docs/test_commands.py). Here each
page has an empty folder, the files that it shows, and the real tools. A server runs for a few seconds, or as
long as the clients that its page shows. What cannot run everywhere is in OTHERS with its reason. Exit status
1 when a command fails, hangs, or prints a traceback.
"""

from __future__ import annotations

import argparse
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ISTHMUS = ROOT / "isthmus"
COMMAND_LIMIT_S = 3600.0
"""`area` and `timing` of every core are the longest."""
SERVE_S = 8.0
"""How long a server without a client runs."""

OTHERS = {
    r"test\b": "the test run itself",
    r"clean\b": "empties the user's cache",
    r"regs\b": "writes into the sources",
    r".*--tap\b": "needs a TAP interface: tests/system/test_serve.py",
    r".*--passive\b": "needs the right to capture: tests/system/test_eb_tools.py",
    r".*udp/HOST\b": "a placeholder",
    r".*--trace postgres\b": "needs the extra isthmus[postgres]: tests/system/test_ccix_postgres.py",
    r".*--platform mycard.toml": "the reader's own platform; the page gives its parts",
    r"serve nanet --pcap\b": "the reader's own capture: tests/system/test_serve_nanet.py",
    r"trigger gpu\b": "needs a GPU",
}
"""Commands that do not run here, by a pattern of what follows ./isthmus."""

FILES = {
    "packets.txt": "0 0 3 512\n0 1 3 512\n1500 2 0 64\n",
    "transfers.txt": "0 0 1 write 4096\n500 1 0 message 64\n",
    "host.hist": "1000 990\n50000 10\n",
    "mine.trace": "isthmus-lock-trace 1\nrows 9\nhost w5 r8\nfpga w3\n",
}
"""Files of the reader's own that pages name."""


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Fenced blocks: their language and what they hold."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield found[1], found[2]


def files(text: str) -> dict[str, str]:
    """Files that a page writes: `cat > NAME <<'END'`."""
    found = re.findall(r"^cat > (\S+) <<'END'\n(.*?)^END$", text, re.MULTILINE | re.DOTALL)
    return dict(found)


def shown() -> Iterator[tuple[str, str]]:
    """Every command of every page: where, and as it stands there."""
    for page in pages():
        if page.name == "cli.md":
            # What --help prints; a test of its own compares them.
            continue
        text, name = page.read_text(), str(page.relative_to(ROOT))
        for language, whole in blocks(text):
            body = re.sub(r"<<'(\w+)'\n.*?^\1$", "", whole, flags=re.MULTILINE | re.DOTALL)
            lines = body.replace("\\\n", " ").splitlines()
            if language == "console":
                lines = [line[2:] for line in lines if line.startswith(("$ ", "# "))]
            elif language != "sh":
                continue
            for line in lines:
                for part in re.split(r" && ", line):
                    if part.strip() and not part.startswith("#"):
                        yield name, part.strip()
        for found in re.finditer(r"`((?:for \w+ in [^`;]*; do )?\./isthmus [^`]*)`", text):
            yield name, " ".join(found[1].split())


def expanded(line: str) -> list[str]:
    """A loop's commands one by one; any other line as it is."""
    loop = re.fullmatch(r"for (\w+) in ([^;]*); do (.*); done", line)
    if loop is None:
        return [line]
    return [loop[3].replace(f"${loop[1]}", value) for value in loop[2].split()]


def commands() -> list[tuple[str, str]]:
    """Page and command, each once, loops as their commands."""
    return [(name, one) for name, line in dict.fromkeys(shown()) for one in expanded(line)]


def words(line: str) -> list[str]:
    """A shell's words of a command; assignments before it, a comment and a background sign are left out."""
    try:
        given = shlex.split(line, comments=True)
    except ValueError:
        # The first line of a text that goes on.
        return line.split()
    while given and re.fullmatch(r"\w+=\S*", given[0]):
        given.pop(0)
    return [word for word in given if word != "&"]


@dataclass(frozen=True)
class Run:
    """How a command ended: `failure` is empty where it did as it should."""

    seconds: float
    failure: str


def run(line: str, folder: Path) -> Run:
    """One command in `folder`. A server gets Control-C after SERVE_S."""
    serves = re.search(r"\./isthmus (trigger )?serve ", line) is not None
    text = line.rstrip("& ").replace("./isthmus", shlex.quote(str(ISTHMUS)))
    begin = time.monotonic()
    process = subprocess.Popen(
        ["bash", "-c", f"exec {text}"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, err = process.communicate(timeout=SERVE_S if serves else COMMAND_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Run(time.monotonic() - begin, "hangs, Control-C as well")
        if not serves:
            return Run(time.monotonic() - begin, f"has not ended after {COMMAND_LIMIT_S:.0f} s")
    seconds = time.monotonic() - begin
    allowed = (0, 130) if serves else (0,)
    if "Traceback" in err:
        return Run(seconds, "prints a traceback")
    if process.returncode not in allowed:
        last = (err.strip().splitlines() or ["nothing on standard error"])[-1]
        return Run(seconds, f"exits {process.returncode}: {last}")
    return Run(seconds, "")


def run_page(name: str, lines: list[str], folder: Path) -> tuple[int, int]:
    """Commands that ran and that failed."""
    for file, text in (FILES | files((ROOT / name).read_text())).items():
        (folder / file).write_text(text)
    ran = failed = 0
    server = None
    try:
        for line in lines:
            given = shlex.join(words(line)[1:])
            reason = next((why for what, why in OTHERS.items() if re.match(what, given)), None)
            if reason is not None:
                print(f"{name}: {line}\n    not run: {reason}", flush=True)
                continue
            if given.startswith("eb ") and server is None:
                server = subprocess.Popen(
                    [ISTHMUS, "serve", "etherbone"],
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                time.sleep(SERVE_S)
            elif given.startswith("serve etherbone") and server is not None:
                server.send_signal(signal.SIGINT)
                server.wait(timeout=10)
                server = None
            print(f"{name}: {line}", flush=True)
            result = run(line, folder)
            ran += 1
            failed += bool(result.failure)
            print(f"    {result.failure or 'ok'}, {result.seconds:.1f} s", flush=True)
    finally:
        if server is not None:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=10)
    return ran, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", default="", help="pages whose path contains this")
    parser.add_argument("--skip", help="not the commands in whose words behind ./isthmus this pattern begins")
    options = parser.parse_args()
    try:
        skipped = re.compile(options.skip or r"(?!)")
    except re.error as err:
        parser.error(f"--skip: no pattern: {err}")
    # A program that was started in the background ignores Control-C, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    by_page: dict[str, list[str]] = {}
    for name, line in commands():
        given = words(line)
        if options.page in name and given[:1] == ["./isthmus"] and not skipped.match(shlex.join(given[1:])):
            by_page.setdefault(name, []).append(line)
    ran = failed = 0
    for name, lines in by_page.items():
        with tempfile.TemporaryDirectory(prefix="isthmus-docs-") as folder:
            more, wrong = run_page(name, lines, Path(folder))
            ran, failed = ran + more, failed + wrong
    print(f"{ran} commands run, {failed} failed")
    return int(failed > 0 or ran == 0)


if __name__ == "__main__":
    sys.exit(main())
