# SPDX-License-Identifier: Apache-2.0
"""A sweep keeps what is done: on a cluster that is stopped half-way, no point is measured twice."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from isthmus import bootstrap, cli
from isthmus.bench import cluster, points, runner
from isthmus.errors import DataError, UserError
from isthmus.roads.switch import bench as switch

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 300
"""Only that a test which hangs ends."""
POINTS = 200
BENCH = ["bench", "switch", "--engine", "reference", "--load", "0.005:1:0.005", "-n", "200", "--ports", "4"]


def scenario(**changes: Any) -> dict[str, Any]:
    made = {"road": "switch", "platform": {"name": "x"}, "profile": "isthmus", "seed": 1}
    return {**made, "workload": {"engine": "reference", "load": 0.5}, **changes}


def results(name: str = "x", wrong: int = 0) -> list[dict[str, Any]]:
    return [{"id": name, "checked": {"wrong": wrong, "lost": 0}}]


def journal(folder: Path) -> list[str]:
    """The points that were measured, in order."""
    file = folder / "journal.txt"
    return [line.split()[0] for line in file.read_text().splitlines()] if file.is_file() else []


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Stand-in for the engine: the scenarios that it ran."""
    ran: list[Any] = []

    def run(wanted: Any, progress: Any = None) -> list[dict[str, Any]]:
        ran.append(wanted)
        return results(str(wanted["seed"]))

    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(bootstrap, "ensure_native", lambda: None)
    return ran


def test_what_is_done_is_not_measured_again(counted: list[Any], tmp_path: Path) -> None:
    sweep = runner.sweep(tmp_path, None, resume=True)
    assert sweep is not None
    first = runner.run_all([scenario(seed=n) for n in (1, 2)], "t", sweep)
    again = runner.run_all([scenario(seed=n) for n in (2, 3, 1)], "t", sweep)
    assert [item["id"] for item in first + again] == ["1", "2", "2", "3", "1"]
    assert [one["seed"] for one in sorted(counted, key=lambda one: one["seed"])] == [1, 2, 3]
    assert len(journal(tmp_path / "points")) == 3
    assert not list((tmp_path / "points").glob("*.lock"))


def test_without_its_options_nothing_is_kept(tmp_path: Path) -> None:
    assert runner.sweep(tmp_path, None, resume=False) is None


def test_wrong_data_are_not_kept(tmp_path: Path, counted: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run", lambda *_: results(wrong=1))
    sweep = runner.Sweep(tmp_path)
    for _ in range(2):
        with pytest.raises(DataError, match="1 bytes wrong"):
            runner.run_all([scenario()], "t", sweep)
    assert journal(tmp_path) == []


def test_a_point_is_its_scenario_its_models_and_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, copy, other = (tmp_path / name for name in ("one.so", "copy.so", "other.so"))
    for file, text in ((one, "a"), (copy, "a"), (other, "b")):
        file.write_text(text)
    keys = [points.key(scenario(device={"model_path": str(file)})) for file in (one, copy, other)]
    assert keys[0] == keys[1] != keys[2]
    assert points.key(scenario(seed=1)) != points.key(scenario(seed=2))
    before = points.key(scenario())
    monkeypatch.setattr(points, "sources", lambda: "others")
    assert points.key(scenario()) != before


def test_models_are_found_in_every_table_and_replaced() -> None:
    made = scenario(interface={"model_path": "/a.so"}, switch={"model_path": "/b.so", "ports": 4})
    assert points.model_paths(made) == {"/a.so", "/b.so"}
    assert points.with_models(made, lambda path: f"/w{path}")["switch"] == {
        "model_path": "/w/b.so",
        "ports": 4,
    }


def test_a_broken_point_is_named(counted: list[Any], tmp_path: Path) -> None:
    sweep = runner.Sweep(tmp_path)
    runner.run_all([scenario()], "t", sweep)
    (file,) = tmp_path.glob("*.json")
    file.write_text("{")
    with pytest.raises(DataError, match="remove it to measure it again"):
        runner.run_all([scenario()], "t", sweep)


def test_traces_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="leave out --scheduler and --resume"):
        runner.run_all([scenario(trace={"timeline": "x"})], "t", runner.Sweep(tmp_path))


def test_a_worker_that_sees_the_folder_stores_and_one_that_does_not_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from isthmus import native

    monkeypatch.setattr(native, "run_scenario", lambda made: results(made["device"]["model_path"]))
    model = tmp_path / "m.so"
    model.write_bytes(b"model")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    store = points.Store(tmp_path / "points")
    token = store.token()
    made = scenario(device={"model_path": "/nowhere/m.so"})
    job = cluster.Job("k", made, points.sources(), str(store.folder), token)
    (found,) = cluster.work(job, {"/nowhere/m.so": b"model"})
    assert Path(found["id"]).read_bytes() == b"model"
    assert store.find("k") == [found]
    away = cluster.Job("l", made, points.sources(), str(tmp_path / "elsewhere"), token)
    assert cluster.work(away, {"/nowhere/m.so": b"model"}) == [found]
    assert not (tmp_path / "elsewhere").exists()
    stale = cluster.Job("m", made, "other", str(store.folder), token)
    with pytest.raises(DataError, match="other sources"):
        cluster.work(stale, {})


def test_without_its_package_a_cluster_is_refused_in_one_line(
    tmp_path: Path, counted: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert cli.run([*BENCH, "--out", str(tmp_path), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "pip install distributed" in capsys.readouterr().err


@pytest.fixture
def two_workers() -> Iterator[str]:
    """The address of the scheduler of a cluster on this machine, in processes of its own."""
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    bootstrap.ensure_native()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as found:
        yield found.scheduler_address


@pytest.mark.slow
def test_a_sweep_that_is_killed_half_way_measures_no_point_twice(two_workers: str, tmp_path: Path) -> None:
    folder = tmp_path / "points"
    program = [sys.executable, "-m", "isthmus", *BENCH, "--out", str(tmp_path), "--scheduler", two_workers]
    first = subprocess.Popen(program, cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)
    end = time.monotonic() + LIMIT_S
    while len(journal(folder)) < POINTS // 4:
        assert first.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < end
        time.sleep(0.01)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert len(journal(folder)) < POINTS
    assert not (tmp_path / "switch.json").exists()
    done = subprocess.run(program, cwd=ROOT, timeout=LIMIT_S, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # One more at saturation.
    assert sorted(Counter(journal(folder)).values()) == [1] * (POINTS + 1)
    swept = json.loads((tmp_path / "switch.json").read_text())["results"]
    here = tmp_path / "here"
    assert cli.run([*BENCH, "--out", str(here)]) == 0
    alone = json.loads((here / "switch.json").read_text())["results"]
    for item in (*swept, *alone):
        item["simulation"].pop("wall_s")
    assert swept == alone
    assert len(switch.loads("0.005:1:0.005")) == POINTS


@pytest.mark.slow
def test_an_address_without_a_scheduler_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="needs distributed")
    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    monkeypatch.setattr(bootstrap, "ensure_native", lambda: None)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        assert cli.run([*BENCH, "--out", str(tmp_path), "--scheduler", address]) == 2
        assert "no scheduler answers" in capsys.readouterr().err
