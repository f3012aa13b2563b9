// SPDX-License-Identifier: SHL-2.1
/// Counts strobes of one clock, to be read in another: the count crosses in Gray code.
///
///   Handshake   none: a strobe a cycle is counted at each edge of clk_i with event_i
///   Latency     SyncStages + 1 edges of rclk_i, and one of clk_i
///   Throughput  one strobe a cycle; count_o may skip values where clk_i is the faster clock
///   Reset       rst_ni and rrst_ni together, each released synchronously to its clock
///   Parameters  Width 2..32, SyncStages 2..4
///   Not done    clearing
module gray_counter #(
  parameter int unsigned Width      = 16,
  parameter int unsigned SyncStages = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             event_i,
  input  logic             rclk_i,
  input  logic             rrst_ni,
  output logic [Width-1:0] count_o
);
  if (Width < 2 || Width > 32) begin : gen_width_check
    $error("gray_counter: Width is %0d, legal is 2..32", Width);
  end
  if (SyncStages < 2 || SyncStages > 4) begin : gen_sync_check
    $error("gray_counter: SyncStages is %0d, legal is 2..4", SyncStages);
  end

  typedef logic [Width-1:0] count_t;
  count_t count_q, count_d, gray_q, binary;
  (* async_reg = "true" *) count_t [SyncStages-1:0] sync_q;

  assign count_d = count_q + 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      gray_q  <= '0;
    end else if (event_i) begin
      count_q <= count_d;
      gray_q  <= count_d ^ (count_d >> 1);
    end
  end

  for (genvar i = 0; i < int'(Width); i++) begin : gen_binary
    assign binary[i] = ^(sync_q[SyncStages-1] >> i);
  end
  always_ff @(posedge rclk_i or negedge rrst_ni) begin
    if (!rrst_ni) begin
      sync_q  <= '0;
      count_o <= '0;
    end else begin
      sync_q  <= {sync_q[SyncStages-2:0], gray_q};
      count_o <= binary;
    end
  end
endmodule
