// SPDX-License-Identifier: SHL-2.1
/// The BAR of a torus' node: registers in page 0, in page 1 the window of posts that bring their
/// payload; one queue of posts out of both.
///
/// bar -> apenet_inline -> nanet_bar; posts of both -> put_o
///
///   Handshake   bar_* AXI4 as apenet_inline; control_o, state_i and put_* as nanet_bar; room_i,
///               slot_i, at_i and payload_o as apenet_inline
///   Ordering    posts of the window and of registers in the order of their writes
///   Map         8 KiB: nanet.rdl, nanet_put.rdl from 0x200 on, nanet_inline.rdl from 0x1000 on
///   Latency     as nanet_bar; as apenet_inline
///   Throughput  as both
///   Parameters  none
///   Not done    bursts of registers
module apenet_bar
  import apenet_pkg::*;
(
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  axi_pkg::bar_request_t      bar_i,
  output axi_pkg::bar_response_t     bar_o,
  input  nanet_ctrl_pkg::state_t     state_i,
  output nanet_ctrl_pkg::control_t   control_o,
  input  nanet_ctrl_pkg::put_state_t put_i,
  input  logic [14:0]                last_i,  // highest coordinates of the torus
  output nanet_ctrl_pkg::put_t       put_o,
  input  logic                       room_i,
  input  logic [CarriedW-1:0]           slot_i,
  input  logic [1:0]                 at_i,
  output logic [FlitWidth-1:0]       payload_o,
  output logic                       idle_o   // nothing changes until an input does
);
  axi_pkg::bar_request_t     regs;
  axi_pkg::bar_response_t    regs_answer;
  nanet_ctrl_pkg::put_t      put;
  nanet_ctrl_pkg::put_post_t carried;
  logic carried_valid, inline_idle, regs_idle;
  nanet_ctrl_pkg::send_t     unused_send;
  apenet_inline #(
    .Slots(CarriedSlots)
  ) u_inline (
    .clk_i,
    .rst_ni,
    .enable_i    (control_o.enable),
    .bar_i,
    .bar_o,
    .regs_o      (regs),
    .regs_i      (regs_answer),
    .post_valid_o(carried_valid),
    .post_o      (carried),
    .room_i,
    .slot_i,
    .at_i,
    .flit_o      (payload_o),
    .idle_o      (inline_idle)
  );

  nanet_bar #(
    .NumPorts  (1),
    .NumRegions(nanet_pkg::MaxRegions),
    .Send      (1'b0),
    .Put       (1'b1)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .bar_i       (regs),
    .bar_o       (regs_answer),
    .state_i,
    .control_o,
    .send_i      ('0),
    .send_o      (unused_send),
    .ask_o       (),
    .answer_i    ('0),
    .put_i,
    .put_last_i  (last_i),
    .put_o       (put),
    .merge_i     ('0),
    .merge_wait_o(),
    .release_i   ('0),
    .idle_o      (regs_idle)
  );

  // A write of the window begins when those of registers are answered, their strobes before.
  always_comb begin
    put_o = put;
    if (carried_valid) begin
      put_o.post_we = 1'b1;
      put_o.post    = carried;
    end
  end
  assign idle_o = inline_idle && regs_idle;

  logic unused;
  assign unused = ^unused_send;

  prim_assert u_posts (.clk_i, .rst_ni, .ok_i(!(carried_valid && put.post_we)));
endmodule
