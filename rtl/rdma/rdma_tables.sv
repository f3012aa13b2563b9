// SPDX-License-Identifier: SHL-2.1
/// The tables of the receiving half: the host's access by BAR offset, and the checks against them.
///
/// 0xC000 queues, 0xD000 their tails, 0xE000 regions, 0xF000 the addresses of notifications, which
/// are kept in rdma_notify (address_*). Everything else reads as 0.
///
///   Handshake   table_i.we: taken, in the table 2 cycles later. table_i.re: strobe, one at a time;
///               table_o.valid strobes with the data. region_*: as rdma_regions, of src_i and
///               beats_i; queue_*: as rdma_queue_table, two clients
///   Clear       with clear_i every table is written with 0 at clear_index_i
///   Latency     as the two tables; reads wait for checks that are under way
///   Throughput  a write and a check of each kind a cycle
///   Parameters  none
///   Not done    the width of a write: rdma_bar lets only whole beats through
module rdma_tables
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           clear_i,
  input  logic [8:0]     clear_index_i,

  input  table_access_t  table_i,
  output table_data_t    table_o,

  input  flow_t          src_i,           // of the packet that is checked
  input  logic [6:0]     beats_i,
  input  region_ask_t    region_i,
  output region_answer_t region_o,

  input  logic [7:0]     queue_peek_i,    // perhaps asked for in the next cycle
  input  logic [1:0]     queue_valid_i,
  output logic [1:0]     queue_ready_o,
  input  enqueue_t [1:0] queue_i,
  output logic [1:0]     queue_answer_o,
  output enqueued_t      queue_o,
  input  logic [1:0]     queue_commit_i,
  input  logic [1:0]     queue_drop_i,

  output logic           address_we_o,    // strobes to rdma_notify
  output logic [4:0]     address_waddr_o,
  output beat_t          address_wdata_o,
  output logic           address_re_o,
  input  table_data_t    address_i,
  output logic           idle_o
);
  // ---------------------------------------------------------------- BAR offsets
  logic re_queue, re_tail, re_region, re_address, re_none_q;
  assign re_queue   = table_i.re && table_i.raddr[15:12] == 4'hC;
  assign re_tail    = table_i.re && table_i.raddr[15:11] == 5'b1101_0;
  assign re_region  = table_i.re && table_i.raddr[15:11] == 5'b1110_0;
  assign re_address = table_i.re && table_i.raddr[15:8] == 8'hF0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) re_none_q <= 1'b0;
    else re_none_q <= table_i.re && !(re_queue || re_tail || re_region || re_address);
  end

  // Written a cycle later: what the bus writes goes to the send side's queues too, which lie
  // elsewhere. After reset all tables are emptied at once, a beat a cycle.
  logic we_queue_q, we_tail_q, we_region_q, we_address_q;
  logic [8:0] waddr_q;
  beat_t wdata_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      we_queue_q   <= 1'b0;
      we_tail_q    <= 1'b0;
      we_region_q  <= 1'b0;
      we_address_q <= 1'b0;
    end else begin
      we_queue_q   <= clear_i || (table_i.we && table_i.addr[15:12] == 4'hC);
      we_tail_q    <= clear_i || (table_i.we && table_i.addr[15:11] == 5'b1101_0);
      we_region_q  <= clear_i || (table_i.we && table_i.addr[15:11] == 5'b1110_0);
      we_address_q <= clear_i || (table_i.we && table_i.addr[15:8] == 8'hF0);
    end
  end
  always_ff @(posedge clk_i) begin
    wdata_q <= table_i.data;
    waddr_q <= table_i.addr[11:3];
    // A tail's index has the same bits as an entry's.
    if (table_i.addr[13:12] == 2'b01) waddr_q <= {table_i.addr[10:3], 1'b0};
    if (clear_i) begin
      wdata_q <= '0;
      waddr_q <= clear_index_i;
    end
  end

  logic queue_rvalid, region_rvalid, queue_idle, region_idle;
  beat_t queue_rdata, region_rdata;
  assign table_o.valid = queue_rvalid || region_rvalid || address_i.valid || re_none_q;
  assign table_o.data  = ({64{queue_rvalid}} & queue_rdata) |
                         ({64{region_rvalid}} & region_rdata) |
                         ({64{address_i.valid}} & address_i.data);

  assign address_we_o    = we_address_q;
  assign address_waddr_o = waddr_q[4:0];
  assign address_wdata_o = wdata_q;
  assign address_re_o    = re_address;

  // ---------------------------------------------------------------- tables
  rdma_regions u_regions (
    .clk_i,
    .rst_ni,
    .we_i          (we_region_q),
    .waddr_i       (waddr_q[7:0]),
    .wdata_i       (wdata_q),
    .re_i          (re_region),
    .raddr_i       (table_i.raddr[10:3]),
    .rvalid_o      (region_rvalid),
    .rdata_o       (region_rdata),
    .look_i        (region_i.look),
    .look_entry_i  (region_i.entry),
    .check_i       (region_i.check),
    .src_i,
    .extended_i    (region_i.extended),
    .key_i         (region_i.key),
    .address_i     (region_i.address),
    .beats_i,
    .answer_valid_o(region_o.valid),
    .code_o        (region_o.code),
    .to_queue_o    (region_o.to_queue),
    .qid_o         (region_o.qid),
    .idle_o        (region_idle)
  );

  rdma_queue_table u_queues (
    .clk_i,
    .rst_ni,
    .we_i          (we_queue_q),
    .tail_we_i     (we_tail_q),
    .waddr_i       (waddr_q),
    .wdata_i       (wdata_q),
    .re_i          (re_queue),
    .tail_re_i     (re_tail),
    .raddr_i       (re_tail ? {table_i.raddr[10:3], 1'b0} : table_i.raddr[11:3]),
    .rvalid_o      (queue_rvalid),
    .rdata_o       (queue_rdata),
    .peek_i        (queue_peek_i),
    .ask_valid_i   (queue_valid_i),
    .ask_ready_o   (queue_ready_o),
    .ask_i         (queue_i),
    .answer_valid_o(queue_answer_o),
    .answer_o      (queue_o),
    .commit_i      (queue_commit_i),
    .drop_i        (queue_drop_i),
    .idle_o        (queue_idle)
  );

  assign idle_o = region_idle && queue_idle && !re_none_q && !we_queue_q && !we_tail_q &&
                  !we_region_q && !we_address_q;
endmodule
