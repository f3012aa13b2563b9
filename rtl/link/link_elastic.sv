// SPDX-License-Identifier: SHL-2.1
/// Elastic buffer: words of a far end's oscillator, in the clock of this end's.
///
/// It starts to read when half full. Then the two rates differ by what the oscillators do: too many
/// words, and the write side leaves a removable one out; too few, and the read side puts an ALIGN
/// before one. So packets and credit words pass unchanged as long as removable words come often
/// enough. link_port sends one in AlignWords + MaxWords + 3 words at least. Transceivers have such
/// a buffer; this is for transceivers that bypass their own one.
///
///   Handshake   none: a word a cycle of each clock
///   Ordering    words keep their order
///   Latency     Depth / 2 + 1 cycles of rclk_i, give or take what the oscillators have drifted
///   Throughput  a word a cycle
///   Recovery    full: words are lost (lost_o); empty, or without signal: signal_o is low until
///               half full again
///   Reset       wrst_ni and rrst_ni must be asserted together and may be released in any order
///   Slack       Depth / 8 words of drift either way between two removable words: at 200 ppm and
///               Depth 16, 10 000 words
///   Parameters  Depth a power of two, 16..64; SyncStages 2..3
///   Board       Gray pointers cross: link_elastic.xdc, link_elastic.sdc
///   Not done    bundles: their lanes would have to leave out the same instant
module link_elastic
  import link_pkg::*;
#(
  parameter int unsigned Depth      = 16,
  parameter int unsigned SyncStages = 2
) (
  input  logic  wclk_i,  // recovered from the line
  input  logic  wrst_ni,
  input  logic  signal_i,   // the word of this cycle is the far end's
  input  word_t word_i,     // a word a cycle of wclk_i
  output logic  removed_o,  // strobe, wclk_i: a word was left out
  output logic  lost_o,     // strobe, wclk_i: the buffer was full

  input  logic  rclk_i,
  input  logic  rrst_ni,
  output logic  signal_o,
  output word_t word_o,
  output logic  added_o,  // strobe, rclk_i: word_o is an ALIGN of this buffer
  output logic  empty_o   // strobe, rclk_i: the buffer was empty
);
  if (Depth < 16 || Depth > 64 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("link_elastic: Depth is %0d, legal is a power of two, 16..64", Depth);
  end
  if (SyncStages < 2 || SyncStages > 3) begin : gen_sync_check
    $error("link_elastic: SyncStages is %0d, legal is 2..3", SyncStages);
  end

  localparam int unsigned AddrWidth = $clog2(Depth);
  localparam int unsigned PtrWidth  = AddrWidth + 1;
  typedef logic [PtrWidth-1:0] ptr_t;

  // The write side sees words that have left for SyncStages cycles more, the read side new ones as
  // much later. So with Depth / 2 words inside the one counts as many more as the other less.
  localparam ptr_t Start = ptr_t'(Depth / 2 - SyncStages);
  localparam ptr_t High  = ptr_t'(Depth / 2 + Depth / 8 + SyncStages + 1);
  localparam ptr_t Low   = ptr_t'(Depth / 2 - Depth / 8 - SyncStages);

  function automatic ptr_t binary(ptr_t gray);
    ptr_t value;
    for (int unsigned i = 0; i < PtrWidth; i++) value[i] = ^(gray >> i);
    return value;
  endfunction

  logic [36:0] mem_q[Depth];

  // ---------------------------------------------------------------- write side
  ptr_t wbin_q, wbin_d, wgray_q, rgray_q, wfill;
  (* async_reg = "true" *) ptr_t [SyncStages-1:0] wsync_q;
  logic remove, full, push;

  assign wfill  = wbin_q - binary(wsync_q[SyncStages-1]);
  assign remove = wfill >= High && (!signal_i || is_removable(word_i));
  assign full   = wfill >= ptr_t'(Depth);
  assign push   = !remove && !full;
  assign wbin_d = wbin_q + ptr_t'(push);

  always_ff @(posedge wclk_i or negedge wrst_ni) begin
    if (!wrst_ni) begin
      wbin_q    <= '0;
      wgray_q   <= '0;
      wsync_q   <= '0;
      removed_o <= 1'b0;
      lost_o    <= 1'b0;
    end else begin
      wsync_q   <= {wsync_q[SyncStages-2:0], rgray_q};
      wbin_q    <= wbin_d;
      wgray_q   <= wbin_d ^ (wbin_d >> 1);
      removed_o <= remove && signal_i;
      lost_o    <= full && !remove && signal_i;
    end
  end
  always_ff @(posedge wclk_i) if (push) mem_q[wbin_q[AddrWidth-1:0]] <= {signal_i, word_i};

  // ---------------------------------------------------------------- read side
  ptr_t rbin_q, rbin_d, rfill;
  (* async_reg = "true" *) ptr_t [SyncStages-1:0] rsync_q;
  word_t head;
  logic  head_signal, running_q, add, empty, pop;

  assign {head_signal, head} = mem_q[rbin_q[AddrWidth-1:0]];
  assign rfill  = binary(rsync_q[SyncStages-1]) - rbin_q;
  assign empty  = rfill == '0;
  assign add    = running_q && !empty && head_signal && rfill <= Low && is_removable(head);
  assign pop    = running_q && !empty && !add;
  assign rbin_d = rbin_q + ptr_t'(pop);

  always_ff @(posedge rclk_i or negedge rrst_ni) begin
    if (!rrst_ni) begin
      rbin_q    <= '0;
      rgray_q   <= '0;
      rsync_q   <= '0;
      running_q <= 1'b0;
      signal_o  <= 1'b0;
      added_o   <= 1'b0;
      empty_o   <= 1'b0;
    end else begin
      rsync_q   <= {rsync_q[SyncStages-2:0], wgray_q};
      rbin_q    <= rbin_d;
      rgray_q   <= rbin_d ^ (rbin_d >> 1);
      running_q <= running_q ? !empty : rfill >= Start;
      signal_o  <= running_q && !empty && head_signal;
      added_o   <= add;
      empty_o   <= running_q && empty;
    end
  end
  always_ff @(posedge rclk_i) word_o <= add ? WordAlign : head;
endmodule
