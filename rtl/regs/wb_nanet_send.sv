// SPDX-License-Identifier: SHL-2.1
/// Registers of the send queue of a UDP-to-memory interface.
///
/// Map: docs/reference/registers.md, "UDP-to-memory interface, send queue". The block behind it is
/// generated from rtl/regs/nanet_send.rdl; this module gives it plain ports.
///
///   Handshake   never stalls; ack one clock after the operation, err for an address or direction
///               that the map lacks
///   Latency     1 cycle; the strobes of send_o follow a write by two
///   Throughput  one operation a cycle
///   Ask         a store in ASK is a strobe; answer_i counts when it is that of its address
///   Idle        nothing changes without an operation or an answer
///   Not done    reading back what was posted
module wb_nanet_send (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  nanet_ctrl_pkg::send_state_t state_i,  // readable; the map says which field is where
  output nanet_ctrl_pkg::send_t       send_o,
  output logic                        ask_valid_o,  // strobe: the program asks for a MAC address
  output logic [31:0]                 ask_ip_o,  // with it: of this station
  input  logic                        answer_valid_i,  // strobe: a station has answered
  input  logic [31:0]                 answer_ip_i,  // with it: its address
  input  logic [47:0]                 answer_mac_i,  // with it: what the program reads
  input  logic                        wb_cyc_i,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb
  input  logic                        wb_stb_i,
  input  logic                        wb_we_i,
  input  logic [31:0]                 wb_adr_i,  // of a byte in the map
  input  logic [3:0]                  wb_sel_i,
  input  logic [31:0]                 wb_dat_i,
  output logic                        wb_stall_o,
  output logic                        wb_ack_o,  // one ack or err for each operation, in order
  output logic                        wb_err_o,
  output logic [31:0]                 wb_dat_o
);
  nanet_send_regs_pkg::nanet_send__in_t  hwif_in;
  nanet_send_regs_pkg::nanet_send__out_t hwif_out;

  assign hwif_in.SENT.value.next       = state_i.sent;
  assign hwif_in.SENT.spoiled.next     = state_i.spoiled;
  assign hwif_in.NOT_SENT.refused.next = state_i.refused;
  assign hwif_in.NOT_SENT.full.next    = state_i.full;

  // swmod is high in the clock of the store: the value is there in the next.
  logic peer_q, post_q, answered_q;
  logic [47:0] mac_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      peer_q      <= 1'b0;
      post_q      <= 1'b0;
      ask_valid_o <= 1'b0;
      answered_q  <= 1'b0;
    end else begin
      peer_q      <= hwif_out.PEER_SET.index.swmod;
      post_q      <= hwif_out.POST.offset.swmod;
      ask_valid_o <= hwif_out.ASK.value.swmod;
      if (hwif_out.ASK.value.swmod || ask_valid_o) answered_q <= 1'b0;
      else if (answer_valid_i && answer_ip_i == ask_ip_o) answered_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (answer_valid_i && answer_ip_i == ask_ip_o) mac_q <= answer_mac_i;
  end
  assign ask_ip_o = hwif_out.ASK.value.value;
  assign hwif_in.ANSWER_MAC.value.next = mac_q[31:0];
  assign hwif_in.ANSWER.mac.next       = mac_q[47:32];
  assign hwif_in.ANSWER.valid.next     = answered_q;
  assign send_o = '{
      base: {hwif_out.SEND_HI.value.value, hwif_out.SEND_LO.value.value},
      blocks: hwif_out.SEND_BYTES.value.value,
      peer_we: peer_q,
      peer_index: hwif_out.PEER_SET.index.value,
      peer: '{
          valid: hwif_out.PEER_SET.valid.value,
          mac: {hwif_out.PEER_PORT.mac.value, hwif_out.PEER_MAC.value.value},
          ip: hwif_out.PEER_IP.value.value,
          port: hwif_out.PEER_PORT.port.value
      },
      post_we: post_q,
      post: '{
          peer: hwif_out.POST.peer.value,
          bytes: hwif_out.POST.bytes.value,
          offset: hwif_out.POST.offset.value
      }
  };

  nanet_send_regs u_regs (
    .clk   (clk_i),
    .arst_n(rst_ni),
    .wb_cyc_i,
    .wb_stb_i,
    .wb_we_i,
    .wb_adr_i,
    .wb_sel_i,
    .wb_dat_i,
    .wb_stall_o,
    .wb_ack_o,
    .wb_err_o,
    .wb_dat_o,
    .hwif_in,
    .hwif_out
  );
endmodule
