// SPDX-License-Identifier: SHL-2.1
/// The near-data unit with a lock table of less locks than records. Ports as the unit's; the answers
/// that the bench gives are not used.
module ccix_table_bench
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter bit          Posted    = 1'b0,
  parameter int unsigned LockWidth = 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,
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
  lock_op_e op, table_op;
  lock_status_e status;
  logic valid, room, table_valid, table_ready, table_exclusive, unit_fail;
  logic [2:0] slot, table_slot;
  logic [15:0] fence, table_fence, table_lock;
  assign order_op_o = op;
  ccix_update #(.Slots(8), .Posted(Posted), .LockWidth(LockWidth)) u_update (
    .order_op_o(op), .ans_valid_i(valid), .ans_status_i(status), .ans_slot_i(slot),
    .ans_fence_i(fence), .fail_o(unit_fail), .*
  );
  fifo #(.Width(38), .Depth(64)) u_orders (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(order_valid_o && order_ready_i), .ready_o(room),
    .data_i({op, order_exclusive_o, order_lock_o, order_slot_o, order_fence_o}),
    .valid_o(table_valid), .ready_i(table_ready),
    .data_o({table_op, table_exclusive, table_lock, table_slot, table_fence}), .usage_o()
  );
  lock_table #(.Locks(1 << LockWidth), .NumWait(8), .OwnerWidth(3)) u_table (
    .clk_i, .rst_ni, .req_valid_i(table_valid), .req_ready_o(table_ready), .req_op_i(table_op),
    .req_exclusive_i(table_exclusive), .req_lock_i(table_lock[LockWidth-1:0]),
    .req_owner_i(table_slot), .req_fence_i(table_fence), .rsp_valid_o(valid),
    .rsp_status_o(status), .rsp_exclusive_o(), .rsp_lock_o(), .rsp_owner_o(slot),
    .rsp_fence_o(fence), .idle_o()
  );
  logic full_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) full_q <= 1'b0;
    else full_q <= full_q || (order_valid_o && order_ready_i && !room);
  end
  assign fail_o = unit_fail || full_q;
  logic unused;
  assign unused = ^{ans_valid_i, ans_status_i, ans_slot_i, ans_fence_i, table_lock};
endmodule
