// SPDX-License-Identifier: SHL-2.1
/// ccix_direct with any requests, any answers, and a cache that answers what it took, once. Of any
/// watched key a direct read is taken only while no request is open, and a request goes to the
/// cache only while no direct read is open. A request has one response, with its tag: the cache's
/// passes unchanged in its cycle, a direct one has the fault and the line of its answer.
/// What the cache is offered stays until it is taken; behind an answer that waits it is offered
/// nothing new.
///
/// Tags are all alike to the module: 4 stand for all.
module ccix_direct_props
  import ccix_pkg::*;
(
  input logic       clk_i,
  input logic       req_valid_i,
  input logic       req_direct_i,
  input index_t     req_index_i,
  input logic [7:0] req_tag_i,
  input index_t     req_key_i,
  input logic       cached_ready_i,
  input logic       cached_rsp_valid_i,
  input logic [7:0] cached_rsp_tag_i,
  input line_t      cached_rsp_data_i,
  input logic       msg_ready_i,
  input logic       ans_valid_i,
  input header_t    ans_header_i,
  input line_t      ans_data_i
);
  localparam int unsigned NumDirect = 2;
  logic rst_ni, req_ready_o, rsp_valid_o, rsp_fault_o, cached_valid_o, msg_valid_o, mine_o;
  logic stray_o, fail_o;
  logic [7:0] rsp_tag_o, places_o;
  line_t rsp_data_o;
  word_t [1:0] msg_o;
  ccix_direct #(.NumDirect(NumDirect)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Any constants: a key, and a tag whose response is followed.
  index_t key_q;
  logic [1:0] tag_q;
  always_ff @(posedge clk_i) begin
    key_q <= key_q;
    tag_q <= tag_q;
  end
  function automatic logic [5:0] bucket_of(index_t index);
    return index[5:0] ^ index[11:6];
  endfunction
  logic [5:0] watched;
  assign watched = bucket_of(key_q);

  // ------------------------------------------------------------ what is open
  logic [3:0] cached_q, direct_q, of_key_q;
  logic take_cached, take_direct, mine, answered;
  logic [1:0] tag, over;
  assign take_cached = cached_valid_o && cached_ready_i;
  assign take_direct = req_valid_i && req_ready_o && req_direct_i;
  assign tag         = req_tag_i[1:0];
  assign over        = rsp_tag_o[1:0];
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      cached_q <= '0;
      direct_q <= '0;
    end else begin
      if (rsp_valid_o) begin
        cached_q[over] <= 1'b0;
        direct_q[over] <= 1'b0;
      end
      if (take_cached) cached_q[tag] <= 1'b1;
      if (take_direct) direct_q[tag] <= 1'b1;
    end
    if (take_cached || take_direct) of_key_q[tag] <= req_key_i == key_q;
  end
  // The followed direct read: its answer.
  logic known_q, fault_q;
  line_t line_q;
  assign answered = dut.answer_valid && dut.answer.tag == 8'(tag_q);
  always_ff @(posedge clk_i) begin
    if (!started_q || (rsp_valid_o && over == tag_q)) known_q <= 1'b0;
    else if (answered) known_q <= 1'b1;
    if (answered) begin
      fault_q <= ans_header_i.fault;
      line_q  <= ans_data_i;
    end
  end
  // What was not taken.
  logic held_q, held_direct_q, refused_q, late_q;
  index_t held_key_q;
  logic [7:0] held_tag_q;
  always_ff @(posedge clk_i) begin
    held_q        <= started_q && req_valid_i && !req_ready_o;
    refused_q     <= started_q && cached_valid_o && !cached_ready_i;
    late_q        <= started_q && dut.waits && cached_rsp_valid_i;
    held_direct_q <= req_direct_i;
    held_key_q    <= req_key_i;
    held_tag_q    <= req_tag_i;
  end

  // What is open of each hash.
  for (genvar b = 0; b < 64; b++) begin : gen_hash
    logic [2:0] cached_of, direct_of;
    always_comb begin
      cached_of = '0;
      direct_of = '0;
      for (int unsigned i = 0; i < 4; i++) begin
        cached_of += 3'(cached_q[i] && dut.bucket_q[i] == 6'(b));
        direct_of += 3'(direct_q[i] && dut.bucket_q[i] == 6'(b));
      end
      if (started_q) begin
        assert (dut.count_q[b] == 6'(cached_of) && 3'(dut.direct_q[b]) == direct_of);
        assert (cached_of == '0 || direct_of == '0);
      end
    end
  end
  logic [2:0] queued;
  logic [1:0] used;  // numbers of the agent
  assign used   = dut.u_request.u_txns.open_q;
  assign queued = 3'(dut.u_answers.usage_o);
  // The places of the queue, from its head.
  logic [1:0] there;
  logic [7:0] queue_tag [2];
  for (genvar p = 0; p < 2; p++) begin : gen_place
    logic at;
    assign at           = 1'(dut.u_answers.rptr_q) ^ 1'(p);
    assign there[p]     = queued > 3'(p);
    assign queue_tag[p] = dut.u_answers.mem_q[at][519:512];
  end
  // How often an open direct read is at the agent or in the queue.
  logic [2:0] places [4];
  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      places[i] = '0;
      for (int unsigned n = 0; n < 2; n++) begin
        places[i] += 3'(used[n] && dut.u_request.u_txns.tag_q[n] == 8'(i));
        places[i] += 3'(there[n] && queue_tag[n] == 8'(i));
      end
    end
  end

  always_comb begin
    if (started_q) begin
      // The user and the cache.
      assume (req_tag_i < 8'd4);
      if (req_valid_i) assume (!cached_q[tag] && !direct_q[tag]);
      if (held_q) begin
        assume (req_valid_i && req_direct_i == held_direct_q && req_key_i == held_key_q &&
                req_tag_i == held_tag_q);
      end
      if (cached_rsp_valid_i)
        assume (cached_rsp_tag_i < 8'd4 && cached_q[cached_rsp_tag_i[1:0]]);

      // What is proved.
      if (take_direct && req_key_i == key_q) assert ((of_key_q & (cached_q | direct_q)) == '0);
      if (take_cached && req_key_i == key_q) assert ((of_key_q & direct_q) == '0);
      assert (!(take_cached && take_direct));
      assert ((req_valid_i && req_ready_o) == (take_cached || take_direct));
      if (rsp_valid_o) assert (rsp_tag_o < 8'd4 && (cached_q[over] || direct_q[over]));
      if (cached_rsp_valid_i) begin
        assert (rsp_valid_o && rsp_tag_o == cached_rsp_tag_i && !rsp_fault_o);
        assert (rsp_data_o == cached_rsp_data_i);
      end else if (rsp_valid_o && over == tag_q) begin
        assert (known_q && rsp_fault_o == fault_q && rsp_data_o == line_q);
      end
      if (answered) assert (direct_q[tag_q] && !known_q);
      if (refused_q) assert (cached_valid_o);
      else if (late_q) assert (!cached_valid_o);

      // What makes it inductive.
      assert ((cached_q & direct_q) == '0);
      assert (dut.offered_q == refused_q && dut.late_q == late_q);
      if (refused_q) assert (held_q && !held_direct_q && !dut.direct_q[bucket_of(held_key_q)] &&
                             dut.count_q[bucket_of(held_key_q)] != '1);
      for (int unsigned i = 0; i < 4; i++) begin
        assert (places[i] == 3'(direct_q[i]));
        if (of_key_q[i] && (cached_q[i] || direct_q[i])) assert (dut.bucket_q[i] == watched);
      end
      for (int unsigned n = 0; n < 2; n++) begin
        if (used[n]) assert (dut.u_request.u_txns.tag_q[n] < 8'd4);
        if (there[n]) assert (queue_tag[n] < 8'd4);
      end
      assert (32'(dut.u_answers.usage_o) <= NumDirect);
      assert (3'(dut.open_q) == 3'(direct_q[0]) + 3'(direct_q[1]) + 3'(direct_q[2]) +
                                3'(direct_q[3]));
      assert (3'(dut.open_q) <= 3'd2);
      if (known_q) begin
        assert (direct_q[tag_q]);
        assert ((there[0] && queue_tag[0] == 8'(tag_q)) || (there[1] && queue_tag[1] == 8'(tag_q)));
      end
      for (int unsigned n = 0; n < 2; n++) begin
        if (there[n] && queue_tag[n] == 8'(tag_q)) begin
          assert (known_q);
          assert (dut.u_answers.mem_q[1'(dut.u_answers.rptr_q) ^ 1'(n)] ==
                  {fault_q, 8'(tag_q), line_q});
        end
      end
      if (dut.u_request.u_txns.free_q) assert (!used[dut.u_request.u_txns.next_q]);
      cover (take_direct && cached_q != '0 && queued != '0);
      cover (dut.late_q && req_valid_i && !req_direct_i && !refused_q);
      cover (rsp_valid_o && !cached_rsp_valid_i && rsp_fault_o && over == tag_q);
    end
  end
endmodule
