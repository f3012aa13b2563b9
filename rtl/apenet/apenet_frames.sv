// SPDX-License-Identifier: SHL-2.1
/// Frames a node's packets: header, payload and footer with CRC, with the credits of its router.
///
///   Handshake   packet_* and beat_* valid/ready; lanes behind a packet's last byte are sent as
///               zeros. flit_* leave with a credit, of which there are Credits; freed_i gives one
///               back
///   Ordering    packets in their order. One with payload begins when its first beat has come
///   Errors      a packet with a beat of beat_bad_i has a wrong CRC
///   Latency     first beat to its header 1 cycle, where a packet and a credit are there
///   Throughput  a flit a cycle; 2 of each packet are header and footer
///   Parameters  DataWidth 128..512; Credits 2..1024
///   Carried     a packet that brought its payload waits for no beat: payload_i is the flit of
///               slot_o and at_o a clock before
///   No bytes    a packet of 0 bytes is header and footer, and waits for no beat
///   Not done    inserting anything between packets
module apenet_frames
  import apenet_pkg::*;
#(
  parameter int unsigned DataWidth = 256,
  parameter int unsigned Credits   = 64
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  torus_pkg::place_t    here_i,
  input  logic                 packet_valid_i,
  output logic                 packet_ready_o,
  input  packet_t              packet_i,
  input  logic                 beat_valid_i,
  output logic                 beat_ready_o,
  input  logic [DataWidth-1:0] beat_i,
  input  logic                 beat_bad_i,
  output logic [CarriedW-1:0]     slot_o,
  output logic [1:0]           at_o,
  input  logic [FlitWidth-1:0] payload_i,

  output logic                 flit_valid_o,
  output logic                 flit_head_o,
  output logic                 flit_tail_o,
  output logic [FlitWidth-1:0] flit_o,
  input  logic                 freed_i,

  output step_t                sent_o,    // a put's first header leaves
  output logic                 idle_o
);
  localparam int unsigned Flits   = DataWidth / FlitWidth;  // of a beat
  localparam int unsigned LaneW   = Flits > 1 ? $clog2(Flits) : 1;
  localparam int unsigned CreditW = $clog2(Credits + 1);
  localparam int unsigned LeftW   = $clog2(MaxPayload / 16) + 1;

  if (Credits < 2 || Credits > 1024) begin : gen_credits_check
    $error("apenet_frames: Credits is %0d, legal is 2..1024", Credits);
  end

  logic head_valid, head_take;
  packet_t head;
  fifo #(
    .Width($bits(packet_t)),
    .Depth(MaxHeads)
  ) u_heads (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(packet_valid_i),
    .ready_o(packet_ready_o),
    .data_i (packet_i),
    .valid_o(head_valid),
    .ready_i(head_take),
    .data_o (head),
    .usage_o()
  );

  typedef enum logic [1:0] {
    StHeader,
    StPayload,
    StFooter
  } part_e;
  part_e part_q;
  logic [LaneW-1:0] lane_q;
  logic [LeftW-1:0] flits_q;   // of payload that are not sent
  logic [CreditW-1:0] credit_q;
  logic able, send, final_flit, spoiled_q, footer_q;
  logic valid_q, head_q, tail_q;
  logic [FlitWidth-1:0] flit_q, flit, payload, mask;
  logic [31:0] crc;
  torus_pkg::header_t header;
  torus_pkg::footer_t footer;
  kind_t kind;
  logic bare, supplied;
  logic [1:0] at_q;  // flit of a payload that was brought

  assign bare     = head.bytes == '0;
  assign supplied = head.carried || beat_valid_i;
  assign kind     = '{
      put: head.put[7:0], what: head.what, zero: '0, last: head.last, first: head.first
  };
  assign header   = '{
      address: head.address, id: head.key, bytes: 16'(head.bytes), kind: kind, reserved: '0,
      source: here_i, dest: head.dest
  };
  assign footer   = '{
      sequence_: {head.put, head.number}, flags: 32'(head.total), crc: '0
  };

  assign able       = credit_q != '0;
  assign final_flit = flits_q == LeftW'(1);
  always_comb begin
    payload = beat_i[FlitWidth-1:0];
    for (int unsigned i = 0; i < Flits; i++) begin
      if (lane_q == LaneW'(i)) payload = beat_i[FlitWidth*i+:FlitWidth];
    end
    if (head.carried) payload = payload_i;
    // Behind the last byte there are zeros.
    for (int unsigned i = 0; i < FlitWidth / 8; i++) begin
      mask[8*i+:8] = {8{!final_flit || head.bytes[3:0] == '0 || 4'(i) < head.bytes[3:0]}};
    end
    send = 1'b0;
    flit = header;
    unique case (part_q)
      StHeader:  send = able && head_valid && (bare || supplied);
      StPayload: begin
        send = able && supplied;
        flit = payload & mask;
      end
      default: begin
        send = able;
        flit = footer;
      end
    endcase
  end
  assign beat_ready_o = send && part_q == StPayload && !head.carried &&
                        (final_flit || lane_q == LaneW'(Flits - 1));
  // The next flit is asked for while one is sent.
  assign slot_o = head.slot;
  assign at_o   = part_q == StPayload ? at_q + 2'(send) : '0;
  assign head_take    = send && part_q == StFooter;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      part_q    <= StHeader;
      lane_q    <= '0;
      credit_q  <= CreditW'(Credits);
      valid_q   <= 1'b0;
      spoiled_q <= 1'b0;
    end else begin
      valid_q <= send;
      if (send != freed_i) credit_q <= send ? credit_q - 1'b1 : credit_q + 1'b1;
      if (send) begin
        unique case (part_q)
          StHeader: begin
            part_q    <= bare ? StFooter : StPayload;
            lane_q    <= '0;
            spoiled_q <= 1'b0;
          end
          StPayload: begin
            lane_q    <= beat_ready_o ? '0 : lane_q + LaneW'(1);
            spoiled_q <= spoiled_q || (beat_bad_i && !head.carried);
            if (final_flit) part_q <= StFooter;
          end
          default: part_q <= StHeader;
        endcase
      end
    end
  end
  always_ff @(posedge clk_i) begin
    at_q <= at_o;
    if (send) begin
      flit_q   <= flit;
      head_q   <= part_q == StHeader;
      tail_q   <= part_q == StFooter;
      footer_q <= part_q == StFooter;
      if (part_q == StHeader) flits_q <= LeftW'((LengthW'(head.bytes) + LengthW'(15)) >> 4);
      else if (part_q == StPayload) flits_q <= flits_q - LeftW'(1);
    end
  end

  apenet_crc u_crc (
    .clk_i,
    .first_i(head_q),
    .take_i (valid_q),
    .data_i (flit_q),
    .crc_o  (crc)
  );
  assign flit_valid_o = valid_q;
  assign flit_head_o  = head_q;
  assign flit_tail_o  = tail_q;
  assign flit_o       = {flit_q[FlitWidth-1:32],
                         !footer_q ? flit_q[31:0] : spoiled_q ? ~crc : crc};

  assign sent_o = '{strobe: send && part_q == StHeader && head.first, tag: head.put[7:0]};
  assign idle_o = !head_valid && !valid_q;

  prim_assert u_credit (.clk_i, .rst_ni, .ok_i(!freed_i || credit_q != CreditW'(Credits)));
endmodule
