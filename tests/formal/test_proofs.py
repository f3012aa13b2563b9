# SPDX-License-Identifier: Apache-2.0
"""Every proof holds, and none of them holds for a broken copy of its block."""

from pathlib import Path

import pytest
from isthmus import formal

RTL = Path(__file__).resolve().parents[2] / "rtl"


def test_all_proofs_hold() -> None:
    results = formal.prove(jobs=2)
    print(formal.summary(results))
    assert len(results) >= 9
    assert [r.name for r in results if not r.passed] == []


# Proof, source, what is taken out of it, what stands there instead.
BREAKS = [
    ("prim/fifo", "prim/fifo.sv", "if (valid_i && ready_o) wptr_q", "if (valid_i) wptr_q"),
    # Two of its three tasks fail, and the third ends all the same.
    ("prim/fifo", "prim/fifo.sv", "if ((valid_i || WriteAhead) && ready_o) mem_q", "if (valid_i) mem_q"),
    (
        "prim/block_fifo",
        "prim/block_fifo.sv",
        "pass    = valid_i && none && next",
        "pass    = valid_i && next",
    ),
    ("prim/skid_buffer", "prim/skid_buffer.sv", "if (ready_o) spare_q", "if (valid_o) spare_q"),
    ("prim/arb_fixed", "prim/arb_fixed.sv", "(~req_i + 1'b1)", "~(req_i << 1)"),
    ("prim/arb_rr", "prim/arb_rr.sv", "after_q <= ~(gnt_o |", "if (gnt_o[0]) after_q <= ~(gnt_o |"),
    (
        "wishbone/wb_timeout",
        "wishbone/wb_timeout.sv",
        "if (expired) dead_q",
        "if (expired && !m_stb_i) dead_q",
    ),
    ("wishbone/wb_slice", "wishbone/wb_slice.sv", "valid && current", "valid && m_cyc_i"),
    ("wishbone/wb_xbar", "wishbone/wb_xbar.sv", "{NumSlaves+1{drained}}", "{NumSlaves+1{1'b1}}"),
    (
        "etherbone/etherbone_core",
        "etherbone/etherbone_core.sv",
        "(Admission == ReadsEarly && state_q == StReadAddr)",
        "(Admission == ReadsEarly)",
    ),
    (
        "etherbone/etherbone_frame_buffer",
        "etherbone/etherbone_frame_buffer.sv",
        "keep_head    = verified_q",
        "keep_head    = 1'b1",
    ),
    ("etherbone/etherbone_lite_rx", "etherbone/etherbone_lite_rx.sv", "left_q != rest", "left_q < rest"),
    (
        "etherbone/etherbone_lite_tx",
        "etherbone/etherbone_lite_tx.sv",
        "probe_q ? StPass : StSkip",
        "StSkip",
    ),
    ("vme/vme_wb", "vme/vme_wb.sv", "(any_strobe && !gone_q) ? StAnswer", "any_strobe ? StAnswer"),
    ("pcie/pcie_axi_wb", "pcie/pcie_axi_wb.sv", "if (wb_err_i) failed_q", "if (wb_err_i && done) failed_q"),
    ("pcie/pcie_dma_fetch", "pcie/pcie_dma_fetch.sv", "fits && ends_ready", "ends_ready"),
    (
        "pcie/pcie_dma_write",
        "pcie/pcie_dma_write.sv",
        "chunk_q <= to_edge < to_end ? to_edge : to_end;",
        "chunk_q <= to_end;",
    ),
    ("link/link_buffer", "link/link_buffer.sv", "is_end) && open_q)", "is_end) && open_q && fits_q)"),
    ("link/link_rx", "link/link_rx.sv", "is_data && !full && !sop_next", "is_data && !full"),
    ("link/link_credits", "link/link_credit_tx.sv", "room_o[i] + step_and_word", "room_o[i] + step_q"),
    ("link/link_ids", "link/link_credit_tx.sv", "step_id_q == addr_t'(i)) room_o", "bad_o) room_o"),
    ("link/link_tx", "link/link_tx.sv", "align_i && !inside_q ? SlotAlign", "align_i ? SlotAlign"),
    ("link/link_deskew", "link/link_deskew.sv", "delay_q[i] + 1'b1", "delay_q[i]"),
    ("link/link_spread", "link/link_spread.sv", "foremost(up_i, order_q)", "foremost('1, order_q)"),
    (
        "crossbar/crosspoint",
        "crossbar/crosspoint.sv",
        ".pop_i    (take_i)",
        ".pop_i    (take_i || refused_o)",
    ),
    (
        "crossbar/crossbar_output",
        "crossbar/crossbar_output.sv",
        "first != '0 ? first : request_i",
        "request_i",
    ),
    (
        "rdma/rdma_departures",
        "rdma/rdma_departures.sv",
        "state_q == StLook && left == number[6]",
        "state_q == StLook && (left == number[6] || record.last)",
    ),
    (
        "rdma/rdma_flow_tx",
        "rdma/rdma_flow_tx.sv",
        "assign fits       = step_q <= lag_q;",
        "assign fits       = step_q <= 16'd64;",
    ),
    ("rdma/rdma_read", "rdma/rdma_read.sv", "if (to_edge < chunk_d) chunk_d = to_edge;", ""),
    (
        "rdma/rdma_send",
        "rdma/rdma_send.sv",
        "assign room_ok   = fits == '1;",
        "assign room_ok   = fits != '0;",
    ),
    (
        "rdma/rdma_voq",
        "rdma/rdma_voq.sv",
        "waiting_q & (room_q | {NumHosts{!enable_q}})",
        "waiting_q",
    ),
    ("rdma/rdma_regions", "rdma/rdma_regions.sv", "wrote_q && waddr_q == addr_q;", "1'b0;"),
    (
        "rdma/rdma_queue_table",
        "rdma/rdma_queue_table.sv",
        "= !short[OffsetWidth];",
        "= !short[OffsetWidth] && short != '0;",
    ),
    (
        "rdma/rdma_notify",
        "rdma/rdma_notify.sv",
        "assign count_up = finish && counts && !anew_q;",
        "assign count_up = finish && counts;",
    ),
    (
        "rdma/rdma_notify",
        "rdma/rdma_notify.sv",
        "assign ring_full = (used & ~mask) != '0;",
        "assign ring_full = used > mask + 16'd1;",
    ),
    (
        "rdma/rdma_ack",
        "rdma/rdma_ack.sv",
        "(ack_q & ~(kind_q == TurnAck ? host_gnt : '0)) | ack_i;",
        "(ack_q | ack_i) & ~(kind_q == TurnAck ? host_gnt : '0);",
    ),
    (
        "rdma/rdma_ack",
        "rdma/rdma_ack.sv",
        "more_q <= (more_q & ~told_one) | count_one;",
        "more_q <= (more_q | count_one) & ~told_one;",
    ),
    ("rdma/rdma_write", "rdma/rdma_write.sv", "behind[5:0] != '0;", "behind[5:3] != '0;"),
    (
        "rdma/rdma_resequencer",
        "rdma/rdma_resequencer.sv",
        "place_state_q == PlaceDone || is_broken;",
        "place_state_q != PlaceEmpty;",
    ),
    ("rdma/rdma_receive", "rdma/rdma_receive.sv", "= taken && code == '0;", "= code == '0;"),
    ("usb/fx2_port", "usb/fx2_port.sv", "(slrd_q ? flag_last_ni : flag_empty_ni)", "flag_empty_ni"),
]


@pytest.mark.parametrize(("proof", "source", "good", "bad"), BREAKS, ids=[b[0] for b in BREAKS])
def test_a_broken_block_is_caught(proof: str, source: str, good: str, bad: str, tmp_path: Path) -> None:
    text = (RTL / source).read_text()
    assert text.count(good) == 1, f"{source} changed: {good!r} is no longer there once"
    (tmp_path / Path(source).name).write_text(text.replace(good, bad))
    [result] = formal.prove([proof], override=tmp_path)
    assert not result.passed
    assert "Assert failed" in result.failure or "failed assertion" in result.failure
    # A task that waits for a job which nobody gives back ends by its limit.
    assert "Reached TIMEOUT" not in result.log.read_text()


def test_an_unknown_proof_is_named() -> None:
    with pytest.raises(
        formal.FormalError, match=r"no proof named 'prim/nothing'; there are: .*etherbone/etherbone_core"
    ):
        formal.prove(["prim/nothing"])
