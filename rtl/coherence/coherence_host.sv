// SPDX-License-Identifier: SHL-2.1
/// Two homes with directory on the circuits of one link or two: one of odd lines, one of even
/// lines.
///
/// circuits -> coherence_directory -> mem, and back (docs/explanation/cores/coherence.md)
///
///   Handshake   core: a port of lines for the host's own loads, stores and evictions; each gets
///               one response with its tag, without ready. mem: as coherence_directory, bit 7 of
///               the tag says which home. Circuits: as blocklink_core
///   Coherence   the responses' circuits are sinks: coherence_responses
///   Latency     those of coherence_directory; its answer to the circuit's first chunk 1 cycle
///   Throughput  each home an input a cycle; memory a request a cycle, requests of both in turn
///   Parameters  Sets, NumTbe: of both homes together, from 4 and 8 on, otherwise as
///               coherence_directory; NumLinks 1..2: circuits of each are taken; what is sent has
///               one set of circuits
///   Not done    LineUncached and atomics of the host itself: cached, and a load
module coherence_host
  import coherence_pkg::*;
  import coherence_directory_pkg::memory_t;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::ChunkWords;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned Sets   = 64,
  parameter int unsigned Ways   = 4,
  parameter int unsigned NumTbe = 64,
  parameter int unsigned NumLinks = 1
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     req_valid_i,
  output logic                     req_ready_o,
  input  line_kind_e               req_kind_i,
  input  logic                     req_write_i,
  input  index_t                   req_index_i,
  input  logic [7:0]               req_tag_i,
  input  mask_t                    req_mask_i,
  input  line_t                    req_data_i,
  output logic                     rsp_valid_o,
  output logic [7:0]               rsp_tag_o,
  output line_t                    rsp_data_o,
  input  word_t [NumLinks-1:0][NumVcs-1:0][7:0] words_i,
  input  logic [NumLinks-1:0][NumVcs-1:0][3:0]  avail_i,
  output logic [NumLinks-1:0][NumVcs-1:0][3:0]  pop_o,
  output logic [NumVcs-1:0]        valid_o,
  input  logic [NumVcs-1:0]        ready_i,
  output logic [NumVcs-1:0][3:0]   count_o,
  output word_t [NumVcs-1:0][ChunkWords-1:0] words_o,
  output logic                     mem_req_valid_o,
  input  logic                     mem_req_ready_i,
  output logic                     mem_req_write_o,
  output index_t                   mem_req_index_o,
  output logic [7:0]               mem_req_tag_o,
  output mask_t                    mem_req_mask_o,
  output line_t                    mem_req_data_o,
  input  logic                     mem_rsp_valid_i,
  output logic                     mem_rsp_ready_o,
  input  logic [7:0]               mem_rsp_tag_i,
  input  line_t                    mem_rsp_data_i,
  output logic                     stray_o
);
  if (Sets < 4 || NumTbe < 8) begin : gen_halves_check
    $error("coherence_host: Sets is %0d, NumTbe %0d; legal is from 4 and 8", Sets, NumTbe);
  end
  localparam int unsigned Kept = (NumTbe < 16) ? 16 : NumTbe;

  // ---------------------------------------------------------------- responses of the remote
  // Side 0: odd lines, whose circuits are the first of each pair.
  logic rsp_valid, rsp_side;
  header_t rsp;
  message_e rsp_message;
  line_t rsp_line;
  word_t [NumLinks-1:0][3:0][7:0] rsp_words;
  logic [NumLinks-1:0][3:0][3:0] rsp_avail, rsp_pop;
  coherence_responses #(.NumLinks(NumLinks)) u_responses (
    .clk_i, .rst_ni, .words_i(rsp_words), .avail_i(rsp_avail), .pop_o(rsp_pop),
    .rsp_valid_o(rsp_valid), .rsp_side_o(rsp_side), .rsp_header_o(rsp),
    .rsp_message_o(rsp_message), .rsp_data_o(rsp_line)
  );
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    assign rsp_words[l] = {words_i[l][11:10], words_i[l][5:4]};
    assign rsp_avail[l] = {avail_i[l][11:10], avail_i[l][5:4]};
    assign {pop_o[l][11:10], pop_o[l][5:4]} = rsp_pop[l];
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
      if (v inside {0, 1, 8, 9, 12}) begin : gen_rx
        assign pop_o[l][v] = avail_i[l][v];
      end
    end
  end

  // ---------------------------------------------------------------- the host's own operations
  // A home's response waits while the other's is shown. Odd operations enter only with places for
  // the responses of all that may be open; one that entered stays offered.
  core_e op;
  logic [1:0] core_valid, core_ready, core_rsp;
  logic [1:0][7:0] core_tag;
  line_t [1:0] core_line;
  logic entered_q, kept_valid, kept_ready;
  logic [$clog2(Kept):0] kept_usage;
  logic [7:0] kept_tag;
  line_t kept_line;
  assign op = (req_kind_i == LineEvict) ? CoreEvict : req_write_i ? CoreStore : CoreLoad;
  assign core_valid[0] = req_valid_i && req_index_i[0] &&
                         (entered_q || 32'(kept_usage) + NumTbe / 2 + 4 <= Kept);
  assign core_valid[1] = req_valid_i && !req_index_i[0];
  assign req_ready_o   = req_index_i[0] ? core_ready[0] : core_ready[1];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) entered_q <= 1'b0;
    else entered_q <= core_valid[0] && !core_ready[0];
  end
  fifo #(.Width(8 + 8 * LineBytes), .Depth(Kept)) u_kept (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(core_rsp[0] && (core_rsp[1] || kept_valid)),
    .ready_o(kept_ready), .data_i({core_tag[0], core_line[0]}), .valid_o(kept_valid),
    .ready_i(!core_rsp[1]), .data_o({kept_tag, kept_line}), .usage_o(kept_usage)
  );
  assign rsp_valid_o = core_rsp != '0 || kept_valid;
  assign rsp_tag_o   = core_rsp[1] ? core_tag[1] : kept_valid ? kept_tag : core_tag[0];
  assign rsp_data_o  = core_rsp[1] ? core_line[1] : kept_valid ? kept_line : core_line[0];
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (core_rsp[0] && (core_rsp[1] || kept_valid) && !kept_ready) begin
      $fatal(1, "coherence_host: no place for a response");
    end
  end
`endif

  // ---------------------------------------------------------------- memory
  logic [1:0] mem_valid, mem_gnt, mem_rsp_ready, stray;
  memory_t [1:0] mem;
  logic mem_side;
  arb_rr #(.NumReq(2)) u_mem (
    .clk_i, .rst_ni, .req_i(mem_valid), .last_i(mem_req_ready_i), .gnt_o(mem_gnt), .idx_o()
  );
  assign mem_side        = mem_gnt[1];
  assign mem_req_valid_o = mem_gnt != '0;
  assign mem_req_write_o = mem[mem_side].write;
  assign mem_req_index_o = mem[mem_side].index;
  assign mem_req_tag_o   = {mem_side, mem[mem_side].tag[6:0]};
  assign mem_req_mask_o  = mem[mem_side].mask;
  assign mem_req_data_o  = mem[mem_side].data;
  assign mem_rsp_ready_o = mem_rsp_ready[mem_rsp_tag_i[7]];
  assign stray_o         = stray != '0;

  // ---------------------------------------------------------------- the homes
  for (genvar s = 0; s < 2; s++) begin : gen_home
    // Of each link stores of its lines, and loads.
    logic [3:0] req_valid, req_ready;
    message_e [3:0] req_message, known;
    header_t [3:0] req_header;
    word_t [1:0][17:0] payload;
    for (genvar l = 0; l < 2; l++) begin : gen_rx
      if (l < int'(NumLinks)) begin : gen_some
        coherence_line_rx #(.Pair(3'd1)) u_stores (
          .clk_i, .rst_ni, .words_i(words_i[l][2+s]), .avail_i(avail_i[l][2+s]),
          .pop_o(pop_o[l][2+s]), .valid_o(req_valid[l]), .ready_i(req_ready[l]),
          .header_o(req_header[l]), .payload_o(payload[l])
        );
        assign req_message[l]   = message_of(3'd1, req_header[l].opcode);
        assign req_valid[2+l]   = avail_i[l][6+s] != '0;
        assign req_header[2+l]  = words_i[l][6+s][0];
        assign req_message[2+l] = message_of(3'd3, req_header[2+l].opcode);
        assign pop_o[l][6+s]    = {3'd0, req_ready[2+l]};
      end else begin : gen_none
        assign {req_valid[2+l], req_valid[l]}     = '0;
        assign {req_header[2+l], req_header[l]}   = '0;
        assign {req_message[2+l], req_message[l]} = {MsgNone, MsgNone};
        assign payload[l] = '0;
      end
    end
    for (genvar r = 0; r < 4; r++) begin : gen_known
      // A line on the other lines' circuit is none of this home.
      assign known[r] = (req_header[r].index[0] != 1'(s)) ? req_message[r] : MsgNone;
    end

    logic fwd_valid, rsd_valid, rsd_ready, rsn_valid;
    header_t fwd, rsd, rsn;
    logic [4:0] rsd_words;
    line_t rsd_line;
    coherence_directory #(
      .Sets(Sets / 2), .Ways(Ways), .NumTbe(NumTbe / 2), .Skip(1)
    ) u_directory (
      .clk_i, .rst_ni, .core_valid_i(core_valid[s]), .core_ready_o(core_ready[s]), .core_op_i(op),
      .core_index_i(req_index_i), .core_tag_i(req_tag_i), .core_mask_i(req_mask_i),
      .core_data_i(req_data_i), .core_rsp_valid_o(core_rsp[s]), .core_rsp_tag_o(core_tag[s]),
      .core_rsp_data_o(core_line[s]),
      .req_valid_i(req_valid), .req_ready_o(req_ready), .req_message_i(known),
      .req_header_i(req_header), .req_payload_i(payload),
      .rsp_valid_i(rsp_valid && rsp_side == 1'(s)), .rsp_message_i(rsp_message),
      .rsp_index_i(rsp.index), .rsp_data_i(rsp_line),
      .fwd_valid_o(fwd_valid), .fwd_ready_i(ready_i[8+s]), .fwd_header_o(fwd),
      .rsd_valid_o(rsd_valid), .rsd_ready_i(rsd_ready), .rsd_header_o(rsd),
      .rsd_words_o(rsd_words), .rsd_data_o(rsd_line),
      .rsn_valid_o(rsn_valid), .rsn_ready_i(ready_i[10+s]), .rsn_header_o(rsn),
      .mem_req_valid_o(mem_valid[s]), .mem_req_ready_i(mem_gnt[s] && mem_req_ready_i),
      .mem_req_o(mem[s]),
      .mem_rsp_valid_i(mem_rsp_valid_i && mem_rsp_tag_i[7] == 1'(s)),
      .mem_rsp_ready_o(mem_rsp_ready[s]), .mem_rsp_tag_i({1'b0, mem_rsp_tag_i[6:0]}),
      .mem_rsp_data_i, .stray_o(stray[s])
    );

    coherence_line_tx u_line (
      .clk_i, .rst_ni, .valid_i(rsd_valid), .ready_o(rsd_ready), .header_i(rsd),
      .words_i(rsd_words), .payload_i({128'd0, rsd_line}),
      .valid_o(valid_o[4+s]), .ready_i(ready_i[4+s]), .count_o(count_o[4+s]),
      .words_o(words_o[4+s])
    );
    assign valid_o[8+s]  = fwd_valid;
    assign count_o[8+s]  = 4'd1;
    assign words_o[8+s]  = {512'd0, fwd};
    assign valid_o[10+s] = rsn_valid;
    assign count_o[10+s] = 4'd1;
    assign words_o[10+s] = {512'd0, rsn};
    logic unused;
    assign unused = ^{req_ready, mem[s].tag[7]};
  end
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
    if (!(v inside {4, 5, 8, 9, 10, 11})) begin : gen_tx
      assign valid_o[v] = 1'b0;
      assign count_o[v] = '0;
      assign words_o[v] = '0;
    end
  end
  logic unused;
  assign unused = ^{ready_i, words_i, rsp};
endmodule
