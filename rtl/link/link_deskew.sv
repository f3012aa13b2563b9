// SPDX-License-Identifier: SHL-2.1
/// Aligns the lanes of a bundle: delays the early ones until the ALIGN marks are
/// together.
///
/// A lane's first ALIGN starts its clock; the lane that comes last needs no delay, the others wait
/// as much as they came before it. Lanes further apart than MaxSkew are never accepted: late_o says
/// so, and the search begins again with the next marks. Marks that are apart at the outputs twice,
/// with none together between, end the alignment: one wrong bit does not, a lane that slips does,
/// at its next mark.
///
/// A mark is a word whose bits of MarkMask are those of MarkValue; by default link_pkg's ALIGN.
///
///   Handshake   a word of every lane in each cycle with step_i; without it the words stay
///   Latency     1 cycle for the latest lane, plus its lead for each other, in words
///   Throughput  one word of all lanes a cycle
///   Alignment   only true ones, for lanes up to 2 words further apart than MaxSkew; kept while
///               they do not move                       (proved: formal/link/link_deskew.sby)
///   Parameters  Lanes 1..16, MaxSkew 1..15 words between the first lane and the last; Width of a
///               word 2..128, MarkMask, MarkValue
///   Assumed     marks are more than MaxSkew and the real skew apart, with 2
///               words between: a lane later than that looks early by the marks before
///   Not done    order of lanes, 8b/10b
module link_deskew
  import link_pkg::*;
#(
  parameter  int unsigned      Lanes      = 4,
  parameter  int unsigned      MaxSkew    = 8,
  parameter  int unsigned      Width      = 36,
  parameter  logic [Width-1:0] MarkMask   = {4'hF, 8'hFF, 24'h0},
  parameter  logic [Width-1:0] MarkValue  = {4'h8, SymAlign, 24'h0},
  localparam int unsigned      DelayWidth = $clog2(MaxSkew + 1)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             signal_i,   // all lanes have lock
  input  logic                             step_i,     // lane_i is the next word of every lane
  input  logic [Lanes-1:0][Width-1:0]      lane_i,
  output logic [Lanes-1:0][Width-1:0]      word_o,
  output logic [Lanes-1:0][DelayWidth-1:0] delay_o,    // words that a lane waits, while aligned
  output logic                             aligned_o,  // word_o is one instant of all lanes
  output logic                             late_o,     // strobe: a mark later than MaxSkew words
  output logic                             lost_o      // strobe: alignment given up, or no signal
);
  typedef logic [DelayWidth-1:0] delay_t;
  typedef logic [Width-1:0] lane_word_t;

  if (Lanes < 1 || Lanes > 16) begin : gen_lanes_check
    $error("link_deskew: Lanes is %0d, legal is 1..16", Lanes);
  end
  if (Width < 2 || Width > 128) begin : gen_width_check
    $error("link_deskew: Width is %0d, legal is 2..128", Width);
  end
  if (MaxSkew < 1 || MaxSkew > 15) begin : gen_skew_check
    $error("link_deskew: MaxSkew is %0d, legal is 1..15", MaxSkew);
  end

  // A lane's words of the last MaxSkew + 1 cycles; the newest is entry 0.
  lane_word_t [MaxSkew:0] line_q [Lanes];
  delay_t                 delay_q[Lanes];
  logic  [Lanes-1:0] mark, seen_q, seen_d, out_mark;
  delay_t            count_q;
  logic              late, apart, doubt_q;

  function automatic logic is_mark(lane_word_t word);
    return (word & MarkMask) == MarkValue;
  endfunction

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    assign mark[i]     = is_mark(lane_i[i]);
    assign word_o[i]   = line_q[i][delay_q[i]];
    assign delay_o[i]  = delay_q[i];
    assign out_mark[i] = is_mark(word_o[i]);
    always_ff @(posedge clk_i) if (step_i) line_q[i] <= {line_q[i][MaxSkew-1:0], lane_i[i]};
  end

  assign seen_d = seen_q | mark;
  // The first mark came MaxSkew cycles ago and one is still missing.
  assign late   = seen_q != '0 && count_q == delay_t'(MaxSkew) && seen_d != '1;
  assign apart  = out_mark != '0 && out_mark != '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seen_q    <= '0;
      count_q   <= '0;
      doubt_q   <= 1'b0;
      aligned_o <= 1'b0;
      late_o    <= 1'b0;
      lost_o    <= 1'b0;
      for (int unsigned i = 0; i < Lanes; i++) delay_q[i] <= '0;
    end else if (!signal_i || aligned_o) begin
      seen_q    <= '0;
      count_q   <= '0;
      late_o    <= 1'b0;
      lost_o    <= aligned_o && (!signal_i || (step_i && apart && doubt_q));
      if (!signal_i || (step_i && apart && doubt_q)) aligned_o <= 1'b0;
      if (step_i && out_mark != '0) doubt_q <= apart;
    end else if (step_i) begin
      seen_q  <= (late || seen_d == '1) ? '0 : seen_d;
      count_q <= (seen_d == '0 || late || seen_d == '1) ? '0 : count_q + 1'b1;
      // Each lane waits as long as it was seen before the last one.
      for (int unsigned i = 0; i < Lanes; i++) begin
        if (!seen_q[i]) delay_q[i] <= '0;
        else if (seen_d != '0 && !late) delay_q[i] <= delay_q[i] + 1'b1;
      end
      aligned_o <= seen_d == '1;
      doubt_q   <= 1'b0;
      late_o    <= late;
      lost_o    <= 1'b0;
    end else begin
      late_o <= 1'b0;
      lost_o <= 1'b0;
    end
  end
endmodule
