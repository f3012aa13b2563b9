# SPDX-License-Identifier: Apache-2.0
"""The trigger's commands: files, tables, the page; wrong files and rates are one line."""

from __future__ import annotations

import struct
from pathlib import Path

import generator
import pytest
from isthmus import cli
from isthmus.trigger import cli as commands
from isthmus.trigger import native


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def made(tmp_path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Path:
    path = tmp_path / "rich.events"
    assert call(capsys, "trigger", "events", "--out", str(path), "-n", "2000", *more)[0] == 0
    return path


def test_a_file_of_events_has_a_header_and_70_bytes_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path, capsys, "--seed", "9")
    data = path.read_bytes()
    assert len(data) == 64 + 70 * 2000
    assert data[:8] == b"ISTHTRG1"
    assert struct.unpack_from("<QQd", data, 8) == (9, 2000, 1e7)


@pytest.mark.parametrize("sample", generator.SAMPLES)
def test_events_have_the_same_bits_in_python(sample: str) -> None:
    for seed in (1, 2**40 + 77):
        assert native.events(sample, seed, 400, 1e7)[0][64:] == generator.records(sample, seed, 400)
    assert native.events(sample, 1, 40, 3e6)[0][64:] == generator.records(sample, 1, 40, 3e6)


def test_find_prints_quality_where_the_truth_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path, capsys)
    code, out, err = call(capsys, "trigger", "find", str(path))
    assert (code, err) == (0, "")
    assert "sample reference, 2,000 events, seed 1" in out
    assert "of true rings found, in events of 1, 2 and 3: " in out
    commands.truth_of(path).unlink()
    code, out, _ = call(capsys, "trigger", "find", str(path), "--finder", "almagest")
    assert code == 0
    assert out.endswith("# no truth beside the file: quality is unknown\n")


def test_wrong_files_and_rates_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made(tmp_path, capsys)
    path.write_bytes(path.read_bytes()[:-1])
    code, out, err = call(capsys, "trigger", "find", str(path))
    assert (code, out) == (2, "")
    assert err == "isthmus: 140063 bytes where the header says 140064\n"
    path.write_bytes(b"nothing")
    assert call(capsys, "trigger", "find", str(path))[2] == "isthmus: not a file of events\n"
    code, _, err = call(capsys, "trigger", "events", "--out", str(path), "--rate", "fast")
    assert code == 2
    assert err.startswith("isthmus: rate: 'fast'; expected")
    assert err.count("\n") == 1


def test_the_benchmark_prints_all_finders_and_draws_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["bench", "trigger", "-n", "1024", "--passes", "1", "--out", str(tmp_path)]
    code, out, _ = call(capsys, *arguments)
    assert code == 0
    for name in ("isthmus", "Almagest", "histogram", "one circle, Taubin", "mixed", "pile-up"):
        assert name in out
    assert "isthmus over Almagest in this run: " in out
    page = (tmp_path / "trigger.html").read_text()
    assert "<script src" not in page
    # Events to look at come first.
    assert page.index('id="events"') < page.index('id="finders"') < page.index('id="ways"')
    ways = [line for line in out.splitlines() if ", one core" in line]
    assert [line.split(",")[0] for line in ways] == ["isthmus", "Almagest"]
    assert page.count("<figure") >= 6
    assert 'id="finders"' in page
    assert "missed" in page
    # The page, the table and the text come from the result alone.
    for name, more in (("html", []), ("csv", ["--table", str(tmp_path / "again.csv")])):
        again = tmp_path / f"again.{name}"
        given = more or ["--out", str(again)]
        assert call(capsys, "report", str(tmp_path / "trigger.json"), *given)[0] == 0
        assert again.read_text() == (tmp_path / f"trigger.{name}").read_text()
    code, text, _ = call(capsys, "report", str(tmp_path / "trigger.json"), "--text")
    assert code == 0
    assert out.startswith(text)


def test_a_malformed_result_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trigger.json"
    path.write_text('{"schema": "isthmus.trigger/1", "sample": 3}')
    code, _, err = call(capsys, "report", str(path))
    assert code == 2
    assert err.startswith(f"isthmus: {path}: ")
    assert err.count("\n") == 1
    path.write_text("[1]")
    assert "schema is 'list'" in call(capsys, "report", str(path))[2]


def test_a_sample_without_events_of_two_rings_has_blanks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = ("--sample", "single", "-n", "512", "--passes", "1")
    code, _, err = call(capsys, "bench", "trigger", *sample, "--out", str(tmp_path))
    # On a slow machine there is progress on it too.
    assert (code, "isthmus:" in err) == (0, False), err
    assert "in events of one 100.00 %; 0.000 fakes" in (tmp_path / "trigger.html").read_text()
    assert ",,," in (tmp_path / "trigger.csv").read_text()


def test_an_interrupt_ends_the_benchmark() -> None:
    def stop(done: int, total: int) -> None:
        del total
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native.bench("reference", 1, 1024, 1, stop)
