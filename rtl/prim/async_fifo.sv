// SPDX-License-Identifier: SHL-2.1
/// Dual-clock first-word fall-through FIFO in distributed memory, Gray-coded pointers.
///
///   Handshake   valid/ready on both sides; rdata_o is stable until taken. A word offered while
///               wready_o is low is not stored: the writer must see to it
///   Ordering    first in, first out
///   Latency     from the write edge that takes a word, rvalid_o follows at the SyncStages-th read
///               edge: SyncStages cycles with aligned clocks of one frequency, else up to one less
///   Throughput  one word a cycle on both sides
///   Reset       wrst_ni and rrst_ni must be asserted together and may be released in any order,
///               each synchronously to its clock
///   Parameters  Width 1..1024; Depth a power of two, 8..64; SyncStages 2..4;
///               EarlyPointer 0: a word enters the memory at the write edge that takes it.
///               EarlyPointer 1: that edge only captures it in a register (which may sit in the I/O
///               cell) and publishes the pointer; the memory follows one write period later, while
///               the pointer is still being synchronized. So an input register costs no latency.
///               Legal while the write period is at most 1.25 read periods; the path from memory
///               to the reader's first register has SyncStages - 1.25 read periods (set_max_delay)
///   Not done    usage counts, almost-full
module async_fifo #(
  parameter int unsigned Width        = 8,
  parameter int unsigned Depth        = 16,
  parameter int unsigned SyncStages   = 2,
  parameter bit          EarlyPointer = 1'b0
) (
  input  logic             wclk_i,  // of all w* ports, rising edge
  input  logic             wrst_ni,
  input  logic             wvalid_i,  // a word is offered
  output logic             wready_o,
  input  logic [Width-1:0] wdata_i,  // taken with wvalid_i and wready_o

  input  logic             rclk_i,  // of all r* ports, rising edge
  input  logic             rrst_ni,
  output logic             rvalid_o,
  input  logic             rready_i,  // takes rdata_o; it may wait for rvalid_o
  output logic [Width-1:0] rdata_o,

  // Empty, and no pointer in a synchronizer. Looks across the domains: for simulation kernels and
  // probes, not for logic; 0 in synthesis.
  output logic             settled_o
);
  if (Width < 1 || Width > 1024) begin : gen_width_check
    $error("async_fifo: Width is %0d, legal is 1..1024", Width);
  end
  if (Depth < 8 || Depth > 64 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("async_fifo: Depth is %0d, legal is a power of two, 8..64", Depth);
  end
  if (SyncStages < 2 || SyncStages > 4) begin : gen_sync_check
    $error("async_fifo: SyncStages is %0d, legal is 2..4", SyncStages);
  end

  localparam int unsigned PtrWidth = $clog2(Depth) + 1;
  typedef logic [PtrWidth-1:0] ptr_t;

  logic [Width-1:0] mem_q [Depth];

  // Write side
  ptr_t wbin_q, wbin_d, wgray_q, rgray_q;
  // The read pointer, seen from the write side
  (* async_reg = "true" *) ptr_t [SyncStages-1:0] wsync_q;
  logic push;

  // Full: the Gray codes differ in exactly their two top bits.
  assign wready_o = wgray_q != {~wsync_q[SyncStages-1][PtrWidth-1-:2],
                                wsync_q[SyncStages-1][PtrWidth-3:0]};
  assign push     = wvalid_i && wready_o;
  assign wbin_d   = wbin_q + 1'b1;

  always_ff @(posedge wclk_i or negedge wrst_ni) begin
    if (!wrst_ni) begin
      wbin_q  <= '0;
      wgray_q <= '0;
      wsync_q <= '0;
    end else begin
      wsync_q <= {wsync_q[SyncStages-2:0], rgray_q};
      if (push) begin
        wbin_q  <= wbin_d;
        wgray_q <= wbin_d ^ (wbin_d >> 1);
      end
    end
  end

  logic write_pending;
  if (EarlyPointer) begin : gen_early
    logic             wen_q;
    logic [Width-1:0] wdata_q;
    logic [PtrWidth-2:0] waddr_q;

    always_ff @(posedge wclk_i or negedge wrst_ni) begin
      if (!wrst_ni) wen_q <= 1'b0;
      else          wen_q <= push;
    end
    always_ff @(posedge wclk_i) begin
      wdata_q <= wdata_i;
      waddr_q <= wbin_q[PtrWidth-2:0];
      if (wen_q) mem_q[waddr_q] <= wdata_q;
    end
    assign write_pending = wen_q;
  end else begin : gen_direct
    always_ff @(posedge wclk_i) begin
      if (push) mem_q[wbin_q[PtrWidth-2:0]] <= wdata_i;
    end
    assign write_pending = 1'b0;
  end

  // Read side
  ptr_t rbin_q, rbin_d;
  // The write pointer, seen from the read side
  (* async_reg = "true" *) ptr_t [SyncStages-1:0] rsync_q;

  assign rvalid_o = rgray_q != rsync_q[SyncStages-1];
  assign rdata_o  = mem_q[rbin_q[PtrWidth-2:0]];
  assign rbin_d   = rbin_q + 1'b1;

  always_ff @(posedge rclk_i or negedge rrst_ni) begin
    if (!rrst_ni) begin
      rbin_q  <= '0;
      rgray_q <= '0;
      rsync_q <= '0;
    end else begin
      rsync_q <= {rsync_q[SyncStages-2:0], wgray_q};
      if (rvalid_o && rready_i) begin
        rbin_q  <= rbin_d;
        rgray_q <= rbin_d ^ (rbin_d >> 1);
      end
    end
  end

`ifdef SYNTHESIS
  logic unused;
  assign unused    = &{1'b0, write_pending};
  assign settled_o = 1'b0;
`else
  assign settled_o = !write_pending && rsync_q == {SyncStages{wgray_q}} && rgray_q == wgray_q &&
                     wsync_q == {SyncStages{rgray_q}};
`endif
endmodule
