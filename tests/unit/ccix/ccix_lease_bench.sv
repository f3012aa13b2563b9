// SPDX-License-Identifier: SHL-2.1
/// A near-data unit behind its lease, with ports as the unit's.
module ccix_lease_bench
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter bit          Posted    = 1'b0,
  parameter int unsigned LockWidth = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        reset_i,
  input  logic        hold_i,
  input  logic        task_valid_i,
  output logic        task_ready_o,
  input  logic [2:0]  task_slot_i,
  input  logic [31:0] task_id_i,
  input  logic [1:0]  task_last_i,
  input  logic [71:0] task_steps_i,
  output logic        locked_o,
  output logic [2:0]  locked_slot_o,
  output logic        refused_o,
  output logic [2:0]  refused_slot_o,
  output logic        done_o,
  output logic [2:0]  done_slot_o,
  output logic        done_aborted_o,
  output logic [63:0] done_digest_o,
  output logic        lost_o,
  output logic [2:0]  lost_slot_o,
  output logic        lost_whole_o,
  output logic        stale_o,
  output logic        order_valid_o,
  input  logic        order_ready_i,
  output logic [1:0]  order_op_o,
  output logic        order_exclusive_o,
  output logic [15:0] order_lock_o,
  output logic [2:0]  order_slot_o,
  output logic [15:0] order_fence_o,
  input  logic        ans_valid_i,
  input  logic [2:0]  ans_status_i,
  input  logic [2:0]  ans_slot_i,
  input  logic [15:0] ans_fence_i,
  output logic        req_valid_o,
  input  logic        req_ready_i,
  output logic        req_write_o,
  output index_t      req_index_o,
  output logic [7:0]  req_tag_o,
  output mask_t       req_mask_o,
  output line_t       req_data_o,
  input  logic        rsp_valid_i,
  input  logic [7:0]  rsp_tag_i,
  input  line_t       rsp_data_i,
  output logic        fail_o
);
  logic unit_rst_n, unit_ready, unit_done, waits, join_, joined, beat, current;
  logic [7:0] token, unit_token;
  logic uo_valid, uo_ready, ur_valid, ur_ready, ua_valid, us_valid;
  lock_order_t uo, order;
  lock_answer_t ans;
  access_t ur, req;
  logic [1:0] fail;
  logic [1:0] last_lock;
  ccix_locks #(.LockWidth(LockWidth)) u_locks (
    .last_i(task_last_i), .steps_i(task_steps_i), .own_o(), .exclusive_o(), .no_wait_o(),
    .last_lock_o(last_lock)
  );
  ccix_update #(.Slots(8), .Posted(Posted), .LockWidth(LockWidth)) u_update (
    .clk_i, .rst_ni(unit_rst_n), .task_valid_i(task_valid_i && task_ready_o),
    .task_ready_o(unit_ready), .task_slot_i, .task_id_i, .task_last_i,
    .task_steps_i, .locked_o, .locked_slot_o, .refused_o, .refused_slot_o, .done_o(unit_done),
    .done_slot_o, .done_aborted_o, .done_digest_o, .order_valid_o(uo_valid),
    .order_ready_i(uo_ready), .order_op_o(uo.op), .order_exclusive_o(uo.exclusive),
    .order_lock_o(uo.lock), .order_slot_o(uo.owner[2:0]), .order_fence_o(uo.fence),
    .ans_valid_i(ua_valid), .ans_status_i(lock_status_e'(ans_status_i)), .ans_slot_i, .ans_fence_i,
    .req_valid_o(ur_valid), .req_ready_i(ur_ready), .req_write_o(ur.write), .req_index_o(ur.index),
    .req_tag_o(ur.tag), .req_mask_o(ur.mask), .req_data_o(ur.data), .rsp_valid_i(us_valid),
    .rsp_tag_i, .rsp_data_i, .fail_o(fail[0])
  );
  ccix_member u_member (
    .clk_i, .rst_ni, .reset_i, .hold_i, .waits_i(waits), .unit_rst_no(unit_rst_n), .join_o(join_),
    .joined_i(joined), .token_i(token), .beat_o(beat), .token_o(unit_token)
  );
  ccix_lease #(.Slots(8), .Lease(60)) u_lease (
    .clk_i, .rst_ni, .join_i(join_), .joined_o(joined), .token_o(token), .beat_i(beat),
    .token_i(unit_token), .current_o(current), .stop_i(reset_i || hold_i), .waits_o(waits),
    .task_valid_i, .task_ready_o, .task_slot_i, .task_last_i(last_lock), .order_valid_i(uo_valid),
    .order_ready_o(uo_ready), .order_i(uo), .ans_valid_o(ua_valid), .req_valid_i(ur_valid),
    .req_ready_o(ur_ready), .req_i(ur), .rsp_valid_o(us_valid), .order_valid_o, .order_ready_i,
    .order_o(order), .ans_valid_i, .ans_i(ans), .req_valid_o, .req_ready_i, .req_o(req),
    .rsp_valid_i, .rsp_tag_i, .rsp_word_i(rsp_data_i[0]), .lost_o, .lost_slot_o, .lost_whole_o,
    .stale_o, .fail_o(fail[1])
  );
  assign ans = '{
    owner: 8'(ans_slot_i), status: lock_status_e'(ans_status_i), fence: ans_fence_i
  };
  assign uo.owner[7:3] = '0;
  assign order_slot_o  = order.owner[2:0];
  assign {order_op_o, order_exclusive_o, order_lock_o, order_fence_o} =
      {order.op, order.exclusive, order.lock, order.fence};
  assign {req_write_o, req_index_o, req_tag_o, req_mask_o, req_data_o} = req;
  assign done_o     = unit_done && current;
  assign fail_o     = fail != '0;
endmodule
