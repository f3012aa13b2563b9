// SPDX-License-Identifier: SHL-2.1
/// Request agent with a cache: coherence_cache behind the request port of ccix_request.
///
/// Lines of 64 bytes are kept in the states of rtl/coherence's table; its messages travel inside
/// those of ccix_pkg. Reads are loads, writes are stores of some bytes. An eviction has a response
/// too, without a line.
///
///   Handshake   as ccix_request. Answers have no ready: there is room for the snoops that the home
///               may have open
///   Ordering    operations are decided in their order, with Places those of a line in theirs;
///               those that miss answer later. A load may be answered with its line as it was
///               before a store that has no response yet
///   Latency     a hit 4 cycles from req_valid_i to rsp_valid_o; a miss 6 to msg_valid_o; an
///               answer to rsp_valid_o 3
///   Throughput  a hit a cycle; a message a cycle
///   Errors      stray_o: a message that no home sends. fail_o: an address above 2^39, or more than
///               NumSnoops snoops
///   Parameters  Sets, Ways, NumMshr, Atomics, Places as coherence_cache; NumSnoops a power of two,
///               2..64
///   Not done    writing lines back before they are evicted, uncached accesses beside it
module ccix_cache
  import ccix_pkg::*;
#(
  parameter int unsigned Sets      = 1024,
  parameter int unsigned Ways      = 4,
  parameter int unsigned NumMshr   = 32,
  parameter int unsigned NumSnoops = 16,
  parameter bit          Atomics   = 1'b0,
  parameter int unsigned Places    = 0
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       req_valid_i,
  output logic       req_ready_o,
  input  logic       req_write_i,
  input  logic       req_evict_i,  // instead: the line is given up, if it is here
  input  index_t     req_index_i,
  input  logic [7:0] req_tag_i,
  input  mask_t      req_mask_i,
  input  line_t      req_data_i,
  input  coherence_atomic_pkg::atomic_t req_atomic_i,  // with a write: as coherence_cache
  output logic       rsp_valid_o,
  output logic [7:0] rsp_tag_o,
  output line_t      rsp_data_o,
  input  logic       hold_snoops_i,  // level: the cache is given none
  // To the packer, from the unpacker.
  output logic                  msg_valid_o,
  input  logic                  msg_ready_i,
  output logic [3:0]            msg_words_o,
  output word_t [MostWords-1:0] msg_o,
  input  logic                  ans_valid_i,
  input  header_t               ans_header_i,
  input  line_t                 ans_data_i,
  output logic                  stray_o,  // strobe
  output logic                  fail_o    // level
);
  typedef coherence_pkg::index_t line_index_t;
  typedef struct packed {
    coherence_pkg::message_e message;
    line_index_t             index;
  } snoop_entry_t;

  // ---------------------------------------------------------------- from the home
  logic fwd_some, fwd_valid, fwd_ready, fwd_room, snoops, rsp_valid;
  snoop_t snoop;
  snoop_entry_t fwd;
  assign snoop     = ans_header_i;
  assign fwd_valid = fwd_some && !hold_snoops_i;
  assign snoops    = ans_valid_i && ans_header_i.kind == MsgSnoop;
  assign rsp_valid = ans_valid_i && ans_header_i.kind inside {MsgComp, MsgCompData};
  assign stray_o   = ans_valid_i &&
      !(ans_header_i.kind inside {MsgComp, MsgCompData, MsgSnoop, MsgCredit});
  fifo #(.Width($bits(snoop_entry_t)), .Depth(NumSnoops)) u_snoops (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(snoops), .ready_o(fwd_room),
    .data_i({coherence_pkg::message_e'(snoop.message), line_index_t'(snoop.index)}),
    .valid_o(fwd_some), .ready_i(fwd_ready && !hold_snoops_i), .data_o(fwd), .usage_o()
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fail_o <= 1'b0;
    else if ((snoops && !fwd_room) || (req_valid_i && req_index_i[IndexWidth-1:33] != '0))
      fail_o <= 1'b1;
  end

  // ---------------------------------------------------------------- cache
  logic req_valid, req_ready, rsd_valid, rsd_ready, rsn_valid, rsn_ready;
  coherence_pkg::header_t req_header, rsd_header, rsn_header;
  line_t rsd_data;
  coherence_cache #(
    .Sets(Sets), .Ways(Ways), .NumMshr(NumMshr), .Bytes(LineBytes), .Atomics(Atomics),
    .Places(Places)
  ) u_cache (
    .clk_i,
    .rst_ni,
    .core_valid_i    (req_valid_i),
    .core_ready_o    (req_ready_o),
    .core_op_i       (req_evict_i ? coherence_pkg::CoreEvict :
                      req_write_i ? coherence_pkg::CoreStore : coherence_pkg::CoreLoad),
    .core_index_i    (req_index_i[32:0]),
    .core_tag_i      (req_tag_i),
    .core_mask_i     (req_mask_i),
    .core_data_i     (req_data_i),
    .core_atomic_i   (req_atomic_i),
    .core_rsp_valid_o(rsp_valid_o),
    .core_rsp_tag_o  (rsp_tag_o),
    .core_rsp_data_o (rsp_data_o),
    .fwd_valid_i     (fwd_valid),
    .fwd_ready_o     (fwd_ready),
    .fwd_message_i   (fwd.message),
    .fwd_index_i     (fwd.index),
    .rsp_valid_i     (rsp_valid),
    .rsp_message_i   (coherence_pkg::message_e'(ans_header_i.zero[4:0])),
    .rsp_dirty_i     (ans_header_i.zero[5]),
    .rsp_side_i      (ans_header_i.txn[5]),
    .rsp_id_i        (ans_header_i.txn[4:0]),
    .rsp_data_i      (ans_data_i),
    .req_valid_o     (req_valid),
    .req_ready_i     (req_ready),
    .req_header_o    (req_header),
    .rsd_valid_o     (rsd_valid),
    .rsd_ready_i     (rsd_ready),
    .rsd_header_o    (rsd_header),
    .rsd_data_o      (rsd_data),
    .rsn_valid_o     (rsn_valid),
    .rsn_ready_i     (rsn_ready),
    .rsn_header_o    (rsn_header),
    .look_i          ('0),
    .looked_o        ()
  );

  // ---------------------------------------------------------------- to the home
  // Responses first: the home waits for them.
  logic free, response;
  logic [3:0] words;
  coherence_pkg::header_t inner;
  header_t header;
  assign free      = !msg_valid_o || msg_ready_i;
  assign rsn_ready = free;
  assign rsd_ready = free && !rsn_valid;
  assign req_ready = free && !rsn_valid && !rsd_valid;
  assign response  = rsn_valid || rsd_valid;
  assign inner     = rsn_valid ? rsn_header : rsd_valid ? rsd_header : req_header;
  assign words     = rsd_valid && !rsn_valid ? 4'd10 : 4'd2;
  assign header    = '{
      kind: response ? MsgCacheResponse : MsgCacheRequest, words: words,
      txn: txn_t'({~inner.index[0], inner.id}), requests: '0, lines: '0, fault: 1'b0,
      zero: '0
  };
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) msg_valid_o <= 1'b0;
    else if (free) msg_valid_o <= req_valid || response;
  end
  always_ff @(posedge clk_i) begin
    if (free) begin
      msg_words_o <= words;
      msg_o       <= {64'd0, rsd_data, inner, header};
    end
  end

  logic unused;
  assign unused = ^{ans_header_i, snoop};
endmodule
