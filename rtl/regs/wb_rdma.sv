// SPDX-License-Identifier: SHL-2.1
/// Registers of an RDMA network interface.
///
/// Map: docs/reference/registers.md, "RDMA network interface". The block behind it is generated
/// from rtl/regs/rdma.rdl; this module gives it plain ports.
///
///   Handshake   never stalls; ack one clock after the operation, err for an address or direction
///               that the map lacks
///   Latency     1 cycle; control_o follows a write by one clock, irq_o a strobe by one clock
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation or an interrupt strobe
///   Parameters  NumHosts, NumLinks: readable in LIMITS
module wb_rdma #(
  parameter int unsigned NumHosts = 8,
  parameter int unsigned NumLinks = 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  rdma_ctrl_pkg::state_t   state_i,  // readable; state_i.irq are strobes
  output rdma_ctrl_pkg::control_t control_o,
  output logic                    pending_o,  // level: an unmasked source is set
  output logic                    irq_o,      // one clock: an unmasked source is set anew
  input  logic                    wb_cyc_i,   // wb_*: Wishbone B4 pipelined, taken at cyc & stb
  input  logic                    wb_stb_i,
  input  logic                    wb_we_i,
  input  logic [31:0]             wb_adr_i,  // of a byte in the map
  input  logic [3:0]              wb_sel_i,
  input  logic [31:0]             wb_dat_i,
  output logic                    wb_stall_o,
  output logic                    wb_ack_o,  // one ack or err for each operation, in order
  output logic                    wb_err_o,
  output logic [31:0]             wb_dat_o
);
  rdma_regs_pkg::rdma__in_t  hwif_in;
  rdma_regs_pkg::rdma__out_t hwif_out;

  assign hwif_in.LIMITS.hosts.next  = 4'(NumHosts);
  assign hwif_in.LIMITS.links.next  = 3'(NumLinks);
  assign hwif_in.STATE.running.next = state_i.running;
  assign hwif_in.STATE.ready.next   = state_i.ready;
  assign hwif_in.STATE.up.next      = state_i.up;
  assign hwif_in.IRQ.source0.next   = state_i.irq[0];
  assign hwif_in.IRQ.source1.next   = state_i.irq[1];
  assign hwif_in.IRQ.source2.next   = state_i.irq[2];
  assign hwif_in.IRQ.source3.next   = state_i.irq[3];
  assign hwif_in.IRQ.source4.next   = state_i.irq[4];
  assign hwif_in.IRQ.source5.next   = state_i.irq[5];
  assign hwif_in.IRQ.source6.next   = state_i.irq[6];
  assign hwif_in.IRQ.source7.next   = state_i.irq[7];
  assign hwif_in.GRANTED.value.next          = state_i.counters.granted;
  assign hwif_in.PACKETS_SENT.value.next     = state_i.counters.packets_sent;
  assign hwif_in.PACKETS_TAKEN.value.next    = state_i.counters.packets_taken;
  assign hwif_in.PACKETS_REFUSED.value.next  = state_i.counters.packets_refused;
  assign hwif_in.PACKETS_KNOWN.value.next    = state_i.counters.packets_known;
  assign hwif_in.PACKETS_STRAY.value.next    = state_i.counters.packets_stray;
  assign hwif_in.PACKETS_RETIRED.value.next  = state_i.counters.packets_retired;
  assign hwif_in.PACKETS_LOST.value.next     = state_i.counters.packets_lost;
  assign hwif_in.SESSIONS_OPENED.value.next  = state_i.counters.sessions_opened;
  assign hwif_in.SESSIONS_FAILED.value.next  = state_i.counters.sessions_failed;
  assign hwif_in.PROBES.value.next           = state_i.counters.probes;
  assign hwif_in.POSTS_BAD.value.next        = state_i.counters.posts_bad;
  assign hwif_in.WRITE_ERRORS.value.next     = state_i.counters.write_errors;
  assign hwif_in.RECORDS_LOST.value.next     = state_i.counters.records_lost;
  assign hwif_in.LINK_BAD_01.link0.next      = state_i.link_bad[0];
  assign hwif_in.LINK_BAD_01.link1.next      = state_i.link_bad[1];
  assign hwif_in.LINK_BAD_23.link2.next      = state_i.link_bad[2];
  assign hwif_in.LINK_BAD_23.link3.next      = state_i.link_bad[3];
  assign hwif_in.LINK_INVALID_01.link0.next  = state_i.link_invalid[0];
  assign hwif_in.LINK_INVALID_01.link1.next  = state_i.link_invalid[1];
  assign hwif_in.LINK_INVALID_23.link2.next  = state_i.link_invalid[2];
  assign hwif_in.LINK_INVALID_23.link3.next  = state_i.link_invalid[3];

  assign control_o = '{
      enable: hwif_out.CONTROL.enable.value,
      bench: hwif_out.CONTROL.bench.value,
      links: hwif_out.CONTROL.links.value,
      host: hwif_out.HOST.id.value,
      session: hwif_out.HOST.session.value,
      probe_cycles: hwif_out.PROBE_CYCLES.value.value,
      lost_cycles: hwif_out.LOST_CYCLES.value.value,
      err_base: {hwif_out.ERR_BASE_HI.value.value, hwif_out.ERR_BASE_LO.value.value},
      err_size: hwif_out.ERR_SIZE.value.value,
      err_tail: hwif_out.ERR_TAIL.value.value
  };
  // An interrupt message each time that an unmasked source is set anew. A store to IRQ may clear
  // the source in the clock of its strobe: then the bit stays set, and the message is sent as well.
  logic [7:0] sources, mask, mask_q;
  logic       stored, irq_q;
  assign sources = {
      hwif_out.IRQ.source7.value, hwif_out.IRQ.source6.value,
      hwif_out.IRQ.source5.value, hwif_out.IRQ.source4.value,
      hwif_out.IRQ.source3.value, hwif_out.IRQ.source2.value,
      hwif_out.IRQ.source1.value, hwif_out.IRQ.source0.value
  };
  assign stored  = hwif_out.IRQ.source0.swmod;
  assign mask    = hwif_out.IRQ_MASK.value.value;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mask_q <= '0;
      irq_q  <= 1'b0;
    end else begin
      mask_q <= mask;
      irq_q  <= (state_i.irq & mask & (~sources | {8{stored}})) != '0 ||
                (sources & mask & ~mask_q) != '0;
    end
  end
  assign pending_o = (sources & mask) != '0;
  assign irq_o     = irq_q;

  logic unused;
  assign unused = ^{
      hwif_out.IRQ.intr,
      hwif_out.IRQ.source1.swmod, hwif_out.IRQ.source2.swmod,
      hwif_out.IRQ.source3.swmod, hwif_out.IRQ.source4.swmod,
      hwif_out.IRQ.source5.swmod, hwif_out.IRQ.source6.swmod,
      hwif_out.IRQ.source7.swmod
  };

  rdma_regs u_regs (
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
endmodule
