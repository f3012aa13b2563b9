// SPDX-License-Identifier: SHL-2.1
/// blocklink_depack: every committed word of a circuit is shown in its order, as soon as it is
/// among the oldest, until it is taken; what is not committed is never shown. Every 8 words that
/// are taken of a circuit give one credit back, once; low and high circuits alternate.
///
/// All circuits. A circuit's words count up. The far end has credits for what it sends: what is
/// stored and not given back is never more than a buffer has.
module blocklink_depack_props
  import blocklink_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input logic                       clk_i,
  input logic                       commit_i,
  input logic [BlockWords-1:0][3:0] vc_i,
  input word_t [BlockWords-1:0]     words_i,
  input logic [NumVcs-1:0][3:0]     pop_i,
  input logic                       credit_take_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  word_t [NumVcs-1:0][7:0] words_o;
  logic [NumVcs-1:0][3:0] avail_o;
  logic credit_some_o, credit_high_o;
  logic [7:0] credit_o;
  blocklink_depack #(.DataDepth(Depth), .RestDepth(Depth)) dut (.*);

  logic [NumVcs-1:0] due;  // circuits that have a credit to give back
  logic last_high_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) last_high_q <= 1'b0;
    else if (credit_take_i) last_high_q <= credit_high_o;
  end

  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_vc
    localparam logic [4:0] Window = v >= 2 && v <= 5 ? 5'd8 : 5'd2;
    logic [4:0] stored_q, freed_q, comes;
    word_t in_q, out_q;
    logic given;
    logic [BlockWords-1:0] wrong;
    always_comb begin
      comes = '0;
      for (int unsigned lane = 0; lane < BlockWords; lane++) begin
        wrong[lane] = vc_i[lane] == 4'(v) && words_i[lane] != in_q + word_t'(comes);
        comes = comes + 5'(vc_i[lane] == 4'(v));
      end
    end
    assign due[v] = freed_q >= 5'd8;
    assign given  = credit_take_i && credit_high_o == (v >= 8) && credit_o[v%8];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        {stored_q, freed_q, in_q, out_q} <= '0;
      end else begin
        stored_q <= stored_q + (commit_i ? comes : '0) - 5'(pop_i[v]);
        freed_q  <= freed_q + 5'(pop_i[v]) - (given ? 5'd8 : '0);
        if (commit_i) in_q <= in_q + word_t'(comes);
        out_q <= out_q + word_t'(pop_i[v]);
      end
    end
    logic [7:0] shown;  // places whose word is not the one that is due
    always_comb begin
      shown = '0;
      for (int unsigned i = 0; i < 8; i++) begin
        shown[i] = 4'(i) < avail_o[v] && words_o[v][i] != out_q + word_t'(i);
      end
    end
    for (genvar b = 0; b < 8; b++) begin : gen_bank
      for (genvar i = 0; i < int'(Depth / 8); i++) begin : gen_place
        logic [3:0] ahead;  // words in front of the one at this place
        assign ahead = 4'(8 * i + b) - 4'(out_q);
        always_comb begin
          if (rst_ni && 5'(ahead) < stored_q) begin
            kept : assert (dut.gen_vc[v].u_words.gen_bank[b].bank_q[i] == word_t'(8 * i + b));
          end
        end
      end
    end
    always_comb begin
      if (rst_ni) begin
        assume (wrong == '0 && 6'(stored_q) + 6'(freed_q) + 6'(comes) <= 6'(Depth));
        assume (pop_i[v] <= avail_o[v]);
        seen : assert (5'(avail_o[v]) == (stored_q > Window ? Window : stored_q));
        in_order : assert (shown == '0);
        if (credit_some_o && credit_high_o == (v >= 8)) begin
          credit : assert (credit_o[v%8] == due[v]);
        end
        // For induction.
        pointers : assert (dut.gen_vc[v].u_words.wptr_q[3:0] == 4'(in_q) &&
                           dut.gen_vc[v].u_words.rptr_q[3:0] == 4'(out_q) &&
                           dut.gen_vc[v].u_words.stored == stored_q);
        counted : assert (dut.gen_vc[v].freed_q == 10'(freed_q));
        bounded : assert (6'(stored_q) + 6'(freed_q) <= 6'(Depth));
      end
    end
  end

  always_comb begin
    if (rst_ni) begin
      some : assert (credit_some_o == (due != '0));
      if (credit_some_o) begin
        for (int unsigned b = NumVcs - 8; b < 8; b++)
          if (credit_high_o) assert (!credit_o[b]);
        one_at_least : assert (credit_o != '0);
        if (due[7:0] != '0 && due[NumVcs-1:8] != '0) begin
          turns : assert (credit_high_o == !last_high_q);
        end
      end
      last : assert (dut.high_last_q == last_high_q);
      // Taken only where there is one.
      assume (!credit_take_i || credit_some_o);
    end
    both : cover (rst_ni && due[4] && due[9] && last_high_q);
    full : cover (rst_ni && avail_o[3] == 4'd8);
  end
endmodule
