// SPDX-License-Identifier: SHL-2.1
/// Gathers what has failed on the sending side into records for the host's error ring.
///
/// Refusals by far ends come without a way to hold them: 8 wait, more are counted into the next record's
/// `further ones`.
///
///   Handshake   refused_valid_i: strobe. send_*, read_*: valid/ready. error_*: valid/ready; the phase bit of
///               beat 0 is zero
///   Latency     2 cycles
///   Throughput  a record every 2 cycles
///   Parameters  none
///   Not done    merging by kind or host
module rdma_error_tx
  import rdma_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        refused_valid_i,
  input  flow_t       refused_flow_i,
  input  logic [7:0]  refused_code_i,
  input  tag_t        refused_tag_i,
  input  logic [11:0] refused_more_i,
  input  logic        send_valid_i,
  output logic        send_ready_o,
  input  flow_t       send_flow_i,
  input  logic [7:0]  send_code_i,
  input  tag_t        send_tag_i,
  input  logic [63:0] send_address_i,
  input  logic        read_valid_i,
  output logic        read_ready_o,
  input  flow_t       read_flow_i,
  input  tag_t        read_tag_i,
  input  logic [11:0] read_more_i,
  output logic        error_valid_o,
  input  logic        error_ready_i,
  output beat_t       error_beat0_o,
  output beat_t       error_beat1_o,
  output logic        idle_o
);
  typedef struct packed {
    logic [11:0] more;
    flow_t       flow;
    tag_t        tag;
    logic [7:0]  code;
  } refusal_t;

  logic     take, stored, kept_valid, kept_take;
  refusal_t kept, chosen;
  logic [11:0] lost_q, more;
  logic [12:0] sum;

  fifo #(
    .Width($bits(refusal_t)),
    .Depth(8)
  ) u_refused (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(refused_valid_i),
    .ready_o(stored),
    .data_i ({refused_more_i, refused_flow_i, refused_tag_i, refused_code_i}),
    .valid_o(kept_valid),
    .ready_i(kept_take),
    .data_o (kept),
    .usage_o()
  );

  assign take         = !error_valid_o;
  assign send_ready_o = take;
  assign read_ready_o = take && !send_valid_i;
  assign kept_take    = take && !send_valid_i && !read_valid_i;

  always_comb begin
    chosen = kept;
    if (send_valid_i) chosen = '{more: '0, flow: send_flow_i, tag: send_tag_i, code: send_code_i};
    else if (read_valid_i) begin
      chosen = '{more: read_more_i, flow: read_flow_i, tag: read_tag_i, code: CodeRead};
    end
  end
  assign sum  = {1'b0, chosen.more} + {1'b0, lost_q};
  assign more = sum[12] ? '1 : sum[11:0];

  logic [12:0] lost;  // with the one that is lost in this cycle
  assign lost = {1'b0, lost_q} + {1'b0, refused_more_i} +
                13'(refused_code_i != CodeNone && refused_code_i != CodeSession);

  logic load;
  assign load = take && (send_valid_i || read_valid_i || kept_valid);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      error_valid_o <= 1'b0;
      lost_q        <= '0;
    end else begin
      error_valid_o <= load || (error_valid_o && !error_ready_i);
      // An error without space is counted in a later record: none is reported in the cycle of its loss.
      if (refused_valid_i && !stored) lost_q <= lost[12] ? '1 : lost[11:0];
      else if (load) lost_q <= '0;
    end
  end
  record_t record;
  assign record = '{
      phase:   1'b0,
      zero_36: '0,
      more:    (refused_valid_i && !stored) ? chosen.more : more,
      ours:    1'b0,
      host:    host_t'(chosen.flow),
      message: chosen.tag[7],
      tag:     chosen.tag[6:0],
      code:    chosen.code
  };
  always_ff @(posedge clk_i) begin
    if (load) begin
      error_beat0_o <= record;
      error_beat1_o <= send_valid_i ? send_address_i : '0;
    end
  end

  assign idle_o = !refused_valid_i && !load && !(error_valid_o && error_ready_i);
endmodule
