# SPDX-License-Identifier: Apache-2.0
"""What a module offers stays until it is taken: every bench checks that, whatever else it checks."""

from pathlib import Path

import bench
import held
import pytest

HERE = Path(__file__).parent
RTL = HERE.parents[1] / "rtl"


def run(fault: int) -> None:
    bench.run(
        "isthmus:prim:prim",
        "held_bench",
        "held_tb",
        parameters={"Fault": fault},
        extra_sources=[HERE / "held_bench.sv"],
    )


def test_an_offer_that_stays_passes() -> None:
    run(0)


@pytest.mark.parametrize("fault", [1, 2], ids=["valid-falls", "data-change"])
def test_an_offer_that_does_not_stay_fails_a_bench_that_looks_at_nothing(fault: int) -> None:
    with pytest.raises(pytest.fail.Exception, match="held_tb: 1 of 1 tests failed: a_word_waits_for_ready"):
        run(fault)


def test_an_offer_is_found_by_the_names_of_its_ports() -> None:
    text = """
module one #(
  parameter int unsigned W = 8
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         req_valid_o,  // until taken
  input  logic         req_ready_i,
  output logic [W-1:0] req_data_o,
  output logic         req_other_valid_o,
  output logic [3:0]   valid_o,
  input  logic [3:0]   ready_i,
  output logic         m_awvalid_o,
  input  logic         m_awready_i,
  output logic [7:0]   m_awlen_o
);
"""
    assert list(held.offers(text)) == [
        held.Offer("one", "req_valid_o", "req_ready_i", ("req_data_o",), many=False),
        held.Offer("one", "valid_o", "ready_i", (), many=True),
        held.Offer("one", "m_awvalid_o", "m_awready_i", ("m_awlen_o",), many=False),
    ]


def test_exceptions_name_ports_that_are_there_and_have_a_reason() -> None:
    texts = [file.read_text() for file in RTL.glob("*/*.sv")]
    for exceptions in (held.WITHDRAWN, held.BESIDE):
        for name, reason in exceptions.items():
            module, _, port = name.partition(".")
            (text,) = [
                text for text in texts if f"\nmodule {module}\n" in text or f"\nmodule {module} " in text
            ]
            assert f" {port}," in text or f" {port} " in text or f" {port}\n" in text, name
            assert len(reason) > 15, name
