// SPDX-License-Identifier: SHL-2.1
/// Timestamp latch unit: latches the time of edges on trigger inputs, one FIFO a channel.
///
/// Map: docs/reference/registers.md, "Timestamp latch unit". Words count units of 8 ns; the rest
/// is in FTSSUB.
///
///   Handshake   never stalls; ack one cycle after the operation, err for an address or direction
///               that the map lacks, for a write narrower than 32 bits, for a pop of an empty
///               channel and for the selection of a channel that does not exist
///   Latency     1 cycle on the bus; a timestamp can be read 3 cycles after the clock edge that
///               first sampled the input
///   Throughput  one operation a cycle; a channel latches an edge every 2 cycles
///   Time        a timestamp is time_ns_i at the clock edge that first sampled the input, when
///               OffsetNs is the duration of the synchroniser's two cycles
///   Overflow    an edge that finds its FIFO full is lost; the timestamps held stay
///   Idle        nothing changes while idle_o is high, no operation comes and no trigger moves
///   Parameters  NumChannels 1..32, FifoDepth a power of two 2..1024, OffsetNs 0..255
///   Not done    message-signalled interrupts (irq_o is a level), a stable-time filter
module wb_tlu #(
  parameter int unsigned NumChannels = 1,
  parameter int unsigned FifoDepth   = 32,
  parameter int unsigned OffsetNs    = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [63:0]            time_ns_i,
  input  logic [NumChannels-1:0] trigger_i,  // asynchronous, a channel a bit; edges are latched
  output logic                   irq_o,      // level: a channel that may interrupt has a timestamp
  output logic                   idle_o,
  input  logic                   wb_cyc_i,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb
  input  logic                   wb_stb_i,
  input  logic                   wb_we_i,
  input  logic [31:0]            wb_adr_i,  // of a byte; bits 7:2 count
  input  logic [3:0]             wb_sel_i,
  input  logic [31:0]            wb_dat_i,
  output logic                   wb_stall_o,
  output logic                   wb_ack_o,  // one ack or err for each operation, in order
  output logic                   wb_err_o,
  output logic [31:0]            wb_dat_o
);
  import isthmus_regs_pkg::*;

  if (NumChannels < 1 || NumChannels > 32) begin : gen_channels_check
    $error("wb_tlu: NumChannels is %0d, legal is 1..32", NumChannels);
  end
  if (OffsetNs > 255) begin : gen_offset_check
    $error("wb_tlu: OffsetNs is %0d, legal is 0..255", OffsetNs);
  end

  localparam int unsigned SelWidth   = NumChannels > 1 ? $clog2(NumChannels) : 1;
  localparam int unsigned UsageWidth = $clog2(FifoDepth) + 1;

  typedef logic [NumChannels-1:0] channels_t;

  // Triggers: two stages against metastability, and one to see the edge. A test trigger joins
  // behind them, with the same delay: no logic between a pin and its first flip-flop.
  channels_t pins, seen, prev_q, edges, test_q, test0_q, test1_q;
  logic      pins_settled;
  channels_t armed_q, rising_q, irq_mask_q, test_d, clear, pop, ready;
  logic      irq_enable_q;
  logic [SelWidth-1:0] select_q;
  logic [31:0] latched_lo_q;
  logic [63:0] stamp;
  logic [NumChannels-1:0][63:0] oldest;
  logic [NumChannels-1:0][UsageWidth-1:0] usage;

  sync_bits #(.Width(NumChannels)) u_pins (
    .clk_i,
    .rst_ni,
    .d_i      (trigger_i),
    .q_o      (pins),
    .settled_o(pins_settled)
  );
  assign seen   = pins | test1_q;
  assign edges  = armed_q & ((rising_q & seen & ~prev_q) | (~rising_q & ~seen & prev_q));
  assign stamp  = time_ns_i - 64'(OffsetNs);
  assign idle_o = {test_q, test0_q, test1_q} == '0 && pins_settled && seen == prev_q;
  assign irq_o  = irq_enable_q && (ready & irq_mask_q) != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      prev_q  <= '0;
      test_q  <= '0;
      test0_q <= '0;
      test1_q <= '0;
    end else begin
      prev_q  <= seen;
      test_q  <= test_d;
      test0_q <= test_q;
      test1_q <= test0_q;
    end
  end

  for (genvar c = 0; c < NumChannels; c++) begin : gen_channel
    logic unused_full;
    fifo #(
      .Width(64),
      .Depth(FifoDepth)
    ) u_stamps (
      .clk_i,
      .rst_ni,
      .clear_i(clear[c]),
      .valid_i(edges[c]),
      .ready_o(unused_full),
      .data_i (stamp),
      .valid_o(ready[c]),
      .ready_i(pop[c]),
      .data_o (oldest[c]),
      .usage_o(usage[c])
    );
  end

  // Bus: one operation a cycle, answered in the next.
  logic op, good, ack_q, err_q;
  logic wr;
  logic [7:0]  adr;
  logic [31:0] dat, dat_q, now_lo, now_hi;
  channels_t   mask, selected;
  logic        unused_in;

  assign op        = wb_cyc_i && wb_stb_i;
  assign wr        = op && wb_we_i && wb_sel_i == '1;
  assign adr       = {wb_adr_i[7:2], 2'b00};
  assign mask      = wb_dat_i[NumChannels-1:0];
  assign selected  = channels_t'(1) << select_q;
  assign now_hi    = {3'b000, time_ns_i[63:35]};
  assign now_lo    = time_ns_i[34:3];
  assign unused_in = ^{wb_adr_i[31:8], wb_adr_i[1:0]};

  always_comb begin
    dat = '0;
    // A read of a readable register, or a full write of a writable one.
    good = !wb_we_i;
    case (adr)
      TluFifoReady:    dat = 32'(ready);
      TluArmstat:      dat = 32'(armed_q);
      TluEdgestat:     dat = 32'(rising_q);
      TluIrqMaskstat:  dat = 32'(irq_mask_q);
      TluChnsTotal:    dat = NumChannels;
      TluFifosize:     dat = FifoDepth;
      TluAtshi:        dat = now_hi;
      TluAtslo:        dat = latched_lo_q;
      TluFifoCnt:      dat = 32'(usage[select_q]);
      TluFtshi:        dat = {3'b000, oldest[select_q][63:35]};
      TluFtslo:        dat = oldest[select_q][34:3];
      TluFtssub:       dat = {29'b0, oldest[select_q][2:0]};
      TluIrqEnable: begin
        dat  = {31'b0, irq_enable_q};
        good = !wb_we_i || wb_sel_i == '1;
      end
      TluChSelect: begin
        dat  = 32'(select_q);
        good = !wb_we_i || (wb_sel_i == '1 && wb_dat_i < NumChannels);
      end
      TluFifoPop:      good = wb_we_i && wb_sel_i == '1 && (ready & selected) != '0;
      TluFifoClear, TluTest, TluArmset, TluArmclr, TluEdgepos, TluEdgeneg, TluIrqMaskset,
      TluIrqMaskclr, TluChTest:
                       good = wb_we_i && wb_sel_i == '1;
      default:         good = 1'b0;
    endcase
  end

  assign clear  = (wr && adr == TluFifoClear) ? mask : '0;
  assign pop    = (wr && adr == TluFifoPop) ? selected : '0;
  assign test_d = (wr && adr == TluTest) ? mask : (wr && adr == TluChTest) ? selected : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      armed_q      <= '0;
      rising_q     <= '1;
      irq_mask_q   <= '0;
      irq_enable_q <= 1'b0;
      select_q     <= '0;
    end else if (wr) begin
      case (adr)
        TluArmset:     armed_q      <= armed_q | mask;
        TluArmclr:     armed_q      <= armed_q & ~mask;
        TluEdgepos:    rising_q     <= rising_q | mask;
        TluEdgeneg:    rising_q     <= rising_q & ~mask;
        TluIrqEnable:  irq_enable_q <= wb_dat_i[0];
        TluIrqMaskset: irq_mask_q   <= irq_mask_q | mask;
        TluIrqMaskclr: irq_mask_q   <= irq_mask_q & ~mask;
        TluChSelect:   if (wb_dat_i < NumChannels) select_q <= wb_dat_i[SelWidth-1:0];
        default:       ;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) latched_lo_q <= '0;
    else if (op && !wb_we_i && adr == TluAtshi) latched_lo_q <= now_lo;
  end

  assign wb_stall_o = 1'b0;
  assign wb_ack_o   = ack_q;
  assign wb_err_o   = err_q;
  assign wb_dat_o   = dat_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ack_q <= 1'b0;
      err_q <= 1'b0;
    end else begin
      ack_q <= op && good;
      err_q <= op && !good;
    end
  end

  always_ff @(posedge clk_i) begin
    if (op) dat_q <= dat;
  end
endmodule
