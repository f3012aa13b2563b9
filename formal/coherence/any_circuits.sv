// SPDX-License-Identifier: SHL-2.1
/// What a proof assumes of the circuits of one link: the words that a circuit shows stay until they
/// are taken, 8 at most. Asserted: no more words are taken than are shown.
module any_circuits
  import blocklink_pkg::*;
(
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic [NumVcs-1:0][3:0] avail_i,
  input logic [NumVcs-1:0][3:0] pop_i
);
  logic [NumVcs-1:0] shown_q;
  logic [NumVcs-1:0][3:0] avail_q;
  always_ff @(posedge clk_i) begin
    avail_q <= avail_i;
    for (int unsigned v = 0; v < NumVcs; v++) begin
      shown_q[v] <= rst_ni && avail_i[v] != '0 && pop_i[v] == '0;
    end
  end
  always_comb begin
    for (int unsigned v = 0; v < NumVcs; v++) begin
      assume (avail_i[v] <= 4'd8);
      if (rst_ni && shown_q[v]) assume (avail_i[v] >= avail_q[v]);
      if (rst_ni) assert (pop_i[v] <= avail_i[v]);
    end
  end
endmodule
