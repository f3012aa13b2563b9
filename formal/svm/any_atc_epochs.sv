// SPDX-License-Identifier: SHL-2.1
/// Stands for atc_epochs in a proof: any epoch, ready and complete at any time. The proof of
/// atc_epochs has the rest.
module atc_epochs #(
  parameter  int unsigned Epochs     = 4,
  parameter  int unsigned MaxUses    = 256,
  parameter  int unsigned TagWidth   = 5,
  localparam int unsigned EpochWidth = $clog2(Epochs)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  output logic [EpochWidth-1:0] epoch_o,
  input  logic                  use_i,
  input  logic                  done_i,
  input  logic [EpochWidth-1:0] done_epoch_i,
  output logic                  end_ready_o,
  input  logic                  end_i,
  input  logic [TagWidth-1:0]   end_tag_i,
  output logic                  complete_valid_o,
  input  logic                  complete_ready_i,
  output logic [TagWidth-1:0]   complete_tag_o
);
endmodule
