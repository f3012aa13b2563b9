// SPDX-License-Identifier: SHL-2.1
/// Collects a message with a payload from its virtual circuit.
///
///   Handshake   words: as blocklink_depack shows them. Message: valid/ready, stable until taken
///   Ordering    messages in order
///   Latency     1 cycle from a message's last word to valid_o
///   Throughput  8 words a cycle: a line in 3 cycles, the message's own cycle included
///   Parameters  Pair: half the circuit's number, which says how long a message of a code is
module coherence_line_rx
  import coherence_pkg::*;
  import blocklink_pkg::word_t;
#(
  parameter logic [2:0] Pair = 3'd2
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  word_t [7:0]  words_i,
  input  logic [3:0]   avail_i,
  output logic [3:0]   pop_o,
  output logic         valid_o,
  input  logic         ready_i,
  output header_t      header_o,
  output word_t [17:0] payload_o
);
  localparam int unsigned Words = 19;

  word_t [Words-1:0] buffer_q;
  logic [4:0] count_q, base, total, left, full;
  logic [4:0] opcode;

  assign header_o  = buffer_q[0];
  assign payload_o = buffer_q[Words-1:1];
  assign full      = words_of(Pair, header_o.opcode);
  assign valid_o   = count_q != '0 && count_q == full;

  // Words of the next message may come in the cycle in which this one is taken.
  assign base  = valid_o ? '0 : count_q;
  assign opcode = (base == '0) ? words_i[0][63:59] : header_o.opcode;
  assign total = words_of(Pair, opcode);
  assign left  = total - base;
  always_comb begin
    pop_o = (5'(avail_i) < left) ? avail_i : (left > 5'd8) ? 4'd8 : left[3:0];
    if (valid_o && !ready_i) pop_o = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else if (!valid_o || ready_i) count_q <= base + 5'(pop_o);
  end
  for (genvar i = 0; i < int'(Words); i++) begin : gen_word
    logic [4:0] at;
    assign at = 5'(i) - base;
    always_ff @(posedge clk_i) begin
      if (5'(i) >= base && at < 5'(pop_o)) buffer_q[i] <= words_i[at[2:0]];
    end
  end
endmodule
