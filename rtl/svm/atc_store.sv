// SPDX-License-Identifier: SHL-2.1
/// Translations of pages of one size: a tag store, addressed by numbers of 4 KiB pages.
///
///   Handshake   as tag_store: an operation is taken in a cycle with valid_i and ready_o
///   Latency     1 cycle from valid_i to hit_o and what was found
///   Parameters  Shift: logarithm of a page in pages of 4 KiB. Sets and Ways as tag_store
///   Not done    permission checks: read_o and write_o are what was filled
module atc_store #(
  parameter  int unsigned VpnWidth = 36,
  parameter  int unsigned PpnWidth = 36,
  parameter  int unsigned Shift    = 0,
  parameter  int unsigned Sets     = 32,
  parameter  int unsigned Ways     = 4,
  localparam int unsigned SetLog2  = $clog2(Sets)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic                fill_i,
  input  logic                invalidate_i,
  input  logic [VpnWidth-1:0] vpn_i,
  input  logic [PpnWidth-1:0] ppn_i,
  input  logic                read_i,
  input  logic                write_i,
  // A cycle later: the page of 4 KiB, inside the page that was found.
  output logic                hit_o,
  output logic [PpnWidth-1:0] ppn_o,
  output logic                read_o,
  output logic                write_o
);
  localparam int unsigned FrameWidth = PpnWidth - Shift;
  logic [FrameWidth-1:0] frame;
  tag_store #(
    .Sets     (Sets),
    .Ways     (Ways),
    .TagWidth (VpnWidth - Shift - SetLog2),
    .DataWidth(FrameWidth + 2)
  ) u_store (
    .clk_i,
    .rst_ni,
    .clear_i,
    .valid_i,
    .ready_o,
    .fill_i,
    .invalidate_i,
    .index_i     (vpn_i[Shift+:SetLog2]),
    .tag_i       (vpn_i[VpnWidth-1:Shift+SetLog2]),
    .data_i      ({ppn_i[PpnWidth-1:Shift], read_i, write_i}),
    .done_o      (),
    .hit_o,
    .way_o       (),
    .data_o      ({frame, read_o, write_o}),
    .evict_o     (),
    .evict_tag_o (),
    .evict_data_o()
  );

  if (Shift == 0) begin : gen_base
    assign ppn_o = frame;
  end else begin : gen_larger
    logic [Shift-1:0] inside_q;
    always_ff @(posedge clk_i) inside_q <= vpn_i[Shift-1:0];
    assign ppn_o = {frame, inside_q};
    logic unused;
    assign unused = ^ppn_i[Shift-1:0];
  end
endmodule
