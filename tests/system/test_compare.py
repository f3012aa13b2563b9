# SPDX-License-Identifier: Apache-2.0
"""`compare` on the gateware: the command from its options to its first screen."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

import pytest
from isthmus import cli
from isthmus.results import load

ROOT = Path(__file__).resolve().parents[2]
SHOWN = (ROOT / "docs" / "tutorial" / "first-answer.md",)
QUESTION = "compare --op read --size 256 --platform pcie-gen3x4,gige-direct,usb-t5810"


def _ask(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.run(text.split()) == 0
    return capsys.readouterr().out


def test_one_question_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    out = _ask("compare --op read --size 256 --platform pcie-gen3x4,gige-direct -n 200", capsys)
    lines = out.splitlines()
    assert lines[0] == "Host reads 256 bytes from an FPGA, one request at a time, n = 200, seed 1"
    assert lines[3].split()[:6] == ["PCIe", "Gen3", "x4", "pcie-gen3x4", "DMA", "ring"]
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    made = load(Path("out/compare.json"))
    assert len(made.results) == 5
    for m in made:
        assert m.latency is not None
        assert (m.workload["operation"], m.workload["bytes"], m.workload["window"]) == ("host-read", 256, 1)
        assert sum(stage.time for stage in m.stages) == pytest.approx(m.latency.avg, rel=0.05)
        assert (m.checked.wrong, m.checked.lost) == (0, 0)
    rows = list(csv.DictReader(Path("out/compare.csv").read_text().splitlines()))
    assert {row["operation"] for row in rows} == {"host-read"}
    assert "Use PCIe Gen3 x4 with DMA ring: " in Path("out/compare.html").read_text()


def test_a_setting_changes_what_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    took = []
    for setting in ("", " --set link.generation=1", " --set link.generation=4"):
        _ask(f"compare --op read --size 256 --platform pcie-gen3x4 --driver dma -n 20{setting}", capsys)
        [m] = load(Path("out/compare.json")).results
        assert m.latency is not None
        took.append(m.latency.avg)
    assert took[2] < took[0] < took[1]


def test_a_comparison_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    question = "compare --op read --platform pcie-gen3x4 --driver dma -n 20 --resume --size"
    first = _ask(f"{question} 64", capsys)
    journal = Path("out/points/journal.txt")
    assert len(journal.read_text().splitlines()) == 1
    _ask(f"{question} 64,128", capsys)
    assert len(journal.read_text().splitlines()) == 2
    assert _ask(f"{question} 64", capsys) == first
    assert len(journal.read_text().splitlines()) == 2


def test_noise_comes_on_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("host.hist").write_text("0 950\n100000 50\n")
    quiet = _ask("compare --op read --platform pcie-gen3x4 --driver dma -n 1000", capsys)
    noisy = _ask("compare --op read --platform pcie-gen3x4 --driver dma -n 1000 --noise host.hist", capsys)
    assert "p99*" in quiet
    assert "p99*" not in noisy
    [m] = load(Path("out/compare.json")).results
    assert m.latency is not None
    assert (m.latency.percentiles["p99"] or 0) > 100e6
    assert (m.latency.percentiles["p50"] or 0) < 10e6


def test_the_documentation_shows_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    out = _ask(QUESTION, capsys)
    for page in SHOWN:
        text = page.read_text()
        assert f"./isthmus {QUESTION}" in text
        shown = re.compile(
            r"^Host reads 256 bytes from an FPGA, one request at a time.*?(?=^```$)", re.MULTILINE | re.DOTALL
        )
        if os.environ.get("ISTHMUS_UPDATE_GOLDEN"):
            page.write_text(shown.sub(lambda _: out, text, count=1))
        found = shown.search(page.read_text())
        assert found
        assert found[0] == out, (
            "ISTHMUS_UPDATE_GOLDEN=1 ./isthmus test -k the_documentation_shows rewrites it"
        )
