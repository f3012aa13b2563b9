// SPDX-License-Identifier: SHL-2.1
/// Places of all flows: the state of each, and what is kept of its packet.
///
///   Handshake   take_i, done_i, empty_i, info_i.valid: strobes, of the operation step_i.
///               state_re_i, info_re_i: what is read is held until the next read
///   Ordering    a read in the clock of a write to the same place is undefined
///   Latency     a cycle from read to state_o and info_o
///   Start       clear_i: the place clear_index_i is emptied
///   Parameters  none: MaxHosts flows of Window places
///   Not done    the decision what an operation does
module rdma_places
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic clk_i,

  input logic        clear_i,
  input logic [8:0]  clear_index_i,
  input flow_step_t  step_i,
  input place_t      base_i,         // to be retired next in the flow of step_i
  input place_t      open_place_i,   // to be emptied next by OpOpen
  input logic        take_i,
  input logic        done_i,
  input logic        empty_i,
  input info_write_t info_i,

  input  logic         state_re_i,
  input  logic         info_re_i,
  input  logic [8:0]   raddr_i,
  output place_state_e state_o,
  output info_t        info_o
);
  localparam int unsigned Depth = MaxHosts * Window;
  logic we;
  logic [8:0] waddr;
  logic [2:0] state_bits;
  place_state_e wdata;

  always_comb begin
    we    = 1'b1;
    wdata = PlaceEmpty;
    if (take_i) begin
      wdata = PlaceTaken;
    end else if (done_i) begin
      // The place of a spoilt packet waits again, for the packet or for the end of LostCycles.
      if (step_i.spoilt) wdata = PlaceEmpty;
      else if (step_i.op == OpRefused) wdata = PlaceRefused;
      else wdata = step_i.failed ? PlaceBroken : PlaceDone;
    end else if (!clear_i && !empty_i) begin
      we = 1'b0;
    end
    // The operation alone says where it writes, if it does.
    waddr = {step_i.src, step_i.place};
    if (clear_i) waddr = clear_index_i;
    else if (step_i.op == OpRetire) waddr = {step_i.src, base_i};
    else if (step_i.op == OpOpen) waddr = {step_i.src, open_place_i};
  end

  ram_1r1w #(
    .Width  (3),
    .Depth  (Depth),
    .ReadOld(1'b0)
  ) u_states (
    .clk_i,
    .we_i   (we),
    .waddr_i(waddr),
    .wdata_i(wdata),
    .re_i   (state_re_i),
    .raddr_i,
    .rdata_o(state_bits)
  );
  assign state_o = place_state_e'(state_bits);

  ram_1r1w #(
    .Width  ($bits(info_t)),
    .Depth  (Depth),
    .ReadOld(1'b0)
  ) u_infos (
    .clk_i,
    .we_i   (info_i.valid),
    .waddr_i({info_i.src, info_i.place}),
    .wdata_i(info_i.info),
    .re_i   (info_re_i),
    .raddr_i,
    .rdata_o(info_o)
  );

  logic unused;
  assign unused = &{1'b0, step_i};
endmodule
