// SPDX-License-Identifier: SHL-2.1
/// The clock of an event-condition-action unit: time in nanoseconds (TAI) as two 32-bit words.
///
/// Map: docs/reference/registers.md, "ECA control (time)". The words are not latched together, as
/// published: a reader takes HI, LO, HI and repeats when HI changed.
///
///   Handshake   never stalls; ack one cycle after a read of the map, err for everything else
///   Latency     1 cycle; a read returns time_ns_i of the edge that accepted the operation
///   Throughput  one operation a cycle
///   Idle        nothing changes without an operation: time is an input, there is no counter
///   Parameters  NumChannels and LatencyNs are the values of their registers
///   Not done    the action channels themselves
module wb_eca_time #(
  parameter int unsigned NumChannels = 0,
  parameter int unsigned LatencyNs   = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] time_ns_i,
  input  logic        wb_cyc_i,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb
  input  logic        wb_stb_i,
  input  logic        wb_we_i,
  input  logic [31:0] wb_adr_i,  // of a byte; bits 7:2 count
  input  logic [3:0]  wb_sel_i,  // not looked at
  input  logic [31:0] wb_dat_i,
  output logic        wb_stall_o,
  output logic        wb_ack_o,  // one ack or err for each operation, in order
  output logic        wb_err_o,
  output logic [31:0] wb_dat_o
);
  import isthmus_regs_pkg::*;

  logic op, known, ack_q, err_q;
  logic [31:0] dat, dat_q;
  logic unused_in;

  assign op        = wb_cyc_i && wb_stb_i;
  assign unused_in = ^{wb_adr_i[31:8], wb_adr_i[1:0], wb_sel_i, wb_dat_i};

  always_comb begin
    known = 1'b1;
    dat   = '0;
    case ({wb_adr_i[7:2], 2'b00})
      EcaChannels:  dat = NumChannels;
      EcaLatency:   dat = LatencyNs;
      EcaTimeHiGet: dat = time_ns_i[63:32];
      EcaTimeLoGet: dat = time_ns_i[31:0];
      default:      known = 1'b0;
    endcase
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
      ack_q <= op && known && !wb_we_i;
      err_q <= op && !(known && !wb_we_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (op) dat_q <= dat;
  end
endmodule
