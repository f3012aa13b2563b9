// SPDX-License-Identifier: SHL-2.1
/// Registers of a UDP-to-memory interface.
///
/// Map: docs/reference/registers.md, "UDP-to-memory interface". The block behind it is generated
/// from rtl/regs/nanet.rdl; this module gives it plain ports.
///
///   Handshake   never stalls; ack one clock after the operation, err for an address or direction
///               that the map lacks
///   Latency     1 cycle; control_o follows a write by one clock, its strobe by two
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation
///   Parameters  NumPorts, MaxBuffers, NumRegions, Send, Put, Merge, Release: readable in
///               VERSION
module wb_nanet #(
  parameter int unsigned NumPorts   = 1,
  parameter int unsigned MaxBuffers = 64,
  parameter int unsigned NumRegions = 0,
  parameter bit          Send       = 1'b0,
  parameter bit          Put        = 1'b0,
  parameter bit          Merge      = 1'b0,
  parameter bit          Release    = 1'b0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  nanet_ctrl_pkg::state_t   state_i,  // readable; the map says which field is where
  output nanet_ctrl_pkg::control_t control_o,
  input  logic                     wb_cyc_i,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb
  input  logic                     wb_stb_i,
  input  logic                     wb_we_i,
  input  logic [31:0]              wb_adr_i,  // of a byte in the map
  input  logic [3:0]               wb_sel_i,
  input  logic [31:0]              wb_dat_i,
  output logic                     wb_stall_o,
  output logic                     wb_ack_o,  // one ack or err for each operation, in order
  output logic                     wb_err_o,
  output logic [31:0]              wb_dat_o
);
  nanet_regs_pkg::nanet__in_t  hwif_in;
  nanet_regs_pkg::nanet__out_t hwif_out;

  assign hwif_in.VERSION.ports.next      = 4'(NumPorts);
  assign hwif_in.VERSION.buffers.next    = 8'(MaxBuffers);
  assign hwif_in.VERSION.regions.next    = 5'(NumRegions);
  assign hwif_in.VERSION.send.next       = Send;
  assign hwif_in.VERSION.put.next        = Put;
  assign hwif_in.VERSION.merge.next      = Merge;
  assign hwif_in.VERSION.releases.next   = Release;
  assign hwif_in.CONTROL.ready.next      = state_i.ready;
  assign hwif_in.EVENTS.written.next     = state_i.written;
  assign hwif_in.EVENTS.lost.next        = state_i.events_lost;
  assign hwif_in.WRITE_ERRORS.value.next = state_i.write_errors;
  assign hwif_in.TRANSLATED.value.next   = state_i.translations.translated;
  assign hwif_in.WALKS.value.next        = state_i.translations.walks;
  assign hwif_in.REFUSED.value.next      = state_i.translations.refused;
  assign hwif_in.REFUSED.longest.next    = state_i.translations.longest;
  for (genvar i = 0; i < int'(nanet_ctrl_pkg::NumLists); i++) begin : gen_list
    assign hwif_in.LIST_FILLED[i].value.next   = state_i.filled[i];
    assign hwif_in.FRAMES[i].good.next         = state_i.counters[i].frames_good;
    assign hwif_in.FRAMES[i].bad.next          = state_i.counters[i].frames_bad;
    assign hwif_in.OVERFLOW[i].other.next      = state_i.counters[i].frames_other;
    assign hwif_in.OVERFLOW[i].overflow.next   = state_i.counters[i].overflow;
    assign hwif_in.NO_BUFFER[i].closed.next    = state_i.counters[i].closed;
    assign hwif_in.NO_BUFFER[i].no_buffer.next = state_i.counters[i].no_buffer;
    assign hwif_in.BAD[i].too_long.next        = state_i.counters[i].too_long;
    assign hwif_in.BAD[i].bad.next             = state_i.counters[i].bad;
    assign hwif_in.NO_EVENT[i].value.next      = state_i.counters[i].no_event;
    assign hwif_in.LIST_FILLED[i].echo_lost.next = state_i.counters[i].echo_lost;
    assign hwif_in.NO_EVENT[i].overwritten.next = state_i.counters[i].overwritten;
    assign hwif_in.DELIVERED[i].value.next     = state_i.counters[i].delivered;

    assign control_o.lists[i] = '{
        enable: hwif_out.LIST[i].enable.value && hwif_out.CONTROL.enable.value,
        buffers: hwif_out.LIST[i].buffers.value,
        datagrams: hwif_out.LIST[i].datagrams.value,
        policy: hwif_out.LIST[i].policy.value,
        echo: hwif_out.LIST[i].echo.value,
        flush: hwif_out.LIST_FLUSH[i].value.value,
        returned: hwif_out.LIST_RETURNED[i].value.value
    };
  end
  assign control_o.enable       = hwif_out.CONTROL.enable.value;
  assign control_o.irq_enable   = hwif_out.CONTROL.irq.value;
  assign control_o.irq_gap      = hwif_out.IRQ_GAP.value.value;
  assign control_o.queue_base   = {hwif_out.QUEUE_HI.value.value, hwif_out.QUEUE_LO.value.value};
  assign control_o.queue_size   = hwif_out.QUEUE_SIZE.value.value;
  assign control_o.queue_taken  = hwif_out.QUEUE_TAKEN.value.value;
  assign control_o.table_list   = hwif_out.BUFFER_SET.list.value;
  assign control_o.table_index  = hwif_out.BUFFER_SET.index.value;
  assign control_o.table_buffer = '{
      key: hwif_out.BUFFER_KEY.value.value,
      base: {hwif_out.BUFFER_HI.value.value, hwif_out.BUFFER_LO.value.value[31:6]},
      bytes: hwif_out.BUFFER_BYTES.value.value
  };
  // swmod is high in the clock of the store: the number is there in the next.
  logic set_q, region_q, result_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      set_q    <= 1'b0;
      region_q <= 1'b0;
      result_q <= 1'b0;
    end else begin
      set_q    <= hwif_out.BUFFER_SET.index.swmod;
      region_q <= hwif_out.REGION_SET.index.swmod;
      result_q <= hwif_out.RESULT.value.swmod;
    end
  end
  assign control_o.result_we    = result_q;
  assign control_o.result       = hwif_out.RESULT.value.value;
  assign control_o.table_we     = set_q;
  assign control_o.region_we    = region_q;
  assign control_o.region_index = hwif_out.REGION_SET.index.value;
  assign control_o.region       = '{
      valid: hwif_out.REGION_SET.valid.value,
      key: '{check: hwif_out.REGION_SET.check.value, index: hwif_out.REGION_SET.index.value},
      size: hwif_out.REGION_SET.size.value,
      pages: hwif_out.REGION_PAGES.value.value,
      pages_at: {hwif_out.REGION_HI.value.value, hwif_out.REGION_LO.value.value[31:3]}
  };

  nanet_regs u_regs (
    .clk   (clk_i),
    .arst_n(rst_ni),
    .wb_cyc_i,
    .wb_stb_i,
    .wb_we_i,
    .wb_adr_i,
    .wb_sel_i,
    .wb_dat_i,
    .wb_stall_o,
    .wb_ack_o,
    .wb_err_o,
    .wb_dat_o,
    .hwif_in,
    .hwif_out
  );

  logic unused;
  assign unused = ^{hwif_out.BUFFER_LO.value.value[5:0], hwif_out.REGION_LO.value.value[2:0]};
endmodule
