// SPDX-License-Identifier: SHL-2.1
/// Direct reads beside a cache: reads with virtual addresses, by a request agent of their own.
///
/// A user's read with req_direct_i goes to the home as a PCIe read with a virtual address. The line
/// goes to the user and is not cached. The home serves it as a load of the host: it takes the line
/// from where it is, also from this FPGA's cache. All other requests go to the cache.
///
///   Handshake   request: valid/ready, stable until taken; direct ones are reads. cached_*: the
///               same request to the cache. Answers and responses: no ready. mine_o: the answer in
///               this cycle is not one to the cache
///   Ordering    a direct read waits while a request with its key is open, and a request while a
///               direct read with its key is open: keys are compared by a hash of 6 bits, so one in
///               64 others waits too (proved: formal/ccix/ccix_direct.sby). Requests behind one
///               that waits wait too. An answer waits for a cycle without a response of the cache,
///               which is offered nothing new meanwhile: so it waits for what the cache has taken
///   Deadlock    nothing here waits for a snoop, and no snoop and no response for what is here
///   Latency     to the cache and back 0 cycles. Direct: request to msg_valid_o 1 cycle, an answer
///               to rsp_valid_o 1
///   Throughput  a request a cycle to the cache; NumDirect direct reads in a round trip
///   Buffer      an answer has a place, since NumDirect direct reads at most have no response
///   Credits     as ccix_request: a direct read takes a place for requests at the home
///   Errors      stray_o: an answer to no open read. fail_o as ccix_request
///   Parameters  NumDirect direct reads open, a power of two, 2..64
///   Not done    direct writes and atomics: they wait for their pages. More than 63 open requests
///               of the cache with one hash: the next one waits
module ccix_direct
  import ccix_pkg::*;
#(
  parameter int unsigned NumDirect = 32
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       req_valid_i,
  output logic       req_ready_o,
  input  logic       req_direct_i,
  input  index_t     req_index_i,  // of a direct read: a virtual line
  input  logic [7:0] req_tag_i,    // not that of an open request
  input  index_t     req_key_i,
  output logic       rsp_valid_o,
  output logic [7:0] rsp_tag_o,
  output logic       rsp_fault_o,  // the home does not allow the direct read
  output line_t      rsp_data_o,
  // To and from the cache.
  output logic       cached_valid_o,
  input  logic       cached_ready_i,
  input  logic       cached_rsp_valid_i,
  input  logic [7:0] cached_rsp_tag_i,
  input  line_t      cached_rsp_data_i,
  // To the packer, from the unpacker.
  output logic        msg_valid_o,
  input  logic        msg_ready_i,
  output word_t [1:0] msg_o,  // two words
  input  logic        ans_valid_i,
  input  header_t     ans_header_i,
  input  line_t       ans_data_i,
  output logic        mine_o,
  output logic [7:0]  places_o,  // for requests at the home, now
  output logic        stray_o,   // strobe
  output logic        fail_o
);
  if (NumDirect < 2 || NumDirect > 64 || (NumDirect & (NumDirect - 1)) != 0) begin : gen_check
    $error("ccix_direct: NumDirect is %0d, legal is a power of two, 2..64", NumDirect);
  end
  typedef logic [5:0] bucket_t;
  typedef struct packed {
    logic       fault;
    logic [7:0] tag;
    line_t      data;
  } answer_t;

  // ---------------------------------------------------------------- which request may go
  logic [63:0] direct_q;      // a direct read with this hash is open
  bucket_t count_q [64];      // requests of the cache that are open
  bucket_t bucket_q [256];    // by tag
  bucket_t bucket, ended;
  logic [$clog2(NumDirect):0] open_q;  // direct reads without a response
  logic may_direct, may_pass, agent_ready, take, take_cached, late_q, offered_q, waits;
  answer_t first;
  assign bucket         = req_key_i[5:0] ^ req_key_i[11:6];
  assign may_direct     = !direct_q[bucket] && count_q[bucket] == '0 && 32'(open_q) < NumDirect;
  assign may_pass       = !direct_q[bucket] && count_q[bucket] != '1 && (!late_q || offered_q);
  assign cached_valid_o = req_valid_i && !req_direct_i && may_pass;
  assign req_ready_o    = req_direct_i ? may_direct && agent_ready : may_pass && cached_ready_i;
  assign take           = req_valid_i && req_direct_i && may_direct && agent_ready;
  assign take_cached    = cached_valid_o && cached_ready_i;
  assign ended          = bucket_q[rsp_tag_o];
  always_ff @(posedge clk_i) if (take || take_cached) bucket_q[req_tag_i] <= bucket;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else open_q <= open_q + $bits(open_q)'(take) - $bits(open_q)'(waits && !cached_rsp_valid_i);
  end
  for (genvar b = 0; b < 64; b++) begin : gen_bucket
    logic adds, ends;
    assign adds = bucket == bucket_t'(b);
    assign ends = ended == bucket_t'(b);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        direct_q[b] <= 1'b0;
        count_q[b]  <= '0;
      end else begin
        if (take && adds) direct_q[b] <= 1'b1;
        else if (waits && !cached_rsp_valid_i && ends) direct_q[b] <= 1'b0;
        count_q[b] <= count_q[b] + bucket_t'(take_cached && adds) -
                      bucket_t'(cached_rsp_valid_i && ends);
      end
    end
  end

  // ---------------------------------------------------------------- the agent
  // Its numbers have their top bit set on the link: those of the cache's answers have not.
  logic agent_answer, answer_valid, answer_room;
  logic [3:0] words;
  word_t [MostWords-1:0] message;
  header_t header, sent;
  answer_t answer;
  assign mine_o       = ans_valid_i && ans_header_i.kind inside {MsgComp, MsgCompData} &&
                        ans_header_i.txn[7];
  assign agent_answer = mine_o || (ans_valid_i && ans_header_i.kind == MsgCredit);
  always_comb begin
    header        = ans_header_i;
    header.txn[7] = 1'b0;
    sent          = message[0];
    sent.txn[7]   = 1'b1;
  end
  assign msg_o = {message[1], sent};
  ccix_request #(.NumTxns(NumDirect)) u_request (
    .clk_i, .rst_ni, .req_valid_i(req_valid_i && req_direct_i && may_direct),
    .req_ready_o(agent_ready), .req_write_i(1'b0), .req_index_i, .req_tag_i, .req_mask_i('1),
    .req_data_i('0), .req_direct_i(1'b1), .req_key_i(index_t'(bucket)),
    .rsp_valid_o(answer_valid), .rsp_tag_o(answer.tag), .rsp_fault_o(answer.fault),
    .rsp_data_o(answer.data), .msg_valid_o, .msg_ready_i, .msg_words_o(words), .msg_o(message),
    .ans_valid_i(agent_answer), .ans_header_i(header), .ans_data_i, .places_o, .stray_o, .fail_o
  );

  // ---------------------------------------------------------------- responses
  fifo #(.Width($bits(answer_t)), .Depth(NumDirect)) u_answers (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(answer_valid), .ready_o(answer_room),
    .data_i(answer), .valid_o(waits), .ready_i(!cached_rsp_valid_i), .data_o(first), .usage_o()
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      late_q    <= 1'b0;
      offered_q <= 1'b0;
    end else begin
      late_q    <= waits && cached_rsp_valid_i;
      offered_q <= cached_valid_o && !cached_ready_i;
    end
  end
  assign rsp_valid_o = cached_rsp_valid_i || waits;
  assign rsp_tag_o   = cached_rsp_valid_i ? cached_rsp_tag_i : first.tag;
  assign rsp_fault_o = !cached_rsp_valid_i && first.fault;
  assign rsp_data_o  = cached_rsp_valid_i ? cached_rsp_data_i : first.data;

  prim_assert u_room (.clk_i, .rst_ni, .ok_i(!answer_valid || answer_room));
  // An open request of the cache and a direct read never have one hash.
  prim_assert u_apart (
    .clk_i, .rst_ni,
    .ok_i(!(cached_rsp_valid_i && direct_q[ended]) &&
          !(waits && !cached_rsp_valid_i && !direct_q[ended]))
  );
  logic unused;
  assign unused = ^{words, message, req_key_i};
endmodule
