// SPDX-License-Identifier: SHL-2.1
/// A home with directory on the circuits of a link.
///
/// circuits -> coherence_directory -> mem, and back (docs/explanation/cores/coherence.md)
///
///   Handshake   core: a port of lines for the host's own loads, stores and evictions; each gets one
///               response with its tag, without ready. mem: as coherence_directory. Circuits: as
///               blocklink_core
///   Coherence   the responses' circuits are sinks: coherence_responses
///   Latency     those of coherence_directory; its answer to the circuit's first chunk 1 cycle
///   Parameters  as coherence_directory
///   Not done    LineUncached and atomics of the host itself: cached, and a load
module coherence_host
  import coherence_pkg::*;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::ChunkWords;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned Sets   = 64,
  parameter int unsigned Ways   = 4,
  parameter int unsigned NumTbe = 32
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
  input  word_t [NumVcs-1:0][7:0]  words_i,
  input  logic [NumVcs-1:0][3:0]   avail_i,
  output logic [NumVcs-1:0][3:0]   pop_o,
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
  // ---------------------------------------------------------------- from the remote
  logic [3:0] req_valid, req_ready;
  message_e [3:0] req_message;
  header_t [3:0] req_header;
  word_t [1:0][17:0] req_payload;
  for (genvar s = 0; s < 2; s++) begin : gen_rx
    coherence_line_rx #(.Pair(3'd1)) u_line (
      .clk_i, .rst_ni, .words_i(words_i[2+s]), .avail_i(avail_i[2+s]), .pop_o(pop_o[2+s]),
      .valid_o(req_valid[s]), .ready_i(req_ready[s]), .header_o(req_header[s]),
      .payload_o(req_payload[s])
    );
    assign req_message[s]   = message_of(3'd1, req_header[s].opcode);
    assign req_valid[2+s]   = avail_i[6+s] != '0;
    assign req_header[2+s]  = words_i[6+s][0];
    assign req_message[2+s] = message_of(3'd3, req_header[2+s].opcode);
    assign pop_o[6+s]       = {3'd0, req_ready[2+s]};
  end
  logic rsp_valid;
  header_t rsp;
  message_e rsp_message;
  line_t rsp_line;
  logic [3:0][3:0] rsp_pop;
  coherence_responses u_responses (
    .clk_i, .rst_ni, .words_i({words_i[11:10], words_i[5:4]}),
    .avail_i({avail_i[11:10], avail_i[5:4]}), .pop_o(rsp_pop),
    .rsp_valid_o(rsp_valid), .rsp_side_o(), .rsp_header_o(rsp), .rsp_message_o(rsp_message),
    .rsp_data_o(rsp_line)
  );
  assign {pop_o[11:10], pop_o[5:4]} = rsp_pop;

  // ---------------------------------------------------------------- the home
  core_e op;
  logic fwd_valid, rsd_valid, rsn_valid;
  header_t fwd, rsd, rsn;
  logic [4:0] rsd_words;
  line_t rsd_line;
  logic [1:0] rsd_ready;
  assign op = (req_kind_i == LineEvict) ? CoreEvict : req_write_i ? CoreStore : CoreLoad;
  coherence_directory #(.Sets(Sets), .Ways(Ways), .NumTbe(NumTbe)) u_directory (
    .clk_i, .rst_ni, .core_valid_i(req_valid_i), .core_ready_o(req_ready_o), .core_op_i(op),
    .core_index_i(req_index_i), .core_tag_i(req_tag_i), .core_mask_i(req_mask_i),
    .core_data_i(req_data_i), .core_rsp_valid_o(rsp_valid_o), .core_rsp_tag_o(rsp_tag_o),
    .core_rsp_data_o(rsp_data_o),
    .req_valid_i(req_valid), .req_ready_o(req_ready), .req_message_i(req_message),
    .req_header_i(req_header), .req_payload_i(req_payload),
    .rsp_valid_i(rsp_valid), .rsp_message_i(rsp_message), .rsp_index_i(rsp.index),
    .rsp_data_i(rsp_line),
    .fwd_valid_o(fwd_valid), .fwd_ready_i(ready_i[fwd.index[0] ? 8 : 9]), .fwd_header_o(fwd),
    .rsd_valid_o(rsd_valid), .rsd_ready_i(rsd_ready[~rsd.index[0]]), .rsd_header_o(rsd),
    .rsd_words_o(rsd_words), .rsd_data_o(rsd_line),
    .rsn_valid_o(rsn_valid), .rsn_ready_i(ready_i[rsn.index[0] ? 10 : 11]), .rsn_header_o(rsn),
    .mem_req_valid_o, .mem_req_ready_i, .mem_req_write_o, .mem_req_index_o, .mem_req_tag_o,
    .mem_req_mask_o, .mem_req_data_o, .mem_rsp_valid_i, .mem_rsp_ready_o, .mem_rsp_tag_i,
    .mem_rsp_data_i, .stray_o
  );

  // ---------------------------------------------------------------- to the remote
  for (genvar s = 0; s < 2; s++) begin : gen_tx
    coherence_line_tx u_line (
      .clk_i, .rst_ni, .valid_i(rsd_valid && rsd.index[0] != 1'(s)), .ready_o(rsd_ready[s]),
      .header_i(rsd), .words_i(rsd_words), .payload_i({128'd0, rsd_line}),
      .valid_o(valid_o[4+s]), .ready_i(ready_i[4+s]), .count_o(count_o[4+s]),
      .words_o(words_o[4+s])
    );
    assign valid_o[8+s]  = fwd_valid && fwd.index[0] != 1'(s);
    assign count_o[8+s]  = 4'd1;
    assign words_o[8+s]  = {512'd0, fwd};
    assign valid_o[10+s] = rsn_valid && rsn.index[0] != 1'(s);
    assign count_o[10+s] = 4'd1;
    assign words_o[10+s] = {512'd0, rsn};
  end
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
    if (!(v inside {4, 5, 8, 9, 10, 11})) begin : gen_tx
      assign valid_o[v] = 1'b0;
      assign count_o[v] = '0;
      assign words_o[v] = '0;
    end
    if (!(v inside {2, 3, 4, 5, 6, 7, 10, 11})) begin : gen_rx
      assign pop_o[v] = avail_i[v];
    end
  end
  logic unused;
  assign unused = ^{ready_i, words_i, rsp};
endmodule
