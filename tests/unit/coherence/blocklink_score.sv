// SPDX-License-Identifier: SHL-2.1
/// One direction of a link: words that circuits hand to one end must come to the other end, each
/// once and in the order of its circuit. Messages are counted at their headers, in messages_o those
/// of lines.
module blocklink_score
  import coherence_pkg::*;
  import blocklink_pkg::*;
(
  input  logic                               clk_i,
  input  logic                               rst_ni,
  input  logic [NumVcs-1:0]                  put_i,
  input  logic [NumVcs-1:0][3:0]             count_i,
  input  word_t [NumVcs-1:0][ChunkWords-1:0] words_i,
  input  logic [NumVcs-1:0][3:0]             pop_i,
  input  word_t [NumVcs-1:0][7:0]            shown_i,
  output logic [31:0]                        messages_o,
  output logic [25:0][31:0]                  kinds_o,  // of them, by message_e; 0: of no line
  output logic                               empty_o
);
  localparam int unsigned Depth = 1024;
  word_t kept [NumVcs][Depth];
  int unsigned wptr [NumVcs], rptr [NumVcs];
  logic [4:0] left [NumVcs];
  int unsigned messages;
  int unsigned kinds [26];

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int v = 0; v < int'(NumVcs); v++) begin
        wptr[v] = 0;
        rptr[v] = 0;
        left[v] = '0;
      end
      messages = 0;
      kinds = '{default: 0};
      empty_o <= 1'b1;
    end else begin
      logic empty;
      /* verilator unroll_disable */
      for (int v = 0; v < int'(NumVcs); v++) begin
        if (put_i[v]) begin
          for (int i = 0; i < int'(ChunkWords); i++) begin
            if (i < int'(count_i[v])) begin
              kept[v][wptr[v]%Depth] = words_i[v][i];
              wptr[v]++;
            end
          end
          if (wptr[v] - rptr[v] > Depth) $fatal(1, "%m: circuit %0d: too many words", v);
        end
        if (pop_i[v] != '0) begin
          for (int i = 0; i < 8; i++) begin
            if (i < int'(pop_i[v])) begin
              if (wptr[v] == rptr[v]) $fatal(1, "%m: circuit %0d: a word that was not sent", v);
              if (shown_i[v][i] != kept[v][rptr[v]%Depth]) begin
                $fatal(1, "%m: circuit %0d: word %0d is %h, %h was sent", v, rptr[v], shown_i[v][i],
                       kept[v][rptr[v]%Depth]);
              end
              rptr[v]++;
              if (left[v] == '0) begin
                header_t header;
                header = shown_i[v][i];
                left[v] = words_of(3'(v / 2), header.opcode);
                kinds[message_of(3'(v / 2), header.opcode)]++;
                if (message_of(3'(v / 2), header.opcode) != MsgNone) messages++;
              end
              left[v]--;
            end
          end
        end
      end
      empty = 1'b1;
      for (int v = 0; v < int'(NumVcs); v++) if (wptr[v] != rptr[v]) empty = 1'b0;
      empty_o <= empty;
      messages_o <= messages;
      for (int k = 0; k < 26; k++) kinds_o[k] <= kinds[k];
    end
  end
endmodule
