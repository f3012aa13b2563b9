// SPDX-License-Identifier: SHL-2.1
/// The list of sources that may talk to us.
///
///   Handshake   none: cfg_allow_i is static
///   Latency     1 cycle from ip_i to allowed_o
///   Parameters  NumAllow 1..16
///   Rule        without an enabled entry everybody is allowed
///   Not done    lists of MAC addresses or ports
module eth_allow
  import eth_pkg::*;
#(
  parameter int unsigned NumAllow = 4
) (
  input  logic                  clk_i,
  input  allow_t [NumAllow-1:0] cfg_allow_i,
  input  logic [31:0]           ip_i,
  output logic                  allowed_o
);
  if (NumAllow < 1 || NumAllow > 16) begin : gen_allow_check
    $error("eth_allow: NumAllow is %0d, legal is 1..16", NumAllow);
  end

  logic allow_any, allow_hit;
  always_comb begin
    allow_any = 1'b0;
    allow_hit = 1'b0;
    for (int unsigned i = 0; i < NumAllow; i++) begin
      allow_any |= cfg_allow_i[i].enable;
      allow_hit |= cfg_allow_i[i].enable &&
                   ((ip_i ^ cfg_allow_i[i].ip) & cfg_allow_i[i].mask) == '0;
    end
  end
  always_ff @(posedge clk_i) allowed_o <= allow_hit || !allow_any;
endmodule
