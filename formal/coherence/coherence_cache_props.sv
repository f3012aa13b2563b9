// SPDX-License-Identifier: SHL-2.1
/// coherence_cache: whatever the home sends and takes, no message is without a place, no MSHR is
/// used twice, and an operation, forward or response that enters the pipeline is decided two cycles
/// later. Of its inputs only what the protocol's model shows is assumed: a response answers an open
/// MSHR once.
module coherence_cache_props
  import coherence_pkg::*;
#(
  parameter int unsigned Places = 0
) (
  input logic       clk_i,
  input logic       core_valid_i,
  input core_e      core_op_i,
  input index_t     core_index_i,
  input logic [7:0] core_tag_i,
  input mask_t      core_mask_i,
  input line_t      core_data_i,
  input logic       fwd_valid_i,
  input message_e   fwd_message_i,
  input index_t     fwd_index_i,
  input logic       rsp_valid_i,
  input message_e   rsp_message_i,
  input logic       rsp_dirty_i,
  input logic       rsp_side_i,
  input id_t        rsp_id_i,
  input line_t      rsp_data_i,
  input logic       req_ready_i,
  input logic       rsd_ready_i,
  input logic       rsn_ready_i,
  input coherence_look_pkg::look_t look_i
);
  localparam int unsigned NumMshr = 2;
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic core_ready_o, core_rsp_valid_o, fwd_ready_o, req_valid_o, rsd_valid_o, rsn_valid_o;
  logic [7:0] core_rsp_tag_o;
  line_t core_rsp_data_o, rsd_data_o;
  header_t req_header_o, rsd_header_o, rsn_header_o;
  coherence_atomic_pkg::atomic_t core_atomic_i;
  assign core_atomic_i = '0;
  coherence_look_pkg::looked_t looked_o;
  coherence_cache #(.Sets(2), .Ways(2), .NumMshr(NumMshr), .Look(1'b1), .Places(Places)) dut (
    .*
  );

  // What is in the pipeline, and may send: forwards and operations; of them, operations.
  logic [1:0] flying, cores;
  assign flying = 2'(dut.s1_valid && !dut.s1_response) +
                  2'(dut.s2_valid_q &&
                     !(dut.s2_q.what inside {InPsha, InPemdClean, InPemdDirty, InPack}));
  assign cores  = 2'(dut.s1_valid && dut.s1_q.core) + 2'(dut.s2_valid_q && dut.s2_q.core);

  always_comb begin
    assume (rsp_message_i inside {MsgPsha, MsgPemd, MsgPack});
    assume (fwd_message_i inside {MsgFshr, MsgFinv});
    assume (core_op_i inside {CoreLoad, CoreStore, CoreEvict});
    assume (32'(rsp_id_i) < NumMshr / 2);
    if (rst_ni) begin
      // Places: with those that may still come, no queue is beyond its depth.
      req_place : assert (32'(dut.req_usage) + 32'(cores) <= 16);
      rsn_place : assert (32'(dut.rsn_usage) + 32'(flying) + 32'(dut.s3_rsn_q) <= 16);
      rsd_place : assert (32'(dut.rsd_usage) + 32'(flying) + 32'(dut.s3_rsd_q) <= 8);
      no_loss   : assert (!(dut.allocate && !dut.ready[0]) && !(dut.s3_rsd_q && !dut.ready[1]) &&
                          !(dut.s3_rsn_q && !dut.ready[2]));
      // An MSHR is opened only while it is free, and one that owes a GACK is open.
      free_one  : assert (!dut.allocate || !dut.u_mshrs.open_q[dut.u_mshrs.free_id]);
      core_only : assert (!(dut.s1_valid && dut.s1_q.core) ||
                          dut.s1_q.what inside {InLoad, InStore, InEvict});
      core_last : assert (!(dut.s2_valid_q && dut.s2_q.core) ||
                          dut.s2_q.what inside {InLoad, InStore, InEvict});
      // An operation of the core has a row in every state.
      rows : assert (!(dut.s2_valid_q && dut.s2_q.core && dut.step.never));
      // A response is in stage 2 two cycles after it came: it waits for nothing.
      opened : cover (dut.u_mshrs.open_q == '1);
      queued : cover (32'(dut.rsn_usage) == 8);
    end
  end
  // The tags: a line is in one way, and what stage 2 has read is still so.
  typedef struct packed {
    remote_e state;
    index_t  index;
  } entry_t;
  entry_t [1:0][1:0] entry;
  for (genvar s = 0; s < 2; s++) begin : gen_set
    for (genvar w = 0; w < 2; w++) begin : gen_way
      always_comb begin
        entry[s][w] = dut.u_tags.gen_ways[w].entry_q[s];
        if (!dut.u_tags.gen_ways[w].written_q[s]) entry[s][w].state = RemoteI;
        if (dut.u_tags.gen_ways[w].late_q && dut.u_tags.late_at_q == 1'(s)) begin
          entry[s][w] = dut.u_tags.late_entry_q;
        end
      end
      always_comb if (rst_ni && entry[s][w].state != RemoteI) begin
        its_set : assert (entry[s][w].index[0] == 1'(s));
        in_table : assert (entry[s][w].state <= RemoteOm);
        once    : assert (w == 0 || entry[s][0].state == RemoteI ||
                          entry[s][0].index != entry[s][w].index);
      end
    end
  end
  for (genvar w = 0; w < 2; w++) begin : gen_read
    entry_t now, read;
    assign now  = entry[dut.s2_q.index[0]][w];
    assign read = entry_t'(dut.s2_entry_q[w]);
    always_comb if (rst_ni && dut.s2_valid_q) begin
      s2_entry : assert (now == read || (now.state == RemoteI && read.state == RemoteI));
      s2_match : assert (read.state == RemoteI ||
                         dut.s2_match_q[w] == (read.index == dut.s2_q.index));
    end
  end
  // Behind an operation that opened an MSHR, the next one of its line opens none: the line's state
  // is one that waits.
  logic opened_q;
  index_t opened_index_q;
  always_ff @(posedge clk_i) begin
    opened_q       <= rst_ni && dut.allocate;
    opened_index_q <= dut.s2_q.index;
  end
  always_comb if (rst_ni && opened_q && dut.s2_valid_q && dut.s2_q.index == opened_index_q) begin
    one_a_line : assert (!dut.allocate);
  end

  // What is offered stays until it is taken, whatever comes behind it.
  logic held_q;
  header_t held_header_q;
  always_ff @(posedge clk_i) begin
    held_q        <= rst_ni && rsn_valid_o && !rsn_ready_i;
    held_header_q <= rsn_header_o;
  end
  always_comb if (rst_ni) begin
    owed_fit : assert (dut.u_mshrs.u_owed.wptr_q - dut.u_mshrs.u_owed.rptr_q <= 2'(NumMshr));
  end
  always_comb if (rst_ni && dut.offered_q) begin
    offered : assert (dut.gack_q ? dut.owed_some : dut.rsn_some);
  end
  always_comb if (rst_ni && held_q) begin
    rsn_held : assert (rsn_valid_o && rsn_header_o == held_header_q);
  end
  if (Places == 0) begin : gen_order
    // Operations that wait are decided in order: the one that is decided is the oldest.
    logic [2:0] held, shown;  // in the window, and of those in the pipeline
    assign held = dut.u_pending.gen_order.u_window.wptr_q - dut.u_pending.gen_order.u_window.cptr_q;
    assign shown = dut.u_pending.gen_order.u_window.iptr_q -
                   dut.u_pending.gen_order.u_window.cptr_q;
    // Behind an operation that waits nothing of the core is decided before it comes again.
    logic [1:0] waits_q;
    always_ff @(posedge clk_i) waits_q <= rst_ni ? {waits_q[0], dut.again} : '0;
    always_comb if (rst_ni) begin
      window  : assert (held <= 3'd4 && shown <= held);
      counted : assert (shown == 3'(cores));
      dropped : assert (waits_q == '0 || !(dut.s2_valid_q && dut.s2_q.core));
    end
  end else begin : gen_places
    // The pipeline has what its places say.
    always_comb if (rst_ni) begin
      in_s1 : assert ((dut.s1_taken_q && dut.s1_q.core) == (dut.u_pending.gen_places.s1_q != '0));
      in_s2 : assert ((dut.s2_valid_q && dut.s2_q.core) == (dut.u_pending.gen_places.s2_q != '0));
      at_s1 : assert (dut.u_pending.gen_places.s1_q == '0 ||
                      dut.u_pending.gen_places.s1_index_q == dut.s1_q.index);
      at_s2 : assert (dut.u_pending.gen_places.s2_q == '0 ||
                      dut.u_pending.gen_places.s2_index_q == dut.s2_q.index);
      asleep : cover (dut.u_pending.gen_places.waits_q == '1);
    end
  end

  logic [1:0] came_q;
  always_ff @(posedge clk_i) begin
    came_q <= rst_ni ? {came_q[0], rsp_valid_i} : '0;
    if (rst_ni && came_q[1]) sink : assert (dut.s2_valid_q && !dut.again);
  end
endmodule
