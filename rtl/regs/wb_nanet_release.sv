// SPDX-License-Identifier: SHL-2.1
/// Registers of the release of answers of a UDP-to-memory interface.
///
/// Map: docs/reference/registers.md, "UDP-to-memory interface, release". The block behind it is
/// generated from rtl/regs/nanet_release.rdl; this module gives it plain ports.
///
///   Handshake   never stalls; ack one clock after the operation, err for an address or direction
///               that the map lacks
///   Latency     1 cycle
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation
///   Not done    a reset of the counters
module wb_nanet_release (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  nanet_ctrl_pkg::release_state_t state_i,   // readable; the map says which field is where
  input  logic                           wb_cyc_i,  // wb_*: Wishbone B4, taken at cyc & stb
  input  logic                           wb_stb_i,
  input  logic                           wb_we_i,
  input  logic [31:0]                    wb_adr_i,  // of a byte in the map
  input  logic [3:0]                     wb_sel_i,
  input  logic [31:0]                    wb_dat_i,
  output logic                           wb_stall_o,
  output logic                           wb_ack_o,  // one ack or err for each operation
  output logic                           wb_err_o,
  output logic [31:0]                    wb_dat_o
);
  nanet_release_regs_pkg::nanet_release__in_t hwif_in;

  assign hwif_in.RELEASED.value.next = state_i.released;
  assign hwif_in.LATE.value.next     = state_i.late;
  assign hwif_in.EARLY.value.next    = state_i.early;
  assign hwif_in.LOST.value.next     = state_i.lost;

  nanet_release_regs u_regs (
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
    .hwif_in
  );
endmodule
