// SPDX-License-Identifier: SHL-2.1
/// Checks the structure of an Etherbone frame while its words pass, beside the data path.
///
/// A frame is well formed when its header is a request for a 32-bit bus and its records fill it
/// exactly, or when it is a probe of exactly two words. With this verdict added to the frame check,
/// a malformed frame never writes: the engine holds writes until the verdict.
///
///   Broadcast   with probe_only_i at a frame's start only a probe is well formed
///   Handshake   start_i pulses before a frame's first word, valid_i with each word; never stalls
///   Latency     ok_o covers all words before this cycle
///   Throughput  one word a cycle
///   Not done    64-bit frames, a reply's record order
module etherbone_frame_check
  import etherbone_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic        probe_only_i,
  input  logic        valid_i,
  input  logic [31:0] data_i,
  output logic        ok_o
);
  typedef enum logic [1:0] {
    StHead,
    StBody,
    StBad
  } state_e;

  state_e state_q;
  logic probe_q, probe_only_q;
  logic [9:0] rest_q;  // words before the next record header: at most 1 + 255 + 1 + 255

  logic head_ok, head_probe;
  assign head_probe = data_i[8+HdrProbe];
  assign head_ok = data_i[31:12] == {Magic, Version} &&
                   (head_probe ||
                    (!probe_only_q && !data_i[8+HdrProbeReply] && data_i[7:0] == 8'h44));

  // One section: its base address and its values; absent when the count is 0.
  function automatic logic [8:0] section(logic [7:0] count);
    return (count == '0) ? 9'd0 : 9'(count) + 9'd1;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StHead;
      probe_q      <= 1'b0;
      probe_only_q <= 1'b0;
      rest_q       <= '0;
    end else if (start_i) begin
      state_q      <= StHead;
      probe_q      <= 1'b0;
      probe_only_q <= probe_only_i;
      rest_q       <= '0;
    end else if (valid_i) begin
      unique case (state_q)
        StHead: begin
          state_q <= head_ok ? StBody : StBad;
          probe_q <= head_probe;
          rest_q  <= 10'(head_probe);
        end
        StBody: begin
          if (rest_q != '0) rest_q <= rest_q - 10'd1;
          else if (probe_q) state_q <= StBad;
          else rest_q <= 10'(section(data_i[15:8])) + 10'(section(data_i[7:0]));
        end
        default: ;
      endcase
    end
  end

  assign ok_o = state_q == StBody && rest_q == '0;
endmodule
