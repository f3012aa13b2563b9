// SPDX-License-Identifier: SHL-2.1
/// Counts the uses of translations that are not over, and says when an invalidation is complete.
///
/// A use belongs to the epoch in which it began. An invalidation, when nothing can find the old
/// translation any more, ends the epoch; it is complete when no use of that epoch, or of one
/// before, is left. New uses belong to the next epoch, so nothing waits for them.
///
///   Handshake   use_i, done_i, end_i are strobes; end_i only with end_ready_o. complete_* is
///               valid/ready
///   Ordering    invalidations complete in the order of end_i. A use with end_i belongs to the
///               epoch that ends
///   Latency     last done_i, or end_i, to complete_valid_o 1 cycle
///   Throughput  one of each a cycle
///   Safety      complete_valid_o only without a use of its epoch or of one before; counters
///               neither wrap nor exceed MaxUses         (proved: formal/svm/atc_epochs.sby)
///   Parameters  Epochs a power of two, 2..16: Epochs - 1 invalidations wait at once;
///               MaxUses 1..4095: as many uses are open at most; TagWidth 1..16
///   Not done    which translation was used: an invalidation waits for uses of others as well
module atc_epochs #(
  parameter  int unsigned Epochs     = 4,
  parameter  int unsigned MaxUses    = 256,
  parameter  int unsigned TagWidth   = 5,
  localparam int unsigned EpochWidth = $clog2(Epochs)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  output logic [EpochWidth-1:0] epoch_o,          // of a use that begins now
  input  logic                  use_i,
  input  logic                  done_i,
  input  logic [EpochWidth-1:0] done_epoch_i,     // as epoch_o was with its use_i
  output logic                  end_ready_o,
  input  logic                  end_i,
  input  logic [TagWidth-1:0]   end_tag_i,
  output logic                  complete_valid_o,
  input  logic                  complete_ready_i,
  output logic [TagWidth-1:0]   complete_tag_o
);
  if (Epochs < 2 || Epochs > 16 || (Epochs & (Epochs - 1)) != 0) begin : gen_epochs_check
    $error("atc_epochs: Epochs is %0d, legal is a power of two, 2..16", Epochs);
  end
  if (MaxUses < 1 || MaxUses > 4095 || TagWidth < 1 || TagWidth > 16) begin : gen_width_check
    $error("atc_epochs: MaxUses %0d, legal is 1..4095; TagWidth %0d, legal is 1..16", MaxUses,
           TagWidth);
  end
  localparam int unsigned CountWidth = $clog2(MaxUses + 1);
  typedef logic [CountWidth-1:0] count_t;
  typedef logic [EpochWidth-1:0] epoch_t;

  // Epochs from old_q to before epoch_q have ended and wait; all others but epoch_q are empty.
  epoch_t                           epoch_q, old_q;
  count_t [Epochs-1:0]              count_q;
  logic [Epochs-1:0][TagWidth-1:0]  tag_q;
  logic                             complete;

  assign epoch_o          = epoch_q;
  assign end_ready_o      = epoch_t'(epoch_q + 1'b1) != old_q;
  assign complete_valid_o = old_q != epoch_q && count_q[old_q] == '0;
  assign complete_tag_o   = tag_q[old_q];
  assign complete         = complete_valid_o && complete_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      epoch_q <= '0;
      old_q   <= '0;
      count_q <= '0;
    end else begin
      for (int unsigned e = 0; e < Epochs; e++) begin
        count_q[e] <= count_q[e] + count_t'(use_i && epoch_q == epoch_t'(e)) -
            count_t'(done_i && done_epoch_i == epoch_t'(e));
      end
      if (end_i) epoch_q <= epoch_q + 1'b1;
      if (complete) old_q <= old_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (end_i) tag_q[epoch_q] <= end_tag_i;

  prim_assert u_end (
    .clk_i,
    .rst_ni,
    .ok_i(!end_i || end_ready_o)
  );
  prim_assert u_done (
    .clk_i,
    .rst_ni,
    .ok_i(!done_i || count_q[done_epoch_i] != '0)
  );
endmodule
