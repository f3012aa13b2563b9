// SPDX-License-Identifier: SHL-2.1
/// Home of a memory's lines: serves the requests of a remote agent without a cache.
///
/// A transaction (TBE) is open from the look-up of a request until its answer is handed to its
/// circuit: nothing else of its line is looked up meanwhile. The table (protocol.toml) is asked
/// with a directory of I: no line is cached remotely, and the home's own caches are behind its
/// memory port.
///
///   Handshake   mem_req, mem_rsp: valid/ready; a request's tag comes back with its response, in
///               any order. A response of a write says that it is visible
///   Ordering    per line: one transaction. Else none
///   Fairness    the four request circuits of each link take turns
///   Latency     a request's word to mem_req_valid_o 0 cycles; mem_rsp to the answer's first chunk
///               1
///   Throughput  a request a cycle, an answered line in 2 cycles
///   Parameters  NumTbe a power of two, 2..64; NumLinks 1..2: from all of them a line has one
///               transaction
///   Not done    RLDS, RLDX, RUPG, atomics, forwards: such a request is dropped and strobes stray_o
module coherence_home
  import coherence_pkg::*;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::ChunkWords;
  import blocklink_pkg::word_t;
#(
  parameter  int unsigned NumTbe   = 64,
  parameter  int unsigned NumLinks = 1,
  localparam int unsigned TbeWidth = $clog2(NumTbe)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  word_t [NumLinks-1:0][NumVcs-1:0][7:0] words_i,  // received; [0]: a circuit's oldest
  input  logic [NumLinks-1:0][NumVcs-1:0][3:0]  avail_i,  // words that are at words_i, 0..8
  output logic [NumLinks-1:0][NumVcs-1:0][3:0]  pop_o,  // words that are taken of them
  output logic [NumVcs-1:0]        valid_o,  // to send: a bit a circuit, held until ready_i
  input  logic [NumVcs-1:0]        ready_i,  // the circuit's chunk is taken
  output logic [NumVcs-1:0][3:0]   count_o,  // words of the chunk, 1..9
  output word_t [NumVcs-1:0][ChunkWords-1:0] words_o,  // words_o[vc][0] is sent first
  output logic                     mem_req_valid_o,
  input  logic                     mem_req_ready_i,  // mem_req_*: held until then
  output logic                     mem_req_write_o,  // 1: the mask's bytes are written
  output index_t                   mem_req_index_o,  // line of 128 bytes
  output logic [7:0]               mem_req_tag_o,    // not that of an open request
  output mask_t                    mem_req_mask_o,   // of a write: bit n, byte n
  output line_t                    mem_req_data_o,
  input  logic                     mem_rsp_valid_i,  // mem_rsp_*: held until mem_rsp_ready_o
  output logic                     mem_rsp_ready_o,
  input  logic [7:0]               mem_rsp_tag_i,
  input  line_t                    mem_rsp_data_i,
  output logic                     stray_o  // strobe: a request was dropped
);
  if (NumTbe < 2 || NumTbe > 64 || (NumTbe & (NumTbe - 1)) != 0) begin : gen_tbe_check
    $error("coherence_home: NumTbe is %0d, legal is a power of two, 2..64", NumTbe);
  end

  typedef struct packed {
    message_e answer;
    id_t      id;
    index_t   index;
  } tbe_t;
  logic [NumTbe-1:0] open_q;
  tbe_t tbe_q [NumTbe];
  logic [TbeWidth-1:0] done;  // the transaction that memory answers
  logic rsp_taken;

  // ---------------------------------------------------------------- requests
  // Sources of each link: stores of odd and even lines, loads of both.
  localparam int unsigned NumSources = 4 * NumLinks;
  if (NumLinks < 1 || NumLinks > 2) begin : gen_links_check
    $error("coherence_home: NumLinks is %0d, legal is 1..2", NumLinks);
  end
  logic [NumSources-1:0] req_valid, req_known, req_hold, req_able, req_gnt, req_taken;
  header_t [NumSources-1:0] req_header;
  home_step_t [NumSources-1:0] req_step;
  word_t [NumLinks-1:0][1:0][17:0] payload;
  header_t req;
  home_step_t step;
  logic free_q, any;
  logic [TbeWidth-1:0] next_q;
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    for (genvar s = 0; s < 2; s++) begin : gen_rx
      coherence_line_rx #(.Pair(3'd1)) u_line (
        .clk_i, .rst_ni, .words_i(words_i[l][2+s]), .avail_i(avail_i[l][2+s]),
        .pop_o(pop_o[l][2+s]), .valid_o(req_valid[4*l+s]), .ready_i(req_taken[4*l+s]),
        .header_o(req_header[4*l+s]), .payload_o(payload[l][s])
      );
      assign req_valid[4*l+2+s]  = avail_i[l][6+s] != '0;
      assign req_header[4*l+2+s] = words_i[l][6+s][0];
      assign pop_o[l][6+s]       = {3'd0, req_taken[4*l+2+s]};
    end
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
      if (!(v inside {2, 3, 6, 7})) begin : gen_rx
        assign pop_o[l][v] = avail_i[l][v];
      end
    end
  end

  for (genvar r = 0; r < int'(NumSources); r++) begin : gen_req
    localparam logic [2:0] Pair = (r % 4 < 2) ? 3'd1 : 3'd3;
    message_e message;
    assign message = message_of(Pair, req_header[r].opcode);
    assign req_step[r]  = home_step(DirI, HomeI, message);
    assign req_known[r] = message inside {MsgRldi, MsgRstt, MsgRstp};
    always_comb begin
      req_hold[r] = 1'b0;
      for (int unsigned i = 0; i < NumTbe; i++) begin
        if (open_q[i] && tbe_q[i].index == req_header[r].index) req_hold[r] = 1'b1;
      end
    end
    assign req_able[r]  = req_valid[r] && req_known[r] && !req_hold[r] && free_q;
    assign req_taken[r] = (req_gnt[r] && mem_req_ready_i) || (req_valid[r] && !req_known[r]);
  end
  assign stray_o = (req_valid & ~req_known) != '0;
  assign any     = req_gnt != '0;

  // The next transaction is chosen a cycle ahead, so that its tag is stable.
  logic [NumTbe-1:0] open_d;
  always_comb begin
    open_d = open_q;
    if (rsp_taken) open_d[done] = 1'b0;
    if (any && mem_req_ready_i) open_d[next_q] = 1'b1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= '0;
      free_q <= 1'b0;
      next_q <= '0;
    end else begin
      open_q <= open_d;
`ifndef SYNTHESIS
      if (any && step.never) $fatal(1, "coherence_home: a case that cannot occur");
      if (mem_rsp_valid_i && !open_q[done]) $fatal(1, "coherence_home: answer to nothing");
`endif
      if (!free_q || (any && mem_req_ready_i)) begin
        free_q <= open_d != '1;
        for (int i = int'(NumTbe) - 1; i >= 0; i--) if (!open_d[i]) next_q <= TbeWidth'(i);
      end
    end
  end
  arb_rr #(.NumReq(NumSources)) u_arb (
    .clk_i, .rst_ni, .req_i(req_able), .last_i(mem_req_ready_i), .gnt_o(req_gnt), .idx_o()
  );

  logic masked;
  always_comb begin
    req  = '0;
    step = '0;
    for (int unsigned i = 0; i < NumSources; i++) begin
      if (req_gnt[i]) begin
        req  = req | req_header[i];
        step = step | req_step[i];
      end
    end
  end
  assign masked          = req.opcode == OpRstp;
  assign mem_req_valid_o = any;
  assign mem_req_write_o = step.write;
  assign mem_req_index_o = req.index;
  assign mem_req_tag_o   = 8'(next_q);
  always_comb begin
    {mem_req_mask_o, mem_req_data_o} = '0;
    for (int unsigned l = 0; l < NumLinks; l++) begin
      for (int unsigned s = 0; s < 2; s++) begin
        if (req_gnt[4*l+s]) begin
          mem_req_mask_o = masked ? payload[l][s][1:0] : '1;
          mem_req_data_o = masked ? payload[l][s][17:2] : payload[l][s][15:0];
        end
      end
    end
  end

  // ---------------------------------------------------------------- answers
  tbe_t rsp;
  header_t answer;
  logic rsp_side, rsp_data;
  logic [1:0] data_ready, ack_ready;
  assign done     = mem_rsp_tag_i[TbeWidth-1:0];
  assign rsp      = tbe_q[done];
  assign rsp_side = ~rsp.index[0];
  assign rsp_data = rsp.answer == MsgPdat;
  assign answer   = '{opcode: rsp_data ? OpPdat : OpPack, zero_55: '0, id: rsp.id, dmask: '1,
                      ns: 1'b0, dirty: '0, zero_40: 1'b0, index: rsp.index, offset: '0};
  assign mem_rsp_ready_o = rsp_data ? data_ready[rsp_side] : ack_ready[rsp_side];
  assign rsp_taken = mem_rsp_valid_i && mem_rsp_ready_o;

  for (genvar s = 0; s < 2; s++) begin : gen_tx
    coherence_line_tx u_line (
      .clk_i, .rst_ni, .valid_i(mem_rsp_valid_i && rsp_data && rsp_side == 1'(s)),
      .ready_o(data_ready[s]), .header_i(answer), .words_i(5'd16),
      .payload_i({128'd0, mem_rsp_data_i}),
      .valid_o(valid_o[4+s]), .ready_i(ready_i[4+s]), .count_o(count_o[4+s]),
      .words_o(words_o[4+s])
    );
    fifo #(.Width(64), .Depth(4)) u_ack (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .valid_i(mem_rsp_valid_i && !rsp_data && rsp_side == 1'(s)),
      .ready_o(ack_ready[s]), .data_i(answer),
      .valid_o(valid_o[10+s]), .ready_i(ready_i[10+s]), .data_o(words_o[10+s][0]), .usage_o()
    );
    assign count_o[10+s] = 4'd1;
    assign words_o[10+s][ChunkWords-1:1] = '0;
  end

  always_ff @(posedge clk_i) begin
    if (any && mem_req_ready_i) begin
      tbe_q[next_q] <= '{answer: step.answer, id: req.id, index: req.index};
    end
  end

  // ---------------------------------------------------------------- what is not used
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
    if (!(v inside {4, 5, 10, 11})) begin : gen_tx
      assign valid_o[v] = 1'b0;
      assign count_o[v] = '0;
      assign words_o[v] = '0;
    end
  end
  logic unused;
  assign unused = ^{ready_i, words_i, req, step, req_step, mem_rsp_tag_i};
endmodule
