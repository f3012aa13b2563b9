// SPDX-License-Identifier: SHL-2.1
/// Device: Wishbone slaves on VMEbus, word by word.
///
/// VME pins -> vme_wb -> board_bus: RAM, SDB table, ECA time, TLU.
///
///   Clock       clk_i 125 MHz; the VME pins are asynchronous
///   Latency     docs/explanation/cores/vme.md
///   Parameters  Timeout clocks until a bus operation is answered BERR: less than the bus timer's;
///               SilentSlave 1 adds a slave that never answers, to test just that
///   Not done    control registers beside vme_wb's own: counters are on status_*_o only; interrupts
module vme_wishbone
  import vme_wishbone_pkg::*;
#(
  parameter int unsigned Timeout = 1_000,
  parameter bit SilentSlave = 1'b0,
  parameter int unsigned NumTriggers = 4
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        vme_as_ni,      // vme_*: asynchronous, as vme_wb; address strobe
  input  logic [ 1:0] vme_ds_ni,      // data strobes DS1, DS0
  input  logic        vme_write_ni,   // low: a write
  input  logic        vme_lword_ni,   // low, with both data strobes and A01: 32 bits
  input  logic        vme_iack_ni,    // low: an interrupt cycle, not for this slave
  input  logic [ 5:0] vme_am_i,       // address modifier
  input  logic [30:0] vme_addr_i,     // A31..A01
  input  logic [31:0] vme_data_i,     // of a write
  output logic [31:0] vme_data_o,     // of a read
  output logic        vme_data_oe_o,  // drives vme_data_o
  output logic        vme_dtack_no,   // low: done
  output logic        vme_berr_no,    // low: failed

  input logic [6:0] cfg_vme_base_i,  // A31..A25 of the device's 32 MiB; constant

  input logic [63:0] time_ns_i,             // TAI in ns
  input logic [NumTriggers-1:0] trigger_i,  // asynchronous; edges are latched, a channel a bit

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // running number of the access

  output logic [31:0] status_accesses_o,    // on the bus, to other slaves too; all status_* wrap
  output logic [31:0] status_operations_o,  // taken by the bus
  output logic [31:0] status_bus_errors_o,  // operations answered err
  output logic [31:0] status_timeouts_o,    // operations not answered for Timeout clocks

  output logic idle_o  // nothing changes until an input does
);
  logic cyc, stb, we, stall, ack, err;
  logic [31:0] adr, dat_w, dat_r;
  logic [3:0] sel;
  logic strobe, operation, bus_error, timeout, answer, vme_idle, bus_idle;

  vme_wb #(
    .Timeout(Timeout)
  ) u_vme (
    .clk_i,
    .rst_ni,
    .vme_as_ni,
    .vme_ds_ni,
    .vme_write_ni,
    .vme_lword_ni,
    .vme_iack_ni,
    .vme_am_i,
    .vme_addr_i,
    .vme_data_i,
    .vme_data_o,
    .vme_data_oe_o,
    .vme_dtack_no,
    .vme_berr_no,
    .base_i       (cfg_vme_base_i),
    .sdb_address_i(board_bus_pkg::SdbBase),
    .wb_cyc_o     (cyc),
    .wb_stb_o     (stb),
    .wb_we_o      (we),
    .wb_adr_o     (adr),
    .wb_sel_o     (sel),
    .wb_dat_o     (dat_w),
    .wb_stall_i   (stall),
    .wb_ack_i     (ack),
    .wb_err_i     (err),
    .wb_dat_i     (dat_r),
    .access_o     (strobe),
    .operation_o  (operation),
    .bus_error_o  (bus_error),
    .timeout_o    (timeout),
    .answer_o     (answer),
    .idle_o       (vme_idle)
  );

  board_bus #(
    .CtrlSlave  (1'b0),
    .SilentSlave(SilentSlave),
    .NumTriggers(NumTriggers)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .time_ns_i,
    .trigger_i,
    .wb_i  ({cyc, stb, we, adr, sel, dat_w}),
    .wb_o  ({stall, ack, err, dat_r}),
    .ctrl_o(),
    .ctrl_i('0),
    .idle_o(bus_idle)
  );

  // ---------------------------------------------------------------- counters and probes
  logic [31:0] accesses_q, operations_q, bus_errors_q, timeouts_q;
  logic [1:0] answered_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      accesses_q   <= '0;
      operations_q <= '0;
      bus_errors_q <= '0;
      timeouts_q   <= '0;
      answered_q   <= '0;
    end else begin
      accesses_q   <= accesses_q + 32'(strobe);
      operations_q <= operations_q + 32'(operation);
      bus_errors_q <= bus_errors_q + 32'(bus_error);
      timeouts_q   <= timeouts_q + 32'(timeout);
      answered_q   <= {answered_q[0], answer};
    end
  end
  assign status_accesses_o   = accesses_q;
  assign status_operations_o = operations_q;
  assign status_bus_errors_o = bus_errors_q;
  assign status_timeouts_o   = timeouts_q;

  logic [7:0] tag;
  assign tag = strobe ? accesses_q[7:0] : accesses_q[7:0] - 8'd1;
  always_comb begin
    probe_o            = '0;
    probe_o[VmeStrobe] = strobe;
    probe_o[WbIssue]   = operation;
    probe_o[WbAnswer]  = answer;
    probe_o[VmeAnswer] = answered_q[0];
  end
  assign probe_tag_o = {NumProbes{tag}};

  assign idle_o = vme_idle && bus_idle && answered_q == '0;
endmodule
