// SPDX-License-Identifier: SHL-2.1
/// What a descriptor or a message asks for, and whether that is legal.
///
/// A descriptor's second beat is read first: it has the size. Its first beat has the source; an
/// extended one has a second slot with the key, the immediate and the high half of the address. A
/// message's header says everything at once. A transfer is at most as many packets as the links
/// that are up can hold; then it is granted in parts, and parts_i packets of it were granted
/// before.
///
///   Handshake   strobes, a cycle each, in the order of the reads: caught_i: written_i is the
///               second beat; second_i, size_i, third_i, fourth_i: request_data_i is the second
///               beat, the first, and the two of the second slot. second_i with message_i:
///               message_data_i is a message's header
///   Latency     want_o is valid the cycle after size_i, of an extended one after fourth_i, of a
///               message after second_i
///   Throughput  a transfer in 2 to 5 cycles
///   Parameters  NumLinks 1..4
///   Not done    room, window, and whether the flow is open: rdma_room and rdma_send
module rdma_decode
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter int unsigned NumLinks = 1
) (
  input  logic        clk_i,
  input  logic        bench_i,
  input  flow_t       flow_i,        // the destination must be its host
  input  logic        message_i,
  input  logic        single_i,      // with second_i: no second slot is released
  input  logic [2:0]  parts_i,
  input  logic [2:0]  links_i,       // how many are up
  input  logic        caught_i,
  input  logic        second_i,
  input  logic        size_i,
  input  logic        third_i,
  input  logic        fourth_i,
  input  beat_t       written_i,
  input  beat_t       request_data_i,
  input  beat_t       message_data_i,
  output want_t       want_o
);
  // Longest packets that a VOQ can hold for one destination.
  localparam int unsigned VoqPackets =
      (voq_beats(NumLinks) - ControlPackets * ControlBeats) / MaxBeats;

  descriptor_t first_q;      // a descriptor's second beat; of a message local_notify
  beat_t       source_q;     // a message has none: zero
  logic [31:0] high_q;       // of an extended destination address; else zero
  logic [31:0] immediate_q;
  logic        single_q;
  logic [3:0]  extra_q;
  logic        extra_bad_q, source_bad_q, legal_d, legal_q, final_d, final_q, extended, bare;
  logic [2:0]  bare_q;       // all set: a message's header takes one beat
  logic [9:0]  rest, beats_d, beats_q;
  packets_t    packets_all, packets_most, packets_d, packets_q;
  logic unused_start;
  assign unused_start = first_q.start;

  // ---------------------------------------------------------------- a descriptor
  assign extended    = !message_i && first_q.extended && !bench_i;
  assign rest        = first_q.size - {1'b0, parts_i, 6'd0};
  assign packets_all = 4'((11'(rest) + 11'd63) >> 6);

  always_comb begin
    packets_most = packets_t'(MaxPackets);
    for (int unsigned i = 1; i <= NumLinks; i++) begin
      if (links_i == 3'(i) && i * VoqPackets < MaxPackets) begin
        packets_most = packets_t'(i * VoqPackets);
      end
    end
  end
  assign final_d   = packets_all <= packets_most;
  assign packets_d = final_d ? packets_all : packets_most;
  assign beats_d   = final_d ? rest : {packets_most, 6'd0};

  assign legal_d = first_q.size > {1'b0, parts_i, 6'd0} && first_q.size <= 10'(MaxSize) &&
                   first_q.zero_55 == '0 && first_q.address[2:0] == '0 &&
                   first_q.dst == host_t'(flow_i) &&
                   !(first_q.extended && (single_q || bench_i));

  // ---------------------------------------------------------------- a message
  // To registers that are close behind the memory.
  message_t came;
  logic     came_small, came_legal, came_bad, unused_came;
  logic [2:0] came_bare;
  assign unused_came = ^came;
  assign came        = message_t'(message_data_i);
  // Gates, no sums: more beats than an address or a key takes, and no more than a packet has.
  assign came_small  = came.beats[6:2] == '0 && (came.extended ? came.beats[1:0] != 2'd3 :
                                                 came.write ? !came.beats[1] : came.beats == '0);
  assign came_legal  = !came.beats[6] || came.beats[5:0] == '0;
  assign came_bad    = came.zero_7 || came.zero_22 != '0 || (came.extended && !came.write);
  // In slices, to shorten the path from the memory.
  assign came_bare   = {came.immediate[31:16] == '0, came.immediate[15:0] == '0,
                        came.qid[7:4] == '0} | {3{came.write}};
  assign bare        = bare_q == '1;

  always_ff @(posedge clk_i) begin
    // The strobes exclude each other.
    unique case (1'b1)
      caught_i: first_q <= written_i;
      second_i: begin
        first_q  <= request_data_i;
        high_q   <= '0;
        single_q <= single_i;
        if (message_i) begin
          first_q.local_notify <= came.local_notify;
          source_q     <= '0;
          packets_q    <= 4'd1;
          beats_q      <= {3'd0, came.beats};
          final_q      <= 1'b1;
          legal_q      <= came_legal;
          extra_bad_q  <= came_bad;
          bare_q       <= came_bare;
          source_bad_q <= came_small;
        end
      end
      size_i: begin
        source_q     <= request_data_i;
        high_q       <= '0;
        source_bad_q <= request_data_i[2:0] != '0 && !bench_i;
        packets_q    <= packets_d;
        beats_q      <= beats_d;
        final_q      <= final_d;
        legal_q      <= legal_d;
        extra_bad_q  <= 1'b0;
      end
      third_i: begin
        immediate_q <= request_data_i[31:0];
        // In two steps, to shorten the path from the memory.
        for (int unsigned i = 0; i < 4; i++) begin
          extra_q[i] <= extended && request_data_i[32+8*i+:8] != '0;
        end
      end
      fourth_i: begin
        if (!message_i) extra_bad_q <= extra_q != '0;
        if (extended) high_q <= request_data_i[31:0];
      end
      default: ;
    endcase
  end

  assign want_o = '{
      legal:        legal_q && !extra_bad_q && !source_bad_q,
      plain:        !first_q.extended && parts_i == '0 && first_q.size <= 10'(PacketBeats),
      extended:     extended,
      two:          first_q.extended && !single_q && !bench_i,
      bare:         bare,
      final_part:   final_q,
      local_notify: first_q.local_notify,
      notify:       first_q.notify,
      irq:          first_q.irq,
      completion:   first_q.completion,
      head:         extended          ? beats_t'(MaxHeaderBeats)
                  : message_i && bare ? beats_t'(1) : beats_t'(HeaderBeats),
      packets:      packets_q,
      beats:        beats_q,
      source:       source_q,
      address:      {high_q, first_q.address},
      immediate:    immediate_q
  };
endmodule
