// SPDX-License-Identifier: SHL-2.1
/// One crosspoint of a buffered crossbar: the packets from one input to one output.
///
///   Handshake   in: valid_i, not stalled; Sop is not stored. Out: flit_o is valid with valid_o and
///               stays until take_i, which comes only with valid_o
///   Scheduling  request_o: a packet is here of which a data word is stored and the end is not yet
///               taken. It rises the cycle after that word and falls the cycle after the last end's
///               take_i
///   Credit      stored_o: words in it, ends included, a cycle after they came or went
///   Ordering    first in, first out, whole packets
///               (proved: formal/crossbar/crosspoint.sby)
///   Latency     2 cycles from valid_i to valid_o
///   Throughput  one word in and one out a cycle
///   Overflow    a packet that does not fit is cut and ends as Edb, or leaves nothing: refused_o
///   Memory      one block RAM of Depth x 36
///   Parameters  Depth 2..512
///   Not done    a look at the words
module crosspoint
  import link_pkg::*;
#(
  parameter int unsigned Depth = 512
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   valid_i,
  input  flit_t  flit_i,
  output count_t stored_o,
  output logic   refused_o,
  output logic   request_o,
  output logic   valid_o,
  output flit_t  flit_o,
  input  logic   take_i,
  output logic   idle_o
);
  link_buffer #(
    .Depth(Depth)
  ) u_buffer (
    .clk_i,
    .rst_ni,
    .valid_i,
    .flit_i,
    .refused_o,
    .stored_o,
    .packet_o (request_o),
    .valid_o,
    .flit_o,
    .pop_i    (take_i)
  );

  // Nothing moves at the next edge, unless an input changes.
  assign idle_o = !valid_i && !take_i && !refused_o && valid_o == (stored_o != '0);
endmodule
