// SPDX-License-Identifier: SHL-2.1
/// Sends a line of text over a serial port, again and again: fixed characters and hex digits.
///
///   Line        8 data bits, no parity, one stop bit, idle high
///   Text        Text's characters, the first in its highest byte; a '#' is a digit of value_i, the
///               first '#' its highest 4 bits
///   Latency     value_i is taken as a line begins; a line every Pause + 1 characters' time more
///               than its own length
///   Parameters  Divider cycles a bit, 2..65535; Length characters, 1..255; Digits, as many as Text
///               has '#', 1..64; Pause characters between two lines, 0..65535
///   Not done    reception
module uart_line #(
  parameter int unsigned         Divider = 543,
  parameter int unsigned         Length  = 4,
  parameter int unsigned         Digits  = 2,
  parameter int unsigned         Pause   = 1000,
  parameter logic [8*Length-1:0] Text    = {"##", 8'h0D, 8'h0A}
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [4*Digits-1:0] value_i,
  output logic                tx_o
);
  if (Divider < 2 || Divider > 65535) begin : gen_divider_check
    $error("uart_line: Divider is %0d, legal is 2..65535", Divider);
  end
  if (Length < 1 || Length > 255 || Digits < 1 || Digits > 64) begin : gen_length_check
    $error("uart_line: Length is %0d, legal is 1..255; Digits is %0d, legal is 1..64", Length,
           Digits);
  end

  logic [15:0]         divider_q, pause_q;
  logic [7:0]          place_q;   // characters that are not sent yet
  logic [8*Length-1:0] text_q;
  logic [4*Digits-1:0] value_q;
  logic [9:0]          shift_q;   // stop bit, character, start bit
  logic [3:0]          bits_q;    // of it that are not sent yet
  logic [7:0]          next;
  logic                tick, is_digit;

  function automatic logic [7:0] hex(logic [3:0] digit);
    return digit < 4'd10 ? 8'h30 + 8'(digit) : 8'h37 + 8'(digit);
  endfunction

  assign tick     = divider_q == 16'(Divider - 1);
  assign is_digit = text_q[8*Length-1-:8] == "#";
  assign next     = is_digit ? hex(value_q[4*Digits-1-:4]) : text_q[8*Length-1-:8];
  assign tx_o     = shift_q[0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      divider_q <= '0;
      pause_q   <= '0;
      place_q   <= '0;
      bits_q    <= '0;
      shift_q   <= '1;
    end else begin
      divider_q <= tick ? '0 : divider_q + 1'b1;
      if (tick) begin
        if (bits_q != '0) begin
          bits_q  <= bits_q - 1'b1;
          shift_q <= {1'b1, shift_q[9:1]};
        end else if (place_q != '0) begin
          place_q <= place_q - 1'b1;
          shift_q <= {1'b1, next, 1'b0};
          bits_q  <= 4'd9;
        end else begin
          // A pause is as long as so many characters: ten bits each.
          bits_q  <= 4'd9;
          pause_q <= pause_q + 1'b1;
          if (pause_q >= 16'(Pause)) begin
            pause_q <= '0;
            place_q <= 8'(Length);
          end
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (tick && bits_q == '0) begin
      if (place_q == '0) begin
        text_q  <= Text;
        value_q <= value_i;
      end else begin
        text_q <= text_q << 8;
        if (is_digit) value_q <= value_q << 4;
      end
    end
  end
endmodule
