# SPDX-License-Identifier: Apache-2.0
"""Traces: refused in one line where a run cannot have one, and said how to open where it can."""

from __future__ import annotations

from pathlib import Path

import pytest
from isthmus.bench.traces import check_waveform, how_to_open
from isthmus.errors import UserError
from isthmus.roads.etherbone import bench as etherbone
from isthmus.roads.rdma import command as rdma
from isthmus.roads.switch import command as switch


def never(*_: object) -> list[dict[str, object]]:
    raise AssertionError("measured")


def test_frames_are_refused_where_there_is_no_ethernet(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^trace: pcapng has Ethernet frames, and pcie-t5810 has none"):
        etherbone.measure(
            systems=["gige-direct", "pcie-t5810"], trace="pcapng", out=tmp_path, runner=never, model=tmp_path
        )


@pytest.mark.parametrize(
    ("path", "runs", "text"),
    [
        ("x.vcd", 1, "waveform: x.vcd is written in the format FST: name it FILE.fst"),
        ("x.fst", 3, "waveform: of one run, and these are 3: choose one by -s"),
        ("missing/x.fst", 1, "waveform: there is no folder "),
    ],
)
def test_a_waveform_is_of_one_run_in_a_folder_that_is_there(
    path: str, runs: int, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as error:
        check_waveform(Path(path), runs, "-s")
    assert str(error.value).startswith(text)


def test_benches_refuse_a_waveform_of_several_runs(tmp_path: Path) -> None:
    file = tmp_path / "x.fst"
    given = {"rdma_ni": file, "link_switch": file}
    with pytest.raises(UserError, match="these are 2: choose one by -s, --platform, --profile"):
        rdma.run(rdma.RdmaOptions("write-lat", size="8,64", waveform=file), runner=never, given=given)
    with pytest.raises(UserError, match="waveform: only --engine rtl has one"):
        switch.run(load="0.5", waveform=file, runner=never, given=file)
    with pytest.raises(UserError, match="these are 2: choose one by --load, --profile"):
        switch.run(load="0.4,0.5", engines="rtl", waveform=file, runner=never, given=file)


def test_a_folder_of_traces_says_what_opens_its_files(tmp_path: Path) -> None:
    (tmp_path / "a.perfetto-trace").touch()
    assert how_to_open(tmp_path).endswith(": open https://ui.perfetto.dev and drop the file there")
    assert "Surfer" in how_to_open(tmp_path / "x.fst")
