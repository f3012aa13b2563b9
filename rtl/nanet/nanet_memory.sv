// SPDX-License-Identifier: SHL-2.1
/// What writes to host memory: payload of all lists and the queue of their events, over one AXI4
/// port.
///
/// lists -> nanet_mux -> nanet_translate -> axi_write_engine -> dma; events -> event_queue ->
/// nanet_mux. The page tables of nanet_translate are read over the same port.
///
///   Handshake   cmd_*, data_*, done_* and event_* as in nanet_stream, one of each a list
///   Ordering    a list's commands in order; events in the order in which they are taken
///   Latency     command to dma_awvalid_o 2 cycles, with regions 3 and what a miss takes; event to
///               its command 1
///   Throughput  a beat of DataWidth a cycle
///   Bounds      with Regions nothing is written outside registered pages but events
///   Parameters  NumLists 1..4; DataWidth as axi_write_engine; Regions 0: addresses are the bus's,
///               else MaxRegions
///   Not done    events in translated memory: the queue's address is the bus's
module nanet_memory
  import nanet_pkg::*;
#(
  parameter  int unsigned NumLists   = 1,
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned Regions    = 0,
  localparam int unsigned DataBytes  = DataWidth / 8,
  localparam int unsigned BytesW     = $clog2(MaxCommand) + 1,
  localparam int unsigned ListW      = NumLists > 1 ? $clog2(NumLists) : 1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  nanet_ctrl_pkg::control_t control_i,

  input  logic [NumLists-1:0]                cmd_valid_i,
  output logic [NumLists-1:0]                cmd_ready_o,
  input  region_key_t [NumLists-1:0]         cmd_key_i,
  input  logic [NumLists-1:0][63:0]          cmd_addr_i,
  input  logic [NumLists-1:0][BytesW-1:0]    cmd_bytes_i,
  input  logic [NumLists-1:0]                data_valid_i,
  output logic [NumLists-1:0]                data_ready_o,
  input  logic [NumLists-1:0]                data_keep_i,
  input  logic [NumLists-1:0]                data_last_i,
  input  logic [NumLists-1:0][DataWidth-1:0] data_i,
  output logic [NumLists-1:0]                done_valid_o,
  output logic                               done_error_o,

  input  logic [NumLists-1:0]   event_valid_i,
  output logic [NumLists-1:0]   event_ready_o,
  input  event_t [NumLists-1:0] event_i,
  output logic                  full_o,
  output logic                  event_done_o,  // strobe: memory has answered an event
  output logic                  irq_o,

  output logic                  awvalid_o,
  input  logic                  awready_i,
  output axi_pkg::address_t     aw_o,
  output logic                  wvalid_o,
  input  logic                  wready_i,
  output logic [DataWidth-1:0]  wdata_o,
  output logic [DataBytes-1:0]  wstrb_o,
  output logic                  wlast_o,
  input  logic                  bvalid_i,
  output logic                  bready_o,
  input  logic [1:0]            bresp_i,
  output logic                  arvalid_o,
  input  logic                  arready_i,
  output axi_pkg::address_t     ar_o,
  input  logic                  rvalid_i,
  output logic                  rready_o,
  input  logic [DataWidth-1:0]  rdata_i,
  input  logic [1:0]            rresp_i,

  output logic [15:0]           written_o,     // events
  output logic [15:0]           lost_o,
  output logic [31:0]           errors_o,      // commands answered with an error
  output translations_t         translations_o,
  output logic                  idle_o
);
  localparam int unsigned NumSources = NumLists + 1;  // and the event queue
  localparam int unsigned TagW       = $clog2(NumSources);
  localparam int unsigned EventBytes = 32;

  if (Regions != 0 && Regions != MaxRegions) begin : gen_regions_check
    $error("nanet_memory: Regions is %0d, legal are 0 and %0d", Regions, MaxRegions);
  end

  // ---------------------------------------------------------------- events
  logic [NumLists-1:0] event_gnt;
  logic [ListW-1:0] event_idx;
  logic queue_ready, queue_idle, event_cmd, event_cmd_ready, event_data, event_data_ready;
  logic event_last;
  logic [63:0] event_addr;
  logic [DataWidth-1:0] event_beat;
  logic [31:0] queue_lost;
  assign event_ready_o = event_gnt & {NumLists{queue_ready}};

  arb_rr #(
    .NumReq(NumLists)
  ) u_event_arb (
    .clk_i,
    .rst_ni,
    .req_i (event_valid_i),
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
    .event_valid_i(event_valid_i != '0),
    .event_ready_o(queue_ready),
    .event_i      (event_i[event_idx]),
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
  logic m_valid, m_ready, m_data_valid, m_data_ready, m_keep, m_last;
  region_key_t m_key;
  logic [63:0] m_addr;
  logic [BytesW-1:0] m_bytes;
  logic [TagW-1:0] m_tag;
  logic [DataWidth-1:0] m_data;

  nanet_mux #(
    .NumSources(NumSources),
    .DataWidth (DataWidth),
    .BytesW    (BytesW)
  ) u_mux (
    .clk_i,
    .rst_ni,
    .cmd_valid_i ({event_cmd, cmd_valid_i}),
    .cmd_ready_o ({event_cmd_ready, cmd_ready_o}),
    .cmd_key_i   ({region_key_t'('0), cmd_key_i}),
    .cmd_addr_i  ({event_addr, cmd_addr_i}),
    .cmd_bytes_i ({BytesW'(EventBytes), cmd_bytes_i}),
    .data_valid_i({event_data, data_valid_i}),
    .data_ready_o({event_data_ready, data_ready_o}),
    .data_keep_i ({1'b1, data_keep_i}),
    .data_last_i ({event_last, data_last_i}),
    .data_i      ({event_beat, data_i}),
    .cmd_valid_o (m_valid),
    .cmd_ready_i (m_ready),
    .cmd_key_o   (m_key),
    .cmd_addr_o  (m_addr),
    .cmd_bytes_o (m_bytes),
    .cmd_tag_o   (m_tag),
    .data_valid_o(m_data_valid),
    .data_ready_i(m_data_ready),
    .data_keep_o (m_keep),
    .data_last_o (m_last),
    .data_o      (m_data)
  );

  logic e_valid, e_ready, e_data_valid, e_data_ready, e_done, e_error, engine_idle;
  logic [63:0] e_addr;
  logic [BytesW-1:0] e_bytes;
  logic [TagW-1:0] e_tag, e_done_tag, done_tag;
  logic done_valid, translate_idle;

  if (Regions != 0) begin : gen_regions
    nanet_translate #(
      .DataWidth(DataWidth),
      .BytesW   (BytesW),
      .TagW     (TagW)
    ) u_translate (
      .clk_i,
      .rst_ni,
      .region_we_i        (control_i.region_we),
      .region_index_i     (control_i.region_index),
      .region_i           (control_i.region),
      .cmd_valid_i        (m_valid),
      .cmd_ready_o        (m_ready),
      .cmd_direct_i       (m_tag == TagW'(NumLists)),
      .cmd_key_i          (m_key),
      .cmd_addr_i         (m_addr),
      .cmd_bytes_i        (m_bytes),
      .cmd_tag_i          (m_tag),
      .data_valid_i       (m_data_valid),
      .data_ready_o       (m_data_ready),
      .data_last_i        (m_last),
      .done_valid_o       (done_valid),
      .done_tag_o         (done_tag),
      .done_error_o,
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
      .arvalid_o,
      .arready_i,
      .ar_o,
      .rvalid_i,
      .rready_o,
      .rdata_i,
      .rresp_i,
      .counters_o         (translations_o),
      .idle_o             (translate_idle)
    );
  end else begin : gen_no_regions
    assign e_valid        = m_valid;
    assign m_ready        = e_ready;
    assign e_addr         = m_addr;
    assign e_bytes        = m_bytes;
    assign e_tag          = m_tag;
    assign e_data_valid   = m_data_valid;
    assign m_data_ready   = e_data_ready;
    assign done_valid     = e_done;
    assign done_tag       = e_done_tag;
    assign done_error_o   = e_error;
    assign translations_o = '0;
    assign translate_idle = 1'b1;
    // Nothing is read.
    assign arvalid_o      = 1'b0;
    assign ar_o           = '0;
    assign rready_o       = 1'b1;
    logic unused;
    assign unused = ^{m_key, m_last, arready_i, rvalid_i, rdata_i, rresp_i,
                      control_i.region_we, control_i.region_index, control_i.region};
  end

  axi_write_engine #(
    .DataWidth (DataWidth),
    .BurstBytes(ChunkBytes),
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
    .data_keep_i (m_keep),
    .data_i      (m_data),
    .done_valid_o(e_done),
    .done_tag_o  (e_done_tag),
    .done_error_o(e_error),
    .awvalid_o,
    .awready_i,
    .aw_o,
    .wvalid_o,
    .wready_i,
    .wdata_o,
    .wstrb_o,
    .wlast_o,
    .bvalid_i,
    .bready_o,
    .bresp_i,
    .idle_o      (engine_idle)
  );
  for (genvar i = 0; i < int'(NumLists); i++) begin : gen_done
    assign done_valid_o[i] = done_valid && done_tag == TagW'(i);
  end
  assign event_done_o = done_valid && done_tag == TagW'(NumLists);

  logic [31:0] errors_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) errors_q <= '0;
    else errors_q <= errors_q + 32'(done_valid && done_error_o);
  end
  assign errors_o = errors_q;
  assign idle_o   = queue_idle && engine_idle && translate_idle && event_valid_i == '0;

  logic unused_control;
  assign unused_control = ^{control_i.lists, control_i.table_we, control_i.table_list,
                            control_i.table_index, control_i.table_buffer, control_i.result_we,
                            control_i.result, queue_lost[31:16]};
endmodule
