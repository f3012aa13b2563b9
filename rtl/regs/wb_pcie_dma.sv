// SPDX-License-Identifier: SHL-2.1
/// Registers of the stream DMA engine and of its Etherbone service: read and written by the host,
/// read by the device's own bus too.
///
/// Map: docs/reference/registers.md, "PCIe stream DMA". The block behind it is generated from
/// rtl/regs/pcie_dma.rdl; this module gives it plain ports.
///
///   Handshake   an operation waits for a read's first two clocks, one of the other port also while
///               the host's passes; ack or err in order, err for an address or direction that the
///               map lacks and for a write from the device's own bus
///   Latency     write 1 cycle, read 3; control_o follows a write by one clock
///   Throughput  one write a cycle, a read every third
///   Idle        nothing changes without an operation or an error strobe
module wb_pcie_dma
  import isthmus_regs_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  pcie_dma_pkg::state_t   state_i,        // of pcie_dma; its errors are strobes
  input  pcie_dma_pkg::service_t service_i,      // counters of the Etherbone service
  input  logic [15:0]            max_payload_i,  // readable: bytes of the longest write burst
  input  logic [15:0]            push_limit_i,   // readable: bytes pushed and not yet answered
  input  logic [11:0]            push_next_i,    // readable: offset of the next push
  output pcie_dma_pkg::control_t control_o,
  // from the host
  input  logic        host_wb_cyc_i,
  input  logic        host_wb_stb_i,
  input  logic        host_wb_we_i,
  input  logic [31:0] host_wb_adr_i,
  input  logic [3:0]  host_wb_sel_i,
  input  logic [31:0] host_wb_dat_i,
  output logic        host_wb_stall_o,
  output logic        host_wb_ack_o,
  output logic        host_wb_err_o,
  output logic [31:0] host_wb_dat_o,
  // from the device's own bus, read only
  input  logic        wb_cyc_i,
  input  logic        wb_stb_i,
  input  logic        wb_we_i,
  input  logic [31:0] wb_adr_i,
  input  logic [3:0]  wb_sel_i,
  input  logic [31:0] wb_dat_i,
  output logic        wb_stall_o,
  output logic        wb_ack_o,
  output logic        wb_err_o,
  output logic [31:0] wb_dat_o
);
  logic s_cyc, s_stb, s_we, s_stall, s_ack, s_err, unused_stall;
  logic [31:0] s_adr, s_dat_w, s_dat_r;
  logic [3:0] s_sel;

  pcie_dma_regs_pkg::pcie_dma__in_t  hwif_in;
  pcie_dma_regs_pkg::pcie_dma__out_t hwif_out;

  // A read's second clock chooses among the counters, which come from everywhere; the block, with
  // few sources left, answers in the third. Writes pass at once: a doorbell has no clock to lose.
  logic chosen_q, read_q;
  logic [7:0] read_adr_q;
  logic [31:0] seen_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      chosen_q <= 1'b0;
      read_q   <= 1'b0;
    end else begin
      chosen_q <= s_cyc && s_stb && !s_we && !s_stall;
      read_q   <= chosen_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!s_stall) read_adr_q <= s_adr[7:0];
    if (chosen_q) begin
      unique case ({read_adr_q[7:2], 2'b00})
        PcieDmaReqHead:      seen_q <= state_i.head;
        PcieDmaRepTail:      seen_q <= state_i.tail;
        PcieDmaRingWords:    seen_q <= state_i.counters.ring_words;
        PcieDmaPushWords:    seen_q <= state_i.counters.push_words;
        PcieDmaReplyWords:   seen_q <= state_i.counters.reply_words;
        PcieDmaReadBursts:   seen_q <= state_i.counters.read_bursts;
        PcieDmaWriteBursts:  seen_q <= state_i.counters.write_bursts;
        PcieDmaStatusWrites: seen_q <= state_i.counters.status_writes;
        PcieDmaPushRefused:  seen_q <= state_i.counters.push_refused;
        PcieDmaAxiErrors:    seen_q <= state_i.counters.axi_errors;
        PcieDmaEbRecords:    seen_q <= service_i.records;
        PcieDmaEbBusErrors:  seen_q <= service_i.bus_errors;
        PcieDmaEbTimeouts:   seen_q <= service_i.timeouts;
        default:             seen_q <= service_i.malformed;
      endcase
    end
  end

  assign hwif_in.LIMITS.max_payload.next     = max_payload_i;
  assign hwif_in.LIMITS.push_limit.next      = push_limit_i;
  assign hwif_in.STATE.running.next          = state_i.running;
  assign hwif_in.STATE.draining.next         = state_i.draining;
  assign hwif_in.ERRORS.config_bad.hwset     = state_i.errors.config_bad;
  assign hwif_in.ERRORS.tail_bad.hwset       = state_i.errors.tail_bad;
  assign hwif_in.ERRORS.consumed_bad.hwset   = state_i.errors.consumed_bad;
  assign hwif_in.ERRORS.push_refused.hwset   = state_i.errors.push_refused;
  assign hwif_in.ERRORS.read_response.hwset  = state_i.errors.read_response;
  assign hwif_in.ERRORS.write_response.hwset = state_i.errors.write_response;
  assign hwif_in.PUSH_NEXT.value.next        = push_next_i;
  assign hwif_in.REQ_HEAD.value.next         = seen_q;
  assign hwif_in.REP_TAIL.value.next         = seen_q;
  assign hwif_in.RING_WORDS.value.next       = seen_q;
  assign hwif_in.PUSH_WORDS.value.next       = seen_q;
  assign hwif_in.REPLY_WORDS.value.next      = seen_q;
  assign hwif_in.READ_BURSTS.value.next      = seen_q;
  assign hwif_in.WRITE_BURSTS.value.next     = seen_q;
  assign hwif_in.STATUS_WRITES.value.next    = seen_q;
  assign hwif_in.PUSH_REFUSED.value.next     = seen_q;
  assign hwif_in.AXI_ERRORS.value.next       = seen_q;
  assign hwif_in.EB_RECORDS.value.next       = seen_q;
  assign hwif_in.EB_BUS_ERRORS.value.next    = seen_q;
  assign hwif_in.EB_TIMEOUTS.value.next      = seen_q;
  assign hwif_in.EB_MALFORMED.value.next     = seen_q;

  // The strobe with the value, which is there one clock after the write.
  logic tail_new_q, consumed_new_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_new_q     <= 1'b0;
      consumed_new_q <= 1'b0;
    end else begin
      tail_new_q     <= hwif_out.REQ_TAIL.value.swmod;
      consumed_new_q <= hwif_out.REP_CONSUMED.value.swmod;
    end
  end
  assign control_o = '{
      enable: hwif_out.CONTROL.enable.value,
      irq: hwif_out.CONTROL.irq.value,
      req_base: {hwif_out.REQ_BASE_HI.value.value, hwif_out.REQ_BASE_LO.value.value},
      req_size: hwif_out.REQ_SIZE.value.value,
      rep_base: {hwif_out.REP_BASE_HI.value.value, hwif_out.REP_BASE_LO.value.value},
      rep_size: hwif_out.REP_SIZE.value.value,
      status: {hwif_out.STATUS_HI.value.value, hwif_out.STATUS_LO.value.value},
      tail: hwif_out.REQ_TAIL.value.value,
      tail_new: tail_new_q,
      consumed: hwif_out.REP_CONSUMED.value.value,
      consumed_new: consumed_new_q
  };

  assign s_stall = chosen_q || read_q;

  wb_regs_share u_share (
    .clk_i,
    .rst_ni,
    .a_cyc_i(host_wb_cyc_i),
    .a_stb_i(host_wb_stb_i),
    .a_we_i(host_wb_we_i),
    .a_adr_i(host_wb_adr_i),
    .a_sel_i(host_wb_sel_i),
    .a_dat_i(host_wb_dat_i),
    .a_stall_o(host_wb_stall_o),
    .a_ack_o(host_wb_ack_o),
    .a_err_o(host_wb_err_o),
    .a_dat_o(host_wb_dat_o),
    .b_cyc_i(wb_cyc_i),
    .b_stb_i(wb_stb_i),
    .b_we_i(wb_we_i),
    .b_adr_i(wb_adr_i),
    .b_sel_i(wb_sel_i),
    .b_dat_i(wb_dat_i),
    .b_stall_o(wb_stall_o),
    .b_ack_o(wb_ack_o),
    .b_err_o(wb_err_o),
    .b_dat_o(wb_dat_o),
    .s_cyc_o  (s_cyc),
    .s_stb_o  (s_stb),
    .s_we_o   (s_we),
    .s_adr_o  (s_adr),
    .s_sel_o  (s_sel),
    .s_dat_o  (s_dat_w),
    .s_stall_i(s_stall),
    .s_ack_i  (s_ack),
    .s_err_i  (s_err),
    .s_dat_i  (s_dat_r)
  );

  logic unused;
  assign unused = ^{s_adr[31:8], s_sel, s_dat_w};

  // Only the host writes: its address has no other's to wait for.
  pcie_dma_regs u_regs (
    .clk       (clk_i),
    .arst_n    (rst_ni),
    .wb_cyc_i  (1'b1),
    .wb_stb_i  (read_q || (s_cyc && s_stb && s_we && !s_stall)),
    .wb_we_i   (!read_q),
    .wb_adr_i  (read_q ? 32'(read_adr_q) : host_wb_adr_i),
    .wb_sel_i  (host_wb_sel_i),
    .wb_dat_i  (host_wb_dat_i),
    .wb_stall_o(unused_stall),
    .wb_ack_o  (s_ack),
    .wb_err_o  (s_err),
    .wb_dat_o  (s_dat_r),
    .hwif_in,
    .hwif_out
  );
endmodule
