// SPDX-License-Identifier: SHL-2.1
/// Converts replies of the engine to LiteEth's dialect, at the input of the reply buffer.
///
/// The header's "no reads" bit is cleared and a word of 0 inserted behind it, the record's flags
/// are in reverse order of bits, and the empty records for writes are removed. A frame without
/// reads is not answered. A probe's reply has its 0 behind the probe's number.
///
///   Words       valid_i with data_i, both from registers; store_o: data_o is a word of the reply.
///               end_i: the frame's last word was before; answer_o in that cycle: a reply is due
///   Stall       hold_o: no word may be taken in this cycle, which would arrive here in the next,
///               in which the 0 is stored. busy_o: this is that cycle, end_i must be low
///   Latency     0
///   Throughput  one word a cycle, except the one behind a header or a probe's number. The request
///               had a word there that the engine did not get, so this adds no delay
///   Parameters  none; lite_i is static, 0: words are stored unchanged
///   Not done    more than one record
module etherbone_lite_tx
  import etherbone_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        lite_i,

  input  logic        valid_i,
  input  logic [31:0] data_i,
  input  logic        end_i,
  output logic        hold_o,
  output logic        busy_o,

  output logic        store_o,
  output logic [31:0] data_o,
  output logic        answer_o
);
  typedef enum logic [2:0] {
    StHead,
    StNumber,  // a probe's
    StPad,
    StSkip,    // empty records for writes
    StPass
  } state_e;

  state_e state_q, state_d;
  logic probe_q, record;

  // In front of the record there are only words of 0; a record with an answer has a count above 0.
  assign record = data_i[15:8] != '0;

  assign hold_o   = lite_i && valid_i && (state_q == StHead || state_q == StNumber);
  assign busy_o   = lite_i && state_q == StPad;
  assign store_o  = busy_o || (valid_i && !(lite_i && state_q == StSkip && !record));
  assign answer_o = !lite_i || state_q == StPass;

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
    unique case (state_q)
      StHead:   if (valid_i) state_d = data_i[8+HdrProbeReply] ? StNumber : StPad;
      StNumber: if (valid_i) state_d = StPad;
      StPad:    state_d = probe_q ? StPass : StSkip;
      StSkip:   if (valid_i && record) state_d = StPass;
      default:  ;
    endcase
    if (end_i) state_d = StHead;
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
