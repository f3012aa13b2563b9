# SPDX-License-Identifier: Apache-2.0
"""Netlists with faults: modules that have wide parameters, write any place, or lie beside the top unused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
INNER = """module inner #(
  parameter int unsigned Width = 4,
  parameter logic [35:0] Mask = '0
) (
  input  logic             clk_i,
  input  logic             write_i,
  input  logic [1:0]       at_i,
  input  logic [Width-1:0] data_i,
  output logic [3:0][Width-1:0] words_o
);
  always_ff @(posedge clk_i) if (write_i) words_o[at_i] <= data_i ^ Width'(Mask >> 32);
endmodule
"""
TOP = """module top #(
  parameter bit Two = 1'b0
) (
  input  logic clk_i,
  input  logic write_i,
  input  logic [1:0] at_i,
  input  logic [3:0] data_i,
  output logic [3:0][3:0] words_o
);
  if (Two) begin : gen_two
    inner #(.Width(4), .Mask(36'hF)) u_two (.*);
  end else begin : gen_one
    inner #(.Width(4), .Mask(36'h9_0000_0000)) u_one (.*);
  end
endmodule
"""
OTHER = """module other #(
  parameter int unsigned Size
) (
  input  logic clk_i,
  output logic [3:0][Size-1:0] words_o
);
  inner #(.Width(Size)) u_inner (.clk_i, .write_i(1'b0), .at_i(2'd0), .data_i('0), .words_o);
endmodule
"""


@pytest.fixture(scope="module")
def benches(script: Callable[[str], ModuleType]) -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return script("fault_bench")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, text in (("inner", INNER), ("top", TOP), ("other", OTHER)):
        (tmp_path / f"{name}.sv").write_text(text)
    return [tmp_path / f"{name}.sv" for name in ("inner", "top", "other")]


def test_the_parameters_of_instances_are_those_of_elaborated_ones(
    benches: ModuleType, files: list[Path]
) -> None:
    use = benches.instances(files, "top", {}, "inner")
    assert use.parameters == {"Width": 4, "Mask": 0x900000000}
    # A design that only has a module beside it that no instance is of.
    assert benches.instances(files, "inner", {}, "top") is None


def test_a_netlist_with_faults_is_verilog_that_a_simulator_reads(
    benches: ModuleType, files: list[Path], tmp_path: Path
) -> None:
    netlists = sys.modules["fault_netlists"]
    use = benches.instances(files, "top", {}, "inner")
    module = netlists.Module("inner", tuple(files[:1]), use.parameters)
    faults, _ = netlists.draw(module, 5, 1, tmp_path / "draw")
    text = netlists.faulty_module(module, dict(enumerate(faults, start=1)), len(faults), tmp_path / "net")
    assert "$bwmux" not in text
    place = tmp_path / "bench"
    place.mkdir()
    (place / "inner_faulty.v").write_text(text)
    (place / "inner.sv").write_text(netlists.instead(module, INNER, use.ports, len(faults)))
    from isthmus.models import bench

    sources = [place / "inner_faulty.v", place / "inner.sv", files[1]]
    assert bench.build(sources, "top", {}, into=place / "unit")
