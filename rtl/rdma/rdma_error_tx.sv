// SPDX-License-Identifier: SHL-2.1
/// Gathers what has failed on the sending side into records for the host's error ring.
///
/// Refusals by far ends come without a way to hold them: 8 wait, more are counted into the next
/// record's `further ones`.
///
///   Handshake   refused_i.valid: strobe. send_*, read_*: valid/ready. error_*: valid/ready; the
///               phase bit of beat 0 is zero
///   Latency     2 cycles
///   Throughput  a record every 2 cycles
///   Parameters  none
///   Not done    merging by kind or host
module rdma_error_tx
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  refused_t    refused_i,
  input  send_error_t send_i,
  output logic        send_ready_o,
  input  read_error_t read_i,
  output logic        read_ready_o,
  output error_report_t error_o,
  input  logic        error_ready_i,
  output logic        idle_o
);
  typedef struct packed {
    logic [11:0] more;
    flow_t       flow;
    tag_t        tag;
    logic [7:0]  code;
  } refusal_t;

  logic  valid_q;
  beat_t beat0_q, beat1_q;
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
    .valid_i(refused_i.valid),
    .ready_o(stored),
    .data_i ({refused_i.more, refused_i.flow, refused_i.tag, refused_i.code}),
    .valid_o(kept_valid),
    .ready_i(kept_take),
    .data_o (kept),
    .usage_o()
  );

  assign take         = !valid_q;
  assign send_ready_o = take;
  assign read_ready_o = take && !send_i.valid;
  assign kept_take    = take && !send_i.valid && !read_i.valid;

  always_comb begin
    chosen = kept;
    if (send_i.valid) chosen = '{more: '0, flow: send_i.flow, tag: send_i.tag, code: send_i.code};
    else if (read_i.valid) begin
      chosen = '{more: read_i.more, flow: read_i.flow, tag: read_i.tag, code: CodeRead};
    end
  end
  assign sum  = {1'b0, chosen.more} + {1'b0, lost_q};
  assign more = sum[12] ? '1 : sum[11:0];

  logic [12:0] lost;  // with the one that is lost in this cycle
  assign lost = {1'b0, lost_q} + {1'b0, refused_i.more} +
                13'(refused_i.code != CodeNone && refused_i.code != CodeSession);

  logic load;
  assign load = take && (send_i.valid || read_i.valid || kept_valid);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      lost_q  <= '0;
    end else begin
      valid_q <= load || (valid_q && !error_ready_i);
      // An error without space is counted in a later record: none is reported in the cycle of its
      // loss.
      if (refused_i.valid && !stored) lost_q <= lost[12] ? '1 : lost[11:0];
      else if (load) lost_q <= '0;
    end
  end
  record_t record;
  assign record = '{
      phase:   1'b0,
      zero_36: '0,
      more:    (refused_i.valid && !stored) ? chosen.more : more,
      ours:    1'b0,
      host:    host_t'(chosen.flow),
      message: chosen.tag[7],
      tag:     chosen.tag[6:0],
      code:    chosen.code
  };
  always_ff @(posedge clk_i) begin
    if (load) begin
      beat0_q <= record;
      beat1_q <= send_i.valid ? send_i.address : '0;
    end
  end

  assign error_o = '{valid: valid_q, beat0: beat0_q, beat1: beat1_q};
  assign idle_o = !refused_i.valid && !load && !(valid_q && error_ready_i);
endmodule
