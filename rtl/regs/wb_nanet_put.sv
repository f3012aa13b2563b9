// SPDX-License-Identifier: SHL-2.1
/// Registers of the put queue of a torus node.
///
/// Map: docs/reference/registers.md, "Torus node, put queue". The block behind it is
/// generated from rtl/regs/nanet_put.rdl; this module gives it plain ports.
///
///   Handshake   never stalls; ack one clock after the operation, err for an address or direction
///               that the map lacks
///   Latency     1 cycle; the strobes of put_o follow a write by two
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation
///   Not done    reading back what was posted
module wb_nanet_put (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  nanet_ctrl_pkg::put_state_t state_i,  // readable; the map says which field is where
  input  logic [14:0]                last_i,  // highest coordinates of the torus: z, y, x
  output nanet_ctrl_pkg::put_t       put_o,
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
  nanet_put_regs_pkg::nanet_put__in_t  hwif_in;
  nanet_put_regs_pkg::nanet_put__out_t hwif_out;

  assign hwif_in.DONE.sent.next     = state_i.done.sent;
  assign hwif_in.DONE.refused.next  = state_i.done.refused;
  assign hwif_in.FULL.value.next    = state_i.done.full;
  assign hwif_in.SERVED.answered.next = state_i.done.served;
  assign hwif_in.SERVED.refused.next  = state_i.done.denied;
  assign hwif_in.GETS_LOST.value.next = state_i.done.lost;
  assign hwif_in.PACKETS.value.next = state_i.packets;
  assign hwif_in.BAD.packets.next   = state_i.bad_packets;
  assign hwif_in.BAD.puts.next      = state_i.bad_puts;
  assign hwif_in.LIST_REFUSED.value.next = state_i.list_refused;
  assign hwif_in.ASKED.value.next = state_i.asked;
  assign hwif_in.LATE.value.next = state_i.late;
  assign hwif_in.SHAPE.last.next = last_i;
  assign hwif_in.CARRIED.most.next = 7'd64;

  // swmod is high in the clock of the store: the value is there in the next.
  logic target_q, post_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      target_q <= 1'b0;
      post_q   <= 1'b0;
    end else begin
      target_q <= hwif_out.TARGET_SET.index.swmod;
      post_q   <= hwif_out.POST.bytes.swmod;
    end
  end
  assign put_o = '{
      base: {hwif_out.PUT_HI.value.value, hwif_out.PUT_LO.value.value},
      blocks: hwif_out.PUT_BYTES.value.value,
      target_we: target_q,
      target_index: hwif_out.TARGET_SET.index.value,
      target: '{
          valid: hwif_out.TARGET_SET.valid.value,
          list: hwif_out.TARGET_SET.list.value,
          place: hwif_out.TARGET_SET.node.value,
          key: hwif_out.TARGET_HI.key.value,
          base: {hwif_out.TARGET_HI.high.value, hwif_out.TARGET_LO.value.value}
      },
      post_we: post_q,
      post: '{
          carried: 1'b0,
          get: hwif_out.POST.get.value,
          target: hwif_out.POST.target.value,
          bytes: hwif_out.POST.bytes.value,
          remote: hwif_out.POST_PLACES.remote.value,
          offset: hwif_out.POST_PLACES.offset.value
      },
      land_key: hwif_out.LAND.key.value,
      serves: hwif_out.SERVE.valid.value,
      serve_key: hwif_out.SERVE.key.value,
      lists: hwif_out.LIST_KEY.valid.value,
      list_key: hwif_out.LIST_KEY.key.value
  };

  nanet_put_regs u_regs (
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
