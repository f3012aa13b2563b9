// SPDX-License-Identifier: SHL-2.1
/// Collects a message with a payload from its virtual circuit.
///
///   Handshake   words: as blocklink_depack shows them. Message: valid/ready, stable until taken. A
///               message that is not taken in the cycle of its last word is kept; its words are
///               taken either way
///   Ordering    messages in order
///   Latency     0 cycles from a message's last word to valid_o; behind a message that was kept 1
///   Throughput  8 words a cycle: a line in 3 cycles, and the next one in the cycle after its last
///               word
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

  word_t [Words-1:0] buffer_q, message;
  header_t shown, kept;
  logic [4:0] count_q, base, total, left;
  logic whole, ends;
  assign shown = words_i[0];
  assign kept  = buffer_q[0];

  // `whole`: the buffer has a message. Its successor's words may come in the cycle in which it is
  // taken.
  assign whole  = count_q != '0 && count_q == words_of(Pair, kept.opcode);
  assign base   = whole ? '0 : count_q;
  assign total  = words_of(Pair, (base == '0) ? shown.opcode : kept.opcode);
  assign left   = total - base;
  // The message that is not yet whole has its last word among those shown.
  assign ends    = !whole && avail_i != '0 && 5'(avail_i) >= left;
  assign valid_o = whole || ends;
  always_comb begin
    pop_o = (5'(avail_i) < left) ? avail_i : (left > 5'd8) ? 4'd8 : left[3:0];
    if (whole && !ready_i) pop_o = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else if (ends && ready_i) count_q <= '0;
    else if (!whole || ready_i) count_q <= base + 5'(pop_o);
  end
  // Looked at only where there is a message: an idle circuit costs the simulator nothing.
  always_comb begin
    message = 'x;
    if (valid_o) begin
      for (int unsigned i = 0; i < Words; i++) begin
        message[i] = (whole || 5'(i) < count_q) ? buffer_q[i] : words_i[3'(5'(i) - base)];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (pop_o != '0) begin
      for (int unsigned i = 0; i < Words; i++) begin
        if (5'(i) >= base && 5'(5'(i) - base) < 5'(pop_o)) begin
          buffer_q[i] <= words_i[3'(5'(i) - base)];
        end
      end
    end
  end
  assign header_o  = message[0];
  assign payload_o = message[Words-1:1];
  logic unused;
  assign unused = ^{shown, kept};
endmodule
