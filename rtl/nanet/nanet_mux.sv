// SPDX-License-Identifier: SHL-2.1
/// Lets several sources write through one axi_write_engine, a command with its data at a time.
///
///   Handshake   valid/ready on both sides; a source's data is taken from the cycle after its
///               command on; write_t's last says that a beat is its command's last
///   Fairness    round robin over commands
///   Latency     0 cycles
///   Throughput  a command in its beats and 1 cycle
///   Parameters  NumSources 2..16, DataWidth
///   Not done    several commands ahead of their data
module nanet_mux
  import nanet_pkg::*;
#(
  parameter  int unsigned NumSources = 2,
  parameter  int unsigned DataWidth  = 128,
  localparam int unsigned TagW       = $clog2(NumSources)
) (
  input logic clk_i,
  input logic rst_ni,

  input  write_t [NumSources-1:0]                write_i,
  input  logic   [NumSources-1:0][DataWidth-1:0] data_i,
  output logic   [NumSources-1:0]                cmd_ready_o,
  output logic   [NumSources-1:0]                data_ready_o,

  output write_t               write_o,
  output logic [DataWidth-1:0] data_o,
  output logic [TagW-1:0]      cmd_tag_o,   // the source
  input  logic                 cmd_ready_i,
  input  logic                 data_ready_i
);
  logic [NumSources-1:0] cmd_valid, data_valid, gnt;
  logic [NumSources-1:0] data_gnt_q;  // whose data comes: off the way through the arbiter
  logic [TagW-1:0] data_idx_q;
  logic last;
  for (genvar i = 0; i < int'(NumSources); i++) begin : gen_source
    assign cmd_valid[i]  = write_i[i].cmd_valid;
    assign data_valid[i] = write_i[i].data_valid;
  end

  arb_rr #(
    .NumReq(NumSources)
  ) u_arb (
    .clk_i,
    .rst_ni,
    .req_i (cmd_valid),
    .last_i(last),
    .gnt_o (gnt),
    .idx_o (cmd_tag_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) data_gnt_q <= '0;
    else if (write_o.cmd_valid && cmd_ready_i) data_gnt_q <= gnt;
    else if (last) data_gnt_q <= '0;
  end
  always_ff @(posedge clk_i) begin
    if (write_o.cmd_valid && cmd_ready_i) data_idx_q <= cmd_tag_o;
  end

  always_comb begin
    write_o            = write_i[cmd_tag_o];
    write_o.cmd_valid  = (gnt & cmd_valid) != '0;
    write_o.data_valid = (data_gnt_q & data_valid) != '0;
    write_o.keep       = write_i[data_idx_q].keep;
    write_o.last       = write_i[data_idx_q].last;
  end
  assign cmd_ready_o  = gnt & {NumSources{cmd_ready_i}};
  assign data_ready_o = data_gnt_q & {NumSources{data_ready_i}};
  assign data_o       = data_i[data_idx_q];
  assign last         = write_o.data_valid && data_ready_i && write_o.last;
endmodule
