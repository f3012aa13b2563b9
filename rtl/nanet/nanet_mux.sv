// SPDX-License-Identifier: SHL-2.1
/// Lets several sources write through one axi_write_engine, a command with its data at a time.
///
///   Handshake   valid/ready on both sides; data_last_i says that a source's beat is its command's
///               last
///   Fairness    round robin over commands
///   Latency     0 cycles
///   Throughput  a command in its beats and 1 cycle
///   Parameters  NumSources 2..16, DataWidth, BytesW
///   Not done    several commands ahead of their data
module nanet_mux #(
  parameter  int unsigned NumSources = 2,
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned BytesW     = 8,
  localparam int unsigned TagW       = $clog2(NumSources)
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic [NumSources-1:0]                cmd_valid_i,
  output logic [NumSources-1:0]                cmd_ready_o,
  input  nanet_pkg::region_key_t [NumSources-1:0] cmd_key_i,
  input  logic [NumSources-1:0][63:0]          cmd_addr_i,
  input  logic [NumSources-1:0][BytesW-1:0]    cmd_bytes_i,
  input  logic [NumSources-1:0]                data_valid_i,
  output logic [NumSources-1:0]                data_ready_o,
  input  logic [NumSources-1:0]                data_keep_i,
  input  logic [NumSources-1:0]                data_last_i,
  input  logic [NumSources-1:0][DataWidth-1:0] data_i,

  output logic                 cmd_valid_o,
  input  logic                 cmd_ready_i,
  output nanet_pkg::region_key_t cmd_key_o,
  output logic [63:0]          cmd_addr_o,
  output logic [BytesW-1:0]    cmd_bytes_o,
  output logic [TagW-1:0]      cmd_tag_o,
  output logic                 data_valid_o,
  input  logic                 data_ready_i,
  output logic                 data_keep_o,
  output logic                 data_last_o,
  output logic [DataWidth-1:0] data_o
);
  logic [NumSources-1:0] gnt;
  logic [TagW-1:0] idx;
  logic last;

  arb_rr #(
    .NumReq(NumSources)
  ) u_arb (
    .clk_i,
    .rst_ni,
    .req_i (cmd_valid_i),
    .last_i(last),
    .gnt_o (gnt),
    .idx_o (idx)
  );

  assign cmd_valid_o  = (gnt & cmd_valid_i) != '0;
  assign cmd_ready_o  = gnt & {NumSources{cmd_ready_i}};
  assign cmd_key_o    = cmd_key_i[idx];
  assign cmd_addr_o   = cmd_addr_i[idx];
  assign cmd_bytes_o  = cmd_bytes_i[idx];
  assign cmd_tag_o    = idx;
  assign data_valid_o = (gnt & data_valid_i) != '0;
  assign data_ready_o = gnt & {NumSources{data_ready_i}};
  assign data_keep_o  = data_keep_i[idx];
  assign data_last_o  = data_last_i[idx];
  assign data_o       = data_i[idx];
  assign last         = data_valid_o && data_ready_i && data_last_o;
endmodule
