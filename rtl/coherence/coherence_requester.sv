// SPDX-License-Identifier: SHL-2.1
/// Agent without a cache: loads, stores and changes lines of the far node's memory, coherent with
/// all caches.
///
///   Handshake   request: valid/ready. Every request gets one response with its tag; responses have
///               no ready, in any order: the requester must have room
///   Ordering    a request for a line with an open one waits; lines apart are not ordered
///   Coherence   responses are sinks: rsp has no ready. They are those of coherence_responses
///   Latency     request to its chunk 1 cycle; a response to rsp_valid_o 0 cycles
///   Throughput  a request and a response a cycle; a line stored in 2 cycles
///   Open        32 - FirstId requests for each parity of the line index
///   Mask        a store with all bytes is RSTT, any other RSTP; a load has all bytes; an atomic
///               changes the word whose first byte is selected, and is answered with the old one in
///               word 0
///   Parameters  FirstId 0..31: ids below it are another agent's
///   Not done    loads of parts of a line
module coherence_requester
  import coherence_pkg::*;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::ChunkWords;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned FirstId = 0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     req_valid_i,
  output logic                     req_ready_o,
  input  line_kind_e               req_kind_i,   // uncached or an atomic
  input  logic                     req_write_i,
  input  index_t                   req_index_i,
  input  logic [7:0]               req_tag_i,
  input  mask_t                    req_mask_i,
  input  line_t                    req_data_i,
  output logic                     rsp_valid_o,
  output logic [7:0]               rsp_tag_o,
  output line_t                    rsp_data_o,
  output logic [NumVcs-1:0]        valid_o,
  input  logic [NumVcs-1:0]        ready_i,
  output logic [NumVcs-1:0][3:0]   count_o,
  output word_t [NumVcs-1:0][ChunkWords-1:0] words_o,
  input  logic                     rsp_some_i,   // a response to one of its ids
  input  logic                     rsp_side_i,
  input  id_t                      rsp_id_i,
  input  line_t                    rsp_line_i,
  output logic                     quiet_o,  // no request is open
  output logic                     stray_o   // strobe: a response to no request
);
  if (FirstId >= NumIds) begin : gen_ids_check
    $error("coherence_requester: FirstId is %0d, legal is 0..%0d", FirstId, NumIds - 1);
  end

  // Circuits of even lines end in 1: side 1 is even lines.
  logic side;
  assign side = ~req_index_i[0];

  logic [1:0][NumIds-1:0] busy_q;
  index_t line_q [2][NumIds];
  logic [7:0] tag_q [2][NumIds];

  // ---------------------------------------------------------------- requests
  logic [1:0] free, same;
  id_t [1:0] id;
  logic [1:0] read_ready, write_ready;
  logic go, payload;
  for (genvar s = 0; s < 2; s++) begin : gen_ids
    always_comb begin
      free[s] = busy_q[s][NumIds-1:FirstId] != '1;
      same[s] = 1'b0;
      id[s]   = '0;
      for (int i = int'(NumIds) - 1; i >= int'(FirstId); i--) begin
        if (!busy_q[s][i]) id[s] = id_t'(i);
        if (busy_q[s][i] && line_q[s][i] == req_index_i) same[s] = 1'b1;
      end
    end
  end
  assign go = free[side] && !same[side];
  assign req_ready_o = go && (payload ? write_ready[side] : read_ready[side]);

  header_t header;
  message_e message;
  logic whole;
  logic [3:0] word;
  logic [4:0] words;
  word_t [17:0] payload_words;
  assign whole = req_mask_i == '1;
  always_comb begin
    word = '0;
    for (int i = int'(LineWords) - 1; i >= 0; i--) if (req_mask_i[8*i]) word = 4'(i);
    words   = 5'd16;
    payload = req_write_i;
    payload_words = {128'd0, req_data_i};
    unique case (req_kind_i)
      LineIncrement: message = MsgRinc;
      LineDecrement: message = MsgRdec;
      LineSwap:      message = MsgRcas;
      default:       message = !req_write_i ? MsgRldi : whole ? MsgRstt : MsgRstp;
    endcase
    if (message inside {MsgRinc, MsgRdec}) payload = 1'b0;
    if (message == MsgRcas) {payload, words} = {1'b1, 5'd2};
    if (message == MsgRstp) begin
      words = 5'd18;
      payload_words = {req_data_i, req_mask_i};
    end
    header = header_of(message, id[side], req_index_i);
    if (message inside {MsgRinc, MsgRdec, MsgRcas}) header.offset = {word, 3'd0};
  end

  for (genvar s = 0; s < 2; s++) begin : gen_tx
    logic take_read, take_write;
    assign take_read  = req_valid_i && go && !payload && side == 1'(s);
    assign take_write = req_valid_i && go && payload && side == 1'(s);
    fifo #(.Width(64), .Depth(4)) u_read (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .valid_i(take_read), .ready_o(read_ready[s]), .data_i(header),
      .valid_o(valid_o[6+s]), .ready_i(ready_i[6+s]), .data_o(words_o[6+s][0]), .usage_o()
    );
    assign count_o[6+s] = 4'd1;
    assign words_o[6+s][ChunkWords-1:1] = '0;
    coherence_line_tx u_write (
      .clk_i, .rst_ni, .valid_i(take_write), .ready_o(write_ready[s]), .header_i(header),
      .words_i(words), .payload_i(payload_words),
      .valid_o(valid_o[2+s]), .ready_i(ready_i[2+s]), .count_o(count_o[2+s]),
      .words_o(words_o[2+s])
    );
  end

  // ---------------------------------------------------------------- responses
  logic rsp_known;
  assign rsp_known   = busy_q[rsp_side_i][rsp_id_i];
  assign rsp_valid_o = rsp_some_i && rsp_known;
  assign rsp_tag_o   = tag_q[rsp_side_i][rsp_id_i];
  assign rsp_data_o  = rsp_line_i;
  assign stray_o     = rsp_some_i && !rsp_known;
  assign quiet_o     = busy_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= '0;
    end else begin
      if (rsp_valid_o) busy_q[rsp_side_i][rsp_id_i] <= 1'b0;
      if (req_valid_i && req_ready_o) busy_q[side][id[side]] <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (req_valid_i && req_ready_o) begin
      line_q[side][id[side]] <= req_index_i;
      tag_q[side][id[side]]  <= req_tag_i;
    end
  end

  // ---------------------------------------------------------------- what is not used
  for (genvar v = 0; v < int'(NumVcs); v++) begin : gen_unused
    if (!(v inside {2, 3, 6, 7})) begin : gen_tx
      assign valid_o[v] = 1'b0;
      assign count_o[v] = '0;
      assign words_o[v] = '0;
    end
  end
  logic unused;
  assign unused = ^ready_i;
endmodule
