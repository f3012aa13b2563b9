// SPDX-License-Identifier: SHL-2.1
/// 8b/10b coding from its tables: the code of transceivers, for models of them.
///
/// A code's bit 0 is the first on the line (a), bit 9 the last (j). Disparity: 0 is -1, 1 is +1.
package code_8b10b;
  typedef struct packed {
    logic       disparity;  // behind the code
    logic [9:0] code;
  } encoded_t;
  typedef struct packed {
    logic       valid;
    logic       k;
    logic [7:0] data;
  } decoded_t;

  // The codes at disparity -1 as printed, abcdei and fghj from left to right.
  localparam logic [0:31][5:0] Six = {
    6'b100111, 6'b011101, 6'b101101, 6'b110001, 6'b110101, 6'b101001, 6'b011001, 6'b111000,
    6'b111001, 6'b100101, 6'b010101, 6'b110100, 6'b001101, 6'b101100, 6'b011100, 6'b010111,
    6'b011011, 6'b100011, 6'b010011, 6'b110010, 6'b001011, 6'b101010, 6'b011010, 6'b111010,
    6'b110011, 6'b100110, 6'b010110, 6'b110110, 6'b001110, 6'b101110, 6'b011110, 6'b101011
  };
  localparam logic [0:7][3:0] Four = {
    4'b1011, 4'b1001, 4'b0101, 4'b1100, 4'b1101, 4'b1010, 4'b0110, 4'b1110
  };
  // K28.0 to K28.7 at disparity -1; the others are K23.7, K27.7, K29.7, K30.7.
  localparam logic [0:7][3:0] FourK28 = {
    4'b0100, 4'b1001, 4'b0101, 4'b0011, 4'b0010, 4'b1010, 4'b0110, 4'b1000
  };

  function automatic logic [9:0] line_order(logic [9:0] printed);
    for (int i = 0; i < 10; i++) line_order[i] = printed[9-i];
  endfunction

  function automatic logic is_k(logic [7:0] data);
    return data[4:0] == 5'd28 || (data[7:5] == 3'd7 && data[4:0] inside {5'd23, 5'd27, 5'd29, 5'd30});
  endfunction

  function automatic encoded_t encode(logic disparity, logic k, logic [7:0] data);
    logic [5:0] six;
    logic [3:0] four;
    logic       middle, alternate;
    if (k) begin
      six  = data[4:0] == 5'd28 ? 6'b001111 : Six[data[4:0]];
      four = data[4:0] == 5'd28 ? FourK28[data[7:5]] : 4'b1000;
      encode.code      = line_order(disparity ? ~{six, four} : {six, four});
      encode.disparity = disparity ^ ($countones({six, four}) != 5);
    end else begin
      six = Six[data[4:0]];
      if (disparity && ($countones(six) != 3 || data[4:0] == 5'd7)) six = ~six;
      middle    = disparity ^ ($countones(six) != 3);
      alternate = middle ? data[4:0] inside {5'd11, 5'd13, 5'd14} : data[4:0] inside {5'd17, 5'd18, 5'd20};
      four      = data[7:5] == 3'd7 && alternate ? 4'b0111 : Four[data[7:5]];
      if (middle && (data[7:5] inside {3'd0, 3'd3, 3'd4, 3'd7})) four = ~four;
      encode.code      = line_order({six, four});
      encode.disparity = middle ^ ($countones(four) != 2);
    end
  endfunction

  typedef decoded_t [1023:0] table_t;
  function automatic table_t all_codes();
    encoded_t found;
    all_codes = '0;
    for (int k = 0; k < 2; k++) begin
      for (int data = 0; data < 256; data++) begin
        if (k == 0 || is_k(8'(data))) begin
          for (int disparity = 0; disparity < 2; disparity++) begin
            found = encode(1'(disparity), 1'(k), 8'(data));
            all_codes[found.code] = '{valid: 1'b1, k: 1'(k), data: 8'(data)};
          end
        end
      end
    end
  endfunction
endpackage
