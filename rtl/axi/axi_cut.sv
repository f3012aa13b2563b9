// SPDX-License-Identifier: SHL-2.1
/// Commands of any length in, addresses of their bursts out: the one place where bursts are cut.
///
/// A part of axi_read_engine, axi_write_engine and of masters with a data path of their own.
///
///   Handshake   cmd_* is valid/ready; cmd_bytes_i may grow until it is taken, cmd_valid_i may
///               fall. burst_* is valid/ready, stable until taken or stopped. stop_i drops what is
///               behind the burst on offer; without one (offered_i low) the command ends at once.
///               burst_part_i with burst_ready_i: only the first burst_units_i granules are taken,
///               fewer than burst_units_o; the next burst begins behind them
///   Ordering    the bursts of a command are its bytes, in order  (proved: formal/axi/axi_cut.sby)
///   Bursts      end at multiples of BurstBytes, which divides 4 KiB: no burst crosses a page
///   Held        with Held 1 nothing of a command is stored: it stays at cmd_* until its last burst
///               is taken, has at most two, cannot be stopped, and its bursts are taken whole
///                                                       (proved: formal/axi/axi_cut_held.sby)
///   Latency     command to burst_valid_o 1 cycle; with Held none
///   Throughput  a burst a cycle, over commands too
///   Parameters  DataWidth 64, 128, 256, 512; Granule: addresses and lengths are multiples of so
///               many bytes, a power of two 1..DataWidth/8; BurstBytes a power of two,
///               DataWidth/8..4096; MaxBytes of a command, a power of two from 64 on; the
///               smaller of both at most 256 beats; Held, with MaxBytes at most BurstBytes
///   Not done    commands of no bytes, or over the end of the address space
module axi_cut #(
  parameter  int unsigned DataWidth  = 64,
  parameter  int unsigned Granule    = 1,
  parameter  int unsigned BurstBytes = 256,
  parameter  int unsigned MaxBytes   = 4096,
  parameter  bit          Held       = 1'b0,
  localparam int unsigned DataBytes  = DataWidth / 8,
  localparam int unsigned BytesW     = $clog2(MaxBytes) + 1,
  localparam int unsigned Parts      = DataBytes / Granule,            // of a beat
  localparam int unsigned PartW      = Parts == 1 ? 1 : $clog2(Parts),
  localparam int unsigned UnitsW     = $clog2(BurstBytes / Granule) + 1,
  localparam int unsigned LeftW      = $clog2(MaxBytes / Granule) + 1
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic              cmd_valid_i,
  output logic              cmd_ready_o,
  input  logic [63:0]       cmd_addr_i,
  input  logic [BytesW-1:0] cmd_bytes_i,
  input  logic              stop_i,

  output logic              burst_valid_o,
  input  logic              burst_ready_i,
  input  logic              burst_part_i,
  input  logic [UnitsW-1:0] burst_units_i,  // granules that are taken of it, with burst_part_i
  output logic [UnitsW-1:0] burst_units_o,  // that it has
  input  logic              offered_i,      // the burst is on the bus, or will be
  output axi_pkg::address_t burst_o,
  output logic [PartW-1:0]  burst_first_o,  // granule of the first beat that has the first byte
  output logic [PartW-1:0]  burst_final_o,  // and of the last beat that has the last
  output logic              burst_last_o,   // of its command
  output logic [LeftW-1:0]  burst_left_o    // granules of its command, from this burst on
);
  localparam int unsigned GranuleW = $clog2(Granule);
  localparam int unsigned BeatW    = $clog2(Parts);               // granules of a beat
  localparam int unsigned BurstW   = $clog2(BurstBytes / Granule);
  localparam int unsigned PastW    = $clog2((BurstBytes + MaxBytes) / Granule);

  if (DataWidth != 64 && DataWidth != 128 && DataWidth != 256 && DataWidth != 512)
  begin : gen_width_check
    $error("axi_cut: DataWidth is %0d, legal are 64, 128, 256 and 512", DataWidth);
  end
  if (Granule < 1 || Granule > DataBytes || (Granule & (Granule - 1)) != 0)
  begin : gen_granule_check
    $error("axi_cut: Granule is %0d, legal are powers of two 1..%0d", Granule, DataBytes);
  end
  if (BurstBytes < DataBytes || BurstBytes > 4096 || (BurstBytes & (BurstBytes - 1)) != 0 ||
      (BurstBytes > 256 * DataBytes && MaxBytes > 256 * DataBytes)) begin : gen_burst_check
    $error("axi_cut: BurstBytes is %0d, legal are powers of two %0d..4096, of 256 beats",
           BurstBytes, DataBytes);
  end
  if (MaxBytes < 64 || (MaxBytes & (MaxBytes - 1)) != 0) begin : gen_bytes_check
    $error("axi_cut: MaxBytes is %0d, legal are powers of two from 64 on", MaxBytes);
  end

  if (Held && MaxBytes > BurstBytes) begin : gen_held_check
    $error("axi_cut: with Held MaxBytes is %0d, at most BurstBytes", MaxBytes);
  end

  // In granules. A window is what a burst may lie in: BurstBytes from a multiple of BurstBytes on.
  typedef logic [PastW-1:0] past_t;
  logic               valid, ready, more;
  logic [63:GranuleW] addr;  // of the burst
  logic [BurstW-1:0]  low, high;
  logic [UnitsW-1:0]  granules;  // of the burst
  logic [LeftW-1:0]   left;

  if (Held) begin : gen_held
    // It reaches past its window only from the window's last MaxBytes on: a short sum.
    localparam int unsigned ShortW = $clog2(MaxBytes / Granule);
    logic              second_q, crosses;
    logic [BurstW-1:0] from;    // in the window
    logic [ShortW:0]   count, to_edge, behind, size;  // behind: what follows the command, in those
    assign from    = cmd_addr_i[GranuleW+:BurstW];
    assign count   = (ShortW + 1)'(cmd_bytes_i >> GranuleW);
    assign behind  = {1'b0, from[ShortW-1:0]} + count;
    assign crosses = (~from >> ShortW) == '0 && behind[ShortW] && behind[ShortW-1:0] != '0;
    assign to_edge = -(ShortW + 1)'(from);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) second_q <= 1'b0;
      else if (burst_ready_i) second_q <= more;
    end
    assign valid = cmd_valid_i;
    assign ready = burst_ready_i && !more;
    assign more  = crosses && !second_q;
    assign size  = more ? to_edge : second_q ? {1'b0, behind[ShortW-1:0]} : count;
    assign granules = UnitsW'(size);
    assign left  = second_q ? LeftW'(behind[ShortW-1:0]) : LeftW'(count);
    assign addr  = {cmd_addr_i[63:GranuleW+BurstW] + (64 - GranuleW - BurstW)'(second_q),
                    second_q ? BurstW'(0) : from};
    assign low   = addr[GranuleW+:BurstW];
    assign high  = low + BurstW'(granules) - BurstW'(1);

    logic unused_held;
    assign unused_held = &{1'b0, stop_i, offered_i, burst_part_i, burst_units_i};
  end else begin : gen_stored
    logic               busy_q, take, taken, step;
    logic [63:GranuleW] addr_q;
    past_t              past_q;  // behind the command's last granule, from the window on
    assign take  = cmd_valid_i && cmd_ready_o;
    assign taken = busy_q && burst_ready_i;
    assign step  = taken && !burst_part_i;
    assign more  = (past_q >> (BurstW + 1)) != '0 || (past_q[BurstW] && past_q[BurstW-1:0] != '0);
    assign low   = addr_q[GranuleW+:BurstW];
    assign high  = more ? '1 : past_q[BurstW-1:0] - BurstW'(1);

    assign valid = busy_q;
    assign ready = !busy_q || (step && !more);
    assign addr  = addr_q;
    assign left  = LeftW'(past_q) - LeftW'(low);
    assign granules = (more ? UnitsW'(BurstBytes / Granule) : past_q[UnitsW-1:0]) - UnitsW'(low);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) busy_q <= 1'b0;
      else if (take) busy_q <= 1'b1;
      else if ((step && !more) || (stop_i && (taken || !offered_i))) busy_q <= 1'b0;
    end

    always_ff @(posedge clk_i) begin
      if (take) begin
        addr_q <= cmd_addr_i[63:GranuleW];
        past_q <= past_t'(cmd_addr_i[GranuleW+:BurstW]) + past_t'(cmd_bytes_i >> GranuleW);
      end else if (taken && burst_part_i) begin
        addr_q[GranuleW+:BurstW] <= low + burst_units_i[BurstW-1:0];
      end else if (step) begin
        addr_q <= {addr_q[63:GranuleW+BurstW] + (64 - GranuleW - BurstW)'(1), BurstW'(0)};
        past_q <= past_q - (past_t'(1) << BurstW);
      end
    end

    logic unused_units;
    assign unused_units = burst_units_i[BurstW];
  end

  assign cmd_ready_o   = ready;
  assign burst_valid_o = valid;
  assign burst_o = '{
      addr: 64'({addr >> BeatW, (GranuleW + BeatW)'(0)}),
      len: 8'(high >> BeatW) - 8'(low >> BeatW),
      size: 3'($clog2(DataBytes)),
      burst: axi_pkg::BurstIncr
  };
  assign burst_first_o = Parts == 1 ? '0 : PartW'(low);
  assign burst_final_o = Parts == 1 ? '0 : PartW'(high);
  assign burst_last_o  = !more;
  assign burst_left_o  = left;
  assign burst_units_o = granules;

  logic unused;
  assign unused = &{1'b0, cmd_addr_i, cmd_bytes_i};
endmodule
