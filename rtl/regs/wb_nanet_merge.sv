// SPDX-License-Identifier: SHL-2.1
/// Registers of the merging of a UDP-to-memory interface.
///
/// Map: docs/reference/registers.md, "UDP-to-memory interface, merging". The block behind it is
/// generated from rtl/regs/nanet_merge.rdl; this module gives it plain ports.
///
///   Handshake   never stalls; ack one clock after the operation, err for an address or direction
///               that the map lacks
///   Latency     1 cycle
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation
///   Not done    a reset of the counters
module wb_nanet_merge (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  nanet_ctrl_pkg::merge_state_t state_i,  // readable; the map says which field is where
  output logic [31:0]                  wait_o,  // cycles that an event waits for a fragment at most
  input  logic                         wb_cyc_i,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb
  input  logic                         wb_stb_i,
  input  logic                         wb_we_i,
  input  logic [31:0]                  wb_adr_i,  // of a byte in the map
  input  logic [3:0]                   wb_sel_i,
  input  logic [31:0]                  wb_dat_i,
  output logic                         wb_stall_o,
  output logic                         wb_ack_o,  // one ack or err for each operation, in order
  output logic                         wb_err_o,
  output logic [31:0]                  wb_dat_o
);
  nanet_merge_regs_pkg::nanet_merge__in_t  hwif_in;
  nanet_merge_regs_pkg::nanet_merge__out_t hwif_out;

  assign hwif_in.MERGED.value.next     = state_i.merged;
  assign hwif_in.INCOMPLETE.value.next = state_i.incomplete;
  for (genvar i = 0; i < int'(nanet_ctrl_pkg::NumLists); i++) begin : gen_port
    assign hwif_in.LATE[i].late.next         = state_i.late[i];
    assign hwif_in.LATE[i].repeated.next     = state_i.repeated[i];
    assign hwif_in.MISSING[i].missing.next   = state_i.missing[i];
    assign hwif_in.MISSING[i].other.next     = state_i.other[i];
    assign hwif_in.REFUSED[i].malformed.next = state_i.malformed[i];
    assign hwif_in.REFUSED[i].bad.next       = state_i.bad[i];
  end
  assign wait_o = hwif_out.WAIT.value.value;

  nanet_merge_regs u_regs (
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
