// SPDX-License-Identifier: SHL-2.1
/// Replies of etherbone_core: slots in the order of the requests, results of the bus, and the
/// configuration space.
///
/// A slot holds a finished word, or says where to take it from when its turn comes.
///
///   Handshake   slot_valid_i: only while slot_ready_o was high at most one cycle before; answer_i:
///               strobe, with err_i and dat_i, for a slot of kind SlotRead or SlotWrite that was
///               pushed. tx_valid_o/tx_ready_i; a slot of kind SlotEnd is a beat with tx_end_o
///   Order       a config read sees the errors of every operation before it
///   Latency     a word in to the word out: 1; a result in to the word out: 1
///   Throughput  a word a cycle
///   Parameters  Width 32 or 64; Depth power of two 8..256; Stream as in etherbone_core
///   Not done    words of requests
module etherbone_reply
  import etherbone_pkg::*;
#(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 32,
  parameter bit Stream = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             slot_valid_i,
  output logic             slot_ready_o,  // there is room for two more
  input  slot_e            slot_kind_i,
  input  logic [Width-1:0] slot_word_i,

  input logic             answer_i,
  input logic             err_i,
  input logic [Width-1:0] dat_i,

  input identity_t identity_i,

  output logic             tx_valid_o,
  input  logic             tx_ready_i,
  output logic [Width-1:0] tx_data_o,
  output logic             tx_end_o,
  output logic             tx_commit_o,

  output logic bus_error_o,  // strobe
  output logic empty_o
);
  localparam int unsigned CountW = $clog2(Depth) + 1;
  typedef struct packed {
    slot_e            kind;
    logic [Width-1:0] word;
  } slot_t;

  slot_t slot_in, slot_out;
  assign slot_in = '{kind: slot_kind_i, word: slot_word_i};

  logic [CountW-1:0] slot_usage;
  logic slot_valid, slot_pop, result_valid, result_err, from_bus;
  logic [Width-1:0] result_dat;

  fifo #(
    .Width(3 + Width),
    .Depth(Depth)
  ) u_slots (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(slot_valid_i),
    .ready_o(),
    .data_i (slot_in),
    .valid_o(slot_valid),
    .ready_i(slot_pop),
    .data_o (slot_out),
    .usage_o(slot_usage)
  );

  // Registered, because a request's ready depends on it; one cycle late, hence the margin.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) slot_ready_o <= 1'b0;
    else slot_ready_o <= slot_usage < CountW'(Depth - 2);
  end

  // As deep as the slots, each of which owns at most one result: it cannot overflow.
  fifo #(
    .Width(1 + Width),
    .Depth(Depth)
  ) u_results (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(answer_i),
    .ready_o(),
    .data_i ({err_i, dat_i}),
    .valid_o(result_valid),
    .ready_i(slot_pop && from_bus),
    .data_o ({result_err, result_dat}),
    .usage_o()
  );

  logic [63:0] errors_q;
  logic [63:0] config_reg;
  logic [Width-1:0] config_dat;

  assign from_bus = slot_out.kind == SlotRead || slot_out.kind == SlotWrite;

  always_comb begin
    unique case (slot_out.word[5:3])
      3'd0:    config_reg = errors_q;
      3'd1:    config_reg = {32'd0, identity_i.sdb_address};
      3'd2:    config_reg = {16'd0, identity_i.mac};
      3'd3:    config_reg = {identity_i.ip, 16'd0, identity_i.port};
      3'd5:    config_reg = 64'd2;  // message interrupts: not supported
      default: config_reg = '0;
    endcase
    if (!Stream && slot_out.word[15:6] != '0) config_reg = '0;
  end

  if (Width == 64) begin : gen_config_64
    assign config_dat = config_reg;
  end else begin : gen_config_32
    assign config_dat = slot_out.word[2] ? config_reg[31:0] : config_reg[63:32];
  end

  assign tx_valid_o = slot_valid && (!from_bus || result_valid);
  assign slot_pop   = tx_valid_o && tx_ready_i;
  assign tx_end_o   = slot_out.kind == SlotEnd;
  assign tx_commit_o = slot_out.word[0];
  assign tx_data_o  = slot_out.kind == SlotRead   ? result_dat :
                      slot_out.kind == SlotConfig ? config_dat : slot_out.word;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) errors_q <= '0;
    else if (slot_pop && from_bus) errors_q <= {errors_q[62:0], result_err};
  end

  assign bus_error_o = slot_pop && from_bus && result_err;
  assign empty_o     = !slot_valid;
endmodule
