# SPDX-License-Identifier: Apache-2.0
"""Area and timing: counting, baselines, the wrapper, and one small core measured for real."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from isthmus import cli
from isthmus.errors import DataError, UserError
from isthmus.figures import area, baseline, cores, show, timing, yosys
from isthmus.models.ports import elaborate
from isthmus.models.sources import sources
from isthmus.models.tools import find_verilator

SKID = cores.load()["skid_buffer"]


def test_cells_are_counted_as_the_published_peers_count() -> None:
    cells = {
        "LUT1": 1, "LUT2": 2, "LUT6": 4, "INV": 100, "MUXF7": 9,
        "FDRE": 8, "FDCE": 16, "FDPE": 1, "RAM32M": 3, "RAM64M": 5, "SRL16E": 7, "SRLC32E": 1,
        "RAMB18E1": 3, "RAMB36E1": 2, "CARRY4": 6, "DSP48E1": 1, "$scopeinfo": 50,
    }  # fmt: skip
    assert area.count(cells) == {
        "lut": 7, "lutram": 8, "srl": 8, "ff": 25, "bram36": 3.5, "carry": 6, "dsp": 1,
    }  # fmt: skip
    small = {"RAM16X1D": 3, "RAM32X1D": 5, "RAM64X1D": 7}
    assert area.count(small)["lutram"] == 15
    assert area.count(small, "xc2vp")["lutram"] == 3 + 2 * 5 + 4 * 7
    ecp5 = {
        "LUT4": 5,
        "CCU2C": 2,
        "TRELLIS_FF": 3,
        "TRELLIS_DPR16X4": 4,
        "DP16KD": 1,
        "PFUMX": 9,
        "MULT18X18D": 1,
    }
    assert area.count(ecp5) == {
        "lut": 5, "lutram": 4, "srl": 0, "ff": 3, "bram36": 0.5, "carry": 2, "dsp": 1,
    }  # fmt: skip


def test_a_cell_of_unknown_kind_is_an_error_not_an_omission() -> None:
    with pytest.raises(UserError, match="2 cells of unknown kind 'URAM288'"):
        area.count({"URAM288": 2})


@pytest.mark.parametrize(
    ("value", "stored", "more_is_better", "ratio", "worse"),
    [
        (100, None, False, None, False),
        (102, 100, False, 1.02, False),
        (103, 100, False, 1.03, True),
        (90, 100, False, 0.9, False),
        (98, 100, True, 0.98, False),
        (97, 100, True, 0.97, True),
        (0, 0, False, 1.0, False),
        (1, 0, False, None, True),
    ],
)
def test_a_figure_is_worse_beyond_two_percent_in_its_own_direction(
    value: float, stored: float | None, more_is_better: bool, ratio: float | None, worse: bool
) -> None:
    verdict = baseline.judge(value, stored, more_is_better=more_is_better)
    assert (verdict.ratio, verdict.worse) == (ratio, worse)


def test_an_update_replaces_only_what_was_measured(tmp_path: Path) -> None:
    assert baseline.load("area", tmp_path) == {}
    baseline.update("area", {"a": {"xc7": {"lut": 1}}, "b": {"xc7": {"lut": 2}}}, {"yosys": "1"}, tmp_path)
    path = baseline.update(
        "area", {"a": {"ecp5": {"lut": 3}}, "b": {"xc7": {"lut": 4}}}, {"yosys": "2"}, tmp_path
    )
    assert baseline.load("area", tmp_path) == {
        "a": {"xc7": {"lut": 1}, "ecp5": {"lut": 3}},
        "b": {"xc7": {"lut": 4}},
    }
    assert json.loads(path.read_text())["tools"] == {"yosys": "2"}
    path.write_text("[]")
    with pytest.raises(UserError, match=r"^area\.json: not a baseline; --update writes a new one$"):
        baseline.load("area", tmp_path)


@pytest.mark.deterministic
def test_the_table_of_cores_names_only_tops_that_elaborate_with_a_clock_for_each_port() -> None:
    for entry in cores.load().values():
        device = elaborate(sources(entry.core), entry.top, entry.parameters, device=False)
        text = timing.wrapper(entry, device)
        assert text.count("<=") == sum(
            port.name not in ("rst_ni", "idle_o", *(clock.port for clock in entry.clocks))
            for port in device.ports
        ), entry.name
    for row in cores.sums():
        assert set(row.of) <= set(cores.load())


@pytest.mark.deterministic
def test_the_wrapper_registers_each_port_on_its_own_clock(tmp_path: Path) -> None:
    entry = cores.load()["gige_udp"]
    device = elaborate(sources(entry.core), entry.top, entry.parameters, device=False)
    text = timing.wrapper(entry, device)
    own, gmii = text.split("always_ff @(posedge clk_i)")[1].split("always_ff @(posedge gmii_rx_clk_i)")
    assert "gmii_rxd_i_core <= gmii_rxd_i;" in gmii
    assert "gmii_txd_o <= gmii_txd_o_core;" in own
    file = tmp_path / "wrapper.sv"
    file.write_text(text)
    verilator = find_verilator()
    lint = [verilator.binary, "--lint-only", "-Wno-lint", "-Wno-style", "--top-module", "registered_pins"]
    done = subprocess.run(
        [*map(str, lint), *map(str, sources(entry.core)), str(file)],
        env={"VERILATOR_ROOT": str(verilator.root)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_what_only_a_simulation_kernel_is_told_is_left_open() -> None:
    entry = cores.load()["rdma_read"]
    device = elaborate(sources(entry.core), entry.top, entry.parameters, device=False)
    assert "idle_o" in {port.name for port in device.ports}
    text = timing.wrapper(entry, device)
    assert ".idle_o()" in text
    assert text.count("idle_o") == 1


TYPED = """package p;
  typedef enum logic [1:0] {Idle, Data, End} kind_e;
  typedef struct packed {kind_e kind; logic last;} flit_t;
endpackage
module typed import p::*; #(parameter type Kind = kind_e, localparam type own_t = Kind) (
  input logic clk_i, input kind_e kind_i, input own_t own_i, input flit_t flit_i, input kind_e [2:0] all_i,
  output kind_e kind_o, output flit_t [1:0] flits_o
);
  assign kind_o  = flit_i.last ? kind_i : own_i;
  assign flits_o = {flit_i, all_i[2], all_i[0] == all_i[1]};
endmodule
"""


def test_ports_of_any_packed_type_are_registered(tmp_path: Path) -> None:
    file = tmp_path / "typed.sv"
    file.write_text(TYPED)
    entry = cores.CoreEntry("typed", SKID.core, "typed", {}, SKID.clocks, ())
    text = timing.wrapper(entry, elaborate([file], "typed", {}, device=False))
    assert ".kind_i(p::kind_e'(kind_i_core))" in text
    assert ".flit_i(flit_i_core)" in text
    top = tmp_path / "top.sv"
    top.write_text(text)
    device = elaborate([file, top], "registered_pins", {}, device=False)
    assert {port.name: port.width for port in device.ports} == {
        "clk_i": 1, "kind_i": 2, "own_i": 2, "flit_i": 3, "all_i": 6, "kind_o": 2, "flits_o": 6,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "module x (input logic clk_i, input enum logic {Off, On} on_i); endmodule",
        "typedef enum logic {Off, On} on_e; module x (input logic clk_i, input on_e on_i); endmodule",
    ],
)
def test_an_input_whose_enumeration_no_other_file_can_name_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.sv"
    file.write_text(text)
    entry = cores.CoreEntry("x", SKID.core, "x", {}, SKID.clocks, ())
    with pytest.raises(UserError, match=r"^x: port on_i is an enumeration that no package declares$"):
        timing.wrapper(entry, elaborate([file], "x", {}, device=False))


def test_a_port_without_a_clock_is_an_error() -> None:
    entry = cores.CoreEntry("x", SKID.core, SKID.top, {}, (cores.Clock("clk_i", 125, ("valid",)),), ())
    device = elaborate(sources(entry.core), entry.top, {}, device=False)
    with pytest.raises(UserError, match=r"^x: cores\.toml gives port ready_o no clock$"):
        timing.wrapper(entry, device)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("[[core]]\nname = 3", "KeyError"), ("core = [", "TOMLDecodeError"), ("x = 1", "KeyError")],
)
def test_a_broken_table_is_one_line(tmp_path: Path, text: str, reason: str) -> None:
    table = tmp_path / "cores.toml"
    table.write_text(text)
    with pytest.raises(UserError, match=f"^cores.toml: not a table of cores: {reason}"):
        cores.load(table)


@pytest.mark.deterministic
@pytest.mark.slow
@pytest.mark.parametrize("family", ["xc7", "ecp5"])
def test_a_skid_buffer_has_two_words_and_two_flags_of_registers(family: str) -> None:
    figures = area.measure(SKID, family)
    assert figures["ff"] == 2 * 32 + 2
    assert 32 < figures["lut"] < 45
    assert figures["lutram"] == figures["srl"] == figures["bram36"] == figures["carry"] == figures["dsp"] == 0


def equivalence(way: str) -> list[str]:
    """Passes that fail unless the netlist of `way` is the core: each register against its own."""
    return [
        yosys.read(SKID),
        "proc",
        f"design -copy-to gold -as gold {SKID.top}",
        *area.synthesis(way, f"-flatten -top {SKID.top}"),
        *["delete =A:whitebox =A:blackbox", "read_verilog +/xilinx/cells_sim.v"],
        *[f"hierarchy -top {SKID.top}", "proc", "flatten", "opt_clean", f"rename {SKID.top} gate"],
        "design -copy-from gold gold",
        "async2sync",
        "equiv_make gold gate equiv",
        "hierarchy -top equiv",
        *["opt_clean", "equiv_simple -undef", "equiv_induct -undef", "equiv_status -assert"],
    ]


@pytest.mark.deterministic
@pytest.mark.slow
@pytest.mark.parametrize("way", area.FAMILIES["xc2vp"])
def test_a_mapped_netlist_does_what_its_source_does(way: str, tmp_path: Path) -> None:
    passes = equivalence(way)
    yosys.run("equal", passes, tmp_path)
    passes.insert(passes.index("delete =A:whitebox =A:blackbox"), "setparam -set INIT 8'h01 t:LUT3")
    with pytest.raises(UserError, match=r"^changed: synthesis: .*unproven \$equiv cells"):
        yosys.run("changed", passes, tmp_path)


@pytest.mark.deterministic
@pytest.mark.slow
@pytest.mark.parametrize("name", ["skid_buffer", "pcie_axi_wb"])
def test_mapping_by_area_takes_no_more_luts_than_mapping_by_depth(name: str) -> None:
    """Of control logic. `rdma_read`, mostly counters, takes 132 by area, 128 by depth; the least counts."""
    entry = cores.load()[name]
    depth, area_ = (area.measure_way(entry, "xc2vp", way) for way in area.FAMILIES["xc2vp"][1:])
    assert area_["lut"] <= depth["lut"]
    assert {**area_, "lut": 0} == {**depth, "lut": 0}


@pytest.mark.deterministic
@pytest.mark.slow
def test_timing_of_a_skid_buffer_is_far_above_its_target_and_repeats() -> None:
    (clock,) = timing.measure(SKID, lambda _: None, seeds=(3, 3))
    assert (clock.clock, clock.target_mhz) == ("clk_i", 125)
    assert 300 < clock.median_mhz < 1500
    assert clock.median_mhz == clock.best_mhz
    assert "levels of logic" in clock.path


@pytest.mark.deterministic
@pytest.mark.slow
def test_a_device_of_a_higher_core_voltage_is_faster() -> None:
    plain, fast = (
        timing.measure(SKID, lambda _: None, seeds=(1,), device=device)[0].median_mhz
        for device in timing.DEVICES.values()
    )
    assert fast > 1.05 * plain


def test_each_device_has_a_baseline_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {"timing": 130.0, "timing-lfe5um5g-85": 160.0}
    monkeypatch.setattr(
        baseline, "load", lambda name: {"skid_buffer": {"clk_i": {"median_mhz": stored[name]}}}
    )
    measured = {"skid_buffer": [timing.Timing("clk_i", 125, 140, 140, "p")]}
    worse = [show.timing_table([SKID], measured, device)[1] for device in timing.DEVICES.values()]
    assert worse == [[], ["skid_buffer (clk_i): median 140 MHz, baseline 160"]]
    assert tuple(timing.DEVICES) == cli.DEVICES


def test_a_source_error_in_synthesis_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.sv").write_text("module x (input a; endmodule\n")
    with pytest.raises(UserError) as error:
        yosys.run("x", [f"read_slang --top x {tmp_path / 'x.sv'}"], tmp_path)
    assert str(error.value).startswith("x: synthesis: ")
    assert "x.sv:1: ERROR: expected" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_table_shows_peers_sums_and_what_got_worse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = cores.select(["etherbone_slave", "gige_udp", "etherbone_udp"])
    measured = {e.name: {"xc7": {**dict.fromkeys(area.FIGURES, 0.0), "lut": 605.0}} for e in entries}
    stored = {"etherbone_slave": {"xc7": {"lut": 600}}, "gige_udp": {"xc7": {"lut": 500}}}
    monkeypatch.setattr(baseline, "load", lambda _: stored)
    table, worse = show.area_table(entries, measured)
    assert worse == ["gige_udp (xc7): lut 605, baseline 500"]
    with pytest.raises(DataError, match="gige_udp"):
        show.conclude(table, worse, show.area_notes(entries, ["xc7"]))
    rows = {line.split("│")[1].strip(): line for line in capsys.readouterr().out.splitlines() if "│" in line}
    assert rows["etherbone_slave"].split("│")[-2].strip() == "1.008"
    assert rows["etherbone_udp"].split("│")[-2].strip() == "-"
    assert rows["GSI eb_slave_top"].split("│")[-2].strip() == f"ours x {605 / 987:.2f}"
    assert rows["gige_udp + etherbone_udp"].split("│")[3].strip() == "1210"


def test_a_clock_below_its_target_fails_even_without_a_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "load", lambda _: {"skid_buffer": {"clk_i": {"median_mhz": 130.0}}})

    def worse(median: float) -> list[str]:
        return show.timing_table([SKID], {"skid_buffer": [timing.Timing("clk_i", 125, median, 140, "p")]})[1]

    assert worse(129) == []
    assert worse(126) == ["skid_buffer (clk_i): median 126 MHz, baseline 130"]
    assert worse(124)[1] == "skid_buffer (clk_i): median 124 MHz, needs 125"


@pytest.mark.deterministic
@pytest.mark.slow
@pytest.mark.parametrize("name", ["etherbone_slave", "gige_udp"])
def test_area_is_not_worse_than_the_stored_baseline(name: str) -> None:
    stored = baseline.load("area")[name]["xc7"]
    measured = area.measure(cores.load()[name], "xc7")
    worse = [figure for figure, value in measured.items() if baseline.judge(value, stored[figure]).worse]
    assert worse == [], f"{measured} against {stored}; ./isthmus area {name} --update accepts it"


def test_a_core_that_cannot_be_placed_is_a_line_and_the_others_have_their_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def measure(entry: cores.CoreEntry, done: object, device: timing.Device) -> list[timing.Timing]:
        if entry.name == "link_buffer":
            raise UserError("link_buffer: place and route not done after 900 s")
        return [timing.Timing("clk_i", 100, 200.0, 210.0, "a -> b")]

    monkeypatch.setattr(timing, "measure", measure)
    entries = cores.select(["link_buffer", "skid_buffer"])
    measured, failed = timing.measure_all(entries, lambda _: None)
    assert failed == ["link_buffer: place and route not done after 900 s"]
    table, _ = show.timing_table(entries, measured)
    assert list(table.columns[0].cells) == ["skid_buffer"]
