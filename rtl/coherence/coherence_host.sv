// SPDX-License-Identifier: SHL-2.1
/// Homes with directory on the circuits of one link or two: one or two for odd lines, as many for
/// even lines.
///
/// circuits -> coherence_directory -> mem, and back (docs/explanation/cores/coherence.md)
///
///   Handshake   core: a port of lines for the host's own loads, stores, atomics and evictions;
///               each gets one response with its tag, without ready. mem: as coherence_directory,
///               the first bits of the tag say which home. Circuits: as blocklink_core
///   Coherence   the responses' circuits are sinks: coherence_responses
///   Latency     those of coherence_directory; its answer to the circuit's first chunk 1 cycle
///   Throughput  each home an input a cycle, and a line that is loaded and granted is four; memory
///               a request a cycle, requests of the homes in turn. Responses of the remote are one
///               a cycle, with Homes 2 one a cycle of each parity
///   Parameters  Sets, NumTbe: of all homes together, from 2 and 4 a home on, otherwise as
///               coherence_directory; Homes of a parity, 1..2; NumLinks 1..2: circuits of each are
///               taken; what is sent has one set of circuits. Look 1: the homes can be asked for
///               a line, as they say
///   Atomics     of the host itself: LineIncrement, LineDecrement and LineSwap, as of the remote,
///               in the host's copy; the response has the old value in the first word
///   Not done    LineUncached of the host itself: cached
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
  parameter int unsigned NumLinks = 1,
  parameter int unsigned Homes  = 1,
  parameter bit          Look   = 1'b0
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
  output logic                     stray_o,
  input  coherence_look_pkg::look_t   look_i,
  output coherence_look_pkg::looked_t looked_o
);
  // Home h has the lines of parity h % 2 (0: odd, whose circuits are the first of each pair), and
  // of two a parity those with h / 2 in bit 1 of their index.
  localparam int unsigned All   = 2 * Homes;
  localparam int unsigned Which = $clog2(All);
  localparam int unsigned Kept  = (NumTbe < 16) ? 16 : NumTbe;
  if (Homes < 1 || Homes > 2) begin : gen_homes_check
    $error("coherence_host: Homes is %0d, legal is 1, 2", Homes);
  end
  if (Sets < 2 * All || NumTbe < 4 * All) begin : gen_parts_check
    $error("coherence_host: Sets is %0d, NumTbe %0d; legal is from %0d and %0d", Sets, NumTbe,
           2 * All, 4 * All);
  end

  // ---------------------------------------------------------------- responses of the remote
  // One a cycle for all homes, or of two a parity one a cycle for each parity.
  logic [Homes-1:0] rsp_valid, rsp_side;
  header_t [Homes-1:0] rsp;
  message_e [Homes-1:0] rsp_message;
  line_t [Homes-1:0] rsp_line;
  word_t [NumLinks-1:0][3:0][7:0] rsp_words;
  logic [Homes-1:0][NumLinks-1:0][3:0][3:0] rsp_avail, rsp_pop;
  for (genvar g = 0; g < int'(Homes); g++) begin : gen_responses
    coherence_responses #(.NumLinks(NumLinks)) u_responses (
      .clk_i, .rst_ni, .words_i(rsp_words), .avail_i(rsp_avail[g]), .pop_o(rsp_pop[g]),
      .rsp_valid_o(rsp_valid[g]), .rsp_side_o(rsp_side[g]), .rsp_header_o(rsp[g]),
      .rsp_message_o(rsp_message[g]), .rsp_data_o(rsp_line[g])
    );
  end
  for (genvar l = 0; l < int'(NumLinks); l++) begin : gen_link
    assign rsp_words[l] = {words_i[l][11:10], words_i[l][5:4]};
    for (genvar s = 0; s < 2; s++) begin : gen_side
      for (genvar g = 0; g < int'(Homes); g++) begin : gen_avail
        localparam bit Mine = Homes == 1 || g == s;
        assign rsp_avail[g][l][s]   = Mine ? avail_i[l][4+s] : '0;
        assign rsp_avail[g][l][2+s] = Mine ? avail_i[l][10+s] : '0;
      end
      assign pop_o[l][4+s]  = rsp_pop[(Homes == 1) ? 0 : s][l][s];
      assign pop_o[l][10+s] = rsp_pop[(Homes == 1) ? 0 : s][l][2+s];
    end
    for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
      if (v inside {0, 1, 8, 9, 12}) begin : gen_rx
        assign pop_o[l][v] = avail_i[l][v];
      end
    end
  end

  // ---------------------------------------------------------------- the host's own operations
  // A home's response waits while that of a later one is shown. Operations of all but the last
  // enter only with places for the responses of all that may be open; one that entered stays
  // offered.
  core_e op;
  message_e atomic;
  logic [3:0] word;
  logic [All-1:0] core_valid, core_ready, core_rsp, kept_valid, show;
  logic [All-1:0][7:0] core_tag, kept_tag;
  line_t [All-1:0] core_line, kept_line;
  logic [Which-1:0] at;
  always_comb begin
    unique case (req_kind_i)
      LineIncrement: atomic = MsgRinc;
      LineDecrement: atomic = MsgRdec;
      LineSwap:      atomic = MsgRcas;
      default:       atomic = MsgNone;
    endcase
    op = (req_write_i || atomic != MsgNone) ? CoreStore : CoreLoad;
    if (req_kind_i == LineEvict) op = CoreEvict;
    word = '0;
    for (int unsigned w = 0; w < LineBytes / 8; w++) if (req_mask_i[8*w]) word = word | 4'(w);
  end
  if (Homes == 1) begin : gen_parity
    assign at = ~req_index_i[0];
  end else begin : gen_quarter
    assign at = {req_index_i[1], ~req_index_i[0]};
  end
  assign req_ready_o = core_ready[at];
  for (genvar h = 0; h < int'(All); h++) begin : gen_core
    logic mine;
    assign mine = req_valid_i && at == Which'(h);
    if (h == int'(All) - 1) begin : gen_last
      assign core_valid[h] = mine;
      assign kept_valid[h] = 1'b0;
      assign kept_tag[h]   = '0;
      assign kept_line[h]  = '0;
    end else begin : gen_kept
      logic entered_q, kept_ready;
      logic [$clog2(Kept):0] kept_usage;
      assign core_valid[h] = mine && (entered_q || 32'(kept_usage) + NumTbe / All + 4 <= Kept);
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) entered_q <= 1'b0;
        else entered_q <= core_valid[h] && !core_ready[h];
      end
      fifo #(.Width(8 + 8 * LineBytes), .Depth(Kept)) u_kept (
        .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(core_rsp[h] && (!show[h] || kept_valid[h])),
        .ready_o(kept_ready), .data_i({core_tag[h], core_line[h]}), .valid_o(kept_valid[h]),
        .ready_i(show[h]), .data_o({kept_tag[h], kept_line[h]}), .usage_o(kept_usage)
      );
`ifndef SYNTHESIS
      always_ff @(posedge clk_i) begin
        if (core_rsp[h] && (!show[h] || kept_valid[h]) && !kept_ready) begin
          $fatal(1, "coherence_host: no place for a response");
        end
      end
`endif
    end
  end
  assign rsp_valid_o = (core_rsp | kept_valid) != '0;
  always_comb begin
    show       = '0;
    rsp_tag_o  = core_tag[0];
    rsp_data_o = core_line[0];
    for (int h = int'(All) - 1; h >= 0; h--) begin
      if (show == '0 && (core_rsp[h] || kept_valid[h])) begin
        show[h]    = 1'b1;
        rsp_tag_o  = kept_valid[h] ? kept_tag[h] : core_tag[h];
        rsp_data_o = kept_valid[h] ? kept_line[h] : core_line[h];
      end
    end
  end

  // ---------------------------------------------------------------- memory
  logic [All-1:0] mem_valid, mem_gnt, mem_rsp_ready, stray;
  memory_t [All-1:0] mem;
  logic [Which-1:0] mem_at, mem_from;
  arb_rr #(.NumReq(All)) u_mem (
    .clk_i, .rst_ni, .req_i(mem_valid), .last_i(mem_req_ready_i), .gnt_o(mem_gnt), .idx_o(mem_at)
  );
  assign mem_req_valid_o = mem_gnt != '0;
  assign mem_req_write_o = mem[mem_at].write;
  assign mem_req_index_o = mem[mem_at].index;
  assign mem_req_tag_o   = {mem_at, mem[mem_at].tag[7-Which:0]};
  assign mem_req_mask_o  = mem[mem_at].mask;
  assign mem_req_data_o  = mem[mem_at].data;
  assign mem_from        = mem_rsp_tag_i[7-:Which];
  assign mem_rsp_ready_o = mem_rsp_ready[mem_from];
  assign stray_o         = stray != '0;

  // ---------------------------------------------------------------- the homes, by parity
  logic [Which-1:0] look_at;
  coherence_look_pkg::looked_t [All-1:0] looked;
  if (Homes == 1) begin : gen_look_parity
    assign look_at = ~look_i.index[0];
  end else begin : gen_look_quarter
    assign look_at = {look_i.index[1], ~look_i.index[0]};
  end
  assign looked_o = looked[look_at];
  for (genvar s = 0; s < 2; s++) begin : gen_side
    // Of each link stores of its lines, and loads.
    logic [3:0] req_valid;
    logic [Homes-1:0][3:0] req_ready;
    logic [3:0] req_taken;
    message_e [3:0] req_message, known;
    header_t [3:0] req_header;
    word_t [1:0][17:0] payload;
    always_comb begin
      req_taken = '0;
      for (int unsigned b = 0; b < Homes; b++) req_taken |= req_ready[b];
    end
    for (genvar l = 0; l < 2; l++) begin : gen_rx
      if (l < int'(NumLinks)) begin : gen_some
        coherence_line_rx #(.Pair(3'd1)) u_stores (
          .clk_i, .rst_ni, .words_i(words_i[l][2+s]), .avail_i(avail_i[l][2+s]),
          .pop_o(pop_o[l][2+s]), .valid_o(req_valid[l]), .ready_i(req_taken[l]),
          .header_o(req_header[l]), .payload_o(payload[l])
        );
        assign req_message[l]   = message_of(3'd1, req_header[l].opcode);
        assign req_valid[2+l]   = avail_i[l][6+s] != '0;
        assign req_header[2+l]  = words_i[l][6+s][0];
        assign req_message[2+l] = message_of(3'd3, req_header[2+l].opcode);
        assign pop_o[l][6+s]    = {3'd0, req_taken[2+l]};
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

    // What homes of one parity send takes turns.
    logic [Homes-1:0] fwd_valid, rsd_valid, rsn_valid, fwd_gnt, rsd_gnt, rsn_gnt;
    logic rsd_ready;
    header_t [Homes-1:0] fwd, rsd, rsn;
    logic [Homes-1:0][4:0] rsd_words;
    line_t [Homes-1:0] rsd_line;
    logic fwd_at, rsd_at, rsn_at;
    arb_rr #(.NumReq(Homes)) u_fwd (
      .clk_i, .rst_ni, .req_i(fwd_valid), .last_i(ready_i[8+s]), .gnt_o(fwd_gnt), .idx_o(fwd_at)
    );
    arb_rr #(.NumReq(Homes)) u_rsd (
      .clk_i, .rst_ni, .req_i(rsd_valid), .last_i(rsd_ready), .gnt_o(rsd_gnt), .idx_o(rsd_at)
    );
    arb_rr #(.NumReq(Homes)) u_rsn (
      .clk_i, .rst_ni, .req_i(rsn_valid), .last_i(ready_i[10+s]), .gnt_o(rsn_gnt), .idx_o(rsn_at)
    );
    for (genvar b = 0; b < int'(Homes); b++) begin : gen_home
      localparam int unsigned H = 2 * b + s;
      logic [3:0] req_mine;
      logic rsp_mine;
      for (genvar r = 0; r < 4; r++) begin : gen_mine
        assign req_mine[r] = req_valid[r] && (Homes == 1 || req_header[r].index[1] == 1'(b));
      end
      if (Homes == 1) begin : gen_parity
        assign rsp_mine = rsp_valid[0] && rsp_side[0] == 1'(s);
      end else begin : gen_quarter
        assign rsp_mine = rsp_valid[s] && rsp[s].index[1] == 1'(b);
      end
      localparam int unsigned Group = (Homes == 1) ? 0 : s;
      coherence_directory #(
        .Sets(Sets / All), .Ways(Ways), .NumTbe(NumTbe / All), .Skip(Which),
        .Look(Look)
      ) u_directory (
        .clk_i, .rst_ni, .core_valid_i(core_valid[H]), .core_ready_o(core_ready[H]),
        .core_i('{op: op, atomic: atomic, word: word}), .core_index_i(req_index_i),
        .core_tag_i(req_tag_i),
        .core_mask_i(req_mask_i), .core_data_i(req_data_i), .core_rsp_valid_o(core_rsp[H]),
        .core_rsp_o({core_tag[H], core_line[H]}),
        .req_valid_i(req_mine), .req_ready_o(req_ready[b]), .req_message_i(known),
        .req_header_i(req_header), .req_payload_i(payload),
        .rsp_valid_i(rsp_mine), .rsp_message_i(rsp_message[Group]),
        .rsp_index_i(rsp[Group].index), .rsp_data_i(rsp_line[Group]),
        .fwd_valid_o(fwd_valid[b]), .fwd_ready_i(fwd_gnt[b] && ready_i[8+s]),
        .fwd_header_o(fwd[b]),
        .rsd_valid_o(rsd_valid[b]), .rsd_ready_i(rsd_gnt[b] && rsd_ready), .rsd_header_o(rsd[b]),
        .rsd_words_o(rsd_words[b]), .rsd_data_o(rsd_line[b]),
        .rsn_valid_o(rsn_valid[b]), .rsn_ready_i(rsn_gnt[b] && ready_i[10+s]),
        .rsn_header_o(rsn[b]),
        .mem_req_valid_o(mem_valid[H]), .mem_req_ready_i(mem_gnt[H] && mem_req_ready_i),
        .mem_req_o(mem[H]),
        .mem_rsp_valid_i(mem_rsp_valid_i && mem_from == Which'(H)),
        .mem_rsp_ready_o(mem_rsp_ready[H]),
        .mem_rsp_i('{tag: {{Which{1'b0}}, mem_rsp_tag_i[7-Which:0]}, data: mem_rsp_data_i}),
        .stray_o(stray[H]),
        .look_i('{valid: look_i.valid && look_at == Which'(H), index: look_i.index}),
        .looked_o(looked[H])
      );
      logic unused;
      assign unused = ^mem[H].tag;
    end

    coherence_line_tx u_line (
      .clk_i, .rst_ni, .valid_i(rsd_gnt != '0), .ready_o(rsd_ready), .header_i(rsd[rsd_at]),
      .words_i(rsd_words[rsd_at]), .payload_i({128'd0, rsd_line[rsd_at]}),
      .valid_o(valid_o[4+s]), .ready_i(ready_i[4+s]), .count_o(count_o[4+s]),
      .words_o(words_o[4+s])
    );
    assign valid_o[8+s]  = fwd_gnt != '0;
    assign count_o[8+s]  = 4'd1;
    assign words_o[8+s]  = {512'd0, fwd[fwd_at]};
    assign valid_o[10+s] = rsn_gnt != '0;
    assign count_o[10+s] = 4'd1;
    assign words_o[10+s] = {512'd0, rsn[rsn_at]};
  end
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
    if (!(v inside {4, 5, 8, 9, 10, 11})) begin : gen_tx
      assign valid_o[v] = 1'b0;
      assign count_o[v] = '0;
      assign words_o[v] = '0;
    end
  end
  logic unused;
  assign unused = ^{ready_i, words_i, rsp, rsp_side};
endmodule
