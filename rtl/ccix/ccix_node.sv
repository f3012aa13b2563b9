// SPDX-License-Identifier: SHL-2.1
/// An FPGA's end of CCIX: a request agent between its logic and the CCIX interface of a PCIe hard
/// block.
///
/// req, rsp -> ccix_request or ccix_cache -> ccix_pack -> cxs_tx; cxs_rx -> ccix_unpack -> the
/// agent, and others by ans. With NumDirect ccix_direct is in front of the cache, and beside it
///
///   Handshake   req, rsp, hold_snoops_i: as the agent; of req_i index is bits 47:6 of the address,
///               write 0 loads a line, 1 stores the bytes of mask, byte n in bits 8n+7:8n.
///               side: valid/ready, messages of others than the agent. ans: a strobe, what came;
///               agent_i says in the same cycle that it is for the agent. fail_o: a level
///   Ordering    messages of the agent in theirs, and those of side in theirs; with both,
///               side_first_i says which goes first
///               With NumDirect also as ccix_direct, whose messages go before those of the cache:
///               at most NumDirect in a round trip
///   Latency     as the agent, ccix_pack and ccix_unpack; nothing is added
///   Throughput  a message, a beat each way a cycle
///   Parameters  NumTxns as ccix_txns; MaxWords, MaxMessages as ccix_pack; CacheLines 0:
///               ccix_request, or 4 ways of a power of two of sets of ccix_cache with its Places
///               and Atomics. NumDirect, only with CacheLines: 0, no direct reads, or as
///               ccix_direct
///   Not done    the hard block
module ccix_node
  import ccix_pkg::*;
#(
  parameter int unsigned NumTxns     = 128,
  parameter int unsigned MaxWords    = 32,
  parameter int unsigned MaxMessages = 31,
  parameter int unsigned CacheLines  = 0,
  parameter int unsigned Places      = 0,
  parameter int unsigned NumDirect   = 0,
  parameter bit          Atomics     = 1'b0
) (
  input logic clk_i,
  input logic rst_ni,

  output logic       cxs_tx_valid_o,  // cxs_tx_*: a beat of a packet to the block, with a credit
  output logic       cxs_tx_last_o,   // the packet's last beat
  output logic [3:0] cxs_tx_words_o,  // words in it, 1..8, from bit 0 of data on
  output beat_t      cxs_tx_data_o,
  input  logic       cxs_tx_credit_i,  // strobe: the block takes one beat more
  input  logic       cxs_rx_valid_i,   // cxs_rx_*: a beat from the block, as cxs_tx_*
  input  logic [3:0] cxs_rx_words_i,
  input  beat_t      cxs_rx_data_i,
  output logic       cxs_rx_credit_o,  // strobe: one beat more may come

  input  logic       req_valid_i,  // req_*: held until req_ready_o
  output logic       req_ready_o,
  input  access_t    req_i,         // its tag, not that of an open request, comes back in rsp_tag_o
  input  logic       req_evict_i,   // as ccix_cache; without a cache 0
  input  coherence_atomic_pkg::atomic_t req_atomic_i,  // with a write: as ccix_cache; else 0
  input  logic       req_direct_i,  // the address is virtual; with CacheLines only a read's, and
                                    // only with NumDirect
  input  index_t     req_key_i,     // requests with one key keep their order; with CacheLines only
                                    // a direct read and others
  output logic       rsp_valid_o,   // rsp_*: a strobe a request, in any order
  output logic [7:0] rsp_tag_o,
  output logic       rsp_fault_o,  // the host does not allow the direct access
  output line_t      rsp_data_o,   // of a load
  input  logic       hold_snoops_i,

  input  logic                  side_first_i,
  input  logic                  side_valid_i,  // side_*: held until side_ready_o
  output logic                  side_ready_o,
  input  logic [3:0]            side_words_i,  // of the message, 1..11
  input  word_t [MostWords-1:0] side_i,        // word 0, the header, first
  output logic                  ans_valid_o,   // strobe: a message came, here or for the agent
  output header_t               ans_header_o,  // its first word
  output line_t                 ans_data_o,    // the line behind it, of MsgCompData
  input  logic                  agent_i,

  output logic        fail_o,
  output logic        status_up_o,       // level: the host has given credits
  output logic [31:0] status_packets_o,  // sent; it wraps
  output logic [31:0] status_words_o,    // sent, of 64 bits; it wraps
  output logic [31:0] status_stray_o     // answers that match no request; it wraps
);
  logic msg_valid, msg_ready, pack_ready, side, stray, agent_fail, unpack_fail, for_agent;
  logic [3:0] msg_words;
  word_t [MostWords-1:0] msg;
  logic [7:0] places;
  assign for_agent = ans_valid_o && agent_i;

  if (CacheLines == 0) begin : gen_request
    ccix_request #(.NumTxns(NumTxns)) u_request (
      .clk_i, .rst_ni, .req_valid_i, .req_ready_o, .req_write_i(req_i.write),
      .req_index_i(req_i.index), .req_tag_i(req_i.tag), .req_mask_i(req_i.mask),
      .req_data_i(req_i.data), .req_direct_i, .req_key_i, .rsp_valid_o, .rsp_tag_o,
      .rsp_fault_o, .rsp_data_o, .msg_valid_o(msg_valid),
      .msg_ready_i(msg_ready), .msg_words_o(msg_words), .msg_o(msg), .ans_valid_i(for_agent),
      .ans_header_i(ans_header_o), .ans_data_i(ans_data_o), .places_o(places), .stray_o(stray),
      .fail_o(agent_fail)
    );
    logic unused;
    assign unused = ^{hold_snoops_i, req_evict_i, req_atomic_i};
  end else begin : gen_cache
    logic cached_valid, cached_ready, cached_rsp_valid, cache_valid, cache_ready, for_cache;
    logic cache_stray, cache_fail;
    logic [3:0] cache_words;
    logic [7:0] cached_rsp_tag;
    line_t cached_rsp_data;
    word_t [MostWords-1:0] cache_msg;
    ccix_cache #(
      .Sets(CacheLines / 4), .Ways(4), .Places(Places), .Atomics(Atomics)
    ) u_cache (
      .clk_i, .rst_ni, .req_valid_i(cached_valid), .req_ready_o(cached_ready),
      .req_write_i(req_i.write), .req_evict_i, .req_index_i(req_i.index), .req_tag_i(req_i.tag),
      .req_mask_i(req_i.mask), .req_data_i(req_i.data), .req_atomic_i,
      .rsp_valid_o(cached_rsp_valid), .rsp_tag_o(cached_rsp_tag), .rsp_data_o(cached_rsp_data),
      .hold_snoops_i, .msg_valid_o(cache_valid), .msg_ready_i(cache_ready),
      .msg_words_o(cache_words), .msg_o(cache_msg), .ans_valid_i(for_cache),
      .ans_header_i(ans_header_o), .ans_data_i(ans_data_o), .stray_o(cache_stray),
      .fail_o(cache_fail)
    );
    if (NumDirect == 0) begin : gen_cache_alone
      assign cached_valid = req_valid_i;
      assign req_ready_o  = cached_ready;
      assign {rsp_valid_o, rsp_tag_o, rsp_data_o} =
             {cached_rsp_valid, cached_rsp_tag, cached_rsp_data};
      assign rsp_fault_o  = 1'b0;
      assign {msg_valid, msg_words, msg} = {cache_valid, cache_words, cache_msg};
      assign cache_ready  = msg_ready;
      assign for_cache    = for_agent;
      assign stray        = cache_stray;
      assign agent_fail   = cache_fail;
      // Its requests need no places: the home has more than the cache has requests open.
      assign places       = {7'd0, for_agent && ans_header_o.kind == MsgCredit};
      logic unused;
      assign unused = ^{req_direct_i, req_key_i};
    end else begin : gen_direct
      logic direct_valid, direct_stray, direct_fail, mine;
      word_t [1:0] direct_msg;
      ccix_direct #(.NumDirect(NumDirect)) u_direct (
        .clk_i, .rst_ni, .req_valid_i, .req_ready_o, .req_direct_i, .req_index_i(req_i.index),
        .req_tag_i(req_i.tag), .req_key_i, .rsp_valid_o, .rsp_tag_o, .rsp_fault_o, .rsp_data_o,
        .cached_valid_o(cached_valid), .cached_ready_i(cached_ready),
        .cached_rsp_valid_i(cached_rsp_valid), .cached_rsp_tag_i(cached_rsp_tag),
        .cached_rsp_data_i(cached_rsp_data), .msg_valid_o(direct_valid), .msg_ready_i(msg_ready),
        .msg_o(direct_msg), .ans_valid_i(for_agent), .ans_header_i(ans_header_o),
        .ans_data_i(ans_data_o), .mine_o(mine), .places_o(places), .stray_o(direct_stray),
        .fail_o(direct_fail)
      );
      assign msg_valid   = direct_valid || cache_valid;
      assign msg_words   = direct_valid ? 4'd2 : cache_words;
      assign msg         = direct_valid ? (64 * MostWords)'(direct_msg) : cache_msg;
      assign cache_ready = msg_ready && !direct_valid;
      assign for_cache   = for_agent && !mine;
      assign stray       = cache_stray || direct_stray;
      assign agent_fail  = cache_fail || direct_fail;
    end
  end
  if (NumDirect != 0 && CacheLines == 0) begin : gen_direct_check
    $error("ccix_node: NumDirect needs CacheLines");
  end

  assign side         = side_valid_i && (side_first_i || !msg_valid);
  assign msg_ready    = pack_ready && !side;
  assign side_ready_o = pack_ready && (side_first_i || !msg_valid);
  ccix_pack #(.MaxWords(MaxWords), .MaxMessages(MaxMessages)) u_pack (
    .clk_i, .rst_ni, .valid_i(msg_valid || side_valid_i), .ready_o(pack_ready),
    .words_i(side ? side_words_i : msg_words), .message_i(side ? side_i : msg),
    .tx_valid_o(cxs_tx_valid_o), .tx_last_o(cxs_tx_last_o), .tx_words_o(cxs_tx_words_o),
    .tx_data_o(cxs_tx_data_o), .tx_credit_i(cxs_tx_credit_i)
  );
  ccix_unpack u_unpack (
    .clk_i, .rst_ni, .rx_valid_i(cxs_rx_valid_i), .rx_words_i(cxs_rx_words_i),
    .rx_data_i(cxs_rx_data_i), .rx_credit_o(cxs_rx_credit_o), .valid_o(ans_valid_o),
    .header_o(ans_header_o), .data_o(ans_data_o), .fail_o(unpack_fail)
  );
  assign fail_o = agent_fail || unpack_fail;

  logic up_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      up_q             <= 1'b0;
      status_packets_o <= '0;
      status_words_o   <= '0;
      status_stray_o   <= '0;
    end else begin
      up_q             <= up_q || places != '0;
      status_packets_o <= status_packets_o + 32'(cxs_tx_valid_o && cxs_tx_last_o);
      status_words_o   <= status_words_o + (cxs_tx_valid_o ? 32'(cxs_tx_words_o) : '0);
      status_stray_o   <= status_stray_o + 32'(stray);
    end
  end
  assign status_up_o = up_q;
endmodule
