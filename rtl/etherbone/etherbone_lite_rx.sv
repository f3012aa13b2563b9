// SPDX-License-Identifier: SHL-2.1
/// Requests in LiteEth's dialect become requests that the engine understands.
///
/// The dialect has a header of two words, the second 0; one record a frame, its flags in reverse
/// order of bits; probes of three words. This module removes the header's second word and a probe's
/// third, and reverses the flags. Frames of another layout are rejected; of a frame whose length
/// does not match its one record only headers pass.
///
///   Handshake   start_i with len_i before a frame's first word, valid_i with each; never stalls
///   Latency     0: words pass in the cycle in which they arrive; ok_o covers all words before
///   Throughput  one word a cycle
///   Parameters  none; lite_i is static, 0: words pass unchanged
///   Not done    the header's own checks (etherbone_frame_check behind this), 64-bit addresses
module etherbone_lite_rx
  import etherbone_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        lite_i,

  input  logic        start_i,
  input  logic [15:0] len_i,    // bytes of the frame's payload
  input  logic        valid_i,
  input  logic [31:0] data_i,

  output logic        valid_o,
  output logic [31:0] data_o,
  output logic        last_o,
  output logic        ok_o
);
  typedef enum logic [1:0] {
    StHead,
    StSecond,
    StThird,
    StBody
  } state_e;

  state_e state_q;
  logic [13:0] left_q;  // words to come
  logic probe_q, bad_q, bad;

  // Words of one section: its base address and its values; none when the count is 0.
  function automatic logic [8:0] section(logic [7:0] count);
    return (count == '0) ? 9'd0 : 9'(count) + 9'd1;
  endfunction

  logic [13:0] rest;  // of the one record, with its header
  assign rest = 14'(section(data_i[15:8])) + 14'(section(data_i[7:0])) + 14'd1;

  always_comb begin
    unique case (state_q)
      StHead:   bad = data_i[8+HdrProbe] ? left_q != 14'd3 : left_q < 14'd3;
      StSecond: bad = !probe_q && data_i != '0;
      StThird:  bad = !probe_q && left_q != rest;
      default:  bad = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StHead;
      left_q  <= '0;
      probe_q <= 1'b0;
      bad_q   <= 1'b0;
    end else if (start_i) begin
      state_q <= StHead;
      left_q  <= len_i[15:2];
      probe_q <= 1'b0;
      bad_q   <= 1'b0;
    end else if (valid_i) begin
      left_q <= left_q - 14'd1;
      bad_q  <= bad_q || bad;
      unique case (state_q)
        StHead: begin
          state_q <= StSecond;
          probe_q <= data_i[8+HdrProbe];
        end
        StSecond: state_q <= StThird;
        default:  state_q <= StBody;
      endcase
    end
  end

  // From registers alone: a word that proves wrong passes, those behind it do not. It is a header
  // and reaches no bus.
  logic pass;
  always_comb begin
    unique case (state_q)
      StHead:   pass = 1'b1;
      StSecond: pass = probe_q;
      default:  pass = !probe_q;
    endcase
    if (bad_q) pass = 1'b0;
  end

  logic probe_end;
  assign probe_end = state_q == StSecond && probe_q;

  assign valid_o = valid_i && (!lite_i || pass);
  assign data_o  = (lite_i && state_q == StThird) ?
                   {reversed(data_i[31:24]), data_i[23:0]} : data_i;
  assign last_o  = left_q == 14'd1 || (lite_i && probe_end);
  assign ok_o    = !lite_i || !bad_q;

  logic unused;
  assign unused = ^len_i[1:0];
endmodule
