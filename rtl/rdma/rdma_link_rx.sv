// SPDX-License-Identifier: SHL-2.1
/// Receive buffer of one link: packets from the link's clock to beats in the host's clock.
///
/// With StoreForward a packet is shown when its end has come and was good; others leave nothing. Without
/// it beats are shown as they come, and a packet's last one says whether the packet was good.
///
///   Handshake   in: rx_valid_i, no back-pressure; Sop, data.., Eop | Edb. Out: beat_o with last_o and
///               bad_o stands with valid_o until ready_i
///   Ordering    first in, first out; a beat is two words, the low one first
///   Room        stored_o: words in it, for link_port, one cycle after they came; a beat that was read is
///               told through a synchronizer. A packet of n words takes no more than n + 1, so a
///               sender that keeps to link.md's credits overruns nothing; else the packet is lost and
///               overflow_o strobes
///   Latency     Eop (without StoreForward: the word behind a beat) to valid_o: 1 link cycle and 1 to 2
///               host cycles
///   Throughput  a word a link cycle in, a beat a host cycle out
///   Reset       rst_ni and link_rst_ni together
///   Parameters  StoreForward 0, 1
///   Not done    a look at the words
module rdma_link_rx
  import rdma_pkg::*;
  import link_pkg::*;
#(
  parameter bit StoreForward = 1'b1
) (
  input  logic   link_clk_i,
  input  logic   link_rst_ni,
  input  logic   rx_valid_i,
  input  flit_t  rx_flit_i,
  output count_t stored_o,
  output logic   overflow_o,  // strobe, link clock

  input  logic   clk_i,
  input  logic   rst_ni,
  output logic   valid_o,
  input  logic   ready_i,
  output beat_t  beat_o,
  output logic   last_o,
  output logic   bad_o,
  output logic   idle_o       // looks across the clocks: for simulation kernels, not for logic
);
  localparam int unsigned Depth     = 256;  // beats: 512 words
  localparam int unsigned AddrWidth = 8;
  typedef logic [AddrWidth-1:0] ptr_t;
  typedef logic [AddrWidth:0] beats_t;

  // ---------------------------------------------------------------- link clock: beats into the memory
  logic is_data, is_eop, is_edb, is_end;
  assign is_data = rx_valid_i && rx_flit_i.kind == FlitData;
  assign is_eop  = rx_valid_i && rx_flit_i.kind == FlitEop;
  assign is_edb  = rx_valid_i && rx_flit_i.kind == FlitEdb;
  assign is_end  = is_eop || is_edb;

  // A beat waits for the word behind it: that says whether it is the last.
  logic [31:0] low_q, high_q;
  logic [1:0]  have_q;   // words here
  logic        skip_q;   // the rest of a packet that did not fit
  ptr_t        wptr_q, begin_q;
  beats_t      count_q;  // beats in the memory, those of an unfinished packet included
  beats_t      mine_q;   // of the unfinished packet
  beats_t      told_q;   // good ones that the reader has not been told of
  beats_t      to_tell;  // and those of this cycle
  logic        tell, tell_ready, freed_valid;
  beats_t      freed, freed_beats;

  // A packet of which beats are shown always has room for its last one: others stop one beat earlier.
  logic full, none, write, write_last, write_bad, over, undo;
  assign full = count_q >= beats_t'(Depth - 1);
  assign none = count_q == beats_t'(Depth);
  assign over = !skip_q && have_q == 2'd2 && ((is_data && full) || (is_end && none));

  always_comb begin
    write      = 1'b0;
    write_last = 1'b0;
    write_bad  = 1'b0;
    undo       = 1'b0;
    if (is_data && !skip_q && have_q == 2'd2) begin
      write      = !full || (!StoreForward && mine_q != '0);
      write_last = full;
      write_bad  = full;
      undo       = full && StoreForward;
    end else if (is_end && !skip_q && have_q != 2'd0) begin
      write_last = 1'b1;
      write_bad  = is_edb || have_q == 2'd1 || none;
      write      = !none && !(write_bad && StoreForward);
      undo       = write_bad && StoreForward;
    end
  end

  beats_t added, taken_back, shown;
  assign added      = beats_t'(write);
  assign taken_back = undo ? mine_q : '0;
  assign freed      = freed_valid ? freed_beats : '0;
  // Beats that may be shown now.
  always_comb begin
    shown = '0;
    if (write && !StoreForward) shown = beats_t'(1);
    else if (write && write_last) shown = mine_q + beats_t'(1);
  end

  always_ff @(posedge link_clk_i or negedge link_rst_ni) begin
    if (!link_rst_ni) begin
      have_q     <= '0;
      skip_q     <= 1'b0;
      wptr_q     <= '0;
      begin_q    <= '0;
      count_q    <= '0;
      mine_q     <= '0;
      told_q     <= '0;
      overflow_o <= 1'b0;
    end else begin
      overflow_o <= over;
      if (is_end) begin
        have_q <= '0;
        skip_q <= 1'b0;
      end else if (over) begin
        have_q <= '0;
        skip_q <= 1'b1;
      end else if (is_data && !skip_q) begin
        have_q <= have_q == 2'd2 ? 2'd1 : have_q + 2'd1;
      end
      if (undo) wptr_q <= begin_q;
      else if (write) wptr_q <= wptr_q + 1'b1;
      if (write && write_last) begin_q <= wptr_q + 1'b1;
      if (undo || (write && write_last)) mine_q <= '0;
      else if (write) mine_q <= mine_q + beats_t'(1);
      count_q <= count_q + added - taken_back - freed;
      told_q  <= tell ? '0 : to_tell;
    end
  end

  always_ff @(posedge link_clk_i) begin
    if (is_data) begin
      if (have_q == 2'd1) high_q <= rx_flit_i.data;
      else low_q <= rx_flit_i.data;
    end
  end

  assign stored_o = {count_q, 1'b0} + count_t'(have_q);

  // ---------------------------------------------------------------- tokens across
  logic   show_valid;
  beats_t show, freed_q;
  logic   freed_ready, settled_down, settled_up;

  assign to_tell = told_q + shown;
  assign tell    = to_tell != '0 && tell_ready;

  async_fifo #(
    .Width(AddrWidth + 1),
    .Depth(8)
  ) u_show (
    .wclk_i   (link_clk_i),
    .wrst_ni  (link_rst_ni),
    .wvalid_i (to_tell != '0),
    .wready_o (tell_ready),
    .wdata_i  (to_tell),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (show_valid),
    .rready_i (1'b1),
    .rdata_o  (show),
    .settled_o(settled_up)
  );

  async_fifo #(
    .Width(AddrWidth + 1),
    .Depth(8)
  ) u_freed (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (freed_q != '0),
    .wready_o (freed_ready),
    .wdata_i  (freed_q),
    .rclk_i   (link_clk_i),
    .rrst_ni  (link_rst_ni),
    .rvalid_o (freed_valid),
    .rready_i (1'b1),
    .rdata_o  (freed_beats),
    .settled_o(settled_down)
  );

  // ---------------------------------------------------------------- host clock: beats out
  // The next beat is read in each cycle, told of or not: when the token has come, the beat stands there. It
  // was written a host cycle before that read, or the token could not be here.
  beats_t avail_q, avail;
  logic   some_q;     // avail_q is not 0
  logic   take;
  ptr_t   rptr_q, behind_q;

  assign valid_o = some_q || show_valid;
  assign take    = valid_o && ready_i;
  assign avail   = avail_q + (show_valid ? show : '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      avail_q  <= '0;
      some_q   <= 1'b0;
      rptr_q   <= '0;
      behind_q <= ptr_t'(1);
      freed_q  <= '0;
    end else begin
      avail_q <= avail - beats_t'(take);
      some_q  <= avail != beats_t'(take);
      if (take) begin
        rptr_q   <= behind_q;
        behind_q <= behind_q + 1'b1;
      end
      freed_q <= beats_t'(take) + (freed_ready ? '0 : freed_q);
    end
  end

  ram_2clk #(
    .Width(66),
    .Depth(Depth)
  ) u_ram (
    .wclk_i (link_clk_i),
    .we_i   (write),
    .waddr_i(wptr_q),
    .wdata_i({write_bad, write_last, high_q, low_q}),
    .rclk_i (clk_i),
    .re_i   (1'b1),
    .raddr_i(take ? behind_q : rptr_q),
    .rdata_o({bad_o, last_o, beat_o})
  );

  assign idle_o = have_q == '0 && count_q == '0 && told_q == '0 && freed_q == '0 && !valid_o &&
                  settled_down && settled_up;
endmodule
