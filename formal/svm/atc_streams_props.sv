// SPDX-License-Identifier: SHL-2.1
/// atc_streams: an access behind a stream's last page moves that stream on and names the page
/// Distance further, in the next cycle, until it is taken or another one is named; an access to a
/// stream's last page changes nothing; any other begins a stream in the place that is next in turn.
/// No two streams expect the same page.
module atc_streams_props #(
  parameter int unsigned Width    = 5,
  parameter int unsigned Streams  = 3,
  parameter int unsigned Distance = 3
) (
  input logic             clk_i,
  input logic             valid_i,
  input logic [Width-1:0] vpn_i,
  input logic             ahead_ready_i
);
  logic rst_ni, ahead_valid_o;
  logic [Width-1:0] ahead_vpn_o;
  atc_streams #(.VpnWidth(Width), .Streams(Streams), .Distance(Distance)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The last page of each stream that there is; the place that a new one takes.
  logic [Streams-1:0][Width-1:0] last_q;
  logic [Streams-1:0]            some_q, here, follows, twice;
  logic [1:0]                    turn_q;
  logic                          named_q;
  logic [Width-1:0]              name_q;
  for (genvar s = 0; s < Streams; s++) begin : gen_stream
    assign here[s]    = some_q[s] && vpn_i == last_q[s];
    assign follows[s] = some_q[s] && vpn_i == last_q[s] + 1'b1;
    always_comb begin
      twice[s] = 1'b0;
      for (int unsigned t = 0; t < s; t++)
        if (some_q[s] && some_q[t] && last_q[s] == last_q[t]) twice[s] = 1'b1;
    end
    always_ff @(posedge clk_i) begin
      if (!started_q) some_q[s] <= 1'b0;
      else if (valid_i && here == '0) begin
        if (follows != '0 ? follows[s] : turn_q == 2'(s)) begin
          some_q[s] <= 1'b1;
          last_q[s] <= vpn_i;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      turn_q  <= '0;
      named_q <= 1'b0;
    end else begin
      if (ahead_ready_i) named_q <= 1'b0;
      if (valid_i && here == '0 && follows != '0) begin
        named_q <= 1'b1;
        name_q  <= vpn_i + Width'(Distance);
      end
      if (valid_i && here == '0 && follows == '0) begin
        turn_q <= 32'(turn_q) == Streams - 1 ? '0 : turn_q + 2'd1;
      end
    end
  end

  always_comb begin
    if (started_q) begin
      assert (ahead_valid_o == named_q);
      if (ahead_valid_o) assert (ahead_vpn_o == name_q);
      assert (twice == '0);
      // What makes the above inductive.
      assert (dut.used_q == some_q && 32'(turn_q) < Streams);
      assert (dut.replace_q == Streams'(1) << turn_q);
      for (int unsigned s = 0; s < Streams; s++)
        if (some_q[s]) assert (dut.next_q[s] == last_q[s] + 1'b1);
      cover (ahead_valid_o && some_q == '1 && turn_q == 2'd1);
      cover (valid_i && here != '0 && named_q);
    end
  end
endmodule
