// SPDX-License-Identifier: SHL-2.1
/// Address translation between a requester of lines and its request agent.
///
/// Requests have virtual addresses. Each is stored while its page is looked up in an address
/// translation cache (atc), and goes on with the physical address when the page is known. What the
/// cache misses it requests from the host, as messages.
///
///   Handshake   request, physical request, message to the host: valid/ready. Responses and
///               messages from the host: no ready. A tag has one open request
///   Ordering    requests go on as their pages are known: a hit passes misses. With InOrder those
///               of one line in theirs, reads and writes (ccix_line_order), as an AXI port in front
///               of it needs; two virtual addresses of one frame have no order
///   Atomics     with this parameter req_atomic_i goes on with its request, which is a write: its
///               page must allow writes
///   Direct      with this parameter the request that begins a translation does not wait for it: it
///               goes on with its virtual address and phys_direct_o, as a PCIe request that is not
///               translated, and the host walks for it. It is no use of a translation. Later
///               requests of the block wait for the page. Without DirectWrites a write waits as
///               well, as one through a cache must. phys_key_o: the virtual line, by which the
///               agent keeps the requests of one line in their order
///   Faults      a request whose page is not mapped, or may not be written, does not go on: its
///               response has rsp_fault_o, and the host gets MsgFault. It waits for a cycle without
///               a response of the agent. Of a direct request the host says so: phys_rsp_fault_i
///   Uses        a translation is in use until the agent's response; an invalidation is answered
///               when no use of an older translation is left
///   Early       with this parameter a hit that finds nothing in front of it goes on in the cycle
///               of its lookup's answer: for an agent that stores what it takes
///   Latency     hit, direct: 2 cycles from req_* to phys_*, with Early a hit 1. Miss: 3 cycles to
///               its message, and 5 from the last message of its translation to phys_*.
///               Responses: 0 cycles
///   Throughput  a request a cycle while pages hit; with InOrder as ccix_line_order
///   Errors      fail_o: more invalidations than NumInv were open
///   Parameters  NumMiss, PagesLog2, Ahead, Direct, DirectWrites, NumInv and the stores as atc;
///               Early, InOrder, Atomics; 36 bits of page numbers
///   Not done    a retry after a fault: the requester decides
module ccix_translate
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter int unsigned NumMiss   = 8,
  parameter int unsigned PagesLog2 = 0,
  parameter int unsigned Ahead     = 0,
  parameter bit          Direct    = 1'b0,
  parameter bit          DirectWrites = 1'b1,
  parameter bit          Early     = 1'b0,
  parameter bit          InOrder   = 1'b0,
  parameter bit          Atomics   = 1'b0,
  parameter int unsigned NumInv    = 8,
  parameter int unsigned BaseSets  = 128
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       req_valid_i,
  output logic       req_ready_o,
  input  logic       req_write_i,
  input  index_t     req_index_i,
  input  logic [7:0] req_tag_i,
  input  mask_t      req_mask_i,
  input  line_t      req_data_i,
  input  coherence_atomic_pkg::atomic_t req_atomic_i,  // with a write: as coherence_cache
  output logic       rsp_valid_o,  // a strobe a request, always taken
  output logic [7:0] rsp_tag_o,    // req_tag_i of the request
  output logic       rsp_fault_o,
  output line_t      rsp_data_o,  // the line of a read
  // To and from the request agent.
  output logic       phys_valid_o,
  input  logic       phys_ready_i,
  output logic       phys_write_o,
  output index_t     phys_index_o,
  output logic [7:0] phys_tag_o,
  output mask_t      phys_mask_o,
  output line_t      phys_data_o,
  output coherence_atomic_pkg::atomic_t phys_atomic_o,
  output logic       phys_direct_o,
  output index_t     phys_key_o,
  input  logic       phys_rsp_valid_i,
  input  logic [7:0] phys_rsp_tag_i,
  input  logic       phys_rsp_fault_i,
  input  line_t      phys_rsp_data_i,
  // To the packer, from the unpacker.
  output logic        msg_valid_o,
  input  logic        msg_ready_i,
  output logic [3:0]  msg_words_o,
  output word_t [1:0] msg_o,
  input  logic        in_valid_i,  // MsgTranslated or MsgInvalidate
  input  word_t       in_word_i,
  output logic        fail_o
);
  localparam int unsigned PageLines = 6;   // logarithm
  localparam int unsigned PageWidth = IndexWidth - PageLines;
  localparam int unsigned NumWait   = NumMiss < 8 ? 16 : NumMiss > 32 ? 64 : 2 * NumMiss;
  localparam int unsigned MissWidth = NumMiss > 1 ? $clog2(NumMiss) : 1;
  localparam int unsigned BlockWidth = PagesLog2 > 0 ? PagesLog2 : 1;
  typedef logic [PageWidth-1:0] page_t;
  typedef struct packed {
    logic                 write;
    index_t               index;
    mask_t                mask;
    line_t                data;
  } request_t;
  typedef struct packed {
    logic       ok;      // has a frame
    logic       direct;  // has none, and goes on
    logic [7:0] tag;
    page_t      frame;
  } found_t;

  // ---------------------------------------------------------------- lookup
  logic take, answer, use_ends, atc_ready, hold;
  logic [1:0] use_epoch, end_epoch;
  logic [1:0] epoch_q [256];
  logic direct_q [256];
  status_e status;
  found_t found;
  logic ask_valid, ask_ready, ask_write, fault_valid, fault_ready, fault_write;
  logic inv_valid, inv_ready, complete_valid, complete_ready, idle;
  logic [MissWidth-1:0] ask_id;
  page_t ask_page, fault_page;
  logic [4:0] complete_tag;
  translated_t translated;
  invalidate_t invalidate;
  assign translated = in_word_i;
  assign invalidate = in_word_i;
  assign inv_valid  = in_valid_i && invalidate.kind == MsgInvalidate;
  assign req_ready_o = atc_ready && !hold;
  assign take       = req_valid_i && req_ready_o;
  assign found.ok     = status == StatusOk;
  assign found.direct = status == StatusDirect;
  assign use_ends   = phys_rsp_valid_i && !direct_q[phys_rsp_tag_i];
  assign end_epoch  = epoch_q[phys_rsp_tag_i];
  always_ff @(posedge clk_i) begin
    if (answer) begin
      epoch_q[found.tag]  <= use_epoch;
      direct_q[found.tag] <= found.direct;
    end
  end

  atc #(
    .VpnWidth (PageWidth),
    .PpnWidth (PageWidth),
    .TagWidth (8),
    .BaseSets (BaseSets),
    .NumMiss  (NumMiss),
    .NumWait  (NumWait),
    .PagesLog2(PagesLog2),
    .Ahead    (Ahead),
    .Direct   (Direct),
    .DirectWrites(DirectWrites),
    .MaxUses  (256),
    .NumInv   (NumInv)
  ) u_atc (
    .clk_i,
    .rst_ni,
    .req_valid_i     (req_valid_i && !hold),
    .req_ready_o     (atc_ready),
    .req_vpn_i       (req_index_i[IndexWidth-1:PageLines]),
    .req_write_i,
    .req_tag_i,
    .rsp_valid_o     (answer),
    .rsp_tag_o       (found.tag),
    .rsp_status_o    (status),
    .rsp_ppn_o       (found.frame),
    .rsp_epoch_o     (use_epoch),
    .done_valid_i    (use_ends),
    .done_epoch_i    (end_epoch),
    .ask_valid_o     (ask_valid),
    .ask_ready_i     (ask_ready),
    .ask_id_o        (ask_id),
    .ask_vpn_o       (ask_page),
    .ask_write_o     (ask_write),
    .cpl_valid_i     (in_valid_i && translated.kind == MsgTranslated),
    .cpl_id_i        (translated.id[MissWidth-1:0]),
    .cpl_last_i      (translated.last),
    .cpl_size_i      (page_size_e'(translated.size)),
    .cpl_page_i      (translated.page[BlockWidth-1:0]),
    .cpl_ppn_i       (translated.frame),
    .cpl_read_i      (translated.read),
    .cpl_write_i     (translated.write),
    .fault_valid_o   (fault_valid),
    .fault_ready_i   (fault_ready),
    .fault_vpn_o     (fault_page),
    .fault_write_o   (fault_write),
    .inv_valid_i     (inv_valid),
    .inv_ready_o     (inv_ready),
    .inv_vpn_i       (invalidate.page),
    .inv_log2_i      (invalidate.log2),
    .inv_tag_i       (invalidate.tag[4:0]),
    .complete_valid_o(complete_valid),
    .complete_ready_i(complete_ready),
    .complete_tag_o  (complete_tag),
    .idle_o          (idle)
  );
  if (InOrder) begin : gen_order
    ccix_line_order u_order (
      .clk_i, .rst_ni, .atc_ready_i(atc_ready), .take_i(take), .req_write_i, .req_index_i,
      .req_tag_i, .hold_o(hold), .answer_i(answer), .answer_ok_i(found.ok),
      .answer_tag_i(found.tag)
    );
  end else begin : gen_no_order
    assign hold = 1'b0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fail_o <= 1'b0;
    else if (inv_valid && !inv_ready) fail_o <= 1'b1;
  end

  // ---------------------------------------------------------------- requests whose page is known
  // A request waits in the memory, at its tag; the queue has as many places as there are tags.
  found_t first, next, out_q;
  request_t stored, now;
  logic waits, load, out_valid_q, out_goes, out_done, early, gone;
  assign next     = waits ? first : found;
  assign out_goes = out_q.ok || out_q.direct;
  assign out_done = out_goes ? phys_ready_i : !phys_rsp_valid_i;
  assign gone     = early && phys_ready_i;
  assign load     = (waits || (answer && !gone)) && (!out_valid_q || out_done);
  fifo #(.Width($bits(found_t)), .Depth(256)) u_known (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(answer && !gone && !(load && !waits)), .ready_o(),
    .data_i(found), .valid_o(waits), .ready_i(load), .data_o(first), .usage_o()
  );
  ram_1r1w #(.Width($bits(request_t)), .Depth(256), .ReadOld(1'b0)) u_requests (
    .clk_i,
    .we_i   (take),
    .waddr_i(req_tag_i),
    .wdata_i({req_write_i, req_index_i, req_mask_i, req_data_i}),
    .re_i   (load),
    .raddr_i(next.tag),
    .rdata_o(stored)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_q <= 1'b0;
    else if (load) out_valid_q <= 1'b1;
    else if (out_done) out_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) if (load) out_q <= next;

  // The answer is that of the request taken a cycle ago, and nothing is in front of it.
  found_t goes;
  if (Early) begin : gen_early
    logic taken_q;
    request_t last_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) taken_q <= 1'b0;
      else taken_q <= take;
    end
    always_ff @(posedge clk_i) begin
      if (take) last_q <= {req_write_i, req_index_i, req_mask_i, req_data_i};
    end
    assign early = taken_q && answer && found.ok && !waits && !out_valid_q;
    assign goes  = out_valid_q ? out_q : found;
    assign now   = out_valid_q ? stored : last_q;
  end else begin : gen_late
    assign early = 1'b0;
    assign goes  = out_q;
    assign now   = stored;
  end

  if (Atomics) begin : gen_atomics
    coherence_atomic_pkg::atomic_t atomic, last_atomic_q;
    ram_1r1w #(.Width($bits(atomic)), .Depth(256), .ReadOld(1'b0)) u_atomics (
      .clk_i, .we_i(take), .waddr_i(req_tag_i), .wdata_i(req_atomic_i), .re_i(load),
      .raddr_i(next.tag), .rdata_o(atomic)
    );
    always_ff @(posedge clk_i) if (take) last_atomic_q <= req_atomic_i;
    assign phys_atomic_o = Early && !out_valid_q ? last_atomic_q : atomic;
  end else begin : gen_no_atomics
    assign phys_atomic_o = '0;
    logic unused_atomic;
    assign unused_atomic = ^req_atomic_i;
  end

  assign phys_valid_o = early || (out_valid_q && out_goes);
  assign phys_write_o = now.write;
  assign phys_index_o = goes.direct ? now.index : {goes.frame, now.index[PageLines-1:0]};
  assign phys_key_o    = now.index;
  assign phys_direct_o = goes.direct;
  assign phys_tag_o   = goes.tag;
  assign phys_mask_o  = now.mask;
  assign phys_data_o  = now.data;

  assign rsp_fault_o = phys_rsp_valid_i ? phys_rsp_fault_i : out_valid_q && !out_goes;
  assign rsp_valid_o = phys_rsp_valid_i || rsp_fault_o;
  assign rsp_tag_o   = phys_rsp_valid_i ? phys_rsp_tag_i : out_q.tag;
  assign rsp_data_o  = phys_rsp_data_i;

  // ---------------------------------------------------------------- messages to the host
  logic free;
  message_e kind;
  header_t header;
  assign free           = !msg_valid_o || msg_ready_i;
  assign complete_ready = free;
  assign ask_ready      = free && !complete_valid;
  assign fault_ready    = free && !complete_valid && !ask_valid;
  assign kind   = complete_valid ? MsgInvalidated : ask_valid ? MsgTranslate : MsgFault;
  assign header = '{
      kind: kind, words: words_of(kind),
      txn: complete_valid ? txn_t'(complete_tag) : ask_valid ? txn_t'(ask_id) : '0,
      requests: '0, lines: '0, fault: 1'b0,
      zero: '0
  };
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) msg_valid_o <= 1'b0;
    else if (free) msg_valid_o <= complete_valid || ask_valid || fault_valid;
  end
  always_ff @(posedge clk_i) begin
    if (free) begin
      msg_words_o <= words_of(kind);
      msg_o[0]    <= header;
      msg_o[1]    <= ask_valid ? {16'd0, ask_page, 8'd0, 3'(PagesLog2), ask_write}
                               : {16'd0, fault_page, 11'd0, fault_write};
    end
  end

  logic unused;
  assign unused = ^{translated, invalidate, idle, goes.ok};
endmodule
