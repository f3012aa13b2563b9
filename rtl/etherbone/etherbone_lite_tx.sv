// SPDX-License-Identifier: SHL-2.1
/// Replies of the engine become replies in LiteEth's dialect.
///
/// The header's "no reads" bit is cleared and a word of 0 put behind it, the record's flags stand
/// in reverse order of bits, and the empty records that stand for writes are taken out. A frame
/// without reads is not answered. A probe's reply has its 0 behind the probe's number.
///
///   Handshake   words and end beats as etherbone_core gives them, both sides valid/ready
///   Order       that of the engine
///   Latency     0; the word that is put in takes one cycle, in which the engine holds its next. It
///               comes from a request that had one word more, so it delays nothing
///   Throughput  one word a cycle
///   Parameters  none; lite_i is static, 0: beats go on as they are
///   Not done    more than one record
module etherbone_lite_tx
  import etherbone_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        lite_i,

  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] data_i,
  input  logic        end_i,
  input  logic        commit_i,

  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] data_o,
  output logic        end_o,
  output logic        commit_o
);
  typedef enum logic [2:0] {
    StHead,
    StNumber,  // a probe's
    StPad,
    StSkip,    // what stands for writes
    StPass
  } state_e;

  state_e state_q, state_d;
  logic probe_q, empty, insert, drop;

  // In front of the record there are only words of 0, and a record that answers counts something.
  assign empty  = data_i[15:8] == '0;
  assign insert = lite_i && state_q == StPad;
  assign drop   = lite_i && state_q == StSkip && !end_i && empty;

  assign valid_o  = insert || (valid_i && !drop);
  assign ready_o  = drop || (ready_i && !insert);
  assign end_o    = end_i && !insert;
  assign commit_o = commit_i && (!lite_i || state_q == StPass);

  always_comb begin
    data_o = data_i;
    if (lite_i) begin
      unique case (state_q)
        StHead:  data_o[8+HdrNoReads] = 1'b0;
        StPad:   data_o = '0;
        StSkip:  data_o[31:24] = reversed(data_i[31:24]);
        default: ;
      endcase
    end
  end

  always_comb begin
    state_d = state_q;
    if (insert) begin
      if (ready_i) state_d = probe_q ? StPass : StSkip;
    end else if (valid_i && ready_o) begin
      unique case (state_q)
        StHead:   state_d = data_i[8+HdrProbeReply] ? StNumber : StPad;
        StNumber: state_d = StPad;
        StSkip:   if (!empty) state_d = StPass;
        default:  ;
      endcase
      if (end_i) state_d = StHead;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StHead;
      probe_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (state_q == StHead) probe_q <= data_i[8+HdrProbeReply];
    end
  end
endmodule
