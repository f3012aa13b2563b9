// SPDX-License-Identifier: SHL-2.1
/// Two link_ports back to back, each with link_channels in front of it and a source of packets a channel.
///
/// Each channel's packets go through a buffer of their own at the far end to a checker of their own. The
/// sources know neither room nor turn: they offer packets all the time while send_i is high.
module link_channels_bench
  import link_pkg::*;
#(
  parameter int unsigned NumIds   = 3,
  parameter int unsigned Depth    = 96,
  parameter int unsigned MaxWords = 16,
  parameter int unsigned Delay    = 9,
  parameter bit          Bare     = 1'b0   // sources without a Sop of their own
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [1:0]                    signal_i,
  input  logic [1:0][NumIds-1:0]        send_i,   // of end e: a packet under way is sent to its end
  input  logic [1:0][NumIds-1:0]        read_i,   // of end e: its checkers take words
  output logic [1:0]                    up_o,
  output logic [1:0][NumIds-1:0][31:0]  begun_o,  // Sops of each id that left end e
  output logic [1:0][NumIds-1:0][31:0]  good_o,   // packets of each id that end e heard
  output logic [1:0][NumIds-1:0][31:0]  errors_o,
  output logic [1:0][31:0]              words_o,  // that link_channels gave, Sops included
  output logic [1:0][NumIds-1:0][31:0]  waited_o, // most Sops of others while one could have begun
  output logic [1:0]                    idle_o
);
  word_t tx[2];
  for (genvar e = 0; e < 2; e++) begin : gen_end
    word_t line_q[Delay];
    always_ff @(posedge clk_i) begin
      line_q[0] <= tx[1-e];
      for (int i = 1; i < int'(Delay); i++) line_q[i] <= line_q[i-1];
    end

    logic                flit_valid, tx_valid, tx_ready, idle;
    flit_t               flit, tx_flit;
    id_t                 id;
    count_t [NumIds-1:0] stored, room;
    logic   [NumIds-1:0] valid, ready;
    flit_t  [NumIds-1:0] offered;
    logic   [5:0]        strobes;

    link_port #(
      .NumRxIds(NumIds), .NumTxIds(NumIds), .TxDepth(Depth), .MaxWords(MaxWords), .InitWords(64),
      .CreditWords(8)
    ) u_port (
      .clk_i, .rst_ni, .signal_i(signal_i[e]), .rx_i(line_q[Delay-1]), .tx_o(tx[e]),
      .bench_i(1'b0), .up_o(up_o[e]), .rx_valid_o(flit_valid), .rx_flit_o(flit), .rx_id_o(id),
      .stored_i(stored), .room_o(room), .tx_valid_i(tx_valid), .tx_ready_o(tx_ready),
      .tx_flit_i(tx_flit), .crc_bad_o(strobes[0]), .poisoned_o(strobes[1]), .invalid_o(strobes[2]),
      .cut_o(strobes[3]), .credit_bad_o(strobes[4]), .dropped_o(strobes[5]), .idle_o(idle)
    );
    link_channels #(
      .NumIds(NumIds), .MaxWords(MaxWords)
    ) u_channels (
      .clk_i, .rst_ni, .up_i(up_o[e]), .room_i(room), .valid_i(valid), .ready_o(ready),
      .flit_i(offered), .tx_valid_o(tx_valid), .tx_ready_i(tx_ready), .tx_flit_o(tx_flit),
      .idle_o(idle_o[e])
    );
    logic sop;
    assign sop = tx_valid && tx_ready && tx_flit.kind == FlitSop;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) words_o[e] <= '0;
      else if (tx_valid && tx_ready) words_o[e] <= words_o[e] + 1;
    end

    for (genvar i = 0; i < int'(NumIds); i++) begin : gen_id
      logic  refused, packet, out_valid, pop, source_valid, source_ready;
      flit_t out_flit, source_flit;
      assign pop = read_i[e][i];
      link_buffer #(.Depth(Depth)) u_buffer (
        .clk_i, .rst_ni, .valid_i(flit_valid && id == id_t'(i)), .flit_i(flit), .refused_o(refused),
        .stored_o(stored[i]), .packet_o(packet), .valid_o(out_valid), .flit_o(out_flit), .pop_i(pop)
      );
      link_traffic #(.MaxWords(MaxWords)) u_traffic (
        .clk_i, .rst_ni, .up_i(send_i[e][i]), .room_i(count_t'(DepthMax)),
        .tx_valid_o(source_valid), .tx_ready_i(source_ready), .tx_flit_o(source_flit),
        .rx_valid_i(out_valid && pop), .rx_flit_i(out_flit),
        .good_o(good_o[e][i]), .errors_o(errors_o[e][i])
      );
      if (Bare) begin : gen_bare
        // The Sop is dropped where it comes.
        logic drop;
        assign drop         = source_flit.kind == FlitSop;
        assign valid[i]     = source_valid && !drop;
        assign source_ready = ready[i] || drop;
      end else begin : gen_sop
        assign valid[i]     = source_valid;
        assign source_ready = ready[i];
      end
      assign offered[i] = source_flit;

      // Sops of others since this channel's packet could begin: it is offered, and there is room.
      logic [31:0] waiting_q;
      logic        could, own;
      assign own   = sop && tx_flit.data == 32'(i);
      assign could = valid[i] && up_o[e] && room[i] > count_t'(MaxWords + 2) && !u_channels.select_q[i];
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) {begun_o[e][i], waiting_q, waited_o[e][i]} <= '0;
        else begin
          if (own) begun_o[e][i] <= begun_o[e][i] + 1;
          waiting_q <= !could || own ? '0 : waiting_q + 32'(sop);
          if (waiting_q > waited_o[e][i]) waited_o[e][i] <= waiting_q;
        end
      end
      logic unused;
      assign unused = &{1'b0, refused, packet};
    end
    logic unused;
    assign unused = &{1'b0, strobes, idle};
  end
endmodule
