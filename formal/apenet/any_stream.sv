// SPDX-License-Identifier: SHL-2.1
/// Stands in for nanet_stream: it takes words, asks memory and announces whenever it likes.
module nanet_stream
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned UsageW    = 8,
  parameter logic [7:0]  ListId    = 8'd0,
  parameter bit          Ask       = 1'b0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [63:0]          time_cycles_i,
  input  list_t                list_i,
  input  logic                 table_we_i,
  input  logic [5:0]           table_index_i,
  input  buffer_t              table_i,
  input  logic                 beat_valid_i,
  output logic                 beat_ready_o,
  input  entry_e               beat_kind_i,
  input  logic [DataWidth-1:0] beat_i,
  input  logic [UsageW-1:0]    usage_i,
  input  logic [UsageW-1:0]    ends_i,
  input  logic                 head_lost_i,
  output logic                 ask_valid_o,
  input  logic                 answer_valid_i,
  output list_request_t        request_o,
  input  list_response_t       response_i,
  output logic [DataWidth-1:0] data_o,
  input  logic                 full_i,
  output logic                 begun_o,
  output logic [15:0]          filled_o,
  output losses_t              losses_o,
  output logic [31:0]          delivered_o,
  output logic [15:0]          no_event_o,
  output logic [15:0]          overwritten_o,
  output logic [5:0]           number_o,
  output logic                 idle_o
);
endmodule
