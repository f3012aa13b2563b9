// SPDX-License-Identifier: SHL-2.1
/// A bundle packet by packet: one source of packets, link_spread, NumLinks links of different length, and their
/// sinks.
///
/// The source waits until link_spread has found a link for its packet, and leaves the rest to that link's own
/// sender; a shy one takes some requests back and asks for another packet. Word 0 names a packet (destination, number, length), the others follow from
/// it. A sink counts per link: each packet must be whole, and later than the one before of its destination on
/// this link; how often it comes earlier than one that another link has brought is `overtaken_o`.
module link_spread_bench
  import link_pkg::*;
#(
  parameter int unsigned NumLinks = 4,
  parameter int unsigned NumDests = 2,
  parameter int unsigned Depth    = 96,
  parameter int unsigned MaxWords = 16,
  parameter int unsigned MaxAhead = 32,
  parameter int unsigned Delay    = 4,
  parameter int unsigned Further  = 7    // words that each link is longer than the one before
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [NumLinks-1:0] signal_i,
  input  logic [NumLinks-1:0] block_i,       // nobody reads what comes over this link
  input  logic [NumDests-1:0] mute_i,        // no packets for this destination
  input  logic                same_i,        // all packets have 4 words
  input  logic                shy_i,         // one request in four cycles is taken back
  input  logic [16:0]         send_i,        // rate of requests, in 65536ths a cycle
  output logic [NumLinks-1:0] up_o,
  // What link_spread is asked and says.
  output logic [NumLinks-1:0] free_o,
  output logic                req_valid_o,
  output logic [7:0]          req_dest_o,
  output logic [7:0]          req_words_o,
  output logic [NumLinks-1:0] gnt_o,
  output logic [31:0]         begun_o,
  output logic [31:0]         good_o,
  output logic [31:0]         wrong_o,
  output logic [31:0]         bad_o,
  output logic [31:0]         overtaken_o,
  output logic [31:0]         words_o,       // read
  output logic [31:0]         check_o        // names begun less names that came well
);
  localparam int unsigned DestWidth  = NumDests > 1 ? $clog2(NumDests) : 1;
  localparam int unsigned WordsWidth = $clog2(MaxWords + 1);
  localparam int unsigned Longest    = Delay + NumLinks * Further;

  logic [31:0] noise_q[4];
  function automatic logic [31:0] step(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction
  function automatic logic [31:0] content(logic [31:0] name, logic [7:0] index);
    logic [31:0] x;
    x = name * 32'h9E3779B1 + 32'(index) * 32'h85EBCA6B;
    return x ^ (x >> 15);
  endfunction
  initial for (int i = 0; i < 4; i++) noise_q[i] = 32'h1234567 * 32'(2 * i + 1);
  always_ff @(posedge clk_i) for (int i = 0; i < 4; i++) noise_q[i] <= step(noise_q[i]);

  // ------------------------------------------------------------------ source
  logic                  want_q;
  logic [DestWidth-1:0]  dest_q;
  logic [WordsWidth-1:0] length_q;
  logic [19:0]           number_q;
  logic [31:0]           name;
  logic [NumLinks-1:0]   active_q, gnt;
  count_t [NumDests-1:0] room[NumLinks];

  assign name = {4'(dest_q), number_q, 8'(length_q)};
  for (genvar l = 0; l < NumLinks; l++) begin : gen_free
    assign free_o[l] = !active_q[l] && room[l][dest_q] > count_t'(length_q);
  end

  link_spread #(
    .NumLinks(NumLinks),
    .NumDests(NumDests),
    .MaxWords(MaxWords),
    .MaxAhead(MaxAhead)
  ) u_spread (
    .clk_i,
    .rst_ni,
    .up_i       (up_o),
    .free_i     (free_o),
    .req_valid_i(want_q),
    .req_dest_i (dest_q),
    .req_words_i(length_q),
    .gnt_o      (gnt)
  );
  assign gnt_o       = gnt;
  assign req_valid_o = want_q;
  assign req_dest_o  = 8'(dest_q);
  assign req_words_o = 8'(length_q);

  logic [DestWidth-1:0] pick;
  assign pick = DestWidth'(noise_q[0][23:8] % NumDests);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      want_q   <= 1'b0;
      number_q <= '0;
      begun_o  <= '0;
    end else if (gnt != '0) begin
      want_q   <= 1'b0;
      number_q <= number_q + 1'b1;
      begun_o  <= begun_o + 1;
    end else if (want_q) begin
      if (shy_i && noise_q[3][9:8] == '0) want_q <= 1'b0;
    end else begin
      want_q   <= 17'(noise_q[1][15:0]) < send_i && !mute_i[pick];
      dest_q   <= pick;
      length_q <= same_i ? WordsWidth'(4) : WordsWidth'(1 + noise_q[2][23:8] % MaxWords);
    end
  end

  // ------------------------------------------------------------------ links
  logic [NumLinks-1:0][NumDests-1:0]       good, bad, wrong, read;
  logic [NumLinks-1:0][NumDests-1:0][31:0] came;

  for (genvar l = 0; l < NumLinks; l++) begin : gen_link
    localparam int unsigned Length = Delay + l * Further;
    logic [31:0] name_q;
    logic [7:0]  at_q;
    logic [23:0] crc_q, crc_d;
    logic        ready, last, far_up, near_up;
    flit_t       tx_flit, rx_flit;
    word_t       tx, back, line_q[Length], back_q[Length];
    logic        rx_valid;
    id_t         rx_id;
    count_t [NumDests-1:0] stored;

    assign last         = at_q == name_q[7:0] + 8'd1;
    assign tx_flit.kind = at_q == '0 ? FlitSop : last ? FlitEop : FlitData;
    assign tx_flit.data = at_q == '0 ? 32'(name_q[31:28]) : last ? {8'h00, ~crc_q} :
                          at_q == 8'd1 ? name_q : content(name_q, at_q);
    link_crc24 u_crc24 (.crc_i(crc_q), .data_i(tx_flit.data), .crc_o(crc_d));

    always_ff @(posedge clk_i) begin
      if (!rst_ni) active_q[l] <= 1'b0;
      else if (gnt[l]) begin
        active_q[l] <= 1'b1;
        name_q      <= name;
        at_q        <= '0;
        crc_q       <= '1;
      end else if (active_q[l] && ready) begin
        at_q <= at_q + 8'd1;
        if (tx_flit.kind == FlitData) crc_q <= crc_d;
        if (last) active_q[l] <= 1'b0;
      end
      line_q[0] <= tx;
      back_q[0] <= back;
      for (int i = 1; i < Length; i++) begin
        line_q[i] <= line_q[i-1];
        back_q[i] <= back_q[i-1];
      end
    end

    logic [5:0]            near_unused, far_unused;
    logic                  near_valid, near_idle, far_ready, far_idle;
    flit_t                 near_flit;
    id_t                   near_id;
    count_t [0:0]          far_room;

    link_port #(
      .NumRxIds(1), .NumTxIds(NumDests), .TxDepth(Depth), .MaxWords(MaxWords), .InitWords(128)
    ) u_near (
      .clk_i, .rst_ni, .signal_i(signal_i[l]), .rx_i(back_q[Length-1]), .tx_o(tx), .bench_i(1'b0),
      .up_o(near_up), .rx_valid_o(near_valid), .rx_flit_o(near_flit), .rx_id_o(near_id), .stored_i('0),
      .room_o(room[l]), .tx_valid_i(active_q[l]), .tx_ready_o(ready), .tx_flit_i(tx_flit),
      .crc_bad_o(near_unused[0]), .poisoned_o(near_unused[1]), .invalid_o(near_unused[2]),
      .cut_o(near_unused[3]), .credit_bad_o(near_unused[4]), .dropped_o(near_unused[5]), .idle_o(near_idle)
    );
    link_port #(
      .NumRxIds(NumDests), .NumTxIds(1), .TxDepth(Depth), .MaxWords(MaxWords), .InitWords(128)
    ) u_far (
      .clk_i, .rst_ni, .signal_i(signal_i[l]), .rx_i(line_q[Length-1]), .tx_o(back), .bench_i(1'b0),
      .up_o(far_up), .rx_valid_o(rx_valid), .rx_flit_o(rx_flit), .rx_id_o(rx_id), .stored_i(stored),
      .room_o(far_room), .tx_valid_i(1'b0), .tx_ready_o(far_ready), .tx_flit_i('0),
      .crc_bad_o(far_unused[0]), .poisoned_o(far_unused[1]), .invalid_o(far_unused[2]),
      .cut_o(far_unused[3]), .credit_bad_o(far_unused[4]), .dropped_o(far_unused[5]), .idle_o(far_idle)
    );
    assign up_o[l] = near_up;

    for (genvar d = 0; d < NumDests; d++) begin : gen_dest
      flit_t       flit;
      logic        refused, packet, valid, pop, right_q, right;
      logic [31:0] name_in_q;
      logic [7:0]  place_q;
      logic [19:0] next_q;

      link_buffer #(.Depth(Depth)) u_buffer (
        .clk_i, .rst_ni, .valid_i(rx_valid && rx_id == id_t'(d)), .flit_i(rx_flit), .refused_o(refused),
        .stored_o(stored[d]), .packet_o(packet), .valid_o(valid), .flit_o(flit), .pop_i(pop)
      );
      assign pop        = valid && !block_i[l];
      assign right      = right_q && (place_q == '0 ? flit.data[31:28] == 4'(d) :
                          flit.data == content(name_in_q, place_q + 8'd1));
      assign good[l][d] = pop && flit.kind == FlitEop && right_q && place_q == name_in_q[7:0] &&
                          name_in_q[27:8] >= next_q && !refused;
      assign bad[l][d]   = pop && flit.kind == FlitEdb;
      assign wrong[l][d] = pop && flit.kind == FlitEop && !good[l][d];
      assign read[l][d]  = pop && flit.kind == FlitData;
      assign came[l][d]  = name_in_q;

      always_ff @(posedge clk_i) begin
        if (!rst_ni || (pop && flit.kind != FlitData)) begin
          place_q <= '0;
          right_q <= 1'b1;
        end else if (pop) begin
          if (place_q == '0) name_in_q <= flit.data;
          place_q <= place_q + 8'd1;
          right_q <= right;
        end
        if (!rst_ni) next_q <= '0;
        else if (good[l][d]) next_q <= name_in_q[27:8] + 1'b1;
      end
      logic unused;
      assign unused = &{1'b0, packet};
    end
    logic unused;
    assign unused = &{1'b0, far_up, near_unused, far_unused, near_valid, near_flit, near_id, near_idle,
                      far_ready, far_idle, far_room};
  end

  // ------------------------------------------------------------------ counts
  logic [31:0] gone, earlier, latest_d [NumDests], latest_q [NumDests];
  always_comb begin
    gone    = '0;
    earlier = '0;
    for (int d = 0; d < NumDests; d++) begin
      latest_d[d] = latest_q[d];
      for (int l = 0; l < NumLinks; l++) begin
        if (good[l][d]) begin
          gone = gone + came[l][d];
          if (came[l][d][27:8] < latest_d[d][19:0]) earlier = earlier + 1;
          else latest_d[d] = 32'(came[l][d][27:8]);
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      good_o      <= '0;
      bad_o       <= '0;
      wrong_o     <= '0;
      overtaken_o <= '0;
      words_o     <= '0;
      check_o     <= '0;
      for (int d = 0; d < NumDests; d++) latest_q[d] <= '0;
    end else begin
      good_o      <= good_o + 32'($countones(good));
      bad_o       <= bad_o + 32'($countones(bad));
      wrong_o     <= wrong_o + 32'($countones(wrong));
      words_o     <= words_o + 32'($countones(read));
      overtaken_o <= overtaken_o + earlier;
      check_o     <= check_o + (gnt != '0 ? name : '0) - gone;
      latest_q    <= latest_d;
    end
  end
endmodule
