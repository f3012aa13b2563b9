// SPDX-License-Identifier: SHL-2.1
/// Posts that bring their payload: a window of the BAR into which a processor, or a GPU's kernel,
/// stores a put of at most 64 bytes. Nothing of it is read.
///
/// bar -> page 1: window -> slots -> apenet_frames; post -> apenet_put. Other pages -> registers
///
///   Handshake   bar_* AXI4 of 64 bits, INCR; reads, and writes outside page 1, pass to regs_*
///               without a clock. post_valid_o a strobe: with room_i it is taken, else apenet_put
///               counts it. flit_o has the flit of slot_i and at_i a clock later
///   Map         of page 1: post 0x00..0x07, payload 0x08..0x47 (nanet_inline.rdl). A word of 32
///               bits counts as stored whichever of its bytes were. Elsewhere SLVERR; a read too
///   Ordering    the words of a put come in any order: it is posted when its post and all words of
///               8 bytes up to its last one are there. Words of two puts must not mix. A put is
///               posted behind all writes to registers that were answered before its own
///   Slots       each post that is taken has the next of Slots places. What waits, is checked or
///               has a header that waits is less than Slots, so no slot is written while it is read
///                                                     (proved: formal/apenet/apenet_inline.sby)
///   Bad posts   without bytes or of more than 64 are posted without payload, to be refused; one
///               that another post follows before its payload is there, too, as one without bytes
///   Latency     last beat to post_valid_o 1 cycle
///   Throughput  a beat a cycle; a write of one beat every 2
///   Restart     while enable_i is low what is stored is dropped
///   Parameters  Slots a power of two, 4..64
///   Not done    reading back; two programs in one window
module apenet_inline #(
  parameter  int unsigned Slots = 32,
  localparam int unsigned SlotW = $clog2(Slots)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      enable_i,
  input  axi_pkg::bar_request_t     bar_i,   // of the host: addresses of bytes, 13 bits
  output axi_pkg::bar_response_t    bar_o,   // answers, each with its id
  output axi_pkg::bar_request_t     regs_o,  // what is not for the window, as bar_i
  input  axi_pkg::bar_response_t    regs_i,
  output logic                      post_valid_o,
  output nanet_ctrl_pkg::put_post_t post_o,  // carried; its offset is its slot
  input  logic                      room_i,  // apenet_put has room for a post
  input  logic [SlotW-1:0]          slot_i,
  input  logic [1:0]                at_i,    // flit of the slot
  output logic [127:0]              flit_o,
  output logic                      idle_o   // nothing changes until an input does
);
  localparam int unsigned MaxBytes = apenet_pkg::MaxCarried;

  if (Slots < 4 || Slots > 64 || (Slots & (Slots - 1)) != 0) begin : gen_slots_check
    $error("apenet_inline: Slots is %0d, legal are powers of two, 4..64", Slots);
  end

  // ---------------------------------------------------------------- whose write it is
  typedef enum logic {
    StFree,  // writes pass
    StBeats  // those of the window
  } state_e;
  state_e      state_q;
  logic        passed_q;  // a write of registers is not answered
  logic        own, take, pass, beat, mapped, failed_q, answer_q;
  logic [3:0]  id_q;
  logic [11:3] addr_q;
  assign own  = bar_i.awaddr[12];
  assign take = state_q == StFree && bar_i.awvalid && own && !passed_q &&
                (!answer_q || bar_i.bready);
  assign pass = regs_o.awvalid && regs_i.awready;
  assign beat = state_q == StBeats && bar_i.wvalid;
  assign mapped = addr_q <= 9'(MaxBytes / 8);

  always_comb begin
    regs_o         = bar_i;
    regs_o.awvalid = state_q == StFree && bar_i.awvalid && !own && !answer_q;
    regs_o.wvalid  = state_q == StFree && bar_i.wvalid;
    // No block of registers begins at 0x800, and no burst has more than 2 KiB.
    if (bar_i.araddr[12]) regs_o.araddr = {20'd0, 9'h100, bar_i.araddr[2:0]};
    bar_o          = regs_i;
    bar_o.awready  = own ? take : state_q == StFree && regs_i.awready && !answer_q;
    bar_o.wready   = state_q == StBeats ? beat : regs_i.wready;
    if (answer_q) begin
      bar_o.bvalid = 1'b1;
      bar_o.bid    = id_q;
      bar_o.bresp  = {failed_q, 1'b0};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StFree;
      passed_q <= 1'b0;
      answer_q <= 1'b0;
      failed_q <= 1'b0;
    end else begin
      if (take) state_q <= StBeats;
      else if (beat && bar_i.wlast) state_q <= StFree;
      if (pass) passed_q <= 1'b1;
      else if (regs_i.bvalid && bar_i.bready && !answer_q) passed_q <= 1'b0;
      answer_q <= (beat && bar_i.wlast) || (answer_q && !bar_i.bready);
      if (take) failed_q <= 1'b0;
      else if (beat && !mapped) failed_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      addr_q <= bar_i.awaddr[11:3];
      id_q   <= bar_i.awid;
    end else if (beat) begin
      addr_q <= addr_q + 9'd1;
    end
  end

  // ---------------------------------------------------------------- window
  logic        payload, post, complete, posted_q, left_out;
  logic [1:0]  lanes;
  logic [2:0]  pair;        // of words, of the payload
  logic [15:0] stored, arrived_q;
  logic [7:0]  needed, needed_q, missing;  // pairs of words up to the last byte
  logic [15:0] remote_q;
  logic [22:0] bytes_q;
  logic [3:0]  target_q;
  logic [SlotW-1:0] slot_q; // that is filled
  assign lanes   = {bar_i.wstrb[7:4] != '0, bar_i.wstrb[3:0] != '0};
  assign post    = beat && enable_i && addr_q == '0;
  assign payload = beat && enable_i && addr_q != '0 && mapped;
  assign pair    = addr_q[5:3] - 3'd1;
  always_comb begin
    stored = '0;
    if (payload) stored[{pair, 1'b0}+:2] = lanes;
    for (int unsigned i = 0; i < 8; i++) begin
      needed[i]  = bar_i.wdata[54:32] > 23'(8 * i) && bar_i.wdata[54:32] <= 23'(MaxBytes);
      missing[i] = needed_q[i] && arrived_q[2*i+:2] != '1;
    end
  end
  assign complete = posted_q && missing == '0;
  assign left_out = post && lanes[1] && posted_q && !complete;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      posted_q  <= 1'b0;
      arrived_q <= '0;
      slot_q    <= '0;
    end else begin
      posted_q  <= enable_i && ((posted_q && !complete) || (post && lanes[1]));
      arrived_q <= enable_i ? (complete ? '0 : arrived_q) | stored : '0;
      if (post_valid_o && room_i && enable_i && complete) slot_q <= slot_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (post && lanes[0]) remote_q <= bar_i.wdata[31:16];
    if (post && lanes[1]) begin
      {target_q, bytes_q} <= {bar_i.wdata[59:56], bar_i.wdata[54:32]};
      needed_q            <= needed;
    end
  end
  assign post_valid_o = complete || left_out;
  assign post_o = '{
      carried: 1'b1, get: 1'b0, target: target_q, bytes: complete ? bytes_q : '0,
      remote: remote_q, offset: 16'(slot_q)
  };
  assign idle_o = state_q == StFree && !answer_q && !complete;

  // ---------------------------------------------------------------- slots
  // A beat of the clock in which a put is posted is of the next one.
  logic [SlotW-1:0] filled;
  assign filled = slot_q + SlotW'(complete && room_i);
  ram_1r1w #(
    .Width    (128),
    .Depth    (4 * Slots),
    .LaneWidth(32),
    .ReadOld  (1'b0)
  ) u_slots (
    .clk_i,
    .we_i   (!payload ? '0 : pair[0] ? {lanes, 2'b00} : {2'b00, lanes}),
    .waddr_i({filled, pair[2:1]}),
    .wdata_i({2{bar_i.wdata}}),
    .re_i   (1'b1),
    .raddr_i({slot_i, at_i}),
    .rdata_o(flit_o)
  );

  logic unused;
  assign unused = ^{bar_i.awaddr[31:13], bar_i.awaddr[2:0], bar_i.awsize};
endmodule
