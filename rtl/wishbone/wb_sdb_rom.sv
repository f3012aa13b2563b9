// SPDX-License-Identifier: SHL-2.1
/// Self-describing bus table as a Wishbone slave: one interconnect record, then the devices.
///
///   Handshake   never stalls; ack Latency cycles after a read within the table, err for a write
///               and for an address behind the table
///   Latency     1 cycle; 3 when Registered: synthesis may use a distant block memory
///   Throughput  one operation a cycle
///   Address     byte address within the slave's window; bits above the table's size rounded up
///               to a power of two are ignored: the bus must give it a window of that size. Words
///               are big-endian: the first byte of a record is bits 31:24 of its first word
///   Idle        nothing changes without an operation
///   Parameters  NumDevices 1..255; Devices, record 1 leftmost, from wb_pkg::sdb_device and
///               sdb_bridge; BusLast, the last address of the bus that the table describes;
///               Registered 1: both sides of the table behind registers
module wb_sdb_rom #(
  parameter int unsigned                          NumDevices = 1,
  parameter wb_pkg::sdb_record_t [NumDevices-1:0] Devices    = '0,
  parameter logic [31:0]                          BusLast    = '1,
  parameter wb_pkg::sdb_product_t                 Product    = wb_pkg::ProductCrossbar,
  parameter bit                                   Registered = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wb_cyc_i,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb
  input  logic        wb_stb_i,
  input  logic        wb_we_i,
  input  logic [31:0] wb_adr_i,
  input  logic [3:0]  wb_sel_i,  // not looked at
  input  logic [31:0] wb_dat_i,
  output logic        wb_stall_o,
  output logic        wb_ack_o,  // one ack or err for each operation, in order
  output logic        wb_err_o,
  output logic [31:0] wb_dat_o
);
  if (NumDevices < 1 || NumDevices > 255) begin : gen_devices_check
    $error("wb_sdb_rom: NumDevices is %0d, legal is 1..255", NumDevices);
  end

  localparam int unsigned NumRecords = NumDevices + 1;
  localparam int unsigned NumWords   = NumRecords * 16;
  localparam int unsigned IdxWidth   = $clog2(NumWords);

  // Leftmost is first in the table.
  localparam logic [NumWords-1:0][31:0] Table = {
    wb_pkg::sdb_interconnect('0, BusLast, 16'(NumRecords), Product), Devices
  };

  typedef struct packed {
    logic                op;
    logic                good;
    logic [IdxWidth-1:0] idx;
  } access_t;

  access_t asked, access;
  logic [31:0] dat_q;
  logic unused_in;

  assign asked.op   = wb_cyc_i && wb_stb_i;
  assign asked.idx  = wb_adr_i[IdxWidth+1:2];
  assign asked.good = !wb_we_i && (32'(asked.idx) < NumWords);
  assign unused_in  = ^{wb_adr_i[31:IdxWidth+2], wb_adr_i[1:0], wb_sel_i, wb_dat_i};

  assign wb_stall_o = 1'b0;

  always_ff @(posedge clk_i) begin
    if (access.op) dat_q <= access.good ? Table[NumWords-1-32'(access.idx)] : '0;
  end

  if (Registered) begin : gen_registered
    // An operation is accepted at its edge and executed one cycle later; cyc can only stop its
    // answer.
    access_t access_q;
    logic [2:0] ack_q, err_q;
    logic [31:0] late_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        access_q <= '0;
        ack_q    <= '0;
        err_q    <= '0;
      end else begin
        access_q.op <= asked.op;
        if (asked.op) begin
          access_q.good <= asked.good;
          access_q.idx  <= asked.idx;
        end
        ack_q <= wb_cyc_i ? {ack_q[1:0], asked.op && asked.good} : '0;
        err_q <= wb_cyc_i ? {err_q[1:0], asked.op && !asked.good} : '0;
      end
    end
    always_ff @(posedge clk_i) late_q <= dat_q;

    assign access   = access_q;
    assign wb_ack_o = ack_q[2];
    assign wb_err_o = err_q[2];
    assign wb_dat_o = late_q;
  end else begin : gen_direct
    logic ack_q, err_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        ack_q <= 1'b0;
        err_q <= 1'b0;
      end else begin
        ack_q <= asked.op && asked.good;
        err_q <= asked.op && !asked.good;
      end
    end

    assign access   = asked;
    assign wb_ack_o = ack_q;
    assign wb_err_o = err_q;
    assign wb_dat_o = dat_q;
  end
endmodule
