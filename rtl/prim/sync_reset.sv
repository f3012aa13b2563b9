// SPDX-License-Identifier: SHL-2.1
/// A reset that is asserted at once and released with clk_i.
///
///   Latency     asserted with rst_ni; released Stages edges of clk_i after it
///   Parameters  Stages 2..4
///   Not done    a reset that outlasts a stopped clock: without clk_i it stays asserted
module sync_reset #(
  parameter int unsigned Stages = 2
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic rst_no  // active low
);
  if (Stages < 2 || Stages > 4) begin : gen_stages_check
    $error("sync_reset: Stages is %0d, legal is 2..4", Stages);
  end

  (* async_reg = "true" *) logic [Stages-2:0] meta_nq;
  (* async_reg = "true" *) logic rst_nq;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      meta_nq <= '0;
      rst_nq  <= 1'b0;
    end else begin
      meta_nq <= (Stages - 1)'({meta_nq, 1'b1});
      rst_nq  <= meta_nq[Stages-2];
    end
  end
  assign rst_no = rst_nq;
endmodule
