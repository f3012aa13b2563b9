// SPDX-License-Identifier: SHL-2.1
/// The events of one board, from its port's datagrams: packets of TEL62 data, checked whole.
///
///   Handshake   in_* as nanet_queue gives them; fragment_*: valid/ready, nanet_pkg::fragment_t
///   Ordering    events in the order of the packets, hits in that of the data. Only leading edges
///               are hits
///   Format      docs/reference/trigger-formats.md. A packet that breaks it in any field, or whose
///               check sums do not hold, gives nothing: malformed_o or bad_o, for a clock
///   Latency     end of a datagram to its first fragment 4 cycles
///   Throughput  4 bytes a cycle
///   Full        full_o: its window has no room, and the port waits
///   Parameters  DataWidth 64..512; Window: words of the window, a power of two, 512..4096: more
///               than a datagram of Ethernet has
///   Not done    datagrams whose events are packed otherwise
module nanet_fragments
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned Window    = 1024
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  entry_e               in_kind_i,
  input  logic [DataWidth-1:0] in_i,
  output logic                 fragment_valid_o,
  input  logic                 fragment_ready_i,
  output fragment_t            fragment_o,
  output logic                 full_o,
  output logic                 malformed_o,
  output logic                 bad_o,
  output logic                 idle_o
);
  localparam int unsigned Words = DataWidth / 32;
  localparam int unsigned WordW = $clog2(Words);
  localparam logic [10:0] Channels = 11'(2 * DiskSites);

  typedef enum logic [2:0] {
    Number,  // of the packet's first event
    Size,    // of the packet
    Length,  // of a fragment
    Stamp,
    Board,
    Fpga,
    Frame,
    Edges
  } state_e;
  state_e state_q;
  logic [WordW-1:0] at_q;
  logic [13:0] left_q;      // words of the datagram
  logic [13:0] words_q;     // of the fragment that are not there yet
  logic [ 7:0] events_q;    // of the packet, from the present one on
  event_number_t number_q;
  logic [31:0] stamp_q;
  logic [ 1:0] board_q, fpga_q;
  logic [ 2:0] fpgas_q;     // of the board that are not there yet
  logic [ 7:0] frames_q;    // of the FPGA
  logic [15:0] edges_q;     // of the frame
  logic burst_q, wrong_q, inside_q;
  logic held_q, closing_q;  // a hit that may be the last; the fragment is at its end
  fragment_hit_t hit_q, hit;

  // ---------------------------------------------------------------- words
  logic [31:0] word;
  logic word_there, ending, step, put_valid, put_ready, stuck, keep, drop, fragment_end, empty;
  fragment_t put;
  head_t head;
  end_t  verdict;
  assign word       = in_i[32*at_q+:32];
  assign head       = head_t'(in_i[63:0]);
  assign verdict    = end_t'(in_i[$bits(end_t)-1:0]);
  assign word_there = in_valid_i && in_kind_i == EntryData && left_q != '0;
  assign ending     = in_valid_i && in_kind_i == EntryEnd;
  assign step       = !put_valid || put_ready || stuck;
  // An end waits until the last hit before it is stored.
  assign in_ready_o = step && (in_kind_i != EntryData || left_q <= 14'd1 || at_q == '1) &&
                      !(ending && closing_q);

  // ---------------------------------------------------------------- a hit
  logic [10:0] channel;
  logic leading, edge_ok;
  assign channel = {board_q, fpga_q, word[25:24], word[23:19]};
  assign leading = word[31:28] == 4'd4;
  assign edge_ok = (leading && channel < Channels) || word[31:28] == 4'd5;
  assign hit     = '{
      none: 1'b0,
      spare: 1'b0,
      disk: channel >= 11'(DiskSites),
      time_: word[18:0] - {stamp_q[10:0], 8'd0},
      site: channel >= 11'(DiskSites) ? 10'(channel - 11'(DiskSites)) : channel[9:0]
  };

  // ---------------------------------------------------------------- what is stored
  always_comb begin
    put_valid = 1'b0;
    put       = '{head: 1'b0, last_: closing_q, data: hit_q};
    if (!wrong_q) begin
      if (closing_q) begin
        put_valid = word_there || ending;
      end else if (word_there) begin
        unique case (state_q)
          Stamp: begin
            put_valid = 1'b1;
            put       = '{head: 1'b1, last_: 1'b0, data: {events_q, number_q}};
          end
          Board: begin
            put_valid = 1'b1;
            put       = '{head: 1'b1, last_: burst_q, data: stamp_q};
          end
          Edges:   put_valid = leading && held_q;
          default: ;
        endcase
      end
    end
  end
  assign keep        = ending && !closing_q && !wrong_q && verdict.good && inside_q &&
                       state_q == Length && events_q == '0 && left_q == '0;
  assign drop        = ending && (!closing_q || wrong_q) && !keep;
  assign bad_o       = ending && in_ready_o && !verdict.good;
  assign malformed_o = ending && in_ready_o && verdict.good && !keep;

  // ---------------------------------------------------------------- the packet
  assign fragment_end = words_q == 14'd1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Number;
      at_q      <= '0;
      left_q    <= '0;
      words_q   <= '0;
      events_q  <= '0;
      number_q  <= '0;
      stamp_q   <= '0;
      board_q   <= '0;
      fpga_q    <= '0;
      fpgas_q   <= '0;
      frames_q  <= '0;
      edges_q   <= '0;
      burst_q   <= 1'b0;
      wrong_q   <= 1'b0;
      inside_q  <= 1'b0;
      held_q    <= 1'b0;
      closing_q <= 1'b0;
      hit_q     <= '0;
    end else if (in_valid_i && step) begin
      if (stuck && put_valid) wrong_q <= 1'b1;
      if (in_kind_i == EntryHead) begin
        state_q   <= Number;
        left_q    <= head.len[15:2];
        at_q      <= '0;
        wrong_q   <= head.len[1:0] != '0;
        inside_q  <= 1'b1;
        closing_q <= 1'b0;
        held_q    <= 1'b0;
      end
      if (ending) begin
        closing_q <= 1'b0;
        if (!closing_q) inside_q <= 1'b0;
      end
      if (in_kind_i == EntryData) at_q <= in_ready_o ? '0 : at_q + 1'b1;
      if (word_there) begin
        left_q <= left_q - 14'd1;
        if (closing_q) begin
          closing_q <= 1'b0;
          held_q    <= 1'b0;
        end
        unique case (state_q)
          Number: begin
            number_q <= word[23:0];
            state_q  <= Size;
          end
          Size: begin
            events_q <= word[23:16];
            if (word[15:0] != {left_q + 14'd1, 2'd0}) wrong_q <= 1'b1;
            state_q <= Length;
          end
          Length: begin
            // A board and an FPGA have a word each, at least.
            if (events_q == '0 || word[1:0] != '0 || word[15:2] < 14'd4 ||
                word[23:16] != number_q[7:0] || word[30:24] != '0) begin
              wrong_q <= 1'b1;
            end
            words_q <= word[15:2] - 14'd1;
            burst_q <= word[31];
            state_q <= Stamp;
          end
          Stamp: begin
            stamp_q <= word;
            words_q <= words_q - 14'd1;
            state_q <= Board;
          end
          Board: begin
            words_q <= words_q - 14'd1;
            board_q <= word[17:16];
            unique case (word[7:0])
              8'd1:    fpgas_q <= 3'd1;
              8'd2:    fpgas_q <= 3'd2;
              8'd4:    fpgas_q <= 3'd3;
              8'd8:    fpgas_q <= 3'd4;
              default: wrong_q <= 1'b1;
            endcase
            if (word[23:18] != '0) wrong_q <= 1'b1;
            hit_q   <= '{none: 1'b1, default: '0};
            state_q <= Fpga;
          end
          default: begin
            words_q <= words_q - 14'd1;
            unique case (state_q)
              Fpga: begin
                fpga_q   <= word[17:16];
                frames_q <= word[7:0];
                fpgas_q  <= fpgas_q - 3'd1;
                if (word[31:18] != '0) wrong_q <= 1'b1;
                state_q <= word[7:0] != '0 ? Frame : Fpga;
                if (fragment_end != (word[7:0] == '0 && fpgas_q == 3'd1)) wrong_q <= 1'b1;
              end
              Frame: begin
                frames_q <= frames_q - 8'd1;
                edges_q  <= word[31:16] - 16'd1;
                if (word[31:16] == '0) wrong_q <= 1'b1;
                if (word[31:16] == 16'd1) begin
                  state_q <= frames_q != 8'd1 ? Frame : Fpga;
                  if (fragment_end != (frames_q == 8'd1 && fpgas_q == '0)) wrong_q <= 1'b1;
                end else begin
                  state_q <= Edges;
                  if (fragment_end) wrong_q <= 1'b1;
                end
              end
              default: begin
                edges_q <= edges_q - 16'd1;
                if (!edge_ok) wrong_q <= 1'b1;
                if (leading) begin
                  hit_q  <= hit;
                  held_q <= 1'b1;
                end
                if (edges_q == 16'd1) state_q <= frames_q != '0 ? Frame : Fpga;
                if (fragment_end != (edges_q == 16'd1 && frames_q == '0 && fpgas_q == '0)) begin
                  wrong_q <= 1'b1;
                end
              end
            endcase
            if (fragment_end) begin
              closing_q <= 1'b1;
              events_q  <= events_q - 8'd1;
              number_q  <= number_q + 24'd1;
              state_q   <= Length;
            end
          end
        endcase
      end
    end
  end

  nanet_window #(
    .Width($bits(fragment_t)),
    .Depth(Window)
  ) u_window (
    .clk_i,
    .rst_ni,
    .put_valid_i(put_valid),
    .put_ready_o(put_ready),
    .put_i      (put),
    .keep_i     (keep),
    .drop_i     (drop),
    .full_o,
    .stuck_o    (stuck),
    .out_valid_o(fragment_valid_o),
    .out_ready_i(fragment_ready_i),
    .out_o      (fragment_o),
    .empty_o    (empty)
  );
  assign idle_o = !in_valid_i && !inside_q && empty;

  logic unused;
  assign unused = ^{head.ip, head.port, verdict.overflow};
endmodule
