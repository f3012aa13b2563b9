// SPDX-License-Identifier: SHL-2.1
/// Data path of a home with a directory: the places of the lines, the words of atomics, stage 3 of
/// the pipeline, and the queues of messages and of memory's requests.
///
///   Contract    decision_i of the input in_i, with its bytes, is done: bytes are written to the
///               entry's place, the line that was there goes to core_rsp or into a message. room_o:
///               what enters stage 0 now has a place in each queue, with all that is in stages 1 to
///               3; the caller lets nothing else enter, responses aside, which send nothing (proved
///               with the directory)
///   Handshake   fwd, rsd, rsn, mem_req: valid/ready. core_rsp has no ready
///   Latency     decision to fwd_valid_o and rsn_valid_o 1 cycle, to core_rsp_valid_o 1, to
///               rsd_valid_o and mem_req_valid_o 2; old_valid_o 1
///   Throughput  a decision a cycle
///   Parameters  as coherence_directory
///   Not done    choices: it does what decision_i says
module coherence_directory_data
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
#(
  parameter int unsigned Sets = 64,
  parameter int unsigned Ways = 4,
  parameter int unsigned Skip = 0
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  // stage 2: an input, what is decided of it, and what its transaction keeps
  input  logic         valid_i,
  input  input_t       in_i,
  input  mask_t        mask_i,
  input  line_t        data_i,
  input  decision_t    decision_i,
  input  logic         old_known_i,
  input  logic [63:0]  old_i,
  input  logic [127:0] operands_i,
  output logic         swaps_o,      // an atomic changes its word
  // an atomic's old value, for its transaction
  output logic         old_valid_o,
  output tbe_id_t      old_id_o,
  output logic [63:0]  old_o,
  output logic         core_rsp_valid_o,
  output logic [7:0]   core_rsp_tag_o,
  output line_t        core_rsp_data_o,
  output logic         fwd_valid_o,
  input  logic         fwd_ready_i,
  output header_t      fwd_header_o,
  output logic         rsd_valid_o,
  input  logic         rsd_ready_i,
  output header_t      rsd_header_o,
  output logic [4:0]   rsd_words_o,
  output line_t        rsd_data_o,
  output logic         rsn_valid_o,
  input  logic         rsn_ready_i,
  output header_t      rsn_header_o,
  output logic         mem_req_valid_o,
  input  logic         mem_req_ready_i,
  output memory_t      mem_req_o,
  output logic         room_o
);
  localparam int unsigned SetWidth = $clog2(Sets);
  localparam int unsigned WayWidth = $clog2(Ways);
  localparam int unsigned Queue = 8;

  // ---------------------------------------------------------------- 2: an atomic changes one word
  // The old value comes with memory's line, or is known in the second pass.
  logic [63:0] old, changed;
  mask_t word_mask;
  assign old       = (in_i.memory && !old_known_i) ? data_i[64*in_i.what.word+:64] : old_i;
  assign word_mask = mask_t'(8'hFF) << (8 * in_i.what.word);
  always_comb begin
    unique case (in_i.what.message)
      MsgRinc: changed = old + 64'd1;
      MsgRdec: changed = old - 64'd1;
      default: changed = (old == operands_i[63:0]) ? operands_i[127:64] : old;
    endcase
  end
  // A compare and swap that fails leaves all as it is.
  assign swaps_o = changed != old || in_i.what.message != MsgRcas;

  // ---------------------------------------------------------------- 2: lines
  function automatic mask_t bytes_of(bytes_e bytes, mask_t mask, mask_t word);
    unique case (bytes)
      BytesNone: return '0;
      BytesAll:  return '1;
      BytesMask: return mask;
      default:   return word;
    endcase
  endfunction
  logic [SetWidth+WayWidth-1:0] at;
  line_t read;
  assign at = {in_i.what.index[Skip+:SetWidth], decision_i.way[WayWidth-1:0]};
  ram_1r1w #(
    .Width(8 * LineBytes), .Depth(Sets * Ways), .LaneWidth(8), .ReadOld(1'b1)
  ) u_lines (
    .clk_i, .we_i(bytes_of(decision_i.place, mask_i, word_mask)), .waddr_i(at),
    .wdata_i(decision_i.place == BytesWord ? {16{changed}} : data_i), .re_i(valid_i), .raddr_i(at),
    .rdata_o(read)
  );

  // ---------------------------------------------------------------- 3: what was read
  logic s3_rsp_q, s3_rsd_q, s3_place_q, s3_mem_q, s3_mem_place_q, s3_mem_write_q, s3_old_q;
  logic s3_atomic_q, s3_changed_q, s3_from_memory_q;
  logic [7:0] s3_tag_q;
  logic [3:0] s3_word_at_q;
  header_t s3_header_q, rsd_header;
  tbe_id_t s3_tbe_q;
  index_t s3_mem_index_q;
  mask_t s3_mem_mask_q;
  line_t s3_data_q, rsd_line;
  logic [63:0] s3_word_q;
  always_comb begin
    rsd_header = header_of(decision_i.rsd, in_i.what.id, in_i.what.index);
    if (decision_i.rsd_dirty && decision_i.rsd == MsgPemd) rsd_header.dirty = '1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {s3_rsp_q, s3_rsd_q, s3_mem_q, s3_old_q} <= '0;
    end else begin
      s3_rsp_q <= decision_i.core_rsp;
      s3_rsd_q <= decision_i.rsd != MsgNone;
      s3_mem_q <= decision_i.mem_push;
      s3_old_q <= decision_i.old_write;
    end
  end
  always_ff @(posedge clk_i) begin
    s3_tag_q         <= in_i.what.tag;
    s3_word_at_q     <= in_i.what.word;
    s3_header_q      <= rsd_header;
    s3_place_q       <= decision_i.rsd_place;
    s3_atomic_q      <= decision_i.rsd == MsgPatm;
    s3_changed_q     <= in_i.what.op == CoreStore && in_i.what.message != MsgNone;
    s3_tbe_q         <= decision_i.tbe.at;
    s3_word_q        <= old;
    s3_from_memory_q <= in_i.memory;
    s3_mem_write_q   <= decision_i.mem_write;
    s3_mem_place_q   <= decision_i.mem_place;
    s3_mem_index_q   <= decision_i.tbe.what.index;
    s3_mem_mask_q    <= bytes_of(decision_i.mem_bytes, mask_i, word_mask);
    s3_data_q        <= (decision_i.mem_push && decision_i.mem_bytes == BytesWord) ? {16{changed}} :
                                                                                     data_i;
  end
  // Of an atomic's first pass: from memory's line, or from the place.
  assign old_valid_o = s3_old_q;
  assign old_id_o    = s3_tbe_q;
  assign old_o       = s3_from_memory_q ? s3_word_q : read[64*s3_word_at_q+:64];

  assign core_rsp_valid_o = s3_rsp_q;
  assign core_rsp_tag_o   = s3_tag_q;
  // Of the host's atomic the first word is the old value.
  always_comb begin
    core_rsp_data_o = read;
    if (s3_changed_q) core_rsp_data_o[63:0] = s3_word_q;
  end

  // ---------------------------------------------------------------- messages
  localparam int unsigned QueueWidth = $clog2(Queue) + 1;
  logic [QueueWidth-1:0] fwd_usage, rsd_usage, rsn_usage, mem_usage;
  logic [3:0] ready, push;
  header_t fwd_push, rsn_push;
  memory_t mem_push;
  assign room_o = 32'(fwd_usage) + 4 <= Queue && 32'(rsd_usage) + 4 <= Queue &&
                  32'(rsn_usage) + 4 <= Queue && 32'(mem_usage) + 4 <= Queue;
  assign push     = {s3_mem_q, decision_i.rsn != MsgNone, s3_rsd_q, decision_i.fwd != MsgNone};
  assign rsd_line = s3_atomic_q ? line_t'(s3_word_q) : s3_place_q ? read : s3_data_q;
  assign fwd_push = header_of(decision_i.fwd, '0, decision_i.fwd_index);
  assign rsn_push = header_of(decision_i.rsn, in_i.what.id, in_i.what.index);
  assign mem_push = '{write: s3_mem_write_q, index: s3_mem_index_q, tag: 8'(s3_tbe_q),
                      mask: s3_mem_mask_q, data: s3_mem_place_q ? read : s3_data_q};
  fifo #(.Width(64), .Depth(Queue)) u_fwd (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(push[0]), .ready_o(ready[0]), .data_i(fwd_push),
    .valid_o(fwd_valid_o), .ready_i(fwd_ready_i), .data_o(fwd_header_o), .usage_o(fwd_usage)
  );
  fifo #(.Width(64 + 5 + 8 * LineBytes), .Depth(Queue)) u_rsd (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(push[1]), .ready_o(ready[1]),
    .data_i({s3_header_q, s3_atomic_q ? 5'd1 : 5'd16, rsd_line}), .valid_o(rsd_valid_o),
    .ready_i(rsd_ready_i), .data_o({rsd_header_o, rsd_words_o, rsd_data_o}), .usage_o(rsd_usage)
  );
  fifo #(.Width(64), .Depth(Queue)) u_rsn (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(push[2]), .ready_o(ready[2]), .data_i(rsn_push),
    .valid_o(rsn_valid_o), .ready_i(rsn_ready_i), .data_o(rsn_header_o), .usage_o(rsn_usage)
  );
  fifo #(.Width($bits(memory_t)), .Depth(Queue)) u_mem (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(push[3]), .ready_o(ready[3]), .data_i(mem_push),
    .valid_o(mem_req_valid_o), .ready_i(mem_req_ready_i), .data_o(mem_req_o), .usage_o(mem_usage)
  );
  for (genvar i = 0; i < 4; i++) begin : gen_place
    // A message has a place.
    prim_assert u_place (
      .clk_i,
      .rst_ni,
      .ok_i(!push[i] || ready[i])
    );
  end
  logic unused;
  assign unused = ^{decision_i, in_i};
endmodule
