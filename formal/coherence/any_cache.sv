// SPDX-License-Identifier: SHL-2.1
/// In the place of coherence_cache: it takes and sends whatever it may, and answers each operation
/// of its core once, in any order. It keeps how many are open, and whether that of tag 0 is.
module coherence_cache
  import coherence_pkg::*;
#(
  parameter  int unsigned Sets      = 64,
  parameter  int unsigned Ways      = 4,
  parameter  int unsigned NumMshr   = 16,
  parameter  int unsigned Bytes     = LineBytes,
  parameter  bit          Atomics   = 1'b0,
  parameter  bit          Look      = 1'b0,
  localparam int unsigned LineWidth = 8 * Bytes
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       core_valid_i,
  output logic       core_ready_o,
  input  core_e      core_op_i,
  input  index_t     core_index_i,
  input  logic [7:0] core_tag_i,
  input  logic [Bytes-1:0]     core_mask_i,
  input  logic [LineWidth-1:0] core_data_i,
  input  coherence_atomic_pkg::atomic_t core_atomic_i,
  output logic       core_rsp_valid_o,
  output logic [7:0] core_rsp_tag_o,
  output logic [LineWidth-1:0] core_rsp_data_o,
  input  logic       fwd_valid_i,
  output logic       fwd_ready_o,
  input  message_e   fwd_message_i,
  input  index_t     fwd_index_i,
  input  logic       rsp_valid_i,
  input  message_e   rsp_message_i,
  input  logic       rsp_dirty_i,
  input  logic       rsp_side_i,
  input  id_t        rsp_id_i,
  input  logic [LineWidth-1:0] rsp_data_i,
  output logic       req_valid_o,
  input  logic       req_ready_i,
  output header_t    req_header_o,
  output logic       rsd_valid_o,
  input  logic       rsd_ready_i,
  output header_t    rsd_header_o,
  output logic [LineWidth-1:0] rsd_data_o,
  output logic       rsn_valid_o,
  input  logic       rsn_ready_i,
  output header_t    rsn_header_o,
  input  coherence_look_pkg::look_t   look_i,
  output coherence_look_pkg::looked_t looked_o
);
  // Its window, one that is answered, and its MSHRs (coherence_cache_window, coherence_cache).
  localparam int unsigned Most = NumMshr + 5;
  logic any_ready, any_rsp, any_fwd, any_req, any_rsd, any_rsn;  // not driven: free
  logic [7:0] any_tag;
  logic [LineWidth-1:0] any_line;
  header_t any_req_header, any_rsd_header, any_rsn_header;

  logic zero_q, take, end_zero;  // that of tag 0 is open
  logic [7:0] open_q;
  assign core_ready_o     = any_ready && open_q < 8'(Most);
  assign take             = core_valid_i && core_ready_o;
  assign core_rsp_valid_o = any_rsp && (any_tag == '0 ? zero_q : open_q > 8'(zero_q));
  assign core_rsp_tag_o   = any_tag;
  assign core_rsp_data_o  = any_line;
  assign end_zero         = core_rsp_valid_o && any_tag == '0;
  assign fwd_ready_o      = any_fwd && !rsp_valid_i;

  logic req_held_q, rsd_held_q, rsn_held_q;
  header_t req_q, rsd_q, rsn_q;
  assign req_valid_o  = req_held_q || any_req;
  assign rsd_valid_o  = rsd_held_q || any_rsd;
  assign rsn_valid_o  = rsn_held_q || any_rsn;
  assign req_header_o = req_held_q ? req_q : any_req_header;
  assign rsd_header_o = rsd_held_q ? rsd_q : any_rsd_header;
  assign rsn_header_o = rsn_held_q ? rsn_q : any_rsn_header;
  assign rsd_data_o   = any_line;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {zero_q, open_q, req_held_q, rsd_held_q, rsn_held_q} <= '0;
    end else begin
      zero_q     <= (zero_q && !end_zero) || (take && core_tag_i == '0);
      open_q     <= open_q + 8'(take) - 8'(core_rsp_valid_o);
      req_held_q <= req_valid_o && !req_ready_i;
      rsd_held_q <= rsd_valid_o && !rsd_ready_i;
      rsn_held_q <= rsn_valid_o && !rsn_ready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    req_q <= req_header_o;
    rsd_q <= rsd_header_o;
    rsn_q <= rsn_header_o;
  end
  logic unused;
  assign unused = ^{core_op_i, core_index_i, core_mask_i, core_data_i, core_atomic_i, fwd_valid_i,
                    fwd_message_i, fwd_index_i, rsp_message_i, rsp_dirty_i, rsp_side_i, rsp_id_i,
                    rsp_data_i, Sets, Ways, Atomics, Look, look_i};
endmodule
