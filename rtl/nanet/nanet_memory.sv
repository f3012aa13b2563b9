// SPDX-License-Identifier: SHL-2.1
/// What writes to host memory: payload of all lists and the queue of their events, over one AXI4
/// port.
///
/// lists -> nanet_mux -> nanet_translate -> axi_write_engine -> dma; events -> event_queue ->
/// nanet_mux. The page tables of nanet_translate are read over the same port.
///
///   Handshake   list_*, data_i and full_o as in nanet_stream, one of each a list but full_o
///   Ordering    a list's commands in order; events in the order in which they are taken
///   Latency     command to dma_o.awvalid 2 cycles, with regions 3 and what a miss takes; event to
///               its command 1
///   Throughput  a beat of DataWidth a cycle
///   Bounds      with Regions nothing is written outside registered pages but events
///   Sending     with Send: send_event_* are the events of a sender, in turn with the lists'; its
///               reads, read_*, share the port with those of page tables: read_beat_o says that a
///               beat on dma_i is the sender's
///   Parameters  NumLists 1..4; DataWidth, BurstBytes as axi_write_engine; Regions 0: addresses are
///               the bus's, else MaxRegions; Send 0, 1
///   Not done    events in translated memory: the queue's address is the bus's
module nanet_memory
  import nanet_pkg::*;
#(
  parameter  int unsigned NumLists   = 1,
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned Regions    = 0,
  parameter  bit          Send       = 1'b0,
  parameter  int unsigned BurstBytes = ChunkBytes,
  localparam int unsigned NumEvents  = NumLists + 32'(Send),
  localparam int unsigned EventW     = NumEvents > 1 ? $clog2(NumEvents) : 1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  nanet_ctrl_pkg::control_t control_i,  // from the registers: event queue, regions

  input  list_request_t  [NumLists-1:0]                list_i,
  input  logic           [NumLists-1:0][DataWidth-1:0] data_i,
  output list_response_t [NumLists-1:0]                list_o,
  output logic                                         full_o,
  output logic                                         event_done_o,  // strobe: it is answered
  output logic                                         irq_o,  // strobe: new events are in memory

  input  logic              send_event_valid_i,
  input  event_t            send_event_i,
  output logic              send_event_ready_o,
  input  logic              read_valid_i,
  output logic              read_ready_o,
  input  axi_pkg::address_t read_i,
  output logic              read_beat_o,

  output axi_pkg::request_t      dma_o,
  output logic [DataWidth-1:0]   dma_wdata_o,  // with dma_o.wvalid; byte n in bits 8n+7:8n
  output logic [DataWidth/8-1:0] dma_wstrb_o,  // bit n: byte n is written
  input  axi_pkg::response_t     dma_i,
  input  logic [DataWidth-1:0]   dma_rdata_i,  // with dma_i.rvalid

  output logic [15:0]           written_o,       // events
  output logic [15:0]           lost_o,          // events that found the queue full, modulo 2^16
  output logic [31:0]           errors_o,        // commands answered with an error
  output translations_t         translations_o,  // of nanet_translate; they wrap
  output logic                  idle_o           // nothing changes until an input does
);
  localparam int unsigned NumSources = NumLists + 1;  // and the event queue
  localparam int unsigned TagW       = $clog2(NumSources);
  localparam int unsigned EventBytes = 32;

  if (Regions != 0 && Regions != MaxRegions) begin : gen_regions_check
    $error("nanet_memory: Regions is %0d, legal are 0 and %0d", Regions, MaxRegions);
  end

  // ---------------------------------------------------------------- lists
  logic [NumLists-1:0] cmd_ready, data_ready;
  logic [NumEvents-1:0] event_valid, event_gnt;
  event_t [NumEvents-1:0] events;
  write_t [NumLists-1:0] writes;
  logic queue_ready, done_valid, done_error;
  logic [TagW-1:0] done_tag;
  for (genvar i = 0; i < int'(NumLists); i++) begin : gen_list
    assign event_valid[i] = list_i[i].event_valid;
    assign events[i]      = list_i[i].event_;
    assign writes[i]      = list_i[i].write;
    assign list_o[i]      = '{
        cmd_ready: cmd_ready[i],
        data_ready: data_ready[i],
        event_ready: event_gnt[i] && queue_ready,
        done_valid: done_valid && done_tag == TagW'(i),
        done_error: done_error
    };
  end

  if (Send) begin : gen_send
    assign event_valid[NumLists] = send_event_valid_i;
    assign events[NumLists]      = send_event_i;
    assign send_event_ready_o    = event_gnt[NumLists] && queue_ready;
  end else begin : gen_no_send
    assign send_event_ready_o = 1'b0;
    logic unused_send;
    assign unused_send = ^{send_event_valid_i, send_event_i};
  end

  // ---------------------------------------------------------------- events
  // A list may take its offer back, when the queue is full or it is disabled: the queue takes what
  // the winner offers.
  logic [EventW-1:0] event_idx;
  logic queue_idle, event_cmd, event_cmd_ready, event_data, event_data_ready;
  logic event_last;
  logic [63:0] event_addr;
  logic [DataWidth-1:0] event_beat;
  logic [31:0] queue_lost;

  arb_rr #(
    .NumReq(NumEvents)
  ) u_event_arb (
    .clk_i,
    .rst_ni,
    .req_i (event_valid),
    .last_i(queue_ready),
    .gnt_o (event_gnt),
    .idx_o (event_idx)
  );

  event_queue #(
    .DataWidth(DataWidth)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .enable_i     (control_i.enable),
    .base_i       (control_i.queue_base),
    .size_i       (control_i.queue_size),
    .taken_i      (control_i.queue_taken),
    .irq_enable_i (control_i.irq_enable),
    .irq_gap_i    (control_i.irq_gap),
    .event_valid_i(event_valid[event_idx]),
    .event_ready_o(queue_ready),
    .event_i      (events[event_idx]),
    .full_o,
    .cmd_valid_o  (event_cmd),
    .cmd_ready_i  (event_cmd_ready),
    .cmd_addr_o   (event_addr),
    .data_valid_o (event_data),
    .data_ready_i (event_data_ready),
    .data_last_o  (event_last),
    .data_o       (event_beat),
    .done_valid_i (event_done_o),
    .written_o,
    .lost_o       (queue_lost),
    .irq_o,
    .idle_o       (queue_idle)
  );
  assign lost_o = queue_lost[15:0];

  // ---------------------------------------------------------------- one command at a time
  write_t m, event_write;
  logic m_ready, m_data_ready;
  logic [TagW-1:0] m_tag;
  logic [DataWidth-1:0] m_data;
  assign event_write = '{
      cmd_valid: event_cmd, key: '0, addr: event_addr, bytes: CommandW'(EventBytes),
      data_valid: event_data, keep: 1'b1, last: event_last
  };

  nanet_mux #(
    .NumSources(NumSources),
    .DataWidth (DataWidth)
  ) u_mux (
    .clk_i,
    .rst_ni,
    .write_i     ({event_write, writes}),
    .data_i      ({event_beat, data_i}),
    .cmd_ready_o ({event_cmd_ready, cmd_ready}),
    .data_ready_o({event_data_ready, data_ready}),
    .write_o     (m),
    .data_o      (m_data),
    .cmd_tag_o   (m_tag),
    .cmd_ready_i (m_ready),
    .data_ready_i(m_data_ready)
  );

  logic e_valid, e_ready, e_data_valid, e_data_ready, e_done, e_error, engine_idle;
  logic [63:0] e_addr;
  logic [CommandW-1:0] e_bytes;
  logic [TagW-1:0] e_tag, e_done_tag;
  logic translate_idle, reads_idle, table_valid, table_ready, table_beat, unused_table_ready;
  axi_pkg::address_t table_read;

  if (Regions != 0) begin : gen_regions
    nanet_translate #(
      .DataWidth(DataWidth),
      .BytesW   (CommandW),
      .TagW     (TagW)
    ) u_translate (
      .clk_i,
      .rst_ni,
      .region_we_i        (control_i.region_we),
      .region_index_i     (control_i.region_index),
      .region_i           (control_i.region),
      .cmd_valid_i        (m.cmd_valid),
      .cmd_ready_o        (m_ready),
      .cmd_direct_i       (m_tag == TagW'(NumLists)),
      .cmd_key_i          (m.key),
      .cmd_addr_i         (m.addr),
      .cmd_bytes_i        (m.bytes),
      .cmd_tag_i          (m_tag),
      .data_valid_i       (m.data_valid),
      .data_ready_o       (m_data_ready),
      .data_last_i        (m.last),
      .done_valid_o       (done_valid),
      .done_tag_o         (done_tag),
      .done_error_o       (done_error),
      .out_valid_o        (e_valid),
      .out_ready_i        (e_ready),
      .out_addr_o         (e_addr),
      .out_bytes_o        (e_bytes),
      .out_tag_o          (e_tag),
      .out_data_valid_o   (e_data_valid),
      .out_data_ready_i   (e_data_ready),
      .engine_done_valid_i(e_done),
      .engine_done_tag_i  (e_done_tag),
      .engine_done_error_i(e_error),
      .arvalid_o          (table_valid),
      .arready_i          (table_ready),
      .ar_o               (table_read),
      .rvalid_i           (table_beat),
      .rready_o           (unused_table_ready),
      .rdata_i            (dma_rdata_i),
      .rresp_i            (dma_i.rresp),
      .counters_o         (translations_o),
      .idle_o             (translate_idle)
    );
    // A page table is waited for where its answer comes: it is never late.
    logic unused_rready;
    assign unused_rready = unused_table_ready;
  end else begin : gen_no_regions
    assign e_valid        = m.cmd_valid;
    assign m_ready        = e_ready;
    assign e_addr         = m.addr;
    assign e_bytes        = m.bytes;
    assign e_tag          = m_tag;
    assign e_data_valid   = m.data_valid;
    assign m_data_ready   = e_data_ready;
    assign done_valid     = e_done;
    assign done_tag       = e_done_tag;
    assign done_error     = e_error;
    assign translations_o = '0;
    assign translate_idle = 1'b1;
    assign table_valid    = 1'b0;
    assign table_read     = '0;
    logic unused;
    assign unused = ^{m.key, m.last, table_ready, table_beat, dma_i.rresp, dma_rdata_i,
                      control_i.region_we, control_i.region_index, control_i.region};
  end

  // ---------------------------------------------------------------- reads
  assign dma_o.rready = 1'b1;
  if (Regions != 0 && Send) begin : gen_both
    nanet_reads u_reads (
      .clk_i,
      .rst_ni,
      .table_valid_i(table_valid),
      .table_ready_o(table_ready),
      .table_i      (table_read),
      .table_beat_o (table_beat),
      .data_valid_i (read_valid_i),
      .data_ready_o (read_ready_o),
      .data_i       (read_i),
      .data_beat_o  (read_beat_o),
      .arvalid_o    (dma_o.arvalid),
      .arready_i    (dma_i.arready),
      .ar_o         (dma_o.ar),
      .rvalid_i     (dma_i.rvalid),
      .rlast_i      (dma_i.rlast),
      .idle_o       (reads_idle)
    );
  end else begin : gen_one
    assign dma_o.arvalid = Send ? read_valid_i : table_valid;
    assign dma_o.ar      = Send ? read_i : table_read;
    assign table_ready   = !Send && dma_i.arready;
    assign table_beat    = !Send && dma_i.rvalid;
    assign read_ready_o  = Send && dma_i.arready;
    assign read_beat_o   = Send && dma_i.rvalid;
    assign reads_idle    = 1'b1;
    logic unused_read;
    assign unused_read = ^{read_valid_i, read_i, table_valid, table_read};
  end

  axi_write_engine #(
    .DataWidth (DataWidth),
    .BurstBytes(BurstBytes),
    .MaxBytes  (MaxCommand),
    .MaxBursts (16),
    .TagWidth  (TagW)
  ) u_write (
    .clk_i,
    .rst_ni,
    .cmd_valid_i (e_valid),
    .cmd_ready_o (e_ready),
    .cmd_addr_i  (e_addr),
    .cmd_bytes_i (e_bytes),
    .cmd_tag_i   (e_tag),
    .data_valid_i(e_data_valid),
    .data_ready_o(e_data_ready),
    .data_keep_i (m.keep),
    .data_i      (m_data),
    .done_valid_o(e_done),
    .done_tag_o  (e_done_tag),
    .done_error_o(e_error),
    .awvalid_o   (dma_o.awvalid),
    .awready_i   (dma_i.awready),
    .aw_o        (dma_o.aw),
    .wvalid_o    (dma_o.wvalid),
    .wready_i    (dma_i.wready),
    .wdata_o     (dma_wdata_o),
    .wstrb_o     (dma_wstrb_o),
    .wlast_o     (dma_o.wlast),
    .bvalid_i    (dma_i.bvalid),
    .bready_o    (dma_o.bready),
    .bresp_i     (dma_i.bresp),
    .idle_o      (engine_idle)
  );
  assign event_done_o = done_valid && done_tag == TagW'(NumLists);

  logic [31:0] errors_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) errors_q <= '0;
    else errors_q <= errors_q + 32'(done_valid && done_error);
  end
  assign errors_o = errors_q;
  assign idle_o   = queue_idle && engine_idle && translate_idle && reads_idle &&
                    event_valid == '0;

  logic unused_control;
  assign unused_control = ^{control_i.lists, control_i.table_we, control_i.table_list,
                            control_i.table_index, control_i.table_buffer, control_i.result_we,
                            control_i.result, queue_lost[31:16], dma_i.rlast};
endmodule
