// SPDX-License-Identifier: SHL-2.1
/// rdma_segment: a read that failed ends its packet as bad, at once, and the rest of that packet is
/// not sent; every failure is reported once, to 4096 in one record, however long the record waits.
///
/// What is granted, when data comes and which of it is bad is arbitrary.
module rdma_segment_props
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  localparam int unsigned NumLinks = 2
) (
  input logic                clk_i,
  input host_t               host_id_i,
  input logic                bench_i,
  input control_room_t       room_i,
  input logic                control_link_i,
  input control_packet_t     control_i,
  input control_packet_t     own_i,
  input message_grant_t      post_i,
  input logic                post_link_i,
  input beat_t               message_data_i,
  input logic                job_valid_i,
  input job_t                job_i,
  input logic                plan_valid_i,
  input logic                plan_link_i,
  input logic                data_coming_i,
  input logic                data_valid_i,
  input beat_t               data_i,
  input logic                data_bad_i,
  input logic [NumLinks-1:0] voq_ready_i,
  input logic                error_ready_i
);
  logic rst_ni, control_ready_o, own_ready_o, message_free_o, message_busy_o;
  logic job_ready_o, plan_ready_o, data_ready_o, job_done_o, idle_o;
  flow_event_t control_take_o;
  begun_t begun_o;
  announce_t voq_o;
  voq_beat_t write_beat_o;
  read_error_t error_o;
  queue_read_t message_read_o;
  logic [NumLinks-1:0] voq_valid_o, write_o;
  rdma_segment #(.NumLinks(NumLinks)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // States, by number: the proof's reader knows no names of another module.
  localparam logic [2:0] StHead = 3'd0;
  localparam logic [2:0] StSkip = 3'd4;

  // A bad beat of a read was taken for a packet that is being sent; the packet's rest is being
  // dropped.
  logic bad, skips;
  assign skips = dut.state_q == StSkip;
  assign bad   = data_valid_i && data_ready_o && data_bad_i && !skips;

  // Failures since a record was taken, the one that began the record not counted; and the record on
  // offer.
  logic        bad_q, skips_q, offered_q, taken_q;
  logic [12:0] more_q;
  flow_t       flow_q, error_flow_q;
  tag_t        tag_q, error_tag_q;
  always_ff @(posedge clk_i) begin
    bad_q        <= started_q && bad;
    skips_q      <= started_q && skips;
    offered_q    <= started_q && error_o.valid;
    taken_q      <= error_ready_i;
    flow_q       <= dut.job_q.flow;
    tag_q        <= dut.job_q.tag;
    error_flow_q <= error_o.flow;
    error_tag_q  <= error_o.tag;
    if (!started_q || !error_o.valid || error_ready_i) more_q <= '0;
    else if (bad && !more_q[12]) more_q <= more_q + 13'd1;
  end

  always_comb begin
    if (started_q) begin
      // It ends its packet, as bad; and nothing else does.
      assert (bad_q == (write_o != '0 && write_beat_o.bad));
      if (bad_q) assert (write_beat_o.last && (skips || dut.state_q == StHead));
      // Nothing is sent of what is behind it.
      if (skips) assert (write_o == '0 || bad_q);
      if (skips_q) assert (write_o == '0);
      // One record at a time is held until it is taken, and counts what has failed meanwhile.
      if (offered_q && !taken_q) begin
        assert (error_o.valid && error_o.flow == error_flow_q && error_o.tag == error_tag_q);
      end else begin
        assert (error_o.valid == bad_q);
        if (error_o.valid) assert (error_o.flow == flow_q && error_o.tag == tag_q);
      end
      if (error_o.valid) assert (error_o.more == (more_q[12] ? 12'hFFF : more_q[11:0]));

      cover (error_o.valid && error_o.more == 12'd1);
      cover (bad_q && dut.state_q == StHead);
      cover (skips && !bad_q && dut.left_q == 7'd1);
    end
  end
endmodule
