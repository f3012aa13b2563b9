// SPDX-License-Identifier: SHL-2.1
/// Receive buffer of one link: packets from the link's clock to beats in the host's clock.
///
/// With StoreForward a packet is shown when its end has come and was good; others leave nothing.
/// Without it beats are shown as they come, and a packet's last one says whether the packet was
/// good.
///
///   Handshake   in: rx_valid_i, no back-pressure; Sop, data.., Eop | Edb. Out: beat_o with last_o
///               and bad_o is held with valid_o until ready_i; beat_o is valid a cycle before
///               valid_o, if none was taken in it
///   Ordering    first in, first out; a beat is two words, the low one first
///   Room        stored_o: words in it, for link_port, one cycle after they came; a beat that was
///               read is gone from it at the third link edge. A packet of n words takes no more
///               than n + 1, so a sender that keeps to link.md's credits overruns nothing; else the
///               packet is lost and overflow_o strobes
///   Latency     Eop (without StoreForward: the word behind a beat) to valid_o: 1 link cycle and 1
///               to 2 host cycles
///   Throughput  a word a link cycle in, a beat a host cycle out; of more than 8 that were
///               announced one by one and have waited,
///               only while the host's clock is less than twice the link's
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
  typedef logic [AddrWidth-1:0] addr_t;
  typedef logic [AddrWidth:0] ptr_t;        // counts beats; the top bit is the lap

  // The reader counts in Gray code, so that its pointer crosses as it is; so a beat's place is the
  // Gray code of its number, on both sides.
  function automatic addr_t place(addr_t number);
    return number ^ {1'b0, number[AddrWidth-1:1]};
  endfunction
  function automatic addr_t gray_place(ptr_t gray);
    return {^gray[AddrWidth:AddrWidth-1], gray[AddrWidth-2:0]};
  endfunction

  // ------------------------------------------------------------- link clock: words into the memory
  logic is_data, is_eop, is_edb, is_end;
  assign is_data = rx_valid_i && rx_flit_i.kind == FlitData;
  assign is_eop  = rx_valid_i && rx_flit_i.kind == FlitEop;
  assign is_edb  = rx_valid_i && rx_flit_i.kind == FlitEdb;
  assign is_end  = is_eop || is_edb;

  // A word goes into the memory when it comes. A beat becomes one with the word behind it, which
  // says whether it is the last: its flags are written then, and it is counted.
  logic [1:0] have_q;    // words of the beat at wptr_q
  logic       skip_q;    // the rest of a packet that did not fit
  ptr_t       wptr_q, wptr_d, next;
  ptr_t       seen, seen_q;  // beats that the reader has taken
  ptr_t       count;     // beats in the memory, those of an unfinished packet included
  logic       begun;     // of the unfinished packet are beats shown

  // A packet of which beats are shown always has room for its last one:
  // others stop one beat earlier.
  logic full, none, write, write_last, write_bad, over, undo;
  assign count = wptr_q - seen_q;
  assign full  = count >= ptr_t'(Depth - 1);
  assign none  = count == ptr_t'(Depth);
  assign over  = !skip_q && is_data && ((have_q == 2'd2 && full) || (have_q == 2'd0 && none));

  always_comb begin
    write      = 1'b0;
    write_last = 1'b0;
    write_bad  = 1'b0;
    undo       = 1'b0;
    if (is_data && !skip_q && have_q == 2'd2) begin
      write      = !full || begun;
      write_last = full;
      write_bad  = full;
      undo       = full && StoreForward;
    end else if (is_end && !skip_q && have_q != 2'd0) begin
      write_last = 1'b1;
      write_bad  = is_edb || have_q == 2'd1;
      write      = !(write_bad && StoreForward);
      undo       = write_bad && StoreForward;
    end
  end

  assign next = wptr_q + 1'b1;

  // What may be shown: whole packets, or all there is. `shown_d` is the beat behind it, now.
  ptr_t shown_d;
  logic show;
  if (StoreForward) begin : gen_stored
    ptr_t begin_q;
    assign begun   = 1'b0;
    assign show    = write && write_last;
    assign shown_d = show ? next : begin_q;
    assign wptr_d  = undo ? begin_q : write ? next : wptr_q;
    always_ff @(posedge link_clk_i or negedge link_rst_ni) begin
      if (!link_rst_ni) begin_q <= '0;
      else begin_q <= shown_d;
    end
  end else begin : gen_shown_at_once
    logic begun_q;
    assign begun   = begun_q;
    assign show    = write;
    assign shown_d = wptr_d;
    assign wptr_d  = write ? next : wptr_q;
    always_ff @(posedge link_clk_i or negedge link_rst_ni) begin
      if (!link_rst_ni) begun_q <= 1'b0;
      else if (write) begun_q <= !write_last;
    end
  end

  logic tell_q;  // what was shown is still to be announced
  logic tell_ready;

  always_ff @(posedge link_clk_i or negedge link_rst_ni) begin
    if (!link_rst_ni) begin
      have_q     <= '0;
      skip_q     <= 1'b0;
      wptr_q     <= '0;
      seen_q     <= '0;
      tell_q     <= 1'b0;
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
      wptr_q <= wptr_d;
      seen_q <= seen;
      tell_q <= (tell_q || show) && !tell_ready;
    end
  end

  assign stored_o = {count, 1'b0} + count_t'(have_q);

  // ---------------------------------------------------------------- across
  logic  told_valid, told_ready;
  addr_t told;
  logic  settled_up, settled_down;
  ptr_t  rptr_q, rptr_d, rnext;
  (* async_reg = "true" *) ptr_t [1:0] rsync_q;

  // Up: where the readable beats end. One without space here is announced with the next.
  async_fifo #(
    .Width(AddrWidth),
    .Depth(8)
  ) u_told (
    .wclk_i   (link_clk_i),
    .wrst_ni  (link_rst_ni),
    .wvalid_i (tell_q || show),
    .wready_o (tell_ready),
    .wdata_i  (place(addr_t'(shown_d))),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (told_valid),
    .rready_i (told_ready),
    .rdata_o  (told),
    .settled_o(settled_up)
  );

  // Down: the reader's pointer.
  always_ff @(posedge link_clk_i or negedge link_rst_ni) begin
    if (!link_rst_ni) rsync_q <= '0;
    else rsync_q <= {rsync_q[0], rptr_q};
  end
  for (genvar i = 0; i <= int'(AddrWidth); i++) begin : gen_seen
    assign seen[i] = ^(rsync_q[1] >> i);
  end
  assign settled_down = rsync_q == {2{rptr_q}} && seen_q == seen;

  // ---------------------------------------------------------------- host clock: beats out
  // The next beat is read in each cycle, announced or not: when it is announced, it has been at the
  // output for a cycle. It was written a link cycle before its announcement, which takes two edges
  // of the host's clock. An announcement is held until its last beat is taken: while it is valid,
  // so is a beat.
  logic  take;
  addr_t raddr;

  // The Gray code behind: with an even number of ones the lowest bit turns, else the one left of
  // the lowest one, and the top bit at the end.
  logic odd;
  assign odd      = ^rptr_q;
  assign rnext[0] = rptr_q[0] ^ !odd;
  assign rnext[1] = rptr_q[1] ^ (odd && rptr_q[0]);
  for (genvar i = 2; i < int'(AddrWidth); i++) begin : gen_next
    assign rnext[i] = rptr_q[i] ^ (odd && rptr_q[i-1] && rptr_q[i-2:0] == '0);
  end
  assign rnext[AddrWidth] = rptr_q[AddrWidth] ^ (odd && rptr_q[AddrWidth-2:0] == '0);

  assign valid_o    = told_valid;
  assign take       = valid_o && ready_i;
  assign told_ready = take && gray_place(rnext) == told;
  assign rptr_d     = take ? rnext : rptr_q;
  assign raddr      = gray_place(rptr_d);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rptr_q <= '0;
    else rptr_q <= rptr_d;
  end

  ram_2clk #(
    .Width(32),
    .Depth(Depth)
  ) u_low (
    .wclk_i (link_clk_i),
    .we_i   (is_data && !skip_q && !over && have_q != 2'd1),
    .waddr_i(place(addr_t'(have_q == 2'd2 ? next : wptr_q))),
    .wdata_i(rx_flit_i.data),
    .rclk_i (clk_i),
    .re_i   (1'b1),
    .raddr_i(raddr),
    .rdata_o(beat_o[31:0])
  );

  ram_2clk #(
    .Width(32),
    .Depth(Depth)
  ) u_high (
    .wclk_i (link_clk_i),
    .we_i   (is_data && !skip_q && have_q == 2'd1),
    .waddr_i(place(addr_t'(wptr_q))),
    .wdata_i(rx_flit_i.data),
    .rclk_i (clk_i),
    .re_i   (1'b1),
    .raddr_i(raddr),
    .rdata_o(beat_o[63:32])
  );

  // The flags are in LUTs, read by the reader's pointer itself: in a block memory they would need
  // the words beside them to be held, or a third one.
  localparam int unsigned FlagWidth = StoreForward ? 1 : 2;
  (* ram_style = "distributed" *) logic [FlagWidth-1:0] flag_q [Depth];
  always_ff @(posedge link_clk_i) begin
    if (write) flag_q[place(addr_t'(wptr_q))] <= FlagWidth'({write_bad, write_last});
  end
  logic [FlagWidth-1:0] flag;
  assign flag   = flag_q[gray_place(rptr_q)];
  assign last_o = flag[0];
  if (StoreForward) begin : gen_good
    assign bad_o = 1'b0;
  end else begin : gen_flag
    assign bad_o = flag[1];
  end

  assign idle_o = have_q == '0 && count == '0 && !tell_q && !valid_o && settled_down && settled_up;
endmodule
