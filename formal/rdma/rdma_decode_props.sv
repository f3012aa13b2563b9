// SPDX-License-Identifier: SHL-2.1
/// rdma_decode: what is wanted is what the beats say that were read: of a descriptor its next part,
/// as many whole packets as all links that are up have room for, or its rest; of a message one
/// packet. It is legal exactly if its size, addresses and zero fields are and it is for its host.
///
/// Beats come in the order in which they are read, any; what is looked at is as when all are there.
module rdma_decode_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter int unsigned NumLinks = 4
) (
  input logic       clk_i,
  input logic       bench_i,
  input flow_t      flow_i,
  input logic       message_i,
  input logic       single_i,
  input logic [2:0] parts_i,
  input logic [2:0] links_i,
  input logic       caught_i,
  input logic       second_i,
  input logic       size_i,
  input logic       third_i,
  input logic       fourth_i,
  input beat_t      written_i,
  input beat_t      request_data_i,
  input beat_t      message_data_i
);
  want_t want_o;
  rdma_decode #(.NumLinks(NumLinks)) dut (.*);

  // ---------------------------------------------------------------- what was read
  typedef enum logic [2:0] {Nothing, Second, First, Third, Fourth, Message} read_e;
  read_e       read_q = Nothing;
  descriptor_t second_q;
  beat_t       first_q, third_q, fourth_q;
  message_t    message_q;
  logic        single_q, known_q = 1'b0;  // of the last read of a second beat; there was one
  logic [2:0]  parts_q, links_q;          // as the first beat came
  always_ff @(posedge clk_i) begin
    if (caught_i) {read_q, second_q} <= {Second, written_i};
    if (second_i) begin
      read_q    <= message_i ? Message : Second;
      second_q  <= request_data_i;
      message_q <= message_data_i;
      single_q  <= single_i;
      known_q   <= 1'b1;
    end
    if (size_i) {read_q, first_q, parts_q, links_q} <= {First, request_data_i, parts_i, links_i};
    if (third_i) {read_q, third_q} <= {Third, request_data_i};
    if (fourth_i) {read_q, fourth_q} <= {Fourth, request_data_i};
  end

  // ---------------------------------------------------------------- a descriptor's part
  // A VOQ has room for so many longest packets beside its control packets.
  localparam int unsigned Fits = (voq_beats(NumLinks) - ControlPackets * ControlBeats) / MaxBeats;
  logic [10:0] done, rest, most;  // beats
  logic [7:0]  packets;
  logic        all;
  always_comb begin
    done    = 11'(parts_q) * 11'(PacketBeats);
    rest    = 11'(second_q.size) - done;
    packets = 8'(MaxPackets);
    for (int unsigned n = 1; n <= NumLinks; n++)
      if (links_q == 3'(n) && n * Fits < MaxPackets) packets = 8'(n * Fits);
    most = 11'(packets) * 11'(PacketBeats);
    all  = rest <= most;
  end

  logic extended, legal, small_message;
  assign extended = second_q.extended && !bench_i;
  always_comb begin
    legal = 11'(second_q.size) > done && second_q.size <= 10'(MaxSize);
    if (second_q.zero_55 != '0 || second_q.address % 8 != 0) legal = 1'b0;
    if (second_q.dst != {4'd0, flow_i}) legal = 1'b0;
    if (second_q.extended && (single_q || bench_i)) legal = 1'b0;
    if (!bench_i && first_q % 8 != 0) legal = 1'b0;
    if (extended && third_q[63:32] != '0) legal = 1'b0;
  end
  // A message has more than the beats of its address, and of its key.
  assign small_message = message_q.beats <= (message_q.extended ? 7'd2 : 7'(message_q.write));

  logic bench_q, mode_q, ever_q = 1'b0;
  logic [2:0] at_q;
  flow_t flow_q;
  always_ff @(posedge clk_i) begin
    ever_q  <= 1'b1;
    bench_q <= bench_i;
    mode_q  <= message_i;
    flow_q  <= flow_i;
    at_q    <= parts_i;
  end

  logic ready;  // a descriptor is there
  assign ready = !second_i && !caught_i &&
                 ((read_q == First && !extended) || (read_q == Fourth && extended));
  always_comb begin
    assume (3'(caught_i) + 3'(second_i) + 3'(size_i) + 3'(third_i) + 3'(fourth_i) <= 3'd1);
    if (caught_i) assume (known_q && !message_i);
    if (size_i) assume (read_q == Second);
    if (third_i) assume (read_q == First);
    if (fourth_i) assume (read_q == Third);
    if (ever_q) begin
      assume (bench_i == bench_q);
      // Of one post from its first beat on.
      if (!second_i && !caught_i)
        assume (message_i == mode_q && flow_i == flow_q && (size_i || parts_i == at_q));
    end

    if (ready) begin
      assert (want_o.legal == legal);
      assert (want_o.plain == (!second_q.extended && parts_i == '0 && second_q.size <= 10'd64));
      assert (want_o.extended == extended && want_o.two == (extended && !single_q));
      assert (want_o.local_notify == second_q.local_notify && want_o.notify == second_q.notify);
      assert (want_o.irq == second_q.irq && want_o.completion == second_q.completion);
      assert (want_o.head == (extended ? 7'd3 : 7'd2));
      assert (want_o.source == first_q);
      assert (want_o.address == {extended ? fourth_q[31:0] : 32'd0, second_q.address});
      if (extended) assert (want_o.immediate == third_q[31:0]);
      if (legal) begin
        assert (want_o.final_part == all && 11'(want_o.beats) == (all ? rest : most));
        assert (want_o.packets == packets_t'(all ? (rest + 11'd63) / 11'd64 : 11'(packets)));
      end
    end
    if (read_q == Message && !second_i && !caught_i) begin
      assert (want_o.legal == (message_q.beats <= 7'd64 && !small_message && !message_q.zero_7 &&
                               message_q.zero_22 == '0 &&
                               (message_q.write || !message_q.extended)));
      assert (!want_o.extended && want_o.final_part && want_o.packets == 4'd1);
      assert (want_o.beats == 10'(message_q.beats) && want_o.source == '0);
      assert (want_o.local_notify == message_q.local_notify);
      // A header of one beat, where it names a queue below 16 and has no immediate, or an address.
      assert (want_o.bare == (message_q.write ||
                              (message_q.immediate == '0 && message_q.qid < 8'd16)));
      assert (want_o.head == (want_o.bare ? 7'd1 : 7'd2));
    end
    // What makes the above inductive.
    assert (known_q || read_q == Nothing);
    if (known_q) assert (dut.single_q == single_q);
    assert (read_q <= Message);
    if (read_q != Nothing && read_q != Message) begin
      assert (!mode_q);
      assert (dut.first_q == second_q);
    end
    if (read_q == Message) assert (mode_q);
    if (read_q inside {First, Third, Fourth}) begin
      assert (dut.source_q == first_q && dut.legal_q ==
              (11'(second_q.size) > done && second_q.size <= 10'(MaxSize) &&
               second_q.zero_55 == '0 && second_q.address % 8 == 0 &&
               second_q.dst == {4'd0, flow_q} && !(second_q.extended && (single_q || bench_q))));
    end
    if (read_q inside {First, Third, Fourth}) begin
      if (11'(second_q.size) > done && second_q.size <= 10'(MaxSize)) begin
        assert (dut.final_q == all && 11'(dut.beats_q) == (all ? rest : most));
        assert (dut.packets_q == packets_t'(all ? (rest + 11'd63) >> 6 : 11'(packets)));
      end
      if (read_q != Fourth) assert (!dut.extra_bad_q && dut.high_q == '0);
      assert (dut.source_bad_q == (!bench_q && first_q % 8 != 0));
    end
    if (read_q inside {Third, Fourth}) begin
      assert (dut.immediate_q == third_q[31:0]);
      if (second_q.extended && !bench_q) begin
        for (int unsigned i = 0; i < 4; i++)
          assert (dut.extra_q[i] == (third_q[32+8*i+:8] != '0));
      end
    end
    if (read_q == Fourth && second_q.extended && !bench_q) begin
      assert (dut.high_q == fourth_q[31:0] && dut.extra_bad_q == (third_q[63:32] != '0));
    end
    if (read_q == Message) begin
      assert (dut.source_q == '0 && dut.final_q && dut.packets_q == 4'd1);
      assert (dut.beats_q == 10'(message_q.beats));
      assert (dut.first_q.local_notify == message_q.local_notify);
      assert (dut.source_bad_q == small_message);
      assert (dut.legal_q == (message_q.beats <= 7'd64));
      assert (dut.extra_bad_q == (message_q.zero_7 || message_q.zero_22 != '0 ||
                                  (message_q.extended && !message_q.write)));
      assert (dut.bare == (message_q.write ||
                           (message_q.immediate == '0 && message_q.qid < 8'd16)));
    end
    cover (ready && legal && !all && parts_q != '0 && want_o.packets == 4'd6);
    cover (ready && extended && legal && want_o.packets == 4'd8);
    cover (read_q == Message && want_o.legal && want_o.bare && want_o.beats == 10'd3);
  end
endmodule
