// SPDX-License-Identifier: SHL-2.1
/// Finds streams in the pages that are accessed, and says which page each will come to.
///
/// Remembers the last page of Streams streams. An access to the page behind one of them moves that
/// stream on and names the page Distance further; an access to any other page begins a stream in
/// place of the one that is replaced next. Accesses to a stream's last page change nothing.
///
///   Handshake   valid_i is a strobe; ahead_valid_o holds until it is taken or replaced
///   Latency     1 cycle from valid_i to ahead_valid_o
///   Throughput  an access a cycle
///   Streams     no two expect the same page                 (proved: formal/svm/atc_streams.sby)
///   Parameters  Streams 1..16, Distance 1..64
///   Not done    streams that go down, or with a stride
module atc_streams #(
  parameter int unsigned VpnWidth = 36,
  parameter int unsigned Streams  = 4,
  parameter int unsigned Distance = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  input  logic [VpnWidth-1:0] vpn_i,
  output logic                ahead_valid_o,
  input  logic                ahead_ready_i,
  output logic [VpnWidth-1:0] ahead_vpn_o
);
  if (Streams < 1 || Streams > 16 || Distance < 1 || Distance > 64) begin : gen_check
    $error("atc_streams: Streams %0d, legal is 1..16; Distance %0d, legal is 1..64", Streams,
           Distance);
  end
  logic [Streams-1:0]               same, behind, used_q, replace_q;
  logic [Streams-1:0][VpnWidth-1:0] next_q;  // the page behind the last
  logic [VpnWidth-1:0]              after;

  assign after = vpn_i + 1'b1;
  for (genvar s = 0; s < Streams; s++) begin : gen_compare
    assign same[s]   = used_q[s] && next_q[s] == after;
    assign behind[s] = used_q[s] && next_q[s] == vpn_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q        <= '0;
      replace_q     <= Streams'(1);
      ahead_valid_o <= 1'b0;
    end else begin
      if (ahead_ready_i) ahead_valid_o <= 1'b0;
      if (valid_i && same == '0) begin
        if (behind != '0) begin
          ahead_valid_o <= 1'b1;
        end else begin
          used_q    <= used_q | replace_q;
          replace_q <= Streams > 1 ? Streams'({replace_q, replace_q[Streams-1]}) : replace_q;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i && same == '0) begin
      for (int unsigned s = 0; s < Streams; s++) begin
        if (behind != '0 ? behind[s] : replace_q[s]) next_q[s] <= after;
      end
      if (behind != '0) ahead_vpn_o <= vpn_i + VpnWidth'(Distance);
    end
  end
endmodule
