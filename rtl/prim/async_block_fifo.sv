// SPDX-License-Identifier: SHL-2.1
/// Dual-clock first-word fall-through FIFO in block memory, Gray-coded pointers: wide words, deep
/// queues.
///
///   Handshake   valid/ready on both sides; rdata_o is stable until taken. A word offered while
///               wready_o is low is not stored
///   Ordering    first in, first out        (proved in one clock: formal/prim/async_block_fifo.sby)
///   Latency     from the write edge that takes a word, rvalid_o follows at the (SyncStages + 1)-th
///               read edge with aligned clocks of one frequency, else up to one less
///   Throughput  one word a cycle on both sides
///   Counts      wused_o: places that the writer may not use, at least those that are full;
///               rcount_o: words that can be read one a cycle from now on, at most those that are
///               inside
///   Reset       wrst_ni and rrst_ni must be asserted together and may be released in any order,
///               each synchronously to its clock
///   Parameters  Width 1..1024; Depth a power of two, 16..4096; SyncStages 2..4
///   Board       Gray pointers cross: async_block_fifo.xdc, async_block_fifo.sdc; the memory needs
///               no constraint: a word is read SyncStages read cycles behind its write
///   Not done    the early pointer of async_fifo; packets
module async_block_fifo #(
  parameter  int unsigned Width      = 512,
  parameter  int unsigned Depth      = 512,
  parameter  int unsigned SyncStages = 2,
  localparam int unsigned PtrWidth   = $clog2(Depth) + 1
) (
  input  logic                wclk_i,  // of all w* ports, rising edge
  input  logic                wrst_ni,
  input  logic                wvalid_i,  // a word is offered
  output logic                wready_o,
  input  logic [Width-1:0]    wdata_i,  // taken with wvalid_i and wready_o
  output logic [PtrWidth-1:0] wused_o,

  input  logic                rclk_i,  // of all r* ports, rising edge
  input  logic                rrst_ni,
  output logic                rvalid_o,
  input  logic                rready_i,  // takes rdata_o; it may wait for rvalid_o
  output logic [Width-1:0]    rdata_o,
  output logic [PtrWidth-1:0] rcount_o
);
  if (Width < 1 || Width > 1024) begin : gen_width_check
    $error("async_block_fifo: Width is %0d, legal is 1..1024", Width);
  end
  if (Depth < 16 || Depth > 4096 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("async_block_fifo: Depth is %0d, legal is a power of two, 16..4096", Depth);
  end
  if (SyncStages < 2 || SyncStages > 4) begin : gen_sync_check
    $error("async_block_fifo: SyncStages is %0d, legal is 2..4", SyncStages);
  end

  typedef logic [PtrWidth-1:0] ptr_t;

  function automatic ptr_t binary(ptr_t gray);
    ptr_t value;
    for (int unsigned i = 0; i < PtrWidth; i++) value[i] = ^(gray >> i);
    return value;
  endfunction

  // ---------------------------------------------------------------- write side
  ptr_t wbin_q, wbin_d, wgray_q, rgray_q;
  (* async_reg = "true" *) ptr_t [SyncStages-1:0] wsync_q;
  logic push;

  assign wused_o  = wbin_q - binary(wsync_q[SyncStages-1]);
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

  // ---------------------------------------------------------------- read side
  // A word is fetched from the memory as soon as the one before it is gone; its place is free then.
  ptr_t rbin_q, rbin_d, known;
  (* async_reg = "true" *) ptr_t [SyncStages-1:0] rsync_q;
  logic fetch;

  assign known   = binary(rsync_q[SyncStages-1]) - rbin_q;
  assign fetch    = rgray_q != rsync_q[SyncStages-1] && (!rvalid_o || rready_i);
  assign rbin_d   = rbin_q + 1'b1;
  assign rcount_o = known + ptr_t'(rvalid_o);

  always_ff @(posedge rclk_i or negedge rrst_ni) begin
    if (!rrst_ni) begin
      rbin_q   <= '0;
      rgray_q  <= '0;
      rsync_q  <= '0;
      rvalid_o <= 1'b0;
    end else begin
      rsync_q  <= {rsync_q[SyncStages-2:0], wgray_q};
      rvalid_o <= fetch || (rvalid_o && !rready_i);
      if (fetch) begin
        rbin_q  <= rbin_d;
        rgray_q <= rbin_d ^ (rbin_d >> 1);
      end
    end
  end

  ram_2clk #(
    .Width(Width),
    .Depth(Depth)
  ) u_ram (
    .wclk_i,
    .we_i   (push),
    .waddr_i(wbin_q[PtrWidth-2:0]),
    .wdata_i,
    .rclk_i,
    .re_i   (fetch),
    .raddr_i(rbin_q[PtrWidth-2:0]),
    .rdata_o
  );
endmodule
