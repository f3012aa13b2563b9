// SPDX-License-Identifier: SHL-2.1
/// Sends packets back to back over a link and checks those that come: a counter in every word.
///
/// The counter runs through all packets; a packet's length, 1 to MaxWords words, follows from the
/// counter in its first word, so that its end is checked too. Any two ends can be joined.
///
///   Handshake   transmit and receive: those of link_port and link_buffer. A packet begins while
///               up_i and room_i is above its length
///   Throughput  a packet of n words takes n + 2 cycles of the line
///   Counters    wrapping. good_o: packets that were right; errors_o: packets that ended bad, had a
///               wrong word or a wrong length, and gaps in the counter. The first packet sets where
///               the counter begins
///   Parameters  MaxWords 2..256, a power of two; CountWidth as of link_port
///   Not done    other ids than 0
module link_traffic
  import link_pkg::*;
#(
  parameter int unsigned MaxWords   = 128,
  parameter int unsigned CountWidth = CountBits,
  localparam type        count_t    = logic [CountWidth-1:0]
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        up_i,
  input  count_t      room_i,
  output logic        tx_valid_o,
  input  logic        tx_ready_i,
  output flit_t       tx_flit_o,
  input  logic        rx_valid_i,
  input  flit_t       rx_flit_i,     // taken in each cycle
  output logic [31:0] good_o,
  output logic [31:0] errors_o
);
  localparam int unsigned LengthWidth = $clog2(MaxWords);
  if (MaxWords < 2 || MaxWords > 256 || MaxWords != 1 << LengthWidth) begin : gen_words_check
    $error("link_traffic: MaxWords is %0d, legal is a power of two, 2..256", MaxWords);
  end
  typedef logic [LengthWidth-1:0] length_t;  // of a packet, less 1

  // Neighbouring words differ in many bits; from a word the counter comes back.
  function automatic logic [31:0] mixed(logic [31:0] value);
    return value ^ {value[15:0], 16'h0};
  endfunction
  function automatic length_t length_of(logic [31:0] count);
    return count[LengthWidth-1:0] ^ length_t'(count >> LengthWidth);
  endfunction

  // ---------------------------------------------------------------- transmit
  logic [31:0] count_q;
  length_t     left_q;
  logic [23:0] crc_q, crc_d;
  logic        open_q, ended_q, room_q;
  logic        step;

  assign step       = tx_valid_o && tx_ready_i;
  assign tx_valid_o = open_q || room_q;
  assign tx_flit_o  = !open_q ? '{kind: FlitSop, data: '0} :
      ended_q ? '{kind: FlitEop, data: {8'h00, ~crc_q}} :
      '{kind: FlitData, data: mixed(count_q)};
  link_crc24 u_crc (.crc_i(crc_q), .data_i(mixed(count_q)), .crc_o(crc_d));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      ended_q <= 1'b0;
      room_q  <= 1'b0;
      count_q <= '0;
    end else begin
      // A Sop once offered stays; room for the longest covers what is not counted yet.
      room_q <= (room_q && !step) ||
                (up_i && room_i > count_t'(MaxWords + 2) && !(open_q && !ended_q));
      if (step) begin
        open_q  <= !ended_q;
        ended_q <= open_q && !ended_q && left_q == '0;
        if (open_q && !ended_q) count_q <= count_q + 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (step) begin
      left_q <= open_q ? left_q - 1'b1 : length_of(count_q);
      crc_q  <= open_q ? crc_d : Crc24Init;
    end
  end

  // ---------------------------------------------------------------- receive
  logic [31:0] expect_q, got;
  length_t     rest_q, rest;
  logic        inside_q, known_q, wrong_q, right;
  assign got   = mixed(rx_flit_i.data);
  assign right = got == expect_q;
  assign rest  = inside_q ? rest_q : length_of(got);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      known_q  <= 1'b0;
      wrong_q  <= 1'b0;
      good_o   <= '0;
      errors_o <= '0;
    end else if (rx_valid_i) begin
      if (rx_flit_i.kind == FlitData) begin
        inside_q <= 1'b1;
        // A word behind the packet's last, or one that is not the counter's next.
        wrong_q  <= wrong_q || (known_q && !right) || (inside_q && rest_q == '1);
        known_q  <= 1'b1;
      end else begin
        inside_q <= 1'b0;
        wrong_q  <= 1'b0;
        if (rx_flit_i.kind != FlitEop || wrong_q || !inside_q || rest_q != '1) begin
          errors_o <= errors_o + 1'b1;
        end else begin
          good_o <= good_o + 1'b1;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (rx_valid_i && rx_flit_i.kind == FlitData) begin
      expect_q <= got + 1'b1;
      rest_q   <= rest - 1'b1;
    end
  end
endmodule
