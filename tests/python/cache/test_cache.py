# SPDX-License-Identifier: Apache-2.0
"""The user's cache: where it is, that it stays small and whole, and several processes that use it at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from isthmus import cache, formal
from isthmus.errors import UserError


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ISTHMUS_CACHE_GB", raising=False)
    return tmp_path / "cache"


def make(name: str, content: str = "x") -> Path:
    path = cache.entry("models", name)
    with cache.making(path) as work:
        assert work is not None
        (work / "made").write_text(content)
        cache.publish(work / "made", path)
    return path


def age(path: Path, hours: float) -> None:
    then = time.time() - 3600 * hours
    os.utime(path, (then, then))


def files(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("environment", "where"),
    [
        ({"ISTHMUS_CACHE": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/isthmus"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/u/.cache/isthmus"),
        ({}, "/home/u/.cache/isthmus"),
    ],
)
def test_it_is_in_the_users_cache_folder_unless_a_variable_moves_it(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], where: str
) -> None:
    for name in ("ISTHMUS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/u", **environment}.items():
        monkeypatch.setenv(name, value)
    assert cache.root() == Path(where)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / "file"))
    with pytest.raises(UserError, match="set ISTHMUS_CACHE to a folder that can be written"):
        make("a")


@pytest.mark.parametrize("text", ["0", "-1", "many", "nan", "inf"])
def test_a_size_that_is_none_is_one_line(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ISTHMUS_CACHE_GB", text)
    with pytest.raises(UserError, match="expected a size in GB, for example 4"):
        cache.limit_bytes()


def test_an_entry_is_made_once_and_leaves_neither_lock_nor_work_folder(place: Path) -> None:
    path = make("a")
    assert files(place) == ["build/models/a"]
    with cache.making(path) as work:
        assert work is None
    assert files(place) == ["build/models/a"]


def test_a_failed_build_leaves_nothing(place: Path) -> None:
    with pytest.raises(RuntimeError), cache.making(cache.entry("models", "a")) as work:  # noqa: PT012
        assert work is not None
        (work / "half").write_text("x")
        raise RuntimeError
    assert files(place) == []


def test_the_entries_unused_for_longest_are_evicted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    old, older, kept = (make(name, "x" * 400) for name in ("old", "older", "kept"))
    age(older, 3)
    age(old, 2)
    monkeypatch.setenv("ISTHMUS_CACHE_GB", "1e-6")
    # 1600 bytes are 600 more than the limit: two entries have to go.
    new = make("new", "x" * 400)
    assert [path.exists() for path in (old, older, kept, new)] == [False, False, True, True]


def test_a_look_at_an_entry_counts_as_use(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make("first", "x" * 600), make("second", "x" * 600)
    age(first, 3)
    age(second, 2)
    assert cache.used(first)
    monkeypatch.setenv("ISTHMUS_CACHE_GB", "1e-6")
    cache.evict()
    assert [path.exists() for path in (first, second)] == [True, False]


def test_an_entry_of_the_last_hour_stays_even_above_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISTHMUS_CACHE_GB", "1e-9")
    assert make("a", "x" * 400).exists()


KILLED = """
import sys, time
from isthmus import cache
with cache.making(cache.entry("models", "slow")) as work:
    (work / "half").write_text("x" * 1000)
    print("works", flush=True)
    time.sleep(600)
"""


def test_the_lock_and_the_folder_of_a_killed_build_do_not_stay(place: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "works\n"
    half = next((place / "work").glob("*/half"))
    make("other")
    assert half.exists(), "a build that runs keeps its folder"
    process.send_signal(signal.SIGKILL)
    process.wait()
    make("slow")
    assert files(place) == ["build/models/other", "build/models/slow"]
    assert not half.parent.exists()


def test_builds_of_one_entry_at_once_build_once() -> None:
    made = []
    path = cache.entry("models", "a")

    def build() -> None:
        with cache.making(path) as work:
            if work is not None:
                time.sleep(0.05)
                (work / "made").write_text("x")
                cache.publish(work / "made", path)
                made.append(1)

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


COUNTS = """
import sys
from pathlib import Path
from isthmus import cache
counter = Path(sys.argv[1])
for _ in range(200):
    with cache.locked("counter"):
        counter.write_text(str(int(counter.read_text()) + 1))
"""


def test_a_lock_whose_file_is_removed_each_time_still_excludes(tmp_path: Path, place: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-c", COUNTS, str(counter)]
    for process in [subprocess.Popen(command) for _ in range(4)]:
        assert process.wait() == 0
    assert counter.read_text() == "800"
    assert files(place) == []


def test_a_pass_is_remembered_for_its_own_inputs_only() -> None:
    cache.record_pass("proofs", "prim/fifo", "a" * 64, seconds=1.5)
    record = cache.passed("proofs", "prim/fifo", "a" * 64)
    assert record is not None
    assert record["seconds"] == 1.5
    assert cache.passed("proofs", "prim/fifo", "b" * 64) is None
    # The file's name has the first half of the key only.
    assert cache.passed("proofs", "prim/fifo", "a" * 63 + "b") is None
    assert cache.passed("benches", "prim/fifo", "a" * 64) is None


def test_a_damaged_record_is_no_pass(place: Path) -> None:
    cache.record_pass("proofs", "prim/fifo", "a" * 64)
    [record] = (place / "passed").rglob("prim.fifo-*")
    for text in ("", "[]", '{"key"', '{"key": "b"}'):
        record.write_text(text)
        assert cache.passed("proofs", "prim/fifo", "a" * 64) is None


def test_clean_removes_all_and_says_how_much(place: Path) -> None:
    make("a", "x" * 5000)
    cache.record_pass("proofs", "p", "a" * 64)
    assert cache.clean() > 5000
    assert files(place) == []
    assert cache.clean() == 0


def test_a_keys_code_has_no_comments_but_those_for_a_tool_and_each_line_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "a.sv"
    file.write_text(
        "/// A contract.\n"
        "logic a;  // what it is\n"
        "// verilator lint_off UNUSEDSIGNAL\n"
        "/* two\n   lines */ logic b;\n"
        'initial $display("http://x /* \\" */"); // end\n'
        "always @(*) c = a /* in between */ + b;\n"
    )
    assert cache.code(file) == (
        b"\nlogic a;\n// verilator lint_off UNUSEDSIGNAL\n\n logic b;\n"
        b'initial $display("http://x /* \\" */");\nalways @(*) c = a   + b;\n'
    )


@pytest.mark.parametrize(("change", "same"), [("another word", True), ("one line\n/// and another", False)])
def test_another_wording_of_a_comment_proves_nothing_again(tmp_path: Path, change: str, same: bool) -> None:
    (tmp_path / "fifo.sv").write_text(
        (formal.ROOT / "rtl/prim/fifo.sv").read_text().replace("/// ", f"/// {change}, ", 1)
    )
    assert (formal.key("prim/fifo", tmp_path) == formal.key("prim/fifo")) is same
