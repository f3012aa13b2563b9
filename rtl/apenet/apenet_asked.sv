// SPDX-License-Identifier: SHL-2.1
/// Gets of this node that are open: nothing but their answers is written, and no refusal of another
/// one is announced.
///
///   Handshake   open_i.valid: a strobe, a get leaves. look_i: the header of an answer or a refusal
///               waits; it stays until take_i. From the clock after its first one on looked_o,
///               known_o and address_o are of it; it is taken then only
///   Known       number, node that was asked, key, and a packet inside the get's bytes and in one
///               page: of a get that is open then     (proved: formal/apenet/apenet_receive.sby)
///   Closed      by the header of its last packet, its refusal, a get with a number that is Slots
///               higher, and while enable_i is low: the gets of a program end with it
///   Late        what is taken and not known is counted
///   Latency     1 cycle, in which a packet behind another one waits in any case
///   Throughput  a header in 2 cycles
///   Parameters  Slots, a power of two
///   Not done    an end for gets that are never answered
module apenet_asked
  import apenet_pkg::*;
#(
  parameter int unsigned Slots = 16
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               enable_i,
  input  asked_t             open_i,
  input  logic               look_i,
  input  logic               take_i,
  /* verilator lint_off UNUSEDSIGNAL */  // of the kind only what it is, and last
  input  torus_pkg::header_t header_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic               looked_o,
  output logic               known_o,
  output logic [47:0]        address_o,
  output logic [15:0]        late_o       // wraps
);
  localparam int unsigned SlotW = $clog2(Slots);

  if (Slots < 2 || (Slots & (Slots - 1)) != 0) begin : gen_slots_check
    $error("apenet_asked: Slots is %0d, legal are powers of two from 2 on", Slots);
  end

  asked_t asked[Slots];
  answer_t answer;
  /* verilator lint_off UNUSEDSIGNAL */
  asked_t entry;
  kind_t kind;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [Slots-1:0] open_q;
  logic [SlotW-1:0] slot, into;
  logic match, holds, fits;

  assign answer = header_i.address;
  assign kind   = header_i.kind;
  assign slot   = answer.number[SlotW-1:0];
  assign into   = open_i.number[SlotW-1:0];
  assign entry  = asked[slot];
  assign match  = open_q[slot] && entry.number == answer.number &&
                  entry.node == header_i.source && entry.key == header_i.id &&
                  (kind.what == KindRefused) == (header_i.bytes == '0);
  assign holds  = 24'({answer.at, 6'd0}) + 24'(header_i.bytes) <= 24'(entry.bytes);
  assign fits   = 17'({entry.land[5:0] + answer.at[5:0], 6'd0}) + 17'(header_i.bytes) <=
                  17'(MaxPayload);

  always_ff @(posedge clk_i) begin
    if (open_i.valid) asked[into] <= open_i;
    address_o <= {25'd0, 17'(entry.land) + 17'(answer.at), 6'd0};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q   <= '0;
      looked_o <= 1'b0;
      known_o  <= 1'b0;
      late_o   <= '0;
    end else begin
      looked_o <= look_i && !take_i;
      known_o  <= look_i && !take_i && match && holds && fits && enable_i &&
                  !(open_i.valid && into == slot);
      if (take_i && known_o && kind.last) open_q[slot] <= 1'b0;
      if (open_i.valid) open_q[into] <= 1'b1;
      if (!enable_i) open_q <= '0;
      if (take_i && !known_o) late_o <= late_o + 16'd1;
    end
  end
endmodule
