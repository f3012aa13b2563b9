// SPDX-License-Identifier: SHL-2.1
/// Packets of a link to flits of a router's port: the chunks of torus_link_tx, put together.
///
/// The router's own buffers are the buffers behind the link: stored_o says how many of their places
/// are taken, and the link's credits follow it. The last word of a chunk waits for the chunk's end:
/// only then is it known whether it is a tail, and whether the chunk was right.
///
///   Handshake   rx_*: link_bundle's, never stalled. flit_*: a flit a cycle, never stalled, only
///               with a place free. freed_i: the router has freed a place, a strobe a channel
///   Packets     at flit_*, whatever comes: head, any number of flits, tail, of each channel
///               (proved: formal/torus/torus_link_rx.sby)
///   Credit      never more than Depth flits of a channel are at the router (proved there). A word
///               is stored where a place for a tail stays free behind it, else refused: the far end
///               counts wrongly, or an error in a CREDIT gave it a place too many for a moment
///   Losses      a packet of which a chunk is wrong, cut or missing ends at once: with a poisoned
///               tail, all ones, if its head has left, else with nothing. torn_o: such a packet.
///               What follows of it is dropped. gap_o: a Sop whose count says that words before it
///               were lost; since it is not known what they were, all to the next Eop is dropped
///   Link down   packets that are open end with a poisoned tail; what comes next begins with a head
///   Latency     a word at rx_* is at flit_* when the next word or the end is at rx_*: 1 cycle
///               without credit words between. Outputs are combinational
///   Throughput  a flit a cycle
///   Parameters  Lanes 1..8 of 32 bits of a flit; Depth 2..512 of the router's buffers; CountWidth
///               as of link_port, with a range of twice Depth or more
///   Not done    packets that are held until they are known to be right: the ends check
module torus_link_rx
  import link_pkg::*;
  import torus_pkg::NumVcs;
#(
  parameter int unsigned Lanes      = 4,
  parameter int unsigned Depth      = 64,
  parameter int unsigned CountWidth = CountBits,
  localparam type        count_t    = logic [CountWidth-1:0],
  // verilog_lint: waive typedef-structs-unions
  localparam type        flit_t     = struct packed {
    flit_kind_e             kind;
    logic [Lanes-1:0][31:0] data;
  }
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                up_i,          // the link's
  input  logic                rx_valid_i,    // rx_*, crc_bad_i, poisoned_i: the link's
  input  flit_t               rx_flit_i,     // Sop: the words sent before it in lane 0, from bit 8
  input  id_t                 rx_id_i,       // the channel
  input  logic                crc_bad_i,     // with Edb: it was an Eop with a wrong crc24
  input  logic                poisoned_i,    // with Edb: it came as Edb
  output logic                flit_valid_o,
  output logic                flit_vc_o,     // its channel
  output logic                flit_head_o,   // the first of its packet
  output logic                flit_tail_o,   // the last of its packet
  output logic [32*Lanes-1:0] flit_data_o,
  input  logic [NumVcs-1:0]   freed_i,
  output count_t [NumVcs-1:0] stored_o,      // places taken, a cycle after the word came
  output logic                torn_o,        // strobe: a packet ended bad, or nothing of it left
  output logic                gap_o,         // strobe: words are missing
  output logic                refused_o      // strobe: a word had no place
);
  if (Lanes < 1 || Lanes > 8) begin : gen_lanes_check
    $error("torus_link_rx: Lanes is %0d, legal is 1..8", Lanes);
  end
  if (Depth < 2 || Depth > 1 << (CountWidth - 1)) begin : gen_depth_check
    $error("torus_link_rx: Depth is %0d, legal is 2..%0d", Depth, 1 << (CountWidth - 1));
  end

  // open_q: the head has left, no tail yet. skip_q: all to the next Eop is dropped. next_q: words
  // that have come, as the far end counts them. inside_q, vc_q: a chunk and its channel; hold_q: a
  // word of it waits.
  logic [NumVcs-1:0] open_q, open_d, skip_q, skip_d;
  count_t [NumVcs-1:0] next_q, stored_d;
  logic inside_q, vc_q, hold_q, hold_d;
  logic [32*Lanes-1:0] word_q;
  logic [Lanes-1:0][23:0] crc_q, crc_d;

  logic is_sop, is_data, is_end, right, pause, ended, fits, keep, tear, vc;
  count_t count;

  assign is_sop  = rx_valid_i && rx_flit_i.kind == FlitSop;
  assign is_data = rx_valid_i && rx_flit_i.kind == FlitData;
  assign is_end  = rx_valid_i && (rx_flit_i.kind == FlitEop || rx_flit_i.kind == FlitEdb);
  assign count   = rx_flit_i.data[0][8+:CountWidth];

  for (genvar l = 0; l < int'(Lanes); l++) begin : gen_crc
    link_crc24 u_crc24 (
      .crc_i (crc_q[l]),
      .data_i(rx_flit_i.data[l]),
      .crc_o (crc_d[l])
    );
  end
  // A pause is right if all that came before it is; an Eop was checked by the link.
  always_comb begin
    pause = poisoned_i;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (rx_flit_i.data[l][23:0] != crc_q[l]) pause = 1'b0;
    end
  end
  assign right = rx_flit_i.kind == FlitEop || pause;
  assign ended = rx_flit_i.kind == FlitEop || crc_bad_i;  // the chunk was its packet's last

  // Open packets of a link that is down, a channel a cycle.
  logic down, down_vc;
  assign down    = !up_i && !inside_q && !rx_valid_i;
  assign down_vc = !open_q[0];

  assign vc    = down ? down_vc : is_sop ? rx_id_i[0] : vc_q;
  assign gap_o = is_sop && count != next_q[vc];
  assign fits  = stored_o[vc] < count_t'(Depth - 1);
  assign keep  = is_data && inside_q && !skip_q[vc] && fits;
  assign refused_o = is_data && inside_q && !skip_q[vc] && !fits;

  // The packet that is under way ends here.
  assign tear = gap_o || refused_o || (is_end && inside_q && !skip_q[vc] && !right) || down;

  always_comb begin
    open_d = open_q;
    skip_d = skip_q;
    hold_d = hold_q;
    flit_valid_o = 1'b0;
    flit_tail_o  = 1'b0;
    torn_o       = 1'b0;
    if (tear) begin
      flit_valid_o = open_q[vc];
      flit_tail_o  = 1'b1;
      torn_o       = open_q[vc] || hold_q;
      open_d[vc]   = 1'b0;
      hold_d       = 1'b0;
      skip_d[vc]   = !is_end || !ended;
    end else if (keep || (is_end && inside_q)) begin
      flit_valid_o = hold_q;
      flit_tail_o  = is_end && ended;
      if (hold_q) open_d[vc] = !flit_tail_o;
      hold_d       = keep;
      if (is_end && ended) skip_d[vc] = 1'b0;
    end
    if (down) skip_d = '0;
  end
  assign flit_vc_o   = vc;
  assign flit_head_o = !tear && !open_q[vc];
  assign flit_data_o = word_q | {32 * Lanes{tear}};

  // A poisoned tail has the place of the word that waited, or the one that is kept for it.
  always_comb begin
    stored_d = stored_o;
    for (int unsigned v = 0; v < NumVcs; v++) begin
      if (vc == 1'(v) && (keep || (tear && open_q[v] && !hold_q))) begin
        if (!freed_i[v]) stored_d[v] = stored_o[v] + 1'b1;
      end else if (vc == 1'(v) && tear && !open_q[v] && hold_q) begin
        stored_d[v] = stored_o[v] - count_t'(1) - count_t'(freed_i[v]);
      end else if (freed_i[v]) begin
        stored_d[v] = stored_o[v] - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      hold_q   <= 1'b0;
      open_q   <= '0;
      skip_q   <= '0;
      next_q   <= '0;
      stored_o <= '0;
    end else begin
      if (is_sop) inside_q <= 1'b1;
      else if (is_end) inside_q <= 1'b0;
      hold_q   <= hold_d;
      open_q   <= open_d;
      skip_q   <= skip_d;
      stored_o <= stored_d;
      if (down) next_q <= '0;
      else if (is_sop) next_q[vc] <= count;
      else if (is_data || is_end) next_q[vc] <= next_q[vc] + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (is_sop) begin
      vc_q  <= rx_id_i[0];
      crc_q <= {Lanes{Crc24Init}};
    end else if (is_data) begin
      crc_q <= crc_d;
    end
    if (keep) word_q <= rx_flit_i.data;
  end

  logic unused;
  assign unused = &{1'b0, rx_id_i[IdWidth-1:1]};

  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_assert
    prim_assert u_places (.clk_i, .rst_ni, .ok_i(stored_o[v] <= count_t'(Depth)));
    prim_assert u_freed (.clk_i, .rst_ni, .ok_i(!freed_i[v] || stored_o[v] != '0));
  end
endmodule
