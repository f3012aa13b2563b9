// SPDX-License-Identifier: SHL-2.1
/// What is offered stays until it is taken: valid_i and data_i of a handshake, in simulation.
///
/// `held.py` binds it to each output with a ready of the modules that a unit bench simulates.
///
///   Handshake   watches one: valid_i | ready_i, a transfer in each clock that has both
///   Clear       clear_i drops what is offered
///   Latency     checked at each edge of clk_i with rst_ni high, against the edge before
///   Parameters  Ports handshakes side by side; Width of data_i, of one handshake alone
module held #(
  parameter int unsigned Ports = 1,
  parameter int unsigned Width = 1
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             clear_i,
  input logic [Ports-1:0] valid_i,
  input logic [Ports-1:0] ready_i,
  input logic [Width-1:0] data_i
);
  logic [Ports-1:0] waits_q;
  logic [Width-1:0] data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= '0;
    end else begin
      waits_q <= clear_i ? '0 : valid_i & ~ready_i;
      assert ((waits_q & ~valid_i) == '0)
      else $error("%m: valid fell before ready");
      assert (Ports > 1 || !waits_q[0] || data_i == data_q)
      else $error("%m: what is offered changed before ready, from %h to %h", data_q, data_i);
    end
  end
  always_ff @(posedge clk_i) data_q <= data_i;
endmodule
