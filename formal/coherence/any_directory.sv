// SPDX-License-Identifier: SHL-2.1
/// In the place of coherence_directory: it takes and sends whatever it may, and answers each
/// operation of its core once, in any order. It keeps how many are open, and whether that of tag 0
/// is.
module coherence_directory
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned Sets   = 64,
  parameter int unsigned Ways   = 4,
  parameter int unsigned NumTbe = 16,
  parameter int unsigned Skip   = 0,
  parameter bit          Look   = 1'b0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       core_valid_i,
  output logic       core_ready_o,
  input  core_t      core_i,
  input  index_t     core_index_i,
  input  logic [7:0] core_tag_i,
  input  mask_t      core_mask_i,
  input  line_t      core_data_i,
  output logic       core_rsp_valid_o,
  output answer_t    core_rsp_o,
  input  logic     [3:0] req_valid_i,
  output logic     [3:0] req_ready_o,
  input  message_e [3:0] req_message_i,
  input  header_t  [3:0] req_header_i,
  input  word_t [1:0][17:0] req_payload_i,
  input  logic       rsp_valid_i,
  input  message_e   rsp_message_i,
  input  index_t     rsp_index_i,
  input  line_t      rsp_data_i,
  output logic       fwd_valid_o,
  input  logic       fwd_ready_i,
  output header_t    fwd_header_o,
  output logic       rsd_valid_o,
  input  logic       rsd_ready_i,
  output header_t    rsd_header_o,
  output logic [4:0] rsd_words_o,
  output line_t      rsd_data_o,
  output logic       rsn_valid_o,
  input  logic       rsn_ready_i,
  output header_t    rsn_header_o,
  output logic       mem_req_valid_o,
  input  logic       mem_req_ready_i,
  output memory_t    mem_req_o,
  input  logic       mem_rsp_valid_i,
  output logic       mem_rsp_ready_o,
  input  answer_t    mem_rsp_i,
  output logic       stray_o,
  input  coherence_look_pkg::look_t   look_i,
  output coherence_look_pkg::looked_t looked_o
);
  // Its transactions, and those of its pipeline that are taken and not answered.
  localparam int unsigned Most = NumTbe + 3;
  logic any_ready, any_rsp, any_fwd, any_rsd, any_rsn, any_mem, any_mem_ready, any_stray;
  logic [3:0] any_req;  // not driven, as all of these: free
  logic [7:0] any_tag;
  logic [4:0] any_words;
  line_t any_line;
  header_t any_fwd_header, any_rsd_header, any_rsn_header;
  memory_t any_access;

  logic zero_q, take, end_zero;  // that of tag 0 is open
  logic [7:0] open_q;
  assign core_ready_o     = any_ready && core_valid_i && open_q < 8'(Most);
  assign take             = core_valid_i && core_ready_o;
  assign core_rsp_valid_o = any_rsp && (any_tag == '0 ? zero_q : open_q > 8'(zero_q));
  assign core_rsp_o       = '{tag: any_tag, data: any_line};
  assign end_zero         = core_rsp_valid_o && any_tag == '0;
  assign req_ready_o      = any_req & req_valid_i;
  assign mem_rsp_ready_o  = any_mem_ready;
  assign stray_o          = any_stray;

  logic fwd_held_q, rsd_held_q, rsn_held_q, mem_held_q;
  header_t fwd_q, rsd_q, rsn_q;
  memory_t mem_q;
  assign fwd_valid_o     = fwd_held_q || any_fwd;
  assign rsd_valid_o     = rsd_held_q || any_rsd;
  assign rsn_valid_o     = rsn_held_q || any_rsn;
  assign mem_req_valid_o = mem_held_q || any_mem;
  assign fwd_header_o    = fwd_held_q ? fwd_q : any_fwd_header;
  assign rsd_header_o    = rsd_held_q ? rsd_q : any_rsd_header;
  assign rsn_header_o    = rsn_held_q ? rsn_q : any_rsn_header;
  assign mem_req_o       = mem_held_q ? mem_q : any_access;
  assign rsd_words_o     = any_words;
  assign rsd_data_o      = any_line;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {zero_q, open_q, fwd_held_q, rsd_held_q, rsn_held_q, mem_held_q} <= '0;
    end else begin
      zero_q     <= (zero_q && !end_zero) || (take && core_tag_i == '0);
      open_q     <= open_q + 8'(take) - 8'(core_rsp_valid_o);
      fwd_held_q <= fwd_valid_o && !fwd_ready_i;
      rsd_held_q <= rsd_valid_o && !rsd_ready_i;
      rsn_held_q <= rsn_valid_o && !rsn_ready_i;
      mem_held_q <= mem_req_valid_o && !mem_req_ready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    fwd_q <= fwd_header_o;
    rsd_q <= rsd_header_o;
    rsn_q <= rsn_header_o;
    mem_q <= mem_req_o;
  end
  logic unused;
  assign unused = ^{core_i, core_index_i, core_mask_i, core_data_i,
                    req_message_i, req_header_i, req_payload_i, rsp_valid_i, rsp_message_i,
                    rsp_index_i, rsp_data_i, mem_rsp_valid_i, mem_rsp_i, Sets, Ways, Skip, Look,
                    look_i};
endmodule
